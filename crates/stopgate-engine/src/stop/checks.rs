//! The checks of one stop: run here, or in the background where they take longer than a stop
//! can wait.

use std::path::Path;
use std::time::Duration;

use stopgate_agents::Agent;
use stopgate_core::{
    BackgroundChecks, Criterion, Parking, Phase, Proof, Receipt, Seen, State, Status,
    WaitCondition, due,
};
use stopgate_verify::{Freshness, ProcessMark, ProofRequest, Proved, while_watched, withheld};

use super::Stops;
use crate::checking::{CheckingNote, name};
use crate::config::CHECKS_TIME_MAX;
use crate::judging::background::{
    self, BackgroundFound, BackgroundNotes, ProofParts, known_ms, too_long, whole_time,
};
use crate::judging::reviewing::review_loop;
use crate::judging::wait_note;
use crate::observe::{ClientFacts, HeardMessage};
use crate::presence::Arrival;
use crate::watchdog;

/// What is not run but looked at needs no longer.
const LOOK_TIME: Duration = Duration::from_secs(30);
/// How often one check may run for one stop, its retries aside.
const RUNS_MAX: u32 = 3;
/// A run in the background has ended by itself long before a person is asked about it.
const GRACE_MS: i64 = 15 * 60 * 1000;

/// A stop whose checks are due.
#[derive(Clone, Copy)]
pub(super) struct DueStop<'a> {
    pub(super) state: &'a State,
    pub(super) seen: &'a Seen,
    pub(super) heard: &'a HeardMessage,
    pub(super) agent: Agent,
    pub(super) client: &'a ClientFacts,
}

/// What became of the checks of a stop.
pub(super) enum CheckedStop {
    /// They were run, or need not be.
    Receipts(Vec<Receipt>),
    /// They go on in the background, and the loop is parked until they have ended.
    Parked(Box<Parking>),
    /// Somebody ended the program meanwhile.
    Interrupted,
}

impl Stops<'_> {
    pub(super) fn run_checks(&mut self, stop: DueStop<'_>) -> CheckedStop {
        let state = stop.state;
        // Each stop keeps its own logs, so that what is told of it later stays true.
        let number = format!("{}", state.tally.stops.saturating_add(1));
        let logs = self.context.home.check_logs(&state.id).join(number);
        let parts = ProofParts::of(self.context, logs);
        watchdog::allow(self.checks_time(stop));
        let checked = match background::find(&self.context.home, state, &parts) {
            BackgroundFound::Running(process) => {
                let long = too_long(state, self.context.hook_time(), &[]);
                CheckedStop::Parked(self.parking(stop, &parts.place().logs, process, &long))
            }
            BackgroundFound::Ended(receipts) => self.with_looks(stop, &parts, receipts),
            BackgroundFound::Nothing(notes) => self.run_now(stop, &parts, notes),
        };
        watchdog::allow(Duration::ZERO);
        checked
    }

    /// Parks a stop until it is known what the first runs of its checks say: how long they take, and
    /// as many tests must run as did then.
    pub(super) fn await_first_runs(&self, stop: DueStop<'_>, process: ProcessMark) -> Box<Parking> {
        let state = stop.state;
        let logs = background::first_run_logs(&self.context.home, &state.id);
        let open = state.criteria.iter().filter(|criterion| criterion.awaits_first_run());
        let open: Vec<String> = open.map(|criterion| criterion.name.clone()).collect();
        let mut parking = self.parking(stop, &logs, process, &open);
        if let Some(checks) = &mut parking.checks {
            checks.first = true;
        }
        parking
    }

    /// Whether checks that run in the background are for other files than there are now.
    pub(super) fn is_stale(&self, state: &State) -> bool {
        let parts = ProofParts::of(self.context, self.context.home.check_logs(&state.id));
        background::is_stale(&self.context.home, state, &parts)
    }

    /// Runs the checks as far as the stop's time goes; what takes longer goes on without it.
    fn run_now(
        &mut self,
        stop: DueStop<'_>,
        parts: &ProofParts,
        notes: BackgroundNotes,
    ) -> CheckedStop {
        let (state, time) = (stop.state, self.context.hook_time());
        let may_wait = notes.tries < background::TRIES_MAX && state.session.is_some();
        let later = if may_wait { too_long(state, time, &notes.long) } else { Vec::new() };
        let request = ProofRequest {
            freshness: Freshness::Reuse(stop.seen.tools),
            later: &later,
            ..parts.request(state, stop.heard.message.as_deref(), time)
        };
        let begun = self.context.now();
        let proved = self.prove(state, &request);
        let receipts = match proved {
            Proved::TooLong(receipts) if may_wait => {
                // What it says decides whether it takes so long, and what must be proven.
                if let Some(process) = background::first_run_of(&self.context.home, state) {
                    return CheckedStop::Parked(self.await_first_runs(stop, process));
                }
                return self.detach(stop, parts, notes, later, receipts);
            }
            Proved::Receipts(receipts) | Proved::TooLong(receipts) => receipts,
            Proved::Interrupted => return CheckedStop::Interrupted,
        };
        let used = Duration::from_millis(self.context.now().since(begun).unsigned_abs());
        self.reviewed(state, parts, receipts, time.saturating_sub(used))
    }

    fn prove(&mut self, state: &State, request: &ProofRequest<'_>) -> Proved {
        let note = CheckingNote::begin(&self.context.home, state, self.context.now(), None);
        match note.as_ref().map(|note| note.listener(state)) {
            Some(listener) => while_watched(listener, || self.context.world.prove(request)),
            None => self.context.world.prove(request),
        }
    }

    fn reviewed(
        &self,
        state: &State,
        parts: &ProofParts,
        receipts: Vec<Receipt>,
        time: Duration,
    ) -> CheckedStop {
        let receipts = with_withheld(receipts, &state.criteria, parts.pass());
        let reviewed = review_loop(self.context, state, parts.place(), receipts, time);
        reviewed.map_or(CheckedStop::Interrupted, CheckedStop::Receipts)
    }

    /// The receipts of a run in the background; what does not depend on files alone is looked at
    /// as it is now.
    fn with_looks(
        &mut self,
        stop: DueStop<'_>,
        parts: &ProofParts,
        mut receipts: Vec<Receipt>,
    ) -> CheckedStop {
        let state = stop.state;
        let criteria: Vec<Criterion> =
            state.criteria.iter().filter(|own| is_looked_at(own)).cloned().collect();
        if !criteria.is_empty() {
            let message = stop.heard.message.as_deref();
            let all = parts.request(state, message, self.context.hook_time());
            let request = ProofRequest { criteria: &criteria, ..all };
            match self.prove(state, &request) {
                Proved::Receipts(looked) | Proved::TooLong(looked) => {
                    receipts.retain(|own| !looked.iter().any(|r| r.criterion == own.criterion));
                    receipts.extend(looked);
                }
                Proved::Interrupted => return CheckedStop::Interrupted,
            }
        }
        for receipt in &mut receipts {
            receipt.evidence.notes.push("ran in the background".into());
        }
        receipts.sort_by_key(|own| state.criteria.iter().position(|c| c.name == own.criterion));
        CheckedStop::Receipts(with_withheld(receipts, &state.criteria, parts.pass()))
    }

    /// Starts a process that runs the checks without this stop; where that can't be done, what is
    /// known so far must do.
    fn detach(
        &mut self,
        stop: DueStop<'_>,
        parts: &ProofParts,
        mut notes: BackgroundNotes,
        later: Vec<String>,
        receipts: Vec<Receipt>,
    ) -> CheckedStop {
        // One that was not even begun may be quick.
        let is_cut = |own: &&Receipt| own.status == Status::Timeout && own.log.is_some();
        let cut = receipts.iter().filter(is_cut);
        let cut: Vec<String> = cut.map(|receipt| receipt.criterion.clone()).collect();
        for name in later.iter().chain(&cut) {
            if !notes.long.contains(name) {
                notes.long.push(name.clone());
            }
        }
        let message = stop.heard.message.as_deref();
        match background::start(&self.context.home, stop.state, parts, message, notes) {
            Ok(process) => {
                let open = |receipt: &&Receipt| receipt.status != Status::Pass;
                let open = receipts.iter().filter(open).map(|own| own.criterion.clone());
                let long = [later, cut, open.collect()].into_iter().find(|own| !own.is_empty());
                let (long, logs) = (long.unwrap_or_default(), &parts.place().logs);
                CheckedStop::Parked(self.parking(stop, logs, process, &long))
            }
            Err(_) => CheckedStop::Receipts(receipts),
        }
    }

    /// The loop waits until the process that runs its checks has ended.
    fn parking(
        &self,
        stop: DueStop<'_>,
        logs: &Path,
        process: ProcessMark,
        long: &[String],
    ) -> Box<Parking> {
        let state = stop.state;
        let is_long = |criterion: &&Criterion| {
            if long.is_empty() {
                criterion.command().is_some()
            } else {
                long.contains(&criterion.name)
            }
        };
        let long = || state.criteria.iter().filter(is_long);
        let mut names: Vec<String> = long().map(name).collect();
        names.dedup();
        let usual: Option<u64> = long().map(known_ms).sum();
        let condition = WaitCondition::Process { pid: process.pid, began: process.began };
        let whole = i64::try_from(whole_time(state).as_millis()).unwrap_or(i64::MAX / 2);
        let parking = Parking {
            condition,
            deadline: self.context.now().plus(whole.saturating_add(GRACE_MS)),
            agent: Some(stop.agent.word().into()),
            host: Some(stopgate_system::host_name()),
            driver: self.driver(stop.client),
            held_at: None,
            checks: Some(BackgroundChecks {
                names,
                usual_ms: usual.filter(|usual| *usual > 0),
                hook_ms: u64::try_from(self.context.hook_time().as_millis()).unwrap_or(u64::MAX),
                logs: Some(logs.display().to_string()),
                claimed: state.phase == Phase::Completing,
                first: false,
            }),
        };
        // Without the note nobody is woken, and the next stop finds out by itself.
        let _ = wait_note::keep(&self.context.home, &state.id, &parking.condition);
        self.note_client(stop);
        Box::new(parking)
    }

    /// The driver that runs the loop's sessions, where one does.
    fn driver(&self, client: &ClientFacts) -> Option<String> {
        let own = || client.is_driver.then(|| ProcessMark::own().to_string());
        self.context.settings.driver().or_else(own)
    }

    /// Notes which client asks, so that nobody starts a second one beside it.
    fn note_client(&self, stop: DueStop<'_>) {
        let Some(session) = stop.state.session.as_ref().filter(|_| !stop.client.is_driver) else {
            return;
        };
        let here = Arrival {
            client: self.context.settings.process_of(stop.agent),
            agent: Some(stop.agent.word()),
            process: ProcessMark::client_above(),
        };
        let root = Path::new(stop.state.root());
        self.context.presence.arrive(root, session.as_str(), here, self.context.now());
    }

    /// How long the checks that are due may take in all, with a look at a large tree: each may run
    /// as the tree has it, with the judges of the start, and once more as the control of that.
    fn checks_time(&self, stop: DueStop<'_>) -> Duration {
        let wanted = due(stop.state, stop.seen, self.context.now());
        let times = wanted.iter().map(|criterion| match background::longest_ms(criterion) {
            0 => LOOK_TIME,
            longest => Duration::from_millis(longest),
        });
        let all = times.fold(Duration::ZERO, Duration::saturating_add);
        let runs = if stop.state.ground.seal.is_some() { RUNS_MAX } else { 1 };
        all.saturating_mul(runs).clamp(LOOK_TIME, CHECKS_TIME_MAX)
    }
}

/// Whether a criterion is looked at, and what is seen may be another thing at each look: the
/// agent's words, the repository, files.
fn is_looked_at(criterion: &Criterion) -> bool {
    matches!(
        criterion.proof,
        Proof::Files { .. } | Proof::Pattern { .. } | Proof::Features { .. } | Proof::Git { .. }
    )
}

/// Says which variables a failing check asked for and was not given.
fn with_withheld(
    mut receipts: Vec<Receipt>,
    criteria: &[Criterion],
    pass: &[String],
) -> Vec<Receipt> {
    for receipt in &mut receipts {
        let criterion = criteria.iter().find(|criterion| criterion.name == receipt.criterion);
        let Some(criterion) = criterion.filter(|_| receipt.status == Status::Fail) else {
            continue;
        };
        let names = withheld(&receipt.tail, [pass, &criterion.terms.pass]);
        if receipt.trouble.is_none() && !names.is_empty() {
            receipt.trouble = Some(format!(
                "checks are not given {}; a person can pass it: start --pass-env, or pass_env in \
                 stopgate.toml",
                names.join(", ")
            ));
        }
    }
    receipts
}
