//! One hook call, from bytes to bytes.
//!
//! Whatever goes wrong lets the agent stop: a fault is logged and answered with a
//! plain "go ahead", and nothing is recorded as done because of it.

mod whose;

mod words;

use std::path::{Path, PathBuf};
use std::time::Instant;

use stopgate_agents::{Agent, AgentAnswer, Call, HookEvent, Malformed, Reply};
use stopgate_core::{ClientCap, Enforcement, SessionId, Verdict};

use stopgate_verify::files::create_private;

use crate::address::Address;
use crate::config::{Config, OnStoreError};
use crate::context::ContextParts;
use crate::dialect::{self, Answered, DialectCall, DialectRequest};
use crate::engine::Engine;
use crate::failure::{Failure, FailureKind, chain};
use crate::home::Home;
use crate::log::log_fault;
use crate::observe::ClientFacts;
use crate::project::project_of;
use crate::session::SessionNotice;
use crate::settings::Settings;
use crate::signs::Signs;
use crate::stop::JudgedStop;
use crate::stores::{StoreChoice, Stores, signs};
use crate::watchdog::{self, Late, TooLate};
use crate::world::{CLOCK_EARLIEST, RealWorld};

/// Whether the hook's answers bind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HookMode {
    /// They do.
    Enforce,
    /// Decide and record, always allow.
    Shadow,
}

/// One hook process.
#[derive(Debug)]
pub struct HookProcess {
    agent: Agent,
    settings: Settings,
    stores: Stores,
    mode: HookMode,
    cap: CapSetting,
    engine_home: Option<Home>,
    watchdog: Option<(Late, Instant)>,
}

/// What the command line says about the client's limit on continuations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CapSetting {
    /// Nothing: it is what the agent's is.
    #[default]
    Usual,
    /// The client's settings lift it.
    Lifted,
    /// The client's settings set it to this.
    Set(u32),
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

impl HookProcess {
    /// A hook of `agent` in this environment; nothing where a kill switch is thrown.
    pub fn new(agent: Agent, settings: Settings, stores: Stores, mode: HookMode) -> Option<Self> {
        if settings.is_disabled() {
            return None;
        }
        let engine_home = settings.home().ok();
        if engine_home.as_ref().is_some_and(Home::is_stopped) {
            return None;
        }
        let cap = CapSetting::Usual;
        Some(Self { agent, settings, stores, mode, cap, engine_home, watchdog: None })
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

    /// The same hook of a client with this limit on continuations.
    #[must_use]
    pub const fn capped(mut self, cap: CapSetting) -> Self {
        self.cap = cap;
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
        let mut call = self.parse(raw, event);
        let answered = match &mut call {
            Ok(call) => self.serve(call, raw, event, &mut errand),
            Err(error) => Err(Failure::fault(format!("could not {}", chain(error)))),
        };
        let reply = answered.unwrap_or_else(|failure| {
            let session = call.as_ref().ok().map(|call| &*call.session);
            errand.complaint = self.complain(session, &failure.story());
            let call = call.as_ref().ok().filter(|_| failure.kind == FailureKind::Store);
            let held_back = call.and_then(|call| self.hold_back(call, &mut errand, &failure));
            let told = || call.and_then(|call| self.tell_of_store(call, &failure));
            held_back.or_else(told).unwrap_or_else(|| self.agent.allow())
        });
        HookAnswer { reply, engine: errand.engine, complaint: errand.complaint }
    }

    /// Reads the payload; one that is not this agent's may be that of an agent that loads its file.
    fn parse<'a>(&self, raw: &'a [u8], event: Option<&str>) -> Result<Call<'a>, Malformed> {
        let other = |error| match whose::shown(self.settings, self.agent, raw) {
            Some(reader) => reader.parse(raw, event),
            None => Err(error),
        };
        self.agent.parse(raw, event).or_else(other)
    }

    /// Answers one payload for a loop in another tool's files.
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
            Ok(Answered::Block(_))
                if self.mode == HookMode::Shadow
                    || self.is_driven(dialect.word())
                    || self.is_switched_off() =>
            {
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
        let call = self.parse(raw, event);
        let call = call.map_err(|error| Failure::fault(format!("could not {}", chain(&error))))?;
        self.watch(Some(&call.session), dialect::allowed(request.dialect));
        stopgate_verify::survive_size_limit();
        let (settings, stores) = (self.settings, self.stores);
        let desk = if call.cwd.is_some() {
            DialectCall::new(settings, stores, request, cwd(&call)?)?
        } else {
            let directory = dialect::directory(handed.as_deref())?;
            DialectCall::named(settings, stores, request, directory)?
        };
        if desk.now < CLOCK_EARLIEST {
            return Err(Failure::fault("could not judge the stop: the clock is wrong"));
        }
        let answered = dialect::answer(&desk, &call, raw);
        *engine = desk.into_context().map(Engine::from);
        answered
    }

    /// Logs a fault; gives the line back where the log can't be written.
    pub fn complain(&self, session: Option<&str>, story: &str) -> Option<String> {
        log_fault(self.settings, self.engine_home.as_ref(), session, story)
    }

    fn serve<'a>(
        &self,
        call: &mut Call<'a>,
        raw: &'a [u8],
        event: Option<&str>,
        errand: &mut Errand,
    ) -> Result<Reply, Failure> {
        if matches!(call.event, HookEvent::SubagentStop | HookEvent::Other) {
            return Ok(call.agent.allow());
        }
        let cwd = &cwd(call)?;
        let Some(home) = &self.engine_home else {
            return Err(Failure::fault(
                "could not tell where the journal is: HOME is not set, or STOPGATE_HOME is relative",
            ));
        };
        let address =
            StoreChoice::address(self.settings, || Ok(self.config(errand, call).address.clone()))?;
        let signs = signs(&address, home);
        if call.event == HookEvent::UserPromptSubmit && call.is_typed() {
            signs.take_freed(&call.session);
        }
        // The common case ends here: no sign, no journal.
        if !self.is_worth_opening(call, &signs, cwd) {
            return Ok(call.agent.allow());
        }
        if let Some(reply) = whose::stand_down(self.settings, call, raw, event) {
            return Ok(reply);
        }
        whose::find_transcript(self.settings, call);
        self.watch(Some(&call.session), call.agent.allow());
        home.check()?;
        let session = SessionId::new(&call.session)
            .ok_or_else(|| Failure::fault("could not tell whose call this is"))?;
        stopgate_verify::survive_size_limit();
        let world = Box::new(RealWorld::new(self.settings));
        let choice = self.choice(address, errand, call);
        // A person who lets the store take longer waits for it.
        choice.deadline.into_iter().for_each(watchdog::allow);
        let Self { settings, stores, .. } = *self;
        let parts = ContextParts { home: home.clone(), world, settings, stores, choice };
        let engine = errand.engine.insert(Engine::from(parts.open_existing()?));
        if engine.now() < CLOCK_EARLIEST {
            return Err(Failure::fault("could not judge the stop: the clock is wrong"));
        }
        self.dispatch(engine, call, &session, &self.place(call.agent, cwd))
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

    fn choice(&self, address: Address, errand: &mut Errand, call: &Call<'_>) -> StoreChoice {
        let config = self.config(errand, call).clone();
        let (choice, trouble) = StoreChoice::of(self.settings, config, address);
        if let Some(failure) = trouble {
            errand.complaint = self.complain(Some(&call.session), &failure.story());
        }
        choice
    }

    /// Holds the first stop of a session back whose store can't be asked, where the person
    /// wants that; what can't be remembered is not done, for nobody may be held twice.
    fn hold_back(&self, call: &Call<'_>, errand: &mut Errand, failure: &Failure) -> Option<Reply> {
        let wanted = self.config(errand, call).on_error == OnStoreError::BlockOnce;
        if !wanted || call.event != HookEvent::Stop || self.mode == HookMode::Shadow {
            return None;
        }
        let note = self.engine_home.as_ref()?.held_back(&call.session);
        create_private(&note, b"").ok()?;
        let text = words::unasked(failure);
        Some(self.render(call.agent, &AgentAnswer::Continue(&text)))
    }

    /// Tells the person that the journal can't be asked, once a session and cause, where a loop
    /// is known to hold the session: else they believe that the gate is on.
    fn tell_of_store(&self, call: &Call<'_>, failure: &Failure) -> Option<Reply> {
        let home = self.engine_home.as_ref()?;
        let address =
            StoreChoice::address(self.settings, || Ok(Config::read(self.settings)?.address));
        if self.mode == HookMode::Shadow || !signs(&address.ok()?, home).counts_tools(&call.session)
        {
            return None;
        }
        let note = home.told_of_store(&call.session, &failure.message);
        if create_private(&note, b"")
            .is_err_and(|error| error.kind() == std::io::ErrorKind::AlreadyExists)
        {
            return None;
        }
        Some(self.render(call.agent, &AgentAnswer::Tell(&words::open_gate(failure))))
    }

    fn dispatch(
        &self,
        engine: &mut Engine,
        call: &Call<'_>,
        session: &SessionId,
        place: &Path,
    ) -> Result<Reply, Failure> {
        let told = match call.event {
            HookEvent::Stop => return self.stop(engine, call, session, place),
            HookEvent::SessionStart => {
                engine.sessions().session_starts(call, session, &project_of(place))?
            }
            HookEvent::UserPromptSubmit => {
                engine.sessions().prompted(call, session, &project_of(place))?
            }
            HookEvent::SessionEnd => {
                engine.sessions().session_ends(call, session, &project_of(place))?;
                None
            }
            HookEvent::PostToolBatch => {
                engine.sessions().tools_ran(session)?;
                None
            }
            HookEvent::PreCompact => {
                engine.sessions().compacts(call, session)?;
                None
            }
            HookEvent::StopFailure => {
                engine.sessions().turn_failed(call, session)?;
                None
            }
            HookEvent::SubagentStop | HookEvent::Other => None,
        };
        let answer = match &told {
            Some(SessionNotice::Agent(text)) => AgentAnswer::Context { event: call.event, text },
            Some(SessionNotice::Person(text)) => AgentAnswer::Tell(text),
            None => AgentAnswer::Allow,
        };
        Ok(self.render(call.agent, &answer))
    }

    fn stop(
        &self,
        engine: &mut Engine,
        call: &Call<'_>,
        session: &SessionId,
        place: &Path,
    ) -> Result<Reply, Failure> {
        // A driven session ends at its first stop, so that it meets no limit on continuations.
        let cap = self.cap(call.agent).filter(|_| self.settings.driven_loop().is_none());
        let project = engine.context.signs.any_pending().then(|| project_of(place));
        let facts = ClientFacts { cap, is_driver: false };
        let judged = engine.stops().judge_stop(call, session, project.as_deref(), &facts)?;
        let allow = || call.agent.allow();
        let reply = judged.map_or_else(allow, |judged| self.say(call.agent, &judged));
        // A switch that was thrown while checks ran counts for this stop, too.
        Ok(if self.is_switched_off() { allow() } else { reply })
    }

    /// The client's limit on continuations.
    fn cap(&self, agent: Agent) -> Option<ClientCap> {
        let usual = || {
            let variable = self.settings.cap_of(agent);
            agent.cap(variable.as_deref(), self.settings.client_of(agent))
        };
        match self.cap {
            CapSetting::Usual => usual(),
            CapSetting::Lifted => None,
            CapSetting::Set(refusals) => usual().map(|cap| ClientCap { refusals, ..cap }),
        }
    }

    /// Whether the loop's own driver started this session, and carries the loop on after it.
    fn is_driven(&self, name: &str) -> bool {
        self.settings.driven_loop().as_deref() == Some(name)
    }

    /// Whether a kill switch is thrown by now.
    fn is_switched_off(&self) -> bool {
        self.settings.is_disabled() || self.engine_home.as_ref().is_some_and(Home::is_stopped)
    }

    /// What the agent is told about a stop that was judged.
    fn say(&self, agent: Agent, judged: &JudgedStop) -> Reply {
        let shadow =
            self.mode == HookMode::Shadow || judged.state.policy.enforcement == Enforcement::Shadow;
        match &judged.verdict {
            Verdict::Continue { .. } if shadow || self.is_driven(judged.state.id.as_str()) => {
                agent.allow()
            }
            Verdict::Continue { text } => self.render(agent, &AgentAnswer::Continue(text)),
            Verdict::Allow(leave) => match words::leave(*leave, &judged.state) {
                Some(word) => {
                    let said = format!("stopgate: loop {}: {word}", judged.state.id);
                    self.render(agent, &AgentAnswer::Tell(&said))
                }
                None => agent.allow(),
            },
            Verdict::Complete { outcome, why } => {
                let said = words::farewell(&judged.state, outcome.word(), why);
                self.render(agent, &AgentAnswer::Ended(&said))
            }
            Verdict::Escalate { outcome, why } => {
                let said = words::farewell(&judged.state, outcome.word(), why);
                self.render(agent, &AgentAnswer::Tell(&said))
            }
        }
    }

    fn render(&self, agent: Agent, answer: &AgentAnswer<'_>) -> Reply {
        agent.render(answer, self.settings.client_of(agent))
    }

    /// The directory that the call is about: the client's own, else the one it names.
    fn place(&self, agent: Agent, cwd: &Path) -> PathBuf {
        self.settings.project_of(agent).unwrap_or_else(|| cwd.into())
    }

    fn is_worth_opening(&self, call: &Call<'_>, signs: &Signs, cwd: &Path) -> bool {
        let held = || signs.may_hold(&call.session);
        match call.event {
            // These note who is alive, whether or not there is a loop.
            HookEvent::SessionStart | HookEvent::SessionEnd => true,
            HookEvent::Stop | HookEvent::UserPromptSubmit => {
                !signs.are_silent(&call.session)
                    && (held() || signs.may_be_pending(&project_of(&self.place(call.agent, cwd))))
            }
            HookEvent::PostToolBatch => signs.counts_tools(&call.session),
            HookEvent::PreCompact | HookEvent::StopFailure => held(),
            HookEvent::SubagentStop | HookEvent::Other => false,
        }
    }
}

/// What one call has come to know and to open.
#[derive(Default)]
struct Errand {
    config: Option<Config>,
    engine: Option<Engine>,
    complaint: Option<String>,
}

/// The directory that the agent works in, which must exist.
fn cwd(call: &Call<'_>) -> Result<PathBuf, Failure> {
    let lost = "could not tell where the agent works";
    let named = call.cwd.as_deref().filter(|cwd| !cwd.is_empty()).map(PathBuf::from);
    // Most clients start their hooks where the agent works.
    let here = || Settings.working_directory().ok().filter(|_| !call.agent.always_names_cwd());
    let Some(cwd) = named.or_else(here) else {
        return Err(Failure::fault(format!("{lost}: the payload names no cwd")));
    };
    if !cwd.is_dir() {
        return Err(Failure::fault(format!("{lost}: {} is not a directory", cwd.display())));
    }
    Ok(cwd)
}
