//! A person's word on a loop whose criteria an agent chose.

use stopgate_core::{
    Event, Facts, Outcome, Phase, Receipt, Rule, Ruling, Soundness, State, Status, Stopped,
    Timestamp, Vouch, apply, is_agents_choice,
};
use stopgate_store::Stored;

use super::approve::Approvals;
use crate::context::{LoopTarget, Stocked};
use crate::failure::Failure;
use crate::judging::certificate::certify;
use crate::judging::look::look_at_loop;
use crate::judging::origin::file_trust;
use crate::verify::Approval;

const ACCEPTED: &str = "the criteria that an agent chose";

impl Approvals<'_> {
    /// Whether all that a loop lacks, or lacked, is a person's word on its criteria.
    pub(crate) fn lacks_word(&self, state: &State) -> bool {
        let open = match &state.phase {
            Phase::Ended { outcome, .. } => *outcome == Outcome::Attested,
            Phase::Active | Phase::Completing | Phase::Waiting { .. } | Phase::Paused { .. } => {
                true
            }
        };
        let checked = || state.criteria.iter().filter(|c| c.is_required());
        let provable = checked().count() > 0 && checked().all(stopgate_core::Criterion::is_checked);
        open && provable && is_agents_choice(state, file_trust(self.context, state))
    }

    /// A person vouches for the criteria: a loop that runs ends as done when they pass, one that
    /// ended as attested is checked once more and ends as done now.
    pub(crate) fn vouch(&mut self, stored: Stored) -> Result<Approval, Failure> {
        let accepted = vec![ACCEPTED.to_string()];
        let id = stored.state.id.clone();
        let vouched = Event::Vouched { how: Vouch::Approved };
        if stored.state.outcome().is_none() {
            let target = LoopTarget::Named(id.as_str().into());
            let stored = self.context.on_running(&target, &mut |_| Ok(vec![vouched.clone()]))?;
            let left = Some("the agent works on; the loop ends when its checks pass".into());
            return Ok(Approval { stored, accepted, left });
        }
        if self.context.journal.soundness(&id)? != Soundness::Sound {
            return Err(Failure::usage(format!("the record of loop {id} can't be confirmed here"))
                .hint("look at it: stopgate status, stopgate store check"));
        }
        let state = stored.state.clone();
        let receipts = look_at_loop(self.context, &state)?;
        if let Some(unmet) = unmet(&state, &receipts) {
            let left = Some(format!("\"{unmet}\" does not pass any more"));
            return Ok(Approval { stored, accepted: Vec::new(), left });
        }
        let stored = self.end_as_done(&state, &receipts, &vouched)?;
        Ok(Approval { stored, accepted, left: None })
    }

    fn end_as_done(
        &mut self,
        state: &State,
        receipts: &[Receipt],
        vouched: &Event,
    ) -> Result<Stored, Failure> {
        let id = state.id.clone();
        let now = self.context.now();
        let approved = apply(Some(state.clone()), vouched, now)
            .ok_or_else(|| Failure::fault("could not apply the event to the loop"))?;
        let stopped = Event::Stopped(Box::new(Stopped {
            rule: Rule::Proof,
            ruling: Ruling::Complete(Outcome::Done),
            why: "all checks pass; approved by a person".into(),
            popped: 0,
            text: String::new(),
            receipts: receipts.to_vec(),
            gates: None,
            facts: Facts::default(),
            tally: approved.tally.clone(),
        }));
        let signed = certify(self.context, &approved, receipts, now)?;
        self.context.journal.begin()?;
        let stored = self.store_unchanged(state, vec![vouched.clone(), stopped, signed], now);
        self.context.journal.end();
        stored?.ok_or_else(|| Failure::usage(format!("loop {id} was changed meanwhile; try again")))
    }

    /// Stores what was decided for a loop as it was; nothing where it is another by now.
    fn store_unchanged(
        &mut self,
        state: &State,
        events: Vec<Event>,
        now: Timestamp,
    ) -> Result<Option<Stored>, Failure> {
        let found = self.context.journal.load(&state.id)?.filter(|found| found.state == *state);
        let Some(found) = found else { return Ok(None) };
        Ok(match self.context.store(found, events, now)? {
            Stocked::Stored(stored) => Some(*stored),
            Stocked::Conflict | Stocked::SessionTaken => None,
        })
    }
}

/// The first criterion that does not pass.
fn unmet<'a>(state: &'a State, receipts: &[Receipt]) -> Option<&'a str> {
    let passed = |name: &str| {
        receipts.iter().any(|receipt| receipt.criterion == name && receipt.status == Status::Pass)
    };
    let mut required = state.criteria.iter().filter(|c| c.is_required() && c.is_checked());
    required.find(|criterion| !passed(&criterion.name)).map(|criterion| criterion.name.as_str())
}
