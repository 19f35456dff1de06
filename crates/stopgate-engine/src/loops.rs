//! What people and agents do to a loop that runs.

pub(crate) mod edit;
pub(crate) mod handover;
pub(crate) mod snapshots;
pub(crate) mod start;

use std::path::PathBuf;

use stopgate_core::{
    Criterion, Event, FRAMES_MAX, Frame, Mode, Outcome, Phase, Proof, Rest, State, Timestamp,
};
use stopgate_dialects::Dialect;
use stopgate_store::{EndedFilter, Filter, Stored};

use crate::checking::end_background_checks;
use crate::context::{Context, LoopTarget, gone, refuse_trail};
use crate::failure::Failure;
use crate::judging::origin::CANCELLED_BY_AGENT;

/// An agent's honest exits that end a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AgentExit {
    /// Something outside its reach is in the way.
    Blocked,
    /// The goal can't be reached.
    Impossible,
}

/// What a claim to be done leads to at the next stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClaimLeadsTo {
    /// The frame on top is closed.
    OuterFrame,
    /// So many checks run, and they decide.
    Checks(usize),
    /// All that is left is a person's word.
    Approval,
    /// The agent's word ends the loop.
    Attested,
}

/// Loops: how they begin, and what people and agents do to them.
pub struct Loops<'a> {
    pub(crate) context: &'a mut Context,
}

impl Loops<'_> {
    /// Loads the loop that `target` means. Where several run, none is guessed.
    pub fn resolve(&mut self, target: &LoopTarget) -> Result<Stored, Failure> {
        self.context.resolve(target)
    }

    /// Loads every loop that `target` may mean: at least one, several only where several run.
    pub fn resolve_all(&mut self, target: &LoopTarget) -> Result<Vec<Stored>, Failure> {
        self.context.resolve_all(target)
    }

    /// Puts a nested frame on top.
    pub fn push(
        &mut self,
        target: &LoopTarget,
        mode: Mode,
        max: u32,
        prompt: &str,
    ) -> Result<Stored, Failure> {
        if max == 0 {
            return Err(Failure::usage("--max-iterations must be at least 1"));
        }
        if prompt.trim().is_empty() {
            return Err(Failure::usage("the frame's prompt is empty"));
        }
        let frame = Frame { mode, iteration: 0, max, prompt: prompt.trim().into() };
        self.context.on_running(target, &mut |state| {
            if state.frames.len() >= FRAMES_MAX {
                return Err(Failure::usage(format!("frames are nested {FRAMES_MAX} deep already")));
            }
            Ok(vec![Event::Pushed { frame: frame.clone() }])
        })
    }

    /// Takes the top frame off.
    pub fn pop(&mut self, target: &LoopTarget) -> Result<Stored, Failure> {
        self.context.on_running(target, &mut |state| {
            if state.frames.len() < 2 {
                return Err(Failure::usage("only the loop itself is left")
                    .hint("end it with: stopgate cancel, or ask for verification: stopgate done"));
            }
            Ok(vec![Event::Popped])
        })
    }

    /// The agent asks for verification.
    pub fn claim(&mut self, target: &LoopTarget) -> Result<Stored, Failure> {
        self.context.on_running(target, &mut |_| Ok(vec![Event::Claimed]))
    }

    /// What a claim to be done leads to at the next stop.
    pub fn claim_leads_to(&self, state: &State) -> ClaimLeadsTo {
        let required = || state.criteria.iter().filter(|criterion| criterion.is_required());
        let checks = required().filter(|criterion| criterion.is_checked()).count();
        let unapproved = |c: &Criterion| c.proof == Proof::Approve && c.approved_at.is_none();
        match checks {
            _ if state.frames.len() > 1 => ClaimLeadsTo::OuterFrame,
            0 if required().any(unapproved) => ClaimLeadsTo::Approval,
            0 => ClaimLeadsTo::Attested,
            checks => ClaimLeadsTo::Checks(checks),
        }
    }

    /// The directories in which loops in other tools' files are known to run.
    pub fn trails(&mut self) -> Result<Vec<(Dialect, PathBuf)>, Failure> {
        let filter = Filter { standing: EndedFilter::Running, ..Filter::default() };
        let running = self.context.journal.list(&filter)?;
        let mut places: Vec<(Dialect, PathBuf)> = Vec::new();
        for State { policy, project, .. } in running.into_iter().map(|stored| stored.state) {
            if let Some(dialect) = Dialect::of(policy.order) {
                places.push((dialect, PathBuf::from(project)));
            }
        }
        Ok(places)
    }

    /// The agent leaves honestly.
    pub fn leave(
        &mut self,
        target: &LoopTarget,
        exit: AgentExit,
        why: &str,
    ) -> Result<Stored, Failure> {
        let (outcome, word) = match exit {
            AgentExit::Blocked => (Outcome::Blocked, "blocked"),
            AgentExit::Impossible => (Outcome::Impossible, "impossible"),
        };
        if why.trim().is_empty() {
            return Err(Failure::usage("say why, for the person who reads it")
                .hint(format!("stopgate {word} \"what is in the way\"")));
        }
        let why = why.trim().to_string();
        self.context
            .on_running(target, &mut |_| Ok(vec![Event::Ended { outcome, why: why.clone() }]))
    }

    /// The agent asks a person and rests until there is an answer.
    pub fn ask(&mut self, target: &LoopTarget, question: &str) -> Result<Stored, Failure> {
        if question.trim().is_empty() {
            return Err(Failure::usage("the question is empty"));
        }
        let question = question.trim().to_string();
        self.context
            .on_running(target, &mut |_| Ok(vec![Event::Asked { question: question.clone() }]))
    }

    /// A person asks the loop to stand aside.
    pub fn pause(&mut self, target: &LoopTarget, rest: Rest) -> Result<Stored, Failure> {
        let paused = self.context.on_running(target, &mut |state| {
            Ok(match state.phase {
                Phase::Paused { rest: now, .. } if now == rest => Vec::new(),
                _ => vec![Event::Paused { rest }],
            })
        })?;
        end_background_checks(&self.context.home, &paused.state.id);
        Ok(paused)
    }

    /// A person lets a loop go on: one that rests, or one that ended for a reason that can be fixed.
    pub fn resume(
        &mut self,
        target: &LoopTarget,
        max_iterations: Option<u32>,
    ) -> Result<Stored, Failure> {
        let found = self.context.resolve(target)?;
        refuse_trail(&found.state)?;
        self.refuse_second(&found.state)?;
        let id = found.state.id;
        let resumed = self.context.update(
            &mut |context| Ok(context.journal.load(&id)?),
            &mut |state, now| {
                may_resume(state, max_iterations, now)?;
                Ok(vec![Event::Resumed { max_iterations }])
            },
        )?;
        resumed.ok_or_else(|| gone(&id))
    }

    /// A person ends a loop, for good, and the checks that run for it; one that is over
    /// already stays what it is.
    pub fn cancel(&mut self, target: &LoopTarget) -> Result<Stored, Failure> {
        let found = self.context.resolve(target)?;
        if found.state.outcome().is_some() {
            return Ok(found);
        }
        refuse_trail(&found.state)?;
        let why = self.cancelled_by();
        self.context.end(&found.state.id, Outcome::Cancelled, why)
    }

    /// A person ends every loop that runs.
    pub fn cancel_all(&mut self) -> Result<Vec<Stored>, Failure> {
        let filter = Filter { standing: EndedFilter::Running, ..Filter::default() };
        let why = self.cancelled_by();
        let running = self.context.journal.list(&filter)?;
        running
            .into_iter()
            .filter(|stored| stored.state.policy.order.is_native())
            .map(|stored| self.context.end(&stored.state.id, Outcome::Cancelled, why))
            .collect()
    }

    fn cancelled_by(&self) -> &'static str {
        if self.context.world.is_agents_shell() {
            CANCELLED_BY_AGENT
        } else {
            "cancelled by a person"
        }
    }

    fn refuse_second(&mut self, state: &State) -> Result<(), Failure> {
        let Some(session) = &state.session else { return Ok(()) };
        match self.context.journal.load_held(session)? {
            Some(other) if other.state.id != state.id => {
                Err(Failure::usage(format!("loop {} holds the session now", other.state.id)))
            }
            Some(_) | None => Ok(()),
        }
    }
}

fn may_resume(state: &State, max_iterations: Option<u32>, now: Timestamp) -> Result<(), Failure> {
    if let Some(outcome) = state.outcome()
        && !outcome.can_resume()
    {
        return Err(Failure::usage(format!(
            "loop {} ended as {outcome}, which is final",
            state.id
        ))
        .hint("begin a new one with: stopgate start"));
    }
    // Nothing ownerless is adopted later.
    if state.session.is_none() && state.claim_until.is_some_and(|until| until < now) {
        return Err(Failure::usage(format!("nobody claimed loop {} in time", state.id))
            .hint(format!("give it to a session: stopgate attach {}", state.id)));
    }
    let used = state.frames.first().map_or(0, |frame| frame.iteration);
    let max = max_iterations.or_else(|| state.frames.first().map(|frame| frame.max)).unwrap_or(0);
    if max <= used {
        return Err(Failure::usage(format!("all of its {used} continuations are used")).hint(
            format!("allow more: stopgate resume {} --max-iterations {}", state.id, used + 10),
        ));
    }
    Ok(())
}
