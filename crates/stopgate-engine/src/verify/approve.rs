//! A person's word on a loop: on criteria that only they can attest, and on changed judges.

use std::path::Path;

use stopgate_core::{
    Criterion, Event, Leave, Outcome, Phase, Proof, Ruling, Seen, State, Status, Verdict, Waiting,
    conclude,
};
use stopgate_store::Stored;
use stopgate_verify::ChangedJudges;

use crate::context::{Context, LoopTarget, Stocked};
use crate::failure::Failure;
use crate::judging::certificate::certify;
use crate::judging::ground::new_basis;
use crate::judging::look::{changed, look_at_loop};
use crate::project_file::content_at;
use crate::trust::{Trust, untrusted};

const TRIES_MAX: usize = 8;

/// What a person's word led to.
#[derive(Debug)]
pub struct Approval {
    /// The loop as it is now.
    pub stored: Stored,
    /// What was said to be all right.
    pub accepted: Vec<String>,
    /// What still stands in the way, where something does.
    pub left: Option<String>,
}

/// What a person is asked about.
#[derive(Clone, Debug, Default)]
pub struct ApprovalAsked {
    /// The criteria that only a person can attest.
    pub criteria: Vec<String>,
    /// Tests of the start that fail now.
    pub failing: Vec<String>,
    /// Why the judges of the start could not be asked, where they could not.
    pub reasons: Vec<String>,
    /// What changed of the judges.
    pub changed: ChangedJudges,
    /// Identifies exactly these changes, where there are any.
    pub digest: Option<String>,
    /// Whether all that is asked for is a word on criteria that an agent chose.
    pub agents_choice: bool,
}

/// A person's word on a loop, and what it leads to.
pub struct Approvals<'a> {
    pub(crate) context: &'a mut Context,
}

impl Approvals<'_> {
    /// What a person is asked about, as it stands now.
    pub fn approval_asked(
        &mut self,
        target: &LoopTarget,
        name: Option<&str>,
    ) -> Result<ApprovalAsked, Failure> {
        self.context.as_person("approve")?;
        let stored = self.context.resolve(target)?;
        let state = &stored.state;
        let mut asked = ApprovalAsked { criteria: waiting(state, name)?, ..Default::default() };
        for disputed in disputed(state) {
            asked.digest = Some(disputed.digest.clone());
            asked.failing.extend(disputed.failing.iter().cloned());
            asked.reasons.extend(disputed.reason.clone());
        }
        if asked.digest.is_some() {
            asked.changed = changed(self.context, state)?;
        }
        if asked.criteria.is_empty() && asked.digest.is_none() {
            asked.agents_choice = name.is_none() && self.lacks_word(state);
            if !asked.agents_choice {
                return Err(Failure::usage(format!(
                    "loop {} is not waiting for a person",
                    state.id
                ))
                .hint("to accept the judges as they are now: stopgate approve --change"));
            }
        }
        Ok(asked)
    }

    /// A person attests criteria and accepts changed judges, exactly as they were shown.
    pub fn approve(
        &mut self,
        target: &LoopTarget,
        asked: &ApprovalAsked,
    ) -> Result<Approval, Failure> {
        self.context.as_person("approve")?;
        if asked.agents_choice {
            let found = self.context.resolve(target)?;
            return self.vouch(found);
        }
        let by = self.context.settings.person();
        let stored = self.context.on_running(target, &mut |_| {
            let attested =
                asked.criteria.iter().map(|name| Event::Approved { criterion: name.clone() });
            let judges = asked.digest.clone();
            let judges = judges.map(|digest| Event::JudgesApproved { digest, by: by.clone() });
            Ok(attested.chain(judges).collect())
        })?;
        let accepted = asked.criteria.iter().chain(&asked.changed.texts).cloned().collect();
        self.conclude(stored, accepted)
    }

    /// Ends a loop that waited for nothing but a person's word, if everything else still holds.
    fn conclude(&mut self, stored: Stored, accepted: Vec<String>) -> Result<Approval, Failure> {
        let open = |c: &&Criterion| {
            c.is_required() && c.proof == Proof::Approve && c.approved_at.is_none()
        };
        if let Some(criterion) = stored.state.criteria.iter().find(open) {
            let left = Some(format!("\"{}\" waits for a person's word, too", criterion.name));
            return Ok(Approval { stored, accepted, left });
        }
        if !self.waited_for_approval(&stored.state)? {
            let left = Some("the agent works on; the loop ends when its checks pass".into());
            return Ok(Approval { stored, accepted, left });
        }
        if Trust::of(&self.context.home).lacks(&stored.state) {
            return Err(untrusted());
        }
        let receipts = look_at_loop(self.context, &stored.state)?;
        let seen = Seen { receipts, ..Seen::default() };
        let id = stored.state.id.clone();
        for _ in 0..TRIES_MAX {
            let Some(stored) = self.context.journal.load(&id)? else { break };
            let Some(decision) = conclude(&stored.state, &seen) else {
                let left = Some(still_open(&stored.state, &seen));
                return Ok(Approval { stored, accepted, left });
            };
            let left = matches!(decision.verdict, Verdict::Allow(Leave::Merge)).then(|| {
                format!("the merge of its worktree is left: stopgate run {id} --continue -- AGENT")
            });
            let now = self.context.now();
            let mut events = decision.events;
            if matches!(decision.verdict, Verdict::Complete { outcome: Outcome::Done, .. }) {
                events.push(certify(self.context, &stored.state, &seen.receipts, now)?);
            }
            if let Stocked::Stored(stored) = self.context.store(stored, events, now)? {
                return Ok(Approval { stored: *stored, accepted, left });
            }
        }
        Err(Failure::fault("could not end the loop: it kept changing"))
    }

    /// Whether the loop had stopped for nothing but a person's word.
    fn waited_for_approval(&mut self, state: &State) -> Result<bool, Failure> {
        let history = self.context.journal.history(&state.id)?;
        let last = history.iter().rev().find_map(|entry| match &entry.recorded.event {
            Event::Stopped(stopped) => Some(stopped.ruling),
            _other => None,
        });
        Ok(last == Some(Ruling::Allow(Leave::Approval)))
    }

    /// A person makes today's judges the ones to go by.
    pub fn approve_change(&mut self, target: &LoopTarget) -> Result<Approval, Failure> {
        self.context.as_person("approve --change")?;
        let stored = self.context.resolve(target)?;
        let state = &stored.state;
        if !state.outcome().is_none_or(Outcome::can_resume) {
            return Err(Failure::usage(format!("loop {} is over", state.id)));
        }
        let changes = changed(self.context, state)?.texts;
        if changes.is_empty() {
            return Err(Failure::usage("no judge has changed since the start"));
        }
        let seal = new_basis(self.context, Path::new(state.root()), &state.criteria)?;
        let source = state.ground.source.as_ref().and_then(|s| content_at(Path::new(&s.path)));
        let event = Event::Resealed { seal, changes: changes.clone(), source };
        let waits = matches!(state.phase, Phase::Waiting { on: Waiting::Approval, .. });
        let revive =
            waits || matches!(state.outcome(), Some(Outcome::Tampered | Outcome::NeedsApproval));
        let id = state.id.clone();
        let stored =
            self.context.on_loop(&LoopTarget::Named(id.as_str().into()), &mut |_, _| {
                let mut events = vec![event.clone()];
                if revive {
                    events.push(Event::Resumed { max_iterations: None });
                }
                Ok(events)
            })?;
        Ok(Approval { stored, accepted: changes, left: None })
    }
}

/// A criterion whose judges changed, as it was last seen.
struct Disputed {
    digest: String,
    failing: Vec<String>,
    reason: Option<String>,
}

fn disputed(state: &State) -> Vec<Disputed> {
    let last = state.criteria.iter().filter_map(|criterion| criterion.last.as_ref());
    last.filter(|last| last.status == Status::NeedsApproval)
        .filter_map(|last| last.kept.as_ref())
        .filter_map(|kept| {
            let original = kept.evidence.original.as_ref()?;
            Some(Disputed {
                digest: original.digest.clone(),
                failing: original.failing.clone(),
                reason: kept.trouble.clone(),
            })
        })
        .collect()
}

/// What keeps a loop from ending although a person gave their word.
fn still_open(state: &State, seen: &Seen) -> String {
    let required = || state.criteria.iter().filter(|c| c.is_required() && c.is_checked());
    let changed = |c: &&Criterion| {
        seen.receipt(&c.name).is_some_and(|receipt| receipt.status == Status::NeedsApproval)
    };
    if let Some(criterion) = required().find(changed) {
        return format!(
            "the judges of \"{}\" changed since they were shown: run stopgate approve again",
            criterion.name
        );
    }
    match required().find(|criterion| !seen.passed(&criterion.name)) {
        Some(criterion) => format!("\"{}\" does not pass any more", criterion.name),
        None => "the agent has not said that it is finished".into(),
    }
}

/// The criteria that wait for a person's word and are meant.
fn waiting(state: &State, name: Option<&str>) -> Result<Vec<String>, Failure> {
    let waits = |c: &&Criterion| c.proof == Proof::Approve && c.approved_at.is_none();
    let all: Vec<String> = state.criteria.iter().filter(waits).map(|c| c.name.clone()).collect();
    match name {
        None => Ok(all),
        Some(name) if all.iter().any(|waiting| waiting == name) => Ok(vec![name.into()]),
        Some(name) => Err(Failure::usage(format!("\"{name}\" is not waiting for a person's word"))),
    }
}
