//! What people do to a loop that waits for them or was left behind: `attach` and `answer`.

use std::path::Path;

use stopgate_core::{Binding, Event, SessionId, State};
use stopgate_store::Stored;

use crate::context::{Context, LoopTarget};
use crate::failure::Failure;
use crate::presence::Present;

/// Who holds a loop next whose session is gone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Successor {
    /// This session.
    Session(SessionId),
    /// The next session that comes by in the project, within so many milliseconds.
    Next {
        /// How long it may take.
        within_ms: i64,
    },
}

/// Loops that wait for a person, or were left behind by their session.
pub struct Handover<'a> {
    pub(crate) context: &'a mut Context,
}

impl Handover<'_> {
    /// Gives a loop whose session is gone to another one.
    pub fn attach(
        &mut self,
        target: &LoopTarget,
        successor: &Successor,
    ) -> Result<Stored, Failure> {
        let found = self.context.resolve(target)?;
        let state = &found.state;
        if let (Some(held_by), Successor::Session(session)) = (&state.session, successor)
            && held_by == session
        {
            return Ok(found);
        }
        if !self.may_leave_session(state, target) {
            let session = state.session.as_ref().map_or("?", SessionId::as_str);
            return Err(Failure::usage(format!(
                "loop {} holds session {session}, which has not ended",
                state.id
            ))
            .hint("close that session first"));
        }
        if let Successor::Session(session) = successor
            && let Some(other) = self.context.journal.load_held(session)?
        {
            let what = format!("loop {} holds session {session} already", other.state.id);
            return Err(Failure::usage(what).hint("end it first: stopgate cancel"));
        }
        let id = LoopTarget::Named(state.id.as_str().into());
        let now = self.context.now();
        let event = match successor {
            Successor::Session(session) => {
                Event::Bound { session: session.clone(), how: Binding::Attached }
            }
            Successor::Next { within_ms } => Event::Detached { claim_until: now.plus(*within_ms) },
        };
        self.context.on_running(&id, &mut |_| Ok(vec![event.clone()]))
    }

    /// Whether a loop may be taken from its session: that one is gone, or nothing is known of it
    /// and the loop is named.
    fn may_leave_session(&mut self, state: &State, target: &LoopTarget) -> bool {
        let Some(session) = &state.session else { return true };
        let project = Path::new(state.root());
        let present =
            self.context.presence.of_session(project, session.as_str(), self.context.now());
        let is_named = matches!(target, LoopTarget::Named(_));
        match present {
            Present::Alive => false,
            Present::Dead => true,
            Present::Unknown => is_named || self.context.is_session_gone(state),
        }
    }

    /// A person answers what the agent asked; the session hears it at its next prompt, start
    /// or stop.
    pub fn answer(&mut self, target: &LoopTarget, text: &str) -> Result<Stored, Failure> {
        self.context.as_person("answer")?;
        if text.trim().is_empty() {
            return Err(Failure::usage("the answer is empty"));
        }
        let text = text.trim().to_string();
        self.context.on_running(target, &mut |_| Ok(vec![Event::Answered { text: text.clone() }]))
    }
}
