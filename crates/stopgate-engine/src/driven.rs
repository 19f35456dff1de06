//! What the driver of `stopgate run` asks of the engine: whose session a loop holds, whether a stop
//! was judged, and a judgement where no hook gave one.
//!
//! A session that the driver started is told by [`crate::DRIVEN`] whose it is. The hook judges and
//! records its stops as ever, but lets the agent go: the driver carries the loop on, in this session
//! or a fresh one.

use std::borrow::Cow;
use std::path::Path;

use stopgate_agents::{Agent, Call, HookEvent as CallEvent};
use stopgate_core::{
    Binding, Event, LoopId, Outcome, Phase, Rest, SessionId, Speaker, clean, clip, reached_budget,
};
use stopgate_dialects::Dialect;
use stopgate_dialects::features::FeatureList;
use stopgate_store::Stored;

use crate::context::{Context, LoopTarget};
use crate::dialect::{self, DialectCall, NextFeature};
use crate::failure::Failure;
use crate::observe::ClientFacts;
use crate::stop::Stops;
use crate::view::LoopView;

/// How much of a client's error is kept.
const ERROR_BYTES_MAX: usize = 400;

/// The end of a session that a driver saw.
#[derive(Clone, Copy, Debug)]
pub struct DrivenStop<'a> {
    /// The client, if it is one that is known.
    pub agent: Option<Agent>,
    /// The session.
    pub session: &'a str,
    /// Where it ran.
    pub directory: &'a Path,
    /// What the agent said last.
    pub said: &'a str,
    /// The session's record, where it is known.
    pub record: Option<&'a str>,
}

impl DrivenStop<'_> {
    /// The call that a hook would have been given.
    fn call(&self) -> Call<'_> {
        let [first, ..] = Agent::ALL;
        let agent = self.agent.unwrap_or(first);
        Call {
            cwd: Some(self.directory.to_string_lossy()),
            transcript: self.record.map(Cow::Borrowed),
            last_message: Some(Cow::Borrowed(self.said)),
            ..Call::new(agent, CallEvent::Stop, Cow::Borrowed(self.session))
        }
    }
}

/// What the driver of sessions tells and asks.
pub struct Driven<'a> {
    pub(crate) context: &'a mut Context,
}

impl Driven<'_> {
    /// Gives a loop to a session that its driver starts; the one before is known to be gone.
    pub fn hand_to(&mut self, id: &LoopId, session: &str) -> Result<Stored, Failure> {
        let session = SessionId::new(session)
            .ok_or_else(|| Failure::fault("could not bind the loop: the session has no id"))?;
        if let Some(other) = self.context.journal.load_held(&session)?
            && other.state.id != *id
        {
            let what = format!("loop {} holds session {session}", other.state.id);
            return Err(Failure::usage(what).hint("end it first: stopgate cancel"));
        }
        self.on_driven(id, &mut |held_by, _| {
            (held_by != Some(&session))
                .then(|| Event::Bound { session: session.clone(), how: Binding::Attached })
        })
    }

    /// Judges the end of a session for which no hook did.
    pub fn judge_driven(&mut self, stop: &DrivenStop<'_>) -> Result<(), Failure> {
        let session = SessionId::new(stop.session)
            .ok_or_else(|| Failure::fault("could not judge the stop: the session has no id"))?;
        let client = ClientFacts { is_driver: true, ..ClientFacts::default() };
        let judged =
            Stops { context: self.context }.judge_stop(&stop.call(), &session, None, &client);
        // A hook's turn at the journal ends with its process; ours goes on.
        self.context.journal.end();
        judged.map(drop)
    }

    /// The loop as it is now.
    pub fn driven(&mut self, id: &LoopId) -> Result<Stored, Failure> {
        self.context.resolve(&LoopTarget::Named(id.as_str().into()))
    }

    /// Notes that a session of a loop failed; not a stop, and not counted.
    pub fn driven_failed(&mut self, id: &LoopId, class: &str, said: &str) -> Result<(), Failure> {
        let (error, text) = (clip(class, ERROR_BYTES_MAX), clip(&clean(said), ERROR_BYTES_MAX));
        self.on_driven(id, &mut |_, _| {
            Some(Event::TurnFailed { error: error.clone(), text: text.clone() })
        })?;
        Ok(())
    }

    /// The loop rests while its driver waits: that is not time of work. A person's pause is another one.
    pub fn driven_rests(&mut self, id: &LoopId) -> Result<(), Failure> {
        self.on_driven(id, &mut |_, phase| {
            (!matches!(phase, Phase::Paused { .. }))
                .then_some(Event::Paused { rest: Rest::NextSession })
        })?;
        Ok(())
    }

    /// It goes on after such a rest.
    pub fn driven_wakes(&mut self, id: &LoopId) -> Result<(), Failure> {
        self.on_driven(id, &mut |_, phase| {
            matches!(phase, Phase::Paused { rest: Rest::NextSession, .. })
                .then_some(Event::Resumed { max_iterations: None })
        })?;
        Ok(())
    }

    /// The next session is told the person's answer in its prompt.
    pub fn answer_told(&mut self, id: &LoopId) -> Result<(), Failure> {
        self.on_driven(id, &mut |_, _| {
            Some(Event::Prompted { prompt_id: None, speaker: Speaker::Person })
        })?;
        Ok(())
    }

    /// Why the loop may use no more, where it has reached a limit on what is used.
    pub fn driven_budget(&mut self, id: &LoopId) -> Result<Option<String>, Failure> {
        let state = self.driven(id)?.state;
        let runs = state.outcome().is_none();
        Ok(reached_budget(&state).filter(|_| runs).map(|(_, why)| why))
    }

    /// Ends a loop whose driver can't go on.
    pub fn driven_ends(
        &mut self,
        id: &LoopId,
        outcome: Outcome,
        why: &str,
    ) -> Result<Stored, Failure> {
        self.context.end(id, outcome, &clip(&clean(why), ERROR_BYTES_MAX))
    }

    /// What happens to a loop unless it is over.
    fn on_driven(
        &mut self,
        id: &LoopId,
        happened: &mut dyn FnMut(Option<&SessionId>, &Phase) -> Option<Event>,
    ) -> Result<Stored, Failure> {
        let changed = self.context.update(
            &mut |context| Ok(context.journal.load(id)?),
            &mut |state, _| {
                let is_over = state.outcome().is_some();
                let event =
                    if is_over { None } else { happened(state.session.as_ref(), &state.phase) };
                Ok(event.into_iter().collect())
            },
        )?;
        changed.ok_or_else(|| Failure::no_loop(format!("loop {id} is gone")))
    }
}

impl DialectCall {
    /// Judges the end of a session for which no hook did.
    pub fn judge_driven(&self, stop: &DrivenStop<'_>) -> Result<(), Failure> {
        dialect::answer(self, &stop.call(), b"")?;
        Ok(())
    }

    /// Changes with every stop that is judged.
    pub fn stops_judged(&self) -> Result<String, Failure> {
        let Some(file) = self.state_file()? else { return Ok(String::new()) };
        let held = self.hold(&file)?;
        let memory = &held.memory;
        Ok(format!("{}:{}:{:?}", memory.run, memory.tally.stops, memory.trail))
    }

    /// How the loop stands, and how it ended where the file has only a word for it.
    pub fn driven_view(&self) -> Result<LoopView, Failure> {
        let mut view = self.view_loop()?;
        let ended = match self.request.dialect {
            Dialect::Features => self.features_end()?,
            Dialect::Task => self.task_end()?,
            Dialect::Idle | Dialect::Criteria | Dialect::RalphLoop => None,
        };
        if let Some((outcome, why)) = ended.filter(|_| view.outcome.is_none()) {
            view.outcome = Some(outcome);
            view.why = Some(why);
        }
        Ok(view)
    }

    /// What is to be built next, and by which model.
    pub fn next_feature(&self) -> Result<Option<NextFeature>, Failure> {
        if self.request.dialect != Dialect::Features {
            return Ok(None);
        }
        let Some(text) = self.feature_list()? else { return Ok(None) };
        let list = FeatureList::read(&text)
            .map_err(|error| Failure::fault("could not use the list of features").because(error))?;
        Ok(list.next().map(|feature| NextFeature::of(&list, feature)))
    }

    /// The directory in which the loop's files are.
    pub fn directory(&self) -> &Path {
        &self.directory
    }
}
