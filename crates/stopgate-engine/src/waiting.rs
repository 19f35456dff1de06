//! A loop is parked until something outside its session happens, and woken when it has.
//!
//! A stop that arrives asks for the condition itself. Else a background process watches, and
//! a process that is about to become the session's client claims the wake: it ends the wait in the
//! journal, where only one can, and then becomes the client. So nobody is woken twice, and
//! a watching process may be killed at any moment.

mod environment;
mod wake;

use std::path::{Path, PathBuf};

use stopgate_agents::Agent;
use stopgate_core::{Event, LoopId, Parking, Phase, State, WaitCondition, WokenClient};
use stopgate_store::{EndedFilter, Filter, Stored};
use stopgate_verify::ProcessMark;

pub use self::wake::{ClientStart, WakeStep};
pub use crate::judging::condition::{WaitFor, holds_at_a_look, watch_points};
pub use crate::judging::wait_note::started_anew;

use crate::context::{Context, LoopTarget};
use crate::failure::Failure;
use crate::judging::{condition, wait_note};

/// How long a loop waits where nobody says.
const DEADLINE_MS: i64 = 24 * 60 * 60 * 1000;
/// A time is reached a little before its deadline.
const AFTER_TIME_MS: i64 = 60 * 60 * 1000;

/// A wish to park a loop.
#[derive(Clone, Debug)]
pub struct WaitRequest {
    /// What it waits for.
    pub what: WaitFor,
    /// How long it may wait; the usual time where nobody says.
    pub deadline_ms: Option<i64>,
    /// The directory in which it was asked for.
    pub directory: PathBuf,
}

/// A loop that is parked on this machine.
#[derive(Clone, Debug)]
pub struct ParkedLoop {
    /// Its name.
    pub id: LoopId,
    /// What it waits for.
    pub parking: Parking,
    /// The client that holds its session, where one is known to run.
    pub client: Option<ProcessMark>,
}

/// What the background process has to watch.
#[derive(Clone, Debug, Default)]
pub struct WatchList {
    /// Loops that are parked.
    pub parked: Vec<ParkedLoop>,
    /// Clients that were woken and have not come to a stop yet.
    pub woken: Vec<(LoopId, WokenClient)>,
}

/// Loops that are parked until something outside their session happens.
pub struct ParkedLoops<'a> {
    pub(crate) context: &'a mut Context,
}

impl ParkedLoops<'_> {
    /// Parks a loop until something happens.
    pub fn wait(&mut self, target: &LoopTarget, request: &WaitRequest) -> Result<Stored, Failure> {
        let found = self.context.resolve(target)?.state;
        let parking = self.parking(&found, request)?;
        let stored = self.context.on_running(target, &mut |state| {
            refuse_loose(state)?;
            Ok(vec![Event::Parked(Box::new(parking.clone()))])
        })?;
        wait_note::keep(&self.context.home, &stored.state.id, &parking.condition)?;
        self.note_client(&stored.state);
        Ok(stored)
    }

    /// What there is to watch on this machine.
    pub fn watch_list(&mut self) -> Result<WatchList, Failure> {
        let filter = Filter { standing: EndedFilter::Running, ..Filter::default() };
        let mut list = WatchList::default();
        for Stored { state, .. } in self.context.journal.list(&filter)? {
            if let Some(woken) = &state.woken {
                list.woken.push((state.id.clone(), woken.clone()));
            }
            if let Some(parking) = state.parking().filter(|one| self.is_own_wait(&state.id, one)) {
                let client = self.living_client(&state);
                list.parked.push(ParkedLoop {
                    id: state.id.clone(),
                    parking: parking.clone(),
                    client,
                });
            }
        }
        Ok(list)
    }

    /// Whether a wait is this machine's to watch: it began here, and says so.
    fn is_own_wait(&self, id: &LoopId, parking: &Parking) -> bool {
        is_here(parking) && wait_note::began_here(&self.context.home, id, &parking.condition)
    }

    /// The process of the client that holds a loop's session, where one is known to run.
    pub(crate) fn living_client(&self, state: &State) -> Option<ProcessMark> {
        let session = state.session.as_ref()?;
        self.context.presence.client_of(Path::new(state.root()), session.as_str())
    }

    fn parking(&self, state: &State, request: &WaitRequest) -> Result<Parking, Failure> {
        let now = self.context.now();
        let condition = condition::begin(&request.what, &request.directory, now)?;
        let deadline = match (&condition, request.deadline_ms) {
            (WaitCondition::Time { at }, None) => now.plus(DEADLINE_MS).max(at.plus(AFTER_TIME_MS)),
            (WaitCondition::Time { at }, Some(ms)) if now.plus(ms) < *at => {
                return Err(Failure::usage("--deadline is before the time of --until"));
            }
            (_, ms) => now.plus(ms.unwrap_or(DEADLINE_MS)),
        };
        Ok(Parking {
            condition,
            deadline,
            agent: self.agent_of(state).map(|agent| agent.word().into()),
            host: Some(stopgate_system::host_name()),
            driver: self.context.settings.driver(),
            held_at: None,
            checks: None,
        })
    }

    /// The agent whose session a loop holds: the one whose shell this is, else the one that said hello.
    fn agent_of(&self, state: &State) -> Option<Agent> {
        let shown = Agent::ALL.into_iter().find(|agent| self.context.settings.shows(*agent));
        let session = state.session.as_ref()?;
        let said = || self.context.presence.agent_of(Path::new(state.root()), session.as_str());
        shown.or_else(|| said().and_then(|word| Agent::named(&word)))
    }

    /// Notes which client runs this command, where it is a client's shell.
    fn note_client(&self, state: &State) {
        let Some(session) =
            state.session.as_ref().filter(|_| self.context.settings.is_agents_shell())
        else {
            return;
        };
        let agent = self.agent_of(state);
        let process = agent.and_then(|agent| self.context.settings.process_of(agent));
        let here = crate::presence::Arrival {
            client: process,
            agent: agent.map(Agent::word),
            process: ProcessMark::client_above(),
        };
        self.context.presence.arrive(
            Path::new(state.root()),
            session.as_str(),
            here,
            self.context.now(),
        );
    }
}

/// Only what holds a session can be woken.
fn refuse_loose(state: &State) -> Result<(), Failure> {
    if matches!(state.phase, Phase::Paused { .. }) {
        return Err(Failure::usage(format!("loop {} is paused by a person", state.id))
            .hint(format!("it goes on with: stopgate resume {}", state.id)));
    }
    match state.session {
        Some(_) => Ok(()),
        None => Err(Failure::usage(format!("loop {} has no session to wake yet", state.id))
            .hint("wait in the session that works on it")),
    }
}

/// Whether a wait is watched on this machine.
fn is_here(parking: &Parking) -> bool {
    parking.host.as_ref().is_none_or(|host| *host == stopgate_system::host_name())
}
