//! Every case for every client, a few at a time.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use stopgate_agents::Agent;

use crate::cases::HookCase;
use crate::payload::CapturedPayloads;
use crate::report::{CaseResult, ConformanceReport, Mark};
use crate::stage::{CaseMachine, Miss};
use crate::subject::HookUnderTest;

/// Cases that run side by side: most of them wait for a process.
const AT_ONCE: usize = 4;

/// Results, with their places in the report.
type Done = Mutex<Vec<(usize, CaseResult)>>;

/// What is run.
#[derive(Clone, Debug)]
pub struct Selection {
    /// Only these agents; all that the hook serves where there is none.
    pub agents: Vec<Agent>,
    /// Only cases whose name contains this.
    pub only: String,
    /// When a call counts as one that never ends.
    pub deadline: Duration,
}

impl Default for Selection {
    fn default() -> Self {
        Self { agents: Vec::new(), only: String::new(), deadline: Duration::from_secs(20) }
    }
}

/// Runs the suite against a hook.
pub fn run(hook: &HookUnderTest, selection: &Selection) -> ConformanceReport {
    let clients: Vec<CapturedPayloads> = CapturedPayloads::all()
        .into_iter()
        .filter(|client| is_chosen(hook, selection, client))
        .collect();
    let cases: Vec<HookCase> =
        HookCase::all().into_iter().filter(|case| case.name.contains(&selection.only)).collect();
    let pairs: Vec<(&CapturedPayloads, &HookCase)> =
        clients.iter().flat_map(|client| cases.iter().map(move |case| (client, case))).collect();
    let next = AtomicUsize::new(0);
    let done = Done::default();
    thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| work(hook, selection, &pairs, &next, &done));
        }
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|(at, _)| *at);
    let results = done.into_iter().map(|(_, result)| result).collect();
    ConformanceReport { hook: hook.name.clone(), results }
}

/// Runs one case after another until none is left.
fn work(
    hook: &HookUnderTest,
    selection: &Selection,
    pairs: &[(&CapturedPayloads, &HookCase)],
    next: &AtomicUsize,
    done: &Done,
) {
    loop {
        let at = next.fetch_add(1, Ordering::Relaxed);
        let Some((client, case)) = pairs.get(at) else { return };
        let result = one(hook, selection, client, case);
        done.lock().unwrap_or_else(PoisonError::into_inner).push((at, result));
    }
}

/// A hook that does not say how each agent calls it is Claude Code's, unless another is named.
fn is_chosen(hook: &HookUnderTest, selection: &Selection, client: &CapturedPayloads) -> bool {
    if selection.agents.is_empty() {
        let is_any = hook.lines.is_empty() && client.agent == Agent::Claude;
        return hook.serves(client.agent) || is_any;
    }
    selection.agents.contains(&client.agent)
}

fn one(
    hook: &HookUnderTest,
    selection: &Selection,
    client: &CapturedPayloads,
    case: &HookCase,
) -> CaseResult {
    let ran = CaseMachine::new(hook, client, selection.deadline)
        .map_err(Miss::from)
        .and_then(|stage| (case.run)(&stage));
    let (mark, detail) = match ran {
        Ok(()) => (Mark::Pass, String::new()),
        Err(Miss::NotApplicable(why)) => (Mark::NotApplicable, why),
        Err(Miss::Failed(why)) => (Mark::Fail, why),
    };
    CaseResult { client: client.name(), case: case.name, why: case.why, mark, detail }
}
