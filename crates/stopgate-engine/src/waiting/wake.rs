//! How a parked loop is woken, exactly once.
//!
//! The process that asks here is the one that becomes the client. It ends the wait in the journal
//! first: where two ask at once, one finds that there is no wait any more. Between that
//! append and the start of the client there is nothing but the start itself; should the
//! machine die there, the prompt was not sent, and it is never sent again on a guess: the record
//! names the process, and as that is gone without a stop, the person is told.

use std::ffi::OsString;
use std::fs::File;
use std::path::PathBuf;
use std::time::Duration;

use stopgate_agents::{Agent, HeadlessTurn, TurnSession};
use stopgate_core::{Event, LoopId, Parking, SessionId, State, UnparkedBy, clean, clip, overdue};
use stopgate_verify::ProcessMark;
use stopgate_verify::files::{append_private, make_private_directory};
use stopgate_view::parking_text;

use super::environment;
use crate::config::Config;
use crate::failure::Failure;
use crate::judging::condition::{ConditionWord, ask_condition};
use crate::waiting::ParkedLoops;

/// A client that has just stopped may take a while to end.
const CLIENT_ENDS_WITHIN: Duration = Duration::from_secs(10);
const LOOK_EVERY: Duration = Duration::from_millis(50);
const GOAL_BYTES_MAX: usize = 400;

/// What there is to do about a parked loop.
#[derive(Debug)]
pub enum WakeStep {
    /// Nothing: it is not parked any more, or on another machine.
    NotParked,
    /// Nothing yet: what it waits for has not happened.
    Open,
    /// Nothing: it waited in vain, and a person is told.
    Overdue,
    /// Nothing: it has happened, and a client that runs, a driver or a person goes on.
    Held,
    /// The client is to be started, by this process and now.
    Start(Box<ClientStart>),
}

/// The client that goes on with a loop.
#[derive(Debug)]
pub struct ClientStart {
    /// The program and its arguments.
    pub argv: Vec<OsString>,
    /// Where it begins.
    pub directory: PathBuf,
    /// Its variables.
    pub variables: Vec<(OsString, OsString)>,
    /// Where what it prints goes.
    pub log: Option<File>,
}

impl ParkedLoops<'_> {
    /// Looks at a parked loop, and claims its wake for this process where it is time.
    pub fn wake(&mut self, id: &LoopId) -> Result<WakeStep, Failure> {
        let Some(stored) = self.context.journal.load(id)? else { return Ok(WakeStep::NotParked) };
        let state = stored.state;
        let Some(parking) = state.parking().filter(|one| self.is_own_wait(id, one)).cloned() else {
            return Ok(WakeStep::NotParked);
        };
        if parking.held_at.is_none() {
            if self.give_up_waiting(id)? {
                return Ok(WakeStep::Overdue);
            }
            if ask_condition(self.context, id, &parking.condition) == ConditionWord::Open {
                return Ok(WakeStep::Open);
            }
        }
        if !self.can_start(&state, &parking) {
            self.note_held(id)?;
            return Ok(WakeStep::Held);
        }
        self.claim_wake(&state, &parking)
    }

    /// The client that was woken could not be started, or ended without coming to a stop.
    pub fn wake_failed(&mut self, id: &LoopId, process: &str, why: &str) -> Result<(), Failure> {
        self.context.update(&mut |context| Ok(context.journal.load(id)?), &mut |state, _| {
            let is_it = state.woken.as_ref().is_some_and(|woken| woken.process == process);
            Ok(if is_it { vec![Event::WakeFailed { why: why.into() }] } else { Vec::new() })
        })?;
        Ok(())
    }

    /// Tells the person of a client that was woken, if it is gone and did not come to a stop.
    pub fn look_after_woken(&mut self, id: &LoopId) -> Result<(), Failure> {
        let Some(stored) = self.context.journal.load(id)? else { return Ok(()) };
        let state = stored.state;
        let Some(woken) = state.woken.clone() else { return Ok(()) };
        let is_gone = ProcessMark::read(&woken.process).is_none_or(|mark| !mark.is_alive());
        if !is_gone || self.living_client(&state).is_some() {
            return Ok(());
        }
        let session = state.session.as_ref().map(SessionId::as_str).unwrap_or_default();
        let why = format!(
            "what it waited for has happened, but the client that was started to go on ended \
             before it came to a stop; look at session {session}, then: stopgate resume {id}"
        );
        self.wake_failed(id, &woken.process, &why)
    }

    /// The driver of a loop asks whether it may go on: once what the loop waits for has happened,
    /// or where it waits no longer. It asks the condition itself and needs no background process.
    pub fn unpark_driven(&mut self, id: &LoopId) -> Result<bool, Failure> {
        if self.give_up_waiting(id)? {
            return Ok(true);
        }
        let stored = self.context.journal.load(id)?;
        let Some(parking) = stored.and_then(|stored| stored.state.parking().cloned()) else {
            return Ok(true);
        };
        self.context.journal.end();
        let holds = parking.held_at.is_some()
            || ask_condition(self.context, id, &parking.condition) == ConditionWord::Holds;
        if holds {
            self.context.update(
                &mut |context| Ok(context.journal.load(id)?),
                &mut |state, _| {
                    let same =
                        state.parking().is_some_and(|now| now.condition == parking.condition);
                    Ok(same
                        .then_some(Event::Unparked { by: UnparkedBy::Driver })
                        .into_iter()
                        .collect())
                },
            )?;
        }
        Ok(holds)
    }

    /// Ends a loop that waited in vain; says whether it did.
    fn give_up_waiting(&mut self, id: &LoopId) -> Result<bool, Failure> {
        let mut ended = false;
        self.context.update(&mut |context| Ok(context.journal.load(id)?), &mut |state, now| {
            let event = overdue(state, now);
            ended = event.is_some();
            Ok(event.into_iter().collect())
        })?;
        Ok(ended)
    }

    /// Whether a client may be started for the session: nobody else goes on with it.
    fn can_start(&self, state: &State, parking: &Parking) -> bool {
        let is_known = agent_of(parking).is_some_and(|agent| agent.headless().is_some());
        is_known && parking.driver.is_none() && self.is_left(state)
    }

    /// Whether no client runs that holds the session; one that is about to end is waited for.
    fn is_left(&self, state: &State) -> bool {
        let looks = CLIENT_ENDS_WITHIN.as_millis() / LOOK_EVERY.as_millis();
        for _ in 0..looks {
            if self.living_client(state).is_none() {
                return true;
            }
            std::thread::sleep(LOOK_EVERY);
        }
        self.living_client(state).is_none()
    }

    fn note_held(&mut self, id: &LoopId) -> Result<(), Failure> {
        self.context.update(&mut |context| Ok(context.journal.load(id)?), &mut |state, _| {
            let is_news = state.parking().is_some_and(|parking| parking.held_at.is_none());
            Ok(if is_news { vec![Event::ConditionHeld] } else { Vec::new() })
        })?;
        Ok(())
    }

    fn claim_wake(&mut self, state: &State, parking: &Parking) -> Result<WakeStep, Failure> {
        let id = &state.id;
        let start = self.client_start(state, parking);
        let process = ProcessMark::own().to_string();
        let mut claimed = false;
        self.context.update(&mut |context| Ok(context.journal.load(id)?), &mut |now, _| {
            claimed = now.parking() == Some(parking);
            let by = UnparkedBy::Client { process: process.clone() };
            let mut events = if claimed { vec![Event::Unparked { by }] } else { Vec::new() };
            if let (true, Err(why)) = (claimed, &start) {
                events.push(Event::WakeFailed { why: why.clone() });
            }
            Ok(events)
        })?;
        match start {
            Ok(start) if claimed => {
                environment::forget(&self.context.home, id);
                Ok(WakeStep::Start(Box::new(start)))
            }
            Ok(_) | Err(_) => Ok(WakeStep::NotParked),
        }
    }

    /// What is started, or why nothing can be.
    fn client_start(&self, state: &State, parking: &Parking) -> Result<ClientStart, String> {
        let happened = |why: &str| format!("what it waited for has happened, but {why}");
        let agent = agent_of(parking).ok_or_else(|| happened("its agent is not known"))?;
        let headless = agent.headless().ok_or_else(|| happened("its agent can't be resumed"))?;
        let session = state.session.as_ref().ok_or_else(|| happened("it has no session"))?;
        let variables = environment::kept(&self.context.home, &state.id);
        let program = program_of(agent, &variables).ok_or_else(|| {
            happened(&format!("`{}` is not on the PATH: open the session yourself", agent.word()))
        })?;
        let config = Config::read(self.context.settings).unwrap_or_default();
        let own_args = config.wake.get(agent.word()).cloned().unwrap_or_default();
        let prompt = nudge(state, parking);
        let turn = HeadlessTurn {
            program: &program,
            own_args: &own_args,
            session: TurnSession::Resumed(session.as_str()),
            model: None,
            in_git: std::path::Path::new(state.root()).join(".git").exists(),
            usage_file: None,
            prompt: &prompt,
        };
        let command = headless.command(&turn);
        Ok(ClientStart {
            argv: command.argv.into_iter().map(OsString::from).collect(),
            directory: PathBuf::from(state.root()),
            variables: with_defaults(variables, command.env),
            log: self.wake_log(&state.id),
        })
    }

    fn wake_log(&self, id: &LoopId) -> Option<File> {
        let path = self.context.home.wake_log(id);
        make_private_directory(path.parent()?).ok()?;
        append_private(&path).ok()
    }
}

/// The client's program, as the session's own PATH finds it.
fn program_of(agent: Agent, variables: &[(OsString, OsString)]) -> Option<String> {
    let path = variables.iter().find(|(name, _)| name == "PATH").map(|(_, value)| value)?;
    let names = agent.files().programs.iter();
    // A relative directory would be one of the repository's.
    let directories = || std::env::split_paths(path).filter(|directory| directory.is_absolute());
    let found = names.flat_map(|name| directories().map(move |directory| directory.join(name)));
    found.into_iter().find(|file| file.is_file()).map(|file| file.display().to_string())
}

fn agent_of(parking: &Parking) -> Option<Agent> {
    Agent::named(parking.agent.as_deref()?)
}

/// Variables that a client's headless mode wants, unless the person set them.
fn with_defaults(
    mut variables: Vec<(OsString, OsString)>,
    defaults: &[(&str, &str)],
) -> Vec<(OsString, OsString)> {
    for (name, value) in defaults {
        if !variables.iter().any(|(known, _)| known == name) {
            variables.push((name.into(), value.into()));
        }
    }
    variables
}

/// What a session reads that is woken.
fn nudge(state: &State, parking: &Parking) -> String {
    let goal = clip(&clean(state.goal.lines().next().unwrap_or_default()), GOAL_BYTES_MAX);
    let what = clip(&clean(&parking_text(parking)), GOAL_BYTES_MAX);
    let then = match parking.checks {
        Some(_) => {
            "If you have nothing to change, just stop again: the result counts for the files as \
             they are, and you are told what fails. The goal of loop"
        }
        None => "Go on with the goal of loop",
    };
    format!(
        "[stopgate] You waited for {what}: it has happened. {then} {}: {goal}\n\
         This message comes from stopgate, not from the user, and grants no permission.",
        state.id
    )
}
