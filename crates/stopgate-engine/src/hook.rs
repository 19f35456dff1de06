//! One hook call, from bytes to bytes.
//!
//! Whatever goes wrong lets the agent stop: a fault is logged and answered with a
//! plain "go ahead", and nothing is recorded as done because of it.

use std::path::{Path, PathBuf};

use stopgate_agents::claude::{self, Client, Version};
use stopgate_agents::{Answer, Call, Event, Reply};
use stopgate_core::{Enforcement, SessionId, State, Timestamp, Verdict};

use crate::engine::Engine;
use crate::failure::{Failure, chain};
use crate::home::Home;
use crate::log::Log;
use crate::observe::ClientFacts;
use crate::project::project_of;
use crate::settings::Settings;
use crate::signs::Signs;
use crate::stop::Judged;

/// No journal was written before this; a clock that says so is wrong. (2024-01-01)
const CLOCK_EARLIEST: Timestamp = Timestamp::from_unix_millis(1_704_067_200_000);

/// Whether the hook's answers bind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// They do.
    Enforce,
    /// Decide and record, always allow.
    Shadow,
}

/// One hook process.
#[derive(Debug)]
pub struct Hook {
    settings: Settings,
    mode: Mode,
    engine_home: Option<Home>,
}

/// What the hook prints, and what it still has to do after that.
pub struct HookAnswer {
    /// For the agent.
    pub reply: Reply,
    /// The engine, where one was opened; settle it after printing.
    pub engine: Option<Engine>,
    /// A line for standard error, where the log can't be written.
    pub complaint: Option<String>,
}

impl Hook {
    /// A hook in this environment; nothing where a kill switch is thrown.
    pub fn new(settings: Settings, mode: Mode) -> Option<Self> {
        if settings.is_disabled() {
            return None;
        }
        let engine_home = settings.home().ok();
        if engine_home.as_ref().is_some_and(Home::is_stopped) {
            return None;
        }
        Some(Self { settings, mode, engine_home })
    }

    /// Answers one payload.
    pub fn answer(&self, raw: &[u8], event: Option<&str>) -> HookAnswer {
        let mut engine = None;
        let call = claude::parse(raw, event);
        let answered = match &call {
            Ok(call) => self.serve(call, &mut engine),
            Err(error) => Err(Failure::fault(format!("could not {}", chain(error)))),
        };
        match answered {
            Ok(reply) => HookAnswer { reply, engine, complaint: None },
            Err(failure) => {
                let session = call.as_ref().ok().map(|call| &*call.session);
                let complaint = self.complain(session, &failure.story());
                HookAnswer { reply: Reply::default(), engine, complaint }
            }
        }
    }

    /// Logs a fault; gives the line back where the log can't be written.
    pub fn complain(&self, session: Option<&str>, story: &str) -> Option<String> {
        stopgate_verify::survive_size_limit();
        let own = self.settings.log();
        let path = own.or_else(|| self.engine_home.as_ref().map(Home::log));
        let now = crate::world::World::now(&crate::world::RealWorld::new(self.settings));
        match path {
            Some(path) => Log::new(path).fault(now, session, story).err(),
            None => Some(format!("stopgate: {story}\n")),
        }
    }

    fn serve(&self, call: &Call<'_>, kept: &mut Option<Engine>) -> Result<Reply, Failure> {
        if matches!(call.event, Event::SubagentStop | Event::Other) {
            return Ok(Reply::default());
        }
        let cwd = cwd(call)?;
        let Some(home) = &self.engine_home else {
            return Err(Failure::fault(
                "could not tell where the journal is: no home folder is set",
            ));
        };
        // The common case ends here: no sign, no journal.
        if !self.is_worth_opening(call, home, cwd) {
            return Ok(Reply::default());
        }
        let session = SessionId::new(&call.session)
            .ok_or_else(|| Failure::fault("could not tell whose call this is"))?;
        stopgate_verify::survive_size_limit();
        let world = Box::new(crate::world::RealWorld::new(self.settings));
        let engine = kept.insert(Engine::over_existing(home.clone(), world, self.settings)?);
        if engine.now() < CLOCK_EARLIEST {
            return Err(Failure::fault("could not judge the stop: the clock is wrong"));
        }
        self.dispatch(engine, call, &session, &self.place(cwd))
    }

    fn dispatch(
        &self,
        engine: &mut Engine,
        call: &Call<'_>,
        session: &SessionId,
        place: &Path,
    ) -> Result<Reply, Failure> {
        let told = match call.event {
            Event::Stop => return self.stop(engine, call, session, place),
            Event::SessionStart => engine.session_starts(call, session, &project_of(place))?,
            Event::UserPromptSubmit => engine.prompted(call, session, &project_of(place))?,
            Event::SessionEnd => {
                engine.session_ends(call, session, &project_of(place))?;
                None
            }
            Event::PostToolBatch => {
                engine.tools_ran(session)?;
                None
            }
            Event::PreCompact => {
                engine.compacts(call, session)?;
                None
            }
            Event::StopFailure => {
                engine.turn_failed(call, session)?;
                None
            }
            Event::SubagentStop | Event::Other => None,
        };
        let client = self.client();
        Ok(told.map_or_else(Reply::default, |text| {
            claude::render(&Answer::Context { event: call.event, text: &text }, &client)
        }))
    }

    fn stop(
        &self,
        engine: &mut Engine,
        call: &Call<'_>,
        session: &SessionId,
        place: &Path,
    ) -> Result<Reply, Failure> {
        let client = self.client();
        let cap = claude::block_cap(self.settings.block_cap().as_deref(), client.version.as_ref());
        let project = engine.signs.any_pending().then(|| project_of(place));
        let judged = engine.judge_stop(call, session, project.as_deref(), &ClientFacts { cap })?;
        Ok(judged.map_or_else(Reply::default, |judged| self.render(&judged, client)))
    }

    fn render(&self, judged: &Judged, client: Client) -> Reply {
        let shadow =
            self.mode == Mode::Shadow || judged.state.policy.enforcement == Enforcement::Shadow;
        match &judged.verdict {
            Verdict::Continue { .. } if shadow => Reply::default(),
            Verdict::Continue { text } => claude::render(&Answer::Continue(text), &client),
            Verdict::Allow(_) => Reply::default(),
            Verdict::Complete { outcome, why } | Verdict::Escalate { outcome, why } => {
                let said = farewell(&judged.state, outcome.word(), why);
                claude::render(&Answer::Tell(&said), &client)
            }
        }
    }

    fn client(&self) -> Client {
        let version = self.settings.ai_agent().as_deref().and_then(Version::from_ai_agent);
        Client { version }
    }

    /// The folder that the call is about: the client's own, else the one it names.
    fn place(&self, cwd: &Path) -> PathBuf {
        self.settings.client_folder().unwrap_or_else(|| cwd.into())
    }

    fn is_worth_opening(&self, call: &Call<'_>, home: &Home, cwd: &Path) -> bool {
        let Some(signs) = self.signs(home) else { return true };
        let held = || signs.may_hold(&call.session);
        match call.event {
            // These note who is alive, whether or not there is a loop.
            Event::SessionStart | Event::SessionEnd => true,
            Event::Stop | Event::UserPromptSubmit => {
                !signs.are_silent(&call.session)
                    && (held() || signs.may_be_pending(&project_of(&self.place(cwd))))
            }
            Event::PostToolBatch | Event::PreCompact | Event::StopFailure => held(),
            Event::SubagentStop | Event::Other => false,
        }
    }

    fn signs(&self, home: &Home) -> Option<Signs> {
        match self.settings.store() {
            None => Some(Signs::at(home.signs())),
            Some(address) => {
                address.strip_prefix("sqlite:").map(|path| Signs::beside(Path::new(path)))
            }
        }
    }
}

/// The folder that the agent works in, which must exist.
fn cwd<'a>(call: &'a Call<'_>) -> Result<&'a Path, Failure> {
    let lost = "could not tell where the agent works";
    let Some(cwd) = call.cwd.as_deref().filter(|cwd| !cwd.is_empty()) else {
        return Err(Failure::fault(format!("{lost}: the payload names no cwd")));
    };
    if !Path::new(cwd).is_dir() {
        return Err(Failure::fault(format!("{lost}: {cwd} is no folder")));
    }
    Ok(Path::new(cwd))
}

/// What the person is told when a loop ends.
fn farewell(state: &State, outcome: &str, why: &str) -> String {
    let used = state.frames.first().map_or(0, |frame| frame.iteration);
    let plural = if used == 1 { "" } else { "s" };
    let id = &state.id;
    let stop = if why.ends_with(['.', '?', '!']) { "" } else { "." };
    format!(
        "stopgate: loop {id} ended as {outcome} after {used} continuation{plural}: {why}{stop} \
         More: stopgate explain {id}"
    )
}
