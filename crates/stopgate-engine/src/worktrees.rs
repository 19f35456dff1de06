//! A loop that works in a git worktree: where it is, whether what was merged still holds, and how
//! it ends then.

use stopgate_core::{
    Criterion, Event, LoopId, LoopWorktree, Outcome, Receipt, Seen, State, Timestamp, Verdict,
    Verified, apply, clean, clip, conclude, verified,
};
use stopgate_store::{Soundness, Stored};

use crate::context::{Context, LoopTarget, Stocked};
use crate::failure::Failure;
use crate::judging::certificate::certify;
use crate::judging::look::look_at_loop;

/// How much of the reason is kept for which a person must finish a merge.
const WHY_BYTES_MAX: usize = 2000;
const TRIES_MAX: usize = 64;

/// What the checks of a loop say of a merged tree.
#[derive(Clone, Debug)]
pub struct MergedProof {
    /// What they produced.
    pub receipts: Vec<Receipt>,
    /// The criteria that the merged tree does not meet.
    pub unmet: Vec<String>,
}

/// Loops that work in a git worktree of their own.
pub struct Worktrees<'a> {
    pub(crate) context: &'a mut Context,
}

impl Worktrees<'_> {
    /// The loop's sessions work in this worktree from now on.
    pub fn place_loop(&mut self, id: &LoopId, worktree: &LoopWorktree) -> Result<Stored, Failure> {
        let event = Event::Placed(Box::new(worktree.clone()));
        self.happens(id, &|_| vec![event.clone()])
    }

    /// Asks the loop's checks about its worktree as it is now: with the merged tree in it.
    pub fn prove_merged(&mut self, id: &LoopId) -> Result<MergedProof, Failure> {
        let state = self.context.resolve(&LoopTarget::Named(id.as_str().into()))?.state;
        if self.context.journal.soundness(id)? == Soundness::Forged {
            self.context.end(id, Outcome::Tampered, "the loop's record was forged")?;
            return Ok(MergedProof { receipts: Vec::new(), unmet: vec!["the record".into()] });
        }
        let receipts = if state.criteria.iter().any(Criterion::is_checked) {
            look_at_loop(self.context, &state)?
        } else {
            Vec::new()
        };
        let unmet = match verified(&state.criteria, &receipts) {
            Verified::Pass | Verified::Nothing => Vec::new(),
            _other => unmet(&state, &receipts),
        };
        Ok(MergedProof { receipts, unmet })
    }

    /// Ends a loop whose merge holds and is on its branch; the receipts are those of the merged tree.
    pub fn finish_merge(
        &mut self,
        id: &LoopId,
        commit: &str,
        proof: &MergedProof,
    ) -> Result<Stored, Failure> {
        let seen = Seen { receipts: proof.receipts.clone(), ..Seen::default() };
        for _ in 0..TRIES_MAX {
            let Some(stored) = self.context.journal.load(id)? else { break };
            if stored.state.outcome().is_some() {
                return Ok(stored);
            }
            let now = self.context.now();
            let mut events = vec![Event::Claimed, Event::Merged { commit: commit.into() }];
            let merged = events
                .iter()
                .try_fold(stored.state.clone(), |state, event| apply(Some(state), event, now))
                .ok_or_else(|| Failure::fault("could not apply the event to the loop"))?;
            events.extend(self.conclusion(&merged, &seen, now)?);
            if let Stocked::Stored(stored) = self.context.store(stored, events, now)? {
                return Ok(*stored);
            }
        }
        Err(Failure::fault("could not end the loop: it kept changing"))
    }

    /// How a loop ends whose work is merged.
    fn conclusion(
        &self,
        merged: &State,
        seen: &Seen,
        now: Timestamp,
    ) -> Result<Vec<Event>, Failure> {
        let Some(decision) = conclude(merged, seen) else {
            return Ok(vec![without_proof(merged)]);
        };
        let mut events = decision.events;
        if matches!(decision.verdict, Verdict::Complete { outcome: Outcome::Done, .. }) {
            events.push(certify(self.context, merged, &seen.receipts, now)?);
        }
        Ok(events)
    }

    /// A person must finish the merge.
    pub fn hold_merge(&mut self, id: &LoopId, why: &str) -> Result<Stored, Failure> {
        self.context.end(id, Outcome::NeedsApproval, &clip(&clean(why), WHY_BYTES_MAX))
    }

    fn happens(
        &mut self,
        id: &LoopId,
        events: &dyn Fn(&State) -> Vec<Event>,
    ) -> Result<Stored, Failure> {
        let changed = self
            .context
            .update(&mut |context| Ok(context.journal.load(id)?), &mut |state, _| {
                Ok(events(state))
            })?;
        changed.ok_or_else(|| Failure::no_loop(format!("loop {id} is gone")))
    }
}

/// How a loop ends that is merged and that no check could prove.
fn without_proof(merged: &State) -> Event {
    let (outcome, why) = if merged.criteria.iter().any(|c| c.is_required() && c.is_checked()) {
        (Outcome::NeedsApproval, "it is merged, but something still waits for a person's word")
    } else {
        (Outcome::Attested, "the agent said so; no check proved it")
    };
    Event::Ended { outcome, why: why.into() }
}

/// The names of the required criteria that did not pass.
fn unmet(state: &State, receipts: &[Receipt]) -> Vec<String> {
    let seen = Seen { receipts: receipts.to_vec(), ..Seen::default() };
    let open = |criterion: &&Criterion| {
        criterion.is_required() && criterion.is_checked() && !seen.passed(&criterion.name)
    };
    state.criteria.iter().filter(open).map(|criterion| criterion.name.clone()).collect()
}
