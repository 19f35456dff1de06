//! Another policy: the limits, gates and criteria that are tried, and which recorded results
//! still answer for them.

use stopgate_core::{Author, Criterion, LoopGate, Proof, Receipt, State, Status, Terms};

/// What is tried; `None` keeps what the loop had.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PolicyChange {
    /// How often the agent may be sent back.
    pub max_iterations: Option<u32>,
    /// Minutes of work allowed; 0 means no limit.
    pub max_minutes: Option<u32>,
    /// Idle continuations in a row allowed; 0 means no limit.
    pub max_idle: Option<u32>,
    /// Continuations with the same failures in a row allowed; 0 means no limit.
    pub max_repeat: Option<u32>,
    /// Tokens allowed; 0 means no limit.
    pub max_tokens: Option<u64>,
    /// Money allowed, in millionths of a dollar; 0 means no limit.
    pub max_cost_micros: Option<u64>,
    /// How long a loop may stay untouched.
    pub stale_after_ms: Option<i64>,
    /// The project's gates; those of the command that began a loop stay.
    pub gates: Option<Vec<LoopGate>>,
    /// The project's criteria; those of the command that began a loop stay.
    pub criteria: Option<Vec<Criterion>>,
}

impl PolicyChange {
    /// Whether the loop must have counted what the agent used.
    pub(super) fn limits_spend(&self) -> bool {
        let limits = |limit: Option<u64>| limit.is_some_and(|limit| limit > 0);
        limits(self.max_tokens) || limits(self.max_cost_micros)
    }

    /// The loop that `state` begins, under this policy.
    pub(super) fn applied_to(&self, state: &State) -> State {
        let mut state = state.clone();
        let policy = &mut state.policy;
        policy.max_minutes = self.max_minutes.unwrap_or(policy.max_minutes);
        policy.max_idle = self.max_idle.unwrap_or(policy.max_idle);
        policy.max_repeat = self.max_repeat.unwrap_or(policy.max_repeat);
        policy.max_tokens = self.max_tokens.unwrap_or(policy.max_tokens);
        policy.max_cost_micros = self.max_cost_micros.unwrap_or(policy.max_cost_micros);
        policy.stale_after_ms = self.stale_after_ms.unwrap_or(policy.stale_after_ms);
        if let (Some(max), Some(frame)) = (self.max_iterations, state.frames.first_mut()) {
            frame.max = max;
        }
        if let Some(gates) = &self.gates {
            state.gates.retain(|gate| gate.author.is_command());
            state.gates.splice(0..0, gates.iter().cloned());
        }
        if let Some(criteria) = &self.criteria {
            state.criteria = tried_criteria(&state.criteria, criteria);
        }
        state
    }
}

/// The project's criteria as they are tried, then those of the command.
fn tried_criteria(recorded: &[Criterion], tried: &[Criterion]) -> Vec<Criterion> {
    let mut criteria: Vec<Criterion> = tried.to_vec();
    for criterion in &mut criteria {
        let known = recorded.iter().find(|known| known.name == criterion.name);
        let Some(known) = known.filter(|known| is_same_check(known, criterion)) else { continue };
        // What was noted at the start is still what it was.
        criterion.terms.baseline.clone_from(&known.terms.baseline);
        criterion.tests = known.tests;
    }
    let own = recorded.iter().filter(|known| known.terms.author == Author::Command);
    let own = own.filter(|known| tried.iter().all(|criterion| criterion.name != known.name));
    criteria.extend(own.cloned());
    criteria
}

/// The recorded results that answer for the criteria that are tried.
pub(super) fn results_for(tried: &State, recorded: &State, receipts: &[Receipt]) -> Vec<Receipt> {
    let answers = |receipt: &&Receipt| {
        let pair = named(tried, &receipt.criterion).zip(named(recorded, &receipt.criterion));
        pair.is_some_and(|(tried, recorded)| {
            is_same_check(recorded, tried) && would_come_out_alike(receipt, recorded, tried)
        })
    };
    receipts.iter().filter(answers).cloned().collect()
}

fn named<'s>(state: &'s State, name: &str) -> Option<&'s Criterion> {
    state.criteria.iter().find(|criterion| criterion.name == name)
}

/// Whether two criteria ask the same of the work; how long the check may take, how strong its
/// pass must be and whether the loop can do without it aside.
pub(super) fn is_same_check(recorded: &Criterion, tried: &Criterion) -> bool {
    // Mostly nothing at all was changed, which costs no copies to see.
    if recorded.proof == tried.proof && recorded.terms == tried.terms {
        return true;
    }
    let asks = |criterion: &Criterion| {
        let mut proof = criterion.proof.clone();
        if let Proof::Check { timeout_ms, .. }
        | Proof::Run { timeout_ms, .. }
        | Proof::Review { timeout_ms, .. } = &mut proof
        {
            *timeout_ms = 0;
        }
        let noted = criterion.terms.baseline.is_some();
        let terms = Terms {
            author: Author::Command,
            baseline: None,
            strength: None,
            ..criterion.terms.clone()
        };
        (proof, terms, noted)
    };
    asks(recorded) == asks(tried)
}

/// Whether the same check would have come out as it did on the other terms.
fn would_come_out_alike(receipt: &Receipt, recorded: &Criterion, tried: &Criterion) -> bool {
    let (then, now) = (recorded.timeout_ms(), tried.timeout_ms());
    let in_time = match receipt.status {
        Status::Timeout => now <= then,
        _ended => now == then || receipt.duration_ms <= now,
    };
    // A failure in the work tree is one at every strength.
    let wanted = tried.terms.strength;
    let strong = receipt.status != Status::Pass
        || wanted == recorded.terms.strength
        || wanted.is_none_or(|wanted| receipt.evidence.strength.is_some_and(|has| has >= wanted));
    in_time && strong
}
