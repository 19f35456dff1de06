//! One hook call, from bytes to bytes.
//!
//! Whatever goes wrong lets the agent stop: a fault is logged and answered with a
//! plain "go ahead", and nothing is recorded as done because of it.

use std::path::{Path, PathBuf};
use std::time::Instant;

use stopgate_agents::claude::{self, Client, Version};
use stopgate_agents::{Answer, Call, Event, Reply};
use stopgate_core::{Enforcement, Leave, SessionId, State, Timestamp, Verdict, clean, clip};

use stopgate_verify::files::create_private;

use crate::address::Address;
use crate::config::{Config, OnStoreError};
use crate::dialect::{self, Answered, Desk, DialectRequest};
use crate::engine::Engine;
use crate::failure::{Failure, Kind, chain};
use crate::home::Home;
use crate::log::Log;
use crate::observe::ClientFacts;
use crate::project::project_of;
use crate::session::Told;
use crate::settings::Settings;
use crate::signs::Signs;
use crate::stop::Judged;
use crate::stores::{Choice, Stores, signs};
use crate::watchdog::{self, Late, TooLate};
use crate::world::{RealWorld, World};

/// No journal was written before this; a clock that says so is wrong. (2024-01-01)
const CLOCK_EARLIEST: Timestamp = Timestamp::from_unix_millis(1_704_067_200_000);

const REASON_BYTES_MAX: usize = 600;

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
    stores: Stores,
    mode: Mode,
    engine_home: Option<Home>,
    watchdog: Option<(Late, Instant)>,
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
    pub fn new(settings: Settings, stores: Stores, mode: Mode) -> Option<Self> {
        if settings.is_disabled() {
            return None;
        }
        let engine_home = settings.home().ok();
        if engine_home.as_ref().is_some_and(Home::is_stopped) {
            return None;
        }
        Some(Self { settings, stores, mode, engine_home, watchdog: None })
    }

    /// The same hook, begun at `begun`, whose agent may stop by `late` when no answer exists in
    /// time.
    ///
    /// The one who prints the answer must call [`crate::claim_answer`] first.
    #[must_use]
    pub const fn watched(mut self, late: Late, begun: Instant) -> Self {
        self.watchdog = Some((late, begun));
        self
    }

    /// Starts the watchdog, which allows the stop with `reply`.
    fn watch(&self, session: Option<&str>, reply: Reply) {
        let Some((late, begun)) = self.watchdog else { return };
        let (settings, home) = (self.settings, self.engine_home.clone());
        let session = session.map(String::from);
        let unanswered = move || {
            stopgate_verify::end_children();
            // The log may be on the disk that hangs.
            watchdog::briefly(move || {
                let story = "no answer in time: the agent may stop, and nothing was decided";
                log_fault(settings, home.as_ref(), session.as_deref(), story);
            });
            late(TooLate::ToAnswer(&reply));
        };
        watchdog::start(begun, unanswered, move || late(TooLate::ToEnd));
    }

    /// Answers one payload.
    pub fn answer(&self, raw: &[u8], event: Option<&str>) -> HookAnswer {
        let mut errand = Errand::default();
        let call = claude::parse(raw, event);
        let answered = match &call {
            Ok(call) => self.serve(call, &mut errand),
            Err(error) => Err(Failure::fault(format!("could not {}", chain(error)))),
        };
        let reply = answered.unwrap_or_else(|failure| {
            let session = call.as_ref().ok().map(|call| &*call.session);
            errand.complaint = self.complain(session, &failure.story());
            let call = call.as_ref().ok().filter(|_| failure.kind == Kind::Store);
            let held_back = call.and_then(|call| self.hold_back(call, &mut errand, &failure));
            let told = || call.and_then(|call| self.tell_of_store(call, &failure));
            held_back.or_else(told).unwrap_or_default()
        });
        HookAnswer { reply, engine: errand.engine, complaint: errand.complaint }
    }

    /// Answers one payload for a loop in somebody else's files.
    pub fn answer_dialect(
        &self,
        raw: &[u8],
        event: Option<&str>,
        request: DialectRequest,
    ) -> HookAnswer {
        let dialect = request.dialect;
        let mut complaint = None;
        let mut engine = None;
        let answered = self.serve_dialect(raw, event, request, &mut engine);
        let reply = match answered {
            Ok(Answered::Block(_)) if self.mode == Mode::Shadow || self.is_switched_off() => {
                dialect::allowed(dialect)
            }
            Ok(Answered::Allow(reply) | Answered::Block(reply)) => reply,
            Err(failure) => {
                complaint = self.complain(None, &failure.story());
                dialect::allowed(dialect)
            }
        };
        HookAnswer { reply, engine, complaint }
    }

    fn serve_dialect(
        &self,
        raw: &[u8],
        event: Option<&str>,
        request: DialectRequest,
        engine: &mut Option<Engine>,
    ) -> Result<Answered, Failure> {
        let handed = self.settings.arguments();
        // Some clients hand the payload over in a variable.
        let raw = match &handed {
            Some(handed) if raw.trim_ascii().is_empty() => handed.as_bytes(),
            Some(_) | None => raw,
        };
        let call = claude::parse(raw, event);
        let call = call.map_err(|error| Failure::fault(format!("could not {}", chain(&error))))?;
        self.watch(Some(&call.session), dialect::allowed(request.dialect));
        stopgate_verify::survive_size_limit();
        let (settings, stores) = (self.settings, self.stores);
        let desk = if call.cwd.is_some() {
            Desk::new(settings, stores, request, cwd(&call)?.to_path_buf())?
        } else {
            let folder = dialect::folder(handed.as_deref())?;
            Desk::named(settings, stores, request, folder)?
        };
        if desk.now < CLOCK_EARLIEST {
            return Err(Failure::fault("could not judge the stop: the clock is wrong"));
        }
        let answered = dialect::answer(&desk, &call);
        *engine = desk.into_engine();
        answered
    }

    /// Logs a fault; gives the line back where the log can't be written.
    pub fn complain(&self, session: Option<&str>, story: &str) -> Option<String> {
        log_fault(self.settings, self.engine_home.as_ref(), session, story)
    }

    fn serve(&self, call: &Call<'_>, errand: &mut Errand) -> Result<Reply, Failure> {
        if matches!(call.event, Event::SubagentStop | Event::Other) {
            return Ok(Reply::default());
        }
        let cwd = cwd(call)?;
        let Some(home) = &self.engine_home else {
            return Err(Failure::fault(
                "could not tell where the journal is: HOME is not set, or STOPGATE_HOME is relative",
            ));
        };
        let address =
            Choice::address(self.settings, || Ok(self.config(errand, call).address.clone()))?;
        let signs = signs(&address, home);
        if call.event == Event::UserPromptSubmit && !call.is_task_notification() {
            signs.take_freed(&call.session);
        }
        // The common case ends here: no sign, no journal.
        if !self.is_worth_opening(call, &signs, cwd) {
            return Ok(Reply::default());
        }
        self.watch(Some(&call.session), Reply::default());
        home.check()?;
        let session = SessionId::new(&call.session)
            .ok_or_else(|| Failure::fault("could not tell whose call this is"))?;
        stopgate_verify::survive_size_limit();
        let world = Box::new(RealWorld::new(self.settings));
        let choice = self.choice(address, errand, call);
        // A person who lets the store take longer waits for it.
        choice.deadline.into_iter().for_each(watchdog::allow);
        let engine =
            Engine::over_existing(home.clone(), world, self.settings, self.stores, choice)?;
        let engine = errand.engine.insert(engine);
        if engine.now() < CLOCK_EARLIEST {
            return Err(Failure::fault("could not judge the stop: the clock is wrong"));
        }
        self.dispatch(engine, call, &session, &self.place(cwd))
    }

    /// What the person's file says, read once; a file that makes no sense counts for nothing.
    fn config<'e>(&self, errand: &'e mut Errand, call: &Call<'_>) -> &'e Config {
        if errand.config.is_none() {
            let read = Config::read(self.settings).unwrap_or_else(|failure| {
                errand.complaint = self.complain(Some(&call.session), &failure.story());
                Config::default()
            });
            errand.config = Some(read);
        }
        errand.config.get_or_insert_default()
    }

    fn choice(&self, address: Address, errand: &mut Errand, call: &Call<'_>) -> Choice {
        let config = self.config(errand, call).clone();
        let (choice, trouble) = Choice::of(self.settings, config, address);
        if let Some(failure) = trouble {
            errand.complaint = self.complain(Some(&call.session), &failure.story());
        }
        choice
    }

    /// Holds the first stop of a session back whose store can't be asked, where the person
    /// wants that; what can't be remembered is not done, for nobody may be held twice.
    fn hold_back(&self, call: &Call<'_>, errand: &mut Errand, failure: &Failure) -> Option<Reply> {
        let wanted = self.config(errand, call).on_error == OnStoreError::BlockOnce;
        if !wanted || call.event != Event::Stop || self.mode == Mode::Shadow {
            return None;
        }
        let note = self.engine_home.as_ref()?.held_back(&call.session);
        create_private(&note, b"").ok()?;
        let text = unasked(failure);
        Some(claude::render(&Answer::Continue(&text), &self.client()))
    }

    /// Tells the person that the journal can't be asked, once a session and cause, where a loop
    /// is known to hold the session: else they believe that the gate is on.
    fn tell_of_store(&self, call: &Call<'_>, failure: &Failure) -> Option<Reply> {
        let home = self.engine_home.as_ref()?;
        let address = Choice::address(self.settings, || Ok(Config::read(self.settings)?.address));
        if self.mode == Mode::Shadow || !signs(&address.ok()?, home).counts_tools(&call.session) {
            return None;
        }
        let note = home.told_of_store(&call.session, &failure.message);
        if create_private(&note, b"")
            .is_err_and(|error| error.kind() == std::io::ErrorKind::AlreadyExists)
        {
            return None;
        }
        let why = clip(&clean(&failure.story()).replace('\n', " "), REASON_BYTES_MAX);
        let text = format!(
            "stopgate: the gate is open. A loop holds this session, but its journal can't be \
             used: {why}. The agent may stop, and nothing is checked. See: stopgate doctor"
        );
        Some(claude::render(&Answer::Tell(&text), &self.client()))
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
        Ok(match told {
            Some(Told::Agent(text)) => {
                claude::render(&Answer::Context { event: call.event, text: &text }, &client)
            }
            Some(Told::Person(text)) => claude::render(&Answer::Tell(&text), &client),
            None => Reply::default(),
        })
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
        let reply = judged.map_or_else(Reply::default, |judged| self.render(&judged, client));
        // A switch that was thrown while checks ran counts for this stop, too.
        Ok(if self.is_switched_off() { Reply::default() } else { reply })
    }

    /// Whether a kill switch is thrown by now.
    fn is_switched_off(&self) -> bool {
        self.settings.is_disabled() || self.engine_home.as_ref().is_some_and(Home::is_stopped)
    }

    fn render(&self, judged: &Judged, client: Client) -> Reply {
        let shadow =
            self.mode == Mode::Shadow || judged.state.policy.enforcement == Enforcement::Shadow;
        match &judged.verdict {
            Verdict::Continue { .. } if shadow => Reply::default(),
            Verdict::Continue { text } => claude::render(&Answer::Continue(text), &client),
            Verdict::Allow(leave) => match leave_word(*leave) {
                Some(word) => {
                    let said = format!("stopgate: loop {}: {word}", judged.state.id);
                    claude::render(&Answer::Tell(&said), &client)
                }
                None => Reply::default(),
            },
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

    fn is_worth_opening(&self, call: &Call<'_>, signs: &Signs, cwd: &Path) -> bool {
        let held = || signs.may_hold(&call.session);
        match call.event {
            // These note who is alive, whether or not there is a loop.
            Event::SessionStart | Event::SessionEnd => true,
            Event::Stop | Event::UserPromptSubmit => {
                !signs.are_silent(&call.session)
                    && (held() || signs.may_be_pending(&project_of(&self.place(cwd))))
            }
            Event::PostToolBatch => signs.counts_tools(&call.session),
            Event::PreCompact | Event::StopFailure => held(),
            Event::SubagentStop | Event::Other => false,
        }
    }
}

/// Logs a fault; gives the line back where the log can't be written.
pub(crate) fn log_fault(
    settings: Settings,
    home: Option<&Home>,
    session: Option<&str>,
    story: &str,
) -> Option<String> {
    stopgate_verify::survive_size_limit();
    // A log in a directory that is another's would tell them, or go where they point it.
    let home = home.filter(|home| home.check().is_ok());
    let path = settings.log().or_else(|| home.map(Home::log));
    let now = RealWorld::new(settings).now();
    match path {
        Some(path) => Log::new(path).fault(now, session, story).err(),
        None => Some(format!("stopgate: {story}\n")),
    }
}

/// What a person is told when a stop is let pass for their sake.
const fn leave_word(leave: Leave) -> Option<&'static str> {
    match leave {
        Leave::Untrusted => Some(
            "stopgate.toml is not trusted, so its checks do not run and the agent may stop. \
             Look at it, then: stopgate trust",
        ),
        Leave::Approval => Some("every check passes; it waits for your word: stopgate approve"),
        Leave::Ended
        | Leave::Paused
        | Leave::Waiting
        | Leave::Background
        | Leave::Person
        | Leave::Popped
        | Leave::Empty => None,
    }
}

/// What one call has come to know and to open.
#[derive(Default)]
struct Errand {
    config: Option<Config>,
    engine: Option<Engine>,
    complaint: Option<String>,
}

/// The folder that the agent works in, which must exist.
fn cwd<'a>(call: &'a Call<'_>) -> Result<&'a Path, Failure> {
    let lost = "could not tell where the agent works";
    let Some(cwd) = call.cwd.as_deref().filter(|cwd| !cwd.is_empty()) else {
        return Err(Failure::fault(format!("{lost}: the payload names no cwd")));
    };
    if !Path::new(cwd).is_dir() {
        return Err(Failure::fault(format!("{lost}: {cwd} is not a directory")));
    }
    Ok(Path::new(cwd))
}

/// What the agent is told when nobody could tell whether a loop holds it.
fn unasked(failure: &Failure) -> String {
    let why = clip(&clean(&failure.story()).replace('\n', " "), REASON_BYTES_MAX);
    format!(
        "Journal unreachable: this stop is held back once\n\n\
         This message comes from stopgate, not from the user, and grants no permission.\n\
         The journal could not be asked whether a loop holds this session: {why}.\n\n\
         If you work on a goal with open criteria, go on with it. If you are finished, or \
         nothing is left to do, say so and stop again: the next stop is let pass."
    )
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
