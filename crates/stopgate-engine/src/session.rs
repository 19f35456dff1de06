//! What a session tells beside its stops: it begins, ends, is spoken to, forgets.

use std::path::Path;

use stopgate_agents::{Call, SessionSource};
use stopgate_core::{Binding, Event, LoopId, SessionId, Speaker, State, announcement, clean, clip};
use stopgate_store::Stored;
use stopgate_verify::ProcessMark;
use stopgate_verify::files::{Durable, replace_private};

use crate::context::Context;
use crate::failure::Failure;
use crate::presence::Arrival;

const TEXT_BYTES_MAX: usize = 400;
const GOAL_BYTES_MAX: usize = 80;
const ANSWER_BYTES_MAX: usize = 4000;
/// A new session follows a cleared one at once, or not at all.
const FOLLOWS_WITHIN_MS: i64 = 60_000;

/// What is said when a session tells something, and to whom.
pub(crate) enum SessionNotice {
    /// The agent reads it.
    Agent(String),
    /// The person reads it.
    Person(String),
}

/// What happens in a session between its stops.
pub(crate) struct SessionHooks<'a> {
    pub(crate) context: &'a mut Context,
}

impl SessionHooks<'_> {
    /// A session begins or begins again; what it, or its person, should know.
    pub(crate) fn session_starts(
        &mut self,
        call: &Call<'_>,
        session: &SessionId,
        project: &Path,
    ) -> Result<Option<SessionNotice>, Failure> {
        let now = self.context.now();
        if self.context.home.directory().exists() {
            let client = self.context.settings.process_of(call.agent);
            let (agent, process) = (Some(call.agent.word()), ProcessMark::client_above());
            let arrival = Arrival { client, agent, process };
            self.context.presence.arrive(project, session.as_str(), arrival, now);
            // A note for `doctor`; nothing depends on it.
            let _ = replace_private(
                &self.context.home.fired(call.agent.word()),
                b"",
                Durable::Buffered,
            );
        }
        if call.source == Some(SessionSource::Clear) {
            self.carry_over(call, session)?;
        }
        if self.may_concern(session, project) {
            let found = self.claim_and(session, project, &mut |_| Vec::new())?;
            if let Some(stored) = found {
                let answer = stored.state.answer.as_deref().map(answered).unwrap_or_default();
                let text = format!("{answer}{}", announcement(&stored.state));
                return Ok(Some(SessionNotice::Agent(text)));
            }
        }
        Ok(self.left_behind(session, project)?.map(SessionNotice::Person))
    }

    /// Says once that loops of this project lost their sessions.
    fn left_behind(
        &mut self,
        session: &SessionId,
        project: &Path,
    ) -> Result<Option<String>, Failure> {
        for dead in self.context.presence.dead(project, self.context.now()) {
            self.context.presence.leave(project, &dead);
            let Some(dead) = SessionId::new(&dead).filter(|dead| dead != session) else { continue };
            let reason = "its client died".to_string();
            let ended =
                self.on_held(&dead, &mut |_| vec![Event::SessionEnded { reason: reason.clone() }])?;
            if let Some(stored) = ended {
                self.context.signs.put_left(project, stored.state.id.as_str());
            }
        }
        let mut lines = Vec::new();
        for id in self.context.signs.take_left(project) {
            let Some(stored) = self.context.journal.load(&LoopId::new(&id))? else { continue };
            let State { id, goal, session: held, .. } = &stored.state;
            if stored.state.outcome().is_none() && held.as_ref().is_some_and(|held| held != session)
            {
                let goal = clip(&clean(goal.lines().next().unwrap_or_default()), GOAL_BYTES_MAX);
                lines.push(format!(
                    "loop {id} ({goal}) is still open, but its session ended. Let this session \
                     go on with it: ! stopgate attach {id}. End it: stopgate cancel {id}"
                ));
            }
        }
        Ok((!lines.is_empty()).then(|| format!("stopgate: {}", lines.join("\n"))))
    }

    /// A session ends; its loop waits for it to come back.
    pub(crate) fn session_ends(
        &mut self,
        call: &Call<'_>,
        session: &SessionId,
        project: &Path,
    ) -> Result<(), Failure> {
        self.context.presence.leave(project, session.as_str());
        let _ = std::fs::remove_file(self.context.home.held_back(session.as_str()));
        if !self.context.signs.may_hold(session.as_str()) {
            return Ok(());
        }
        let reason = call.end_reason.as_deref().unwrap_or("unknown");
        let client = self.context.settings.process_of(call.agent);
        let cleared = client.clone().filter(|_| reason == "clear");
        let ended = self.on_held(session, &mut |_| match &cleared {
            Some(client) => vec![Event::Cleared { client: client.clone() }],
            None => vec![Event::SessionEnded { reason: clip(&clean(reason), TEXT_BYTES_MAX) }],
        })?;
        if let (None, Some(stored)) = (&cleared, &ended) {
            self.context.signs.put_left(project, stored.state.id.as_str());
        }
        if let (Some(client), Some(stored)) = (cleared, ended) {
            let noted = self.context.signs.put_cleared(&client, stored.state.id.as_str());
            noted.map_err(|error| {
                Failure::fault("could not note that a session was cleared").because(error)
            })?;
        }
        Ok(())
    }

    /// Somebody prompts the agent; what it should know of a loop that it claims by this.
    pub(crate) fn prompted(
        &mut self,
        call: &Call<'_>,
        session: &SessionId,
        project: &Path,
    ) -> Result<Option<SessionNotice>, Failure> {
        if call.is_from_client() || !self.may_concern(session, project) {
            return Ok(None);
        }
        let prompt_id = call.prompt_id.as_deref().map(String::from);
        let notification = call.is_task_notification();
        let mut claimed = false;
        let mut answer = None;
        let told = self.claim_and(session, project, &mut |state| {
            claimed = state.session.as_ref() != Some(session);
            answer.clone_from(&state.answer);
            let running = prompt_id.is_some() && prompt_id == state.tally.prompt_id;
            let speaker = match (notification, running) {
                (true, _) => Speaker::Notification,
                (false, true) => Speaker::Interjection,
                (false, false) => Speaker::Person,
            };
            vec![Event::Prompted { prompt_id: prompt_id.clone(), speaker }]
        })?;
        let answer = answer.map(|answer| answered(&answer));
        let announced = told.filter(|_| claimed).map(|stored| announcement(&stored.state));
        let said: Vec<String> = answer.into_iter().chain(announced).collect();
        Ok((!said.is_empty()).then(|| SessionNotice::Agent(said.join("\n"))))
    }

    /// A batch of tools ran: counted in a file, without opening the journal.
    pub(crate) fn tools_ran(&mut self, session: &SessionId) -> Result<(), Failure> {
        if !self.context.signs.counts_tools(session.as_str()) {
            return Ok(());
        }
        let counted = self.context.signs.count_tools(session.as_str());
        counted.map_err(|error| Failure::fault("could not count a batch of tools").because(error))
    }

    /// The session is about to forget; leaves a trace in the journal.
    pub(crate) fn compacts(&mut self, call: &Call<'_>, session: &SessionId) -> Result<(), Failure> {
        let trigger = clip(&clean(call.trigger.as_deref().unwrap_or("unknown")), TEXT_BYTES_MAX);
        self.on_held(session, &mut |_| vec![Event::Compacted { trigger: trigger.clone() }])?;
        Ok(())
    }

    /// The agent's model could not be reached; no stop will come for this turn.
    pub(crate) fn turn_failed(
        &mut self,
        call: &Call<'_>,
        session: &SessionId,
    ) -> Result<(), Failure> {
        let error = clip(&clean(call.error.as_deref().unwrap_or("unknown")), TEXT_BYTES_MAX);
        let text = clip(&clean(call.last_message.as_deref().unwrap_or("")), TEXT_BYTES_MAX);
        self.on_held(session, &mut |_| {
            vec![Event::TurnFailed { error: error.clone(), text: text.clone() }]
        })?;
        Ok(())
    }

    /// Whether the journal is worth opening for this session.
    pub(crate) fn may_concern(&self, session: &SessionId, project: &Path) -> bool {
        self.context.signs.may_hold(session.as_str())
            || (self.context.signs.any_pending() && self.context.signs.may_be_pending(project))
    }

    fn on_held(
        &mut self,
        session: &SessionId,
        happened: &mut dyn FnMut(&State) -> Vec<Event>,
    ) -> Result<Option<Stored>, Failure> {
        if !self.context.signs.may_hold(session.as_str()) {
            return Ok(None);
        }
        self.context
            .update(&mut |context| Ok(context.journal.load_held(session)?), &mut |state, _| {
                Ok(happened(state))
            })
    }

    /// What happened to the session's loop; one that is pending is claimed first.
    fn claim_and(
        &mut self,
        session: &SessionId,
        project: &Path,
        happened: &mut dyn FnMut(&State) -> Vec<Event>,
    ) -> Result<Option<Stored>, Failure> {
        self.context.update(
            &mut |context| Ok(context.holder(session, Some(project))?.map(|(stored, _)| stored)),
            &mut |state, _| {
                let mut events = Vec::new();
                if state.session.as_ref() != Some(session) {
                    events.push(Event::Bound { session: session.clone(), how: Binding::Claimed });
                }
                events.extend(happened(state));
                Ok(events)
            },
        )
    }

    /// The session that follows a cleared one in the same client takes its loop over.
    fn carry_over(&mut self, call: &Call<'_>, session: &SessionId) -> Result<(), Failure> {
        let client = self.context.settings.process_of(call.agent);
        let Some(id) = client.and_then(|client| self.context.signs.take_cleared(&client)) else {
            return Ok(());
        };
        let id = LoopId::new(&id);
        let bound = Event::Bound { session: session.clone(), how: Binding::Carried };
        self.context.update(&mut |context| Ok(context.journal.load(&id)?), &mut |state, now| {
            let follows = now.since(state.updated_at) <= FOLLOWS_WITHIN_MS;
            let carried = follows && state.outcome().is_none();
            Ok(if carried { vec![bound.clone()] } else { Vec::new() })
        })?;
        Ok(())
    }
}

/// What the agent reads of a person's answer.
fn answered(text: &str) -> String {
    let text = clip(&clean(text), ANSWER_BYTES_MAX);
    format!("The person answered your question (by `stopgate answer`): {text}\n")
}
