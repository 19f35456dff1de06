//! A look at the work on request: every check is run, and nothing is recorded.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use stopgate_core::{Criterion, Ground, Receipt, State};
use stopgate_verify::{ChangedJudges, Files, Freshness, ProofRequest, Proved, Strangers};

use super::reviewing::review_loop;
use crate::context::Context;
use crate::failure::Failure;

/// A person who asks is willing to wait.
pub(crate) const BUDGET: Duration = Duration::from_hours(1);

pub(crate) fn look_at_loop(context: &mut Context, state: &State) -> Result<Vec<Receipt>, Failure> {
    let logs = context.home.check_logs(&state.id);
    let since = (files(state), began(state));
    let place = context.place(logs.clone());
    let project = Path::new(state.root());
    let receipts = look(context, &state.criteria, &state.ground, project, logs, since)?;
    review_loop(context, state, &place, receipts, BUDGET).ok_or_else(interrupted)
}

pub(crate) fn look(
    context: &mut Context,
    criteria: &[Criterion],
    ground: &Ground,
    project: &Path,
    logs: PathBuf,
    (files, since): (Files, Option<SystemTime>),
) -> Result<Vec<Receipt>, Failure> {
    let place = context.place(logs);
    let pass = context.passed_variables();
    let only_place = context.settings.test_place();
    let request = ProofRequest {
        criteria,
        root: project,
        ground,
        message: None,
        place: &place,
        freshness: Freshness::Fresh,
        files,
        since,
        budget: BUDGET,
        strangers: Strangers::Spare,
        pass: &pass,
        only_place: only_place.as_deref(),
        later: &[],
    };
    match context.while_told(criteria, |world| world.prove(&request)) {
        Proved::Receipts(receipts) | Proved::TooLong(receipts) => Ok(receipts),
        Proved::Interrupted => Err(interrupted()),
    }
}

/// What changed of that which judges a loop's criteria, in words.
pub(crate) fn judges_changed(context: &Context, state: &State) -> Result<Vec<String>, Failure> {
    Ok(changed(context, state)?.texts)
}

/// What changed of that which judges a loop's criteria.
pub(crate) fn changed(context: &Context, state: &State) -> Result<ChangedJudges, Failure> {
    let place = context.place(PathBuf::new());
    let request = ProofRequest {
        criteria: &state.criteria,
        root: Path::new(state.root()),
        ground: &state.ground,
        message: None,
        place: &place,
        freshness: Freshness::Fresh,
        files: Files::Countable,
        since: began(state),
        budget: BUDGET,
        strangers: Strangers::Spare,
        pass: &[],
        only_place: None,
        later: &[],
    };
    stopgate_verify::changed_judges(&request)
        .map_err(|why| Failure::fault(format!("could not tell what changed: {why}")))
}

/// A loop whose checks could not be sealed began in a directory that is too large to look through.
pub(crate) fn files(state: &State) -> Files {
    if state.ground.seal.is_some() { Files::Countable } else { Files::TooMany }
}

/// When the loop began, as files tell time.
pub(crate) fn began(state: &State) -> Option<SystemTime> {
    let millis = u64::try_from(state.started_at.unix_millis()).ok()?;
    UNIX_EPOCH.checked_add(Duration::from_millis(millis))
}

/// The program was asked to end meanwhile.
pub(crate) fn interrupted() -> Failure {
    Failure::interrupted("interrupted while the checks ran")
}
