//! The variables with which a session is resumed.
//!
//! A client that is woken sees what its own shell saw when the loop was parked. What looks like
//! a key is never written to disk: it comes from the environment of the background process, which
//! has that of the command that started it.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;

use stopgate_agents::Agent;
use stopgate_core::{LoopId, WaitCondition};
use stopgate_verify::keepable_variables;

use crate::failure::Failure;
use crate::home::Home;
use crate::judging::wait_note::{self, WaitNote};

/// The variables of this process that a program may have that is started anew: none by which
/// a client tells its own shells who they belong to.
pub fn started_anew() -> Vec<(OsString, OsString)> {
    stopgate_verify::variables().filter(|(name, _)| !is_mark(&name.to_string_lossy())).collect()
}

/// Keeps what a loop waits for, and the variables that are there now for the client that goes on.
pub(super) fn keep(home: &Home, id: &LoopId, condition: &WaitCondition) -> Result<(), Failure> {
    let variables: BTreeMap<String, String> = keepable_variables()
        .into_iter()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .filter(|(name, _)| !is_mark(name))
        .collect();
    WaitNote { condition: condition.clone(), variables }.write(home, id)
}

/// The variables for a client that goes on with a loop: those of this process, then those kept.
pub(super) fn kept(home: &Home, id: &LoopId) -> Vec<(OsString, OsString)> {
    let mut all: BTreeMap<OsString, OsString> = started_anew().into_iter().collect();
    let kept = WaitNote::read(home, id).map(|kept| kept.variables).unwrap_or_default();
    all.extend(kept.into_iter().map(|(name, value)| (name.into(), value.into())));
    all.into_iter().collect()
}

/// Forgets what was kept for a loop.
pub(super) fn forget(home: &Home, id: &LoopId) {
    let _ = fs::remove_file(wait_note::path(home, id));
}

/// Whether a variable tells a client's own shells who they belong to.
fn is_mark(name: &str) -> bool {
    Agent::ALL.into_iter().any(|agent| {
        let own = agent.variables();
        let told = [own.version, own.session, own.project, own.process];
        told.into_iter().flatten().any(|one| one == name)
            || own.marks.contains(&name)
            || own.shell.contains(&name)
    })
}
