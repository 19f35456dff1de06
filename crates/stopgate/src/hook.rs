//! `stopgate hook AGENT`: what an agent calls.
//!
//! Whatever happens, a bug included, the answer is one that the agent accepts, and
//! the exit code is one that lets it stop.

mod standard;

use std::ffi::{OsStr, OsString};
use std::io::{self, Write};
use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::{Duration, Instant};

use stopgate_agents::{Agent, Reply};
use stopgate_dialects::Dialect;
use stopgate_engine::{
    CapSetting, DialectRequest, HookAnswer, HookMode, HookProcess, OkForm, Settings, TooLate,
    has_own_entry, is_answered_by_settings,
};

use self::standard::StandardInput;
use crate::stores::STORES;

const PAYLOAD_BYTES_MAX: usize = 16 * 1024 * 1024;
const PAYLOAD_BYTES_USUAL: usize = 8 * 1024;
/// How long the agent may take to hand its payload over. What comes then has its own time, which
/// is a little more and begins at the same moment.
const PAYLOAD_PATIENCE: Duration = Duration::from_secs(4);

/// What an answer that was printed ends with.
static EXIT_CODE: AtomicU8 = AtomicU8::new(0);

/// Runs the hook; `arguments` are those after `hook`.
pub(crate) fn main(arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let asked = Asked::read(arguments);
    if matches!(&asked, Asked::Help) {
        return crate::commands::hook_help();
    }
    let ran = panic::catch_unwind(AssertUnwindSafe(|| serve(&asked)));
    match ran {
        Ok(code) => code,
        Err(bug) => {
            stopgate_engine::claim_answer();
            let story = bug_story(&*bug);
            let agent = asked.agent();
            if let Some(hook) = HookProcess::new(agent, Settings, STORES, HookMode::Enforce) {
                complain(hook.complain(None, &story));
            }
            allow(&asked)
        }
    }
}

/// What the command line asks for.
enum Asked {
    Serve(Box<Service>),
    Help,
    Wrong(String),
}

/// A call that can be answered.
struct Service {
    agent: Agent,
    mode: HookMode,
    cap: CapSetting,
    event: Option<String>,
    request: Option<DialectRequest>,
    owner: Owner,
}

impl Asked {
    fn read(mut arguments: impl Iterator<Item = OsString>) -> Self {
        let mut agent = None;
        let mut mode = HookMode::Enforce;
        let mut event = None;
        let mut foreign = Foreign::default();
        let mut owner = Owner::Person;
        let mut cap = CapSetting::Usual;
        while let Some(argument) = arguments.next() {
            match argument.to_str() {
                Some("--help" | "-h") => return Self::Help,
                Some("--shadow") => mode = HookMode::Shadow,
                Some("--shared") => owner = Owner::Team,
                Some("--plugin") => owner = Owner::Plugin,
                Some("--event") => {
                    event = arguments.next().and_then(|name| name.into_string().ok());
                }
                Some("--cap") => match arguments.next().and_then(|word| cap_of(&word)) {
                    Some(set) => cap = set,
                    None => return Self::Wrong("--cap takes a number or `none`".into()),
                },
                Some("--dialect") => foreign.dialect = arguments.next(),
                Some("--task-file") => foreign.task_file = arguments.next().map(PathBuf::from),
                Some("--strict-ok") => foreign.form = OkForm::Strict,
                Some(name) if agent.is_none() && !name.starts_with('-') => {
                    agent = Some(name.to_string());
                }
                Some(_) | None => {
                    return Self::Wrong(format!("unknown argument {}", argument.display()));
                }
            }
        }
        let Some(word) = agent else {
            return Self::Wrong("no agent is named: stopgate hook claude".into());
        };
        let Some(agent) = Agent::named(&word) else {
            let known: Vec<&str> = Agent::ALL.iter().map(|agent| agent.word()).collect();
            let known = known.join(", ");
            return Self::Wrong(format!("unknown agent {word}; this program knows: {known}"));
        };
        match foreign.request() {
            Ok(request) => {
                Self::Serve(Box::new(Service { agent, mode, cap, event, request, owner }))
            }
            Err(what) => Self::Wrong(what),
        }
    }

    /// The agent that is answered; any, where none is known.
    fn agent(&self) -> Agent {
        match self {
            Self::Serve(service) => service.agent,
            Self::Help | Self::Wrong(_) => Agent::Claude,
        }
    }
}

/// Whether the words of an entry's command ask for a hook that never holds an agent.
pub(crate) fn only_watches<'w>(mut words: impl Iterator<Item = &'w str>) -> bool {
    words.any(|word| word == "--shadow")
}

fn cap_of(word: &OsStr) -> Option<CapSetting> {
    match word.to_str()? {
        "none" => Some(CapSetting::Lifted),
        number => number.parse().ok().map(CapSetting::Set),
    }
}

/// Whose entry in the settings calls.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Owner {
    /// The person's own.
    Person,
    /// One that a team shares: it stands down where the person has one of their own.
    Team,
    /// A plugin's: it stands down where settings have one.
    Plugin,
}

/// What the command line says about loops in another tool's files.
#[derive(Default)]
struct Foreign {
    dialect: Option<OsString>,
    task_file: Option<PathBuf>,
    form: OkForm,
}

impl Foreign {
    fn request(self) -> Result<Option<DialectRequest>, String> {
        let Some(word) = self.dialect else {
            let stray = self.task_file.is_some() || self.form == OkForm::Strict;
            return if stray {
                Err("--task-file and --strict-ok need --dialect".into())
            } else {
                Ok(None)
            };
        };
        let Some(dialect) = word.to_str().and_then(Dialect::named) else {
            let known: Vec<&str> = Dialect::ALL.iter().map(|dialect| dialect.word()).collect();
            let known = known.join(", ");
            return Err(format!("unknown dialect {}; this program knows: {known}", word.display()));
        };
        Ok(Some(DialectRequest { dialect, task_file: self.task_file, form: self.form }))
    }
}

fn serve(asked: &Asked) -> ExitCode {
    let (mode, cap) = match asked {
        Asked::Serve(service) => (service.mode, service.cap),
        Asked::Help | Asked::Wrong(_) => (HookMode::Enforce, CapSetting::Usual),
    };
    // A kill switch counts before anything is read.
    let Some(hook) = HookProcess::new(asked.agent(), Settings, STORES, mode) else {
        return allow(asked);
    };
    let begun = now();
    let hook = hook.watched(give_up, begun).capped(cap);
    match (asked, read_payload(begun)) {
        (Asked::Serve(service), Ok(payload)) => answer(&hook, service, &payload),
        (Asked::Serve(_), Err(trouble)) => {
            complain(hook.complain(None, &trouble));
            allow(asked)
        }
        (Asked::Wrong(what), _) => {
            complain(
                hook.complain(None, &format!("could not understand the command line: {what}")),
            );
            complain(Some(format!("stopgate hook: {what}\n")));
            ExitCode::SUCCESS
        }
        (Asked::Help, _) => ExitCode::SUCCESS,
    }
}

fn answer(hook: &HookProcess, service: &Service, payload: &[u8]) -> ExitCode {
    if is_answered_elsewhere(service.agent, service.owner) {
        return print(&service.agent.allow());
    }
    let event = service.event.as_deref();
    reply(match &service.request {
        None => hook.answer(payload, event),
        Some(request) => hook.answer_dialect(payload, event, request.clone()),
    })
}

/// Lets the agent go, in its own words.
fn allow(asked: &Asked) -> ExitCode {
    match asked {
        Asked::Serve(service) if service.request.is_none() => print(&service.agent.allow()),
        Asked::Serve(_) | Asked::Help | Asked::Wrong(_) => ExitCode::SUCCESS,
    }
}

/// Whether an entry that comes before this one answers the same call.
fn is_answered_elsewhere(agent: Agent, owner: Owner) -> bool {
    let comes_first: fn(Settings, Agent, &Path) -> bool = match owner {
        Owner::Person => return false,
        Owner::Team => has_own_entry,
        Owner::Plugin => is_answered_by_settings,
    };
    let directory = Settings.project_of(agent).or_else(|| Settings.working_directory().ok());
    directory.is_some_and(|directory| comes_first(Settings, agent, &directory))
}

/// Reads standard input to its end, so that the agent never writes into a closed pipe.
///
/// Where the end does not come, what is there is the payload.
fn read_payload(begun: Instant) -> Result<Vec<u8>, String> {
    let mut input = StandardInput::open();
    let mut payload = Vec::with_capacity(PAYLOAD_BYTES_USUAL);
    loop {
        if !input.has_more(rest(begun)) {
            return Ok(payload);
        }
        if payload.len() > PAYLOAD_BYTES_MAX {
            drain(&mut input, &mut payload, begun);
            return Err(format!("the payload is larger than {PAYLOAD_BYTES_MAX} bytes"));
        }
        match input.read_more(&mut payload) {
            Ok(0) => return Ok(payload),
            Ok(_) => {}
            Err(error) => return Err(format!("could not read the payload: {error}")),
        }
    }
}

fn drain(input: &mut StandardInput, scratch: &mut Vec<u8>, begun: Instant) {
    scratch.clear();
    while input.has_more(rest(begun)) && input.read_more(scratch).is_ok_and(|read| read > 0) {
        scratch.clear();
    }
}

/// How long the agent may still take to hand its payload over.
fn rest(begun: Instant) -> Duration {
    PAYLOAD_PATIENCE.saturating_sub(begun.elapsed())
}

#[expect(clippy::disallowed_methods, reason = "a door that waits")]
fn now() -> Instant {
    Instant::now()
}

fn reply(answer: HookAnswer) -> ExitCode {
    stopgate_engine::claim_answer();
    EXIT_CODE.store(answer.reply.exit_code, Ordering::Relaxed);
    complain(answer.complaint);
    let code = print(&answer.reply);
    if let Some(mut engine) = answer.engine {
        engine.settle();
        if engine.saw_parked() {
            stopgate_daemon::nudge(Settings);
        }
        // The process ends here: closing the journal in order would cost the stop an fsync.
        std::mem::forget(engine);
    }
    code
}

fn print(reply: &Reply) -> ExitCode {
    let mut out = io::stdout().lock();
    // A client that does not listen can't be told.
    let _ = out.write_all(reply.stdout.as_bytes()).and_then(|()| out.flush());
    let _ = io::stderr().write_all(reply.stderr.as_bytes());
    ExitCode::from(reply.exit_code)
}

/// Ends a call that took too long; what hangs goes with the process.
#[expect(clippy::exit, reason = "the thread that should return hangs")]
fn give_up(late: TooLate<'_>) {
    let code = match late {
        TooLate::ToAnswer(reply) => {
            // Not by `io::stdout`: nobody knows who holds its lock.
            standard::write_unlocked(reply.stdout.as_bytes());
            reply.exit_code
        }
        TooLate::ToEnd => EXIT_CODE.load(Ordering::Relaxed),
    };
    std::process::exit(i32::from(code));
}

/// The last resort of a fault that can't be logged.
fn complain(line: Option<String>) {
    if let Some(line) = line {
        let _ = io::stderr().write_all(line.as_bytes());
    }
}

fn bug_story(bug: &(dyn std::any::Any + Send)) -> String {
    let text = bug.downcast_ref::<&str>().map(|text| (*text).to_string());
    let text = text.or_else(|| bug.downcast_ref::<String>().cloned());
    format!("this stop is allowed because of a bug in stopgate: {}", text.unwrap_or_default())
}
