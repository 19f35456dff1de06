//! Agents without a person: how each client is started and resumed in its one-shot mode, and what
//! its output says.
//!
//! The final event decides, never the exit code alone: clients end with 0 after an interrupt, with 0
//! after an API error, or with 1 although they recovered. A stream without a final event is one that
//! was cut off. Bytes come in, facts go out; who starts processes and waits is elsewhere.

use std::time::Duration;

use crate::Agent;

mod classify;
mod claude;
mod codex;
mod copilot;
mod gemini;
mod host;
mod kimi;
mod opencode;
mod pi;
mod qwen;
mod stream;

#[cfg(test)]
mod tests;

pub use stream::{SessionReach, SessionReport, StreamReader};

/// How one agent is run without a person.
#[derive(Clone, Copy)]
pub struct Headless {
    profile: &'static HeadlessProfile,
}

/// One turn that a client shall run.
#[derive(Clone, Copy, Debug)]
pub struct HeadlessTurn<'a> {
    /// The client's program.
    pub program: &'a str,
    /// The arguments that the person gave it.
    pub own_args: &'a [String],
    /// The session that it belongs to.
    pub session: TurnSession<'a>,
    /// The model, unless the person's arguments name one.
    pub model: Option<&'a str>,
    /// Whether it runs inside a git repository.
    pub in_git: bool,
    /// Where the client may write its own count of what it used.
    pub usage_file: Option<&'a str>,
    /// What it is asked.
    pub prompt: &'a str,
}

/// A sub-agent that a turn may hand its work to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TurnHelper<'a> {
    /// Its name.
    pub name: &'a str,
    /// When it is used.
    pub description: &'a str,
    /// What it is told.
    pub prompt: &'a str,
    /// Its model, where it is not the session's.
    pub model: Option<&'a str>,
}

/// The session of a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TurnSession<'a> {
    /// A new one, under this id where the client lets us choose.
    New(&'a str),
    /// One that exists.
    Resumed(&'a str),
}

/// What to start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeadlessCommand {
    /// The program and its arguments.
    pub argv: Vec<String>,
    /// Variables to set, unless the person set them.
    pub env: &'static [(&'static str, &'static str)],
    /// What it is told first on its standard input, which stays open for answers; nothing where
    /// the client does not listen.
    pub opening: Option<String>,
}

/// Where a session's id comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionIdSource {
    /// We choose it.
    Chosen,
    /// The client prints it with its first event.
    FirstEvent,
    /// The client prints it at the end, and only if all went well.
    LastEvent,
}

/// The file in which a client records a session: what was used, and why something failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SessionRecord {
    /// The directory, below the client's own, in which it is somewhere.
    pub below: &'static str,
    /// How its path ends, with [`Self::ID`] or [`Self::SHORT_ID`] for the session.
    ending: &'static str,
}

impl SessionRecord {
    const ID: &'static str = "{id}";
    /// The first eight characters of the id.
    const SHORT_ID: &'static str = "{short}";

    const fn new(below: &'static str, ending: &'static str) -> Self {
        Self { below, ending }
    }

    /// How the path of a session's record ends.
    pub fn ending(self, session: &str) -> String {
        let short = session.get(..8).unwrap_or(session);
        self.ending.replace(Self::ID, session).replace(Self::SHORT_ID, short)
    }
}

stopgate_core::words! {
    /// Why a session failed.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum FailureClass {
        /// Too many requests, or the plan's window is used up.
        RateLimit = "rate_limit",
        /// The service has no room for anybody now.
        Overloaded = "overloaded",
        /// The key or login was not accepted.
        Auth = "auth",
        /// The conversation is longer than the model's window.
        Context = "context",
        /// The service failed.
        Server = "server",
        /// The service was not reached, or the connection broke.
        Network = "network",
        /// Nothing was heard from the client for too long.
        Hang = "hang",
        /// The client ended without a last word.
        Killed = "killed",
        /// Something else.
        Unknown = "unknown",
    }
}

/// When a rate limit is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResetTime {
    /// At this time, in seconds since 1970.
    At(u64),
    /// This long after it was told.
    After(Duration),
}

/// A session's failure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionFailure {
    /// Why.
    pub class: FailureClass,
    /// When it can go on, if the client told.
    pub reset: Option<ResetTime>,
    /// The client's own words.
    pub message: String,
}

/// One thing that a line of output tells.
#[derive(Clone, Debug, PartialEq)]
pub enum StreamFact {
    /// The session's id.
    Session(String),
    /// The model answered or used a tool.
    Answered,
    /// The client tries a request again.
    Retry {
        /// Why.
        class: FailureClass,
        /// How long it waits, where it says so.
        delay: Option<Duration>,
    },
    /// How much the plan's window is used, from 0 to 1, and when it starts again.
    Quota {
        /// The share.
        used: f64,
        /// Seconds since 1970.
        resets_at: u64,
    },
    /// Tokens and cost, as far as the stream tells.
    Usage(UsageHint),
    /// The tokens in the model's window, and the size of the window where it is told.
    Context {
        /// In use.
        tokens: u64,
        /// The window.
        window: Option<u64>,
    },
    /// A line that the client must be told on its standard input.
    Reply(String),
    /// The turn is over, and it went well.
    Finished,
    /// The turn is over, and it failed.
    Failed(SessionFailure),
}

/// What is said to an agent that asks something in the middle of its turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum QuestionHabit {
    /// Nobody will answer: it is told to decide itself.
    #[default]
    Decide,
    /// Its turn ends, and a person answers later.
    Park,
    /// The same, but its plan was approved already.
    ParkApproved,
}

/// What a stream tells of use. The client's files are the better source.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct UsageHint {
    /// Tokens that went in, cached ones included.
    pub input: u64,
    /// Those of them that were read from a cache, where the stream tells.
    pub cached: u64,
    /// Those of them that were written to a cache, where the stream tells.
    pub cache_written: u64,
    /// Tokens that came out.
    pub output: u64,
    /// What it cost, by the client's own prices.
    pub cost_usd: Option<f64>,
    /// Whether earlier runs of the same session are included.
    pub is_session_total: bool,
}

/// How a client's process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClientExit {
    /// With this code.
    Code(i32),
    /// By a signal.
    Signal,
}

/// All that is known of one client's one-shot mode.
struct HeadlessProfile {
    id: SessionIdSource,
    /// The arguments for a turn without a person.
    args: fn(&HeadlessTurn<'_>) -> Vec<String>,
    /// The arguments for a turn in a terminal, where that was seen to work.
    terminal_args: Option<fn(&HeadlessTurn<'_>) -> Vec<String>>,
    env: &'static [(&'static str, &'static str)],
    /// What the client is told first, where it listens on its standard input.
    opening: fn(&HeadlessTurn<'_>) -> Option<String>,
    /// The flags that make it listen.
    host_args: &'static [&'static str],
    /// What a line of standard output tells.
    read: fn(&mut stream::StreamMemory, &serde_json::Value),
    /// What a line of standard error tells.
    read_error: fn(&mut stream::StreamMemory, &str),
    /// What an exit code tells where there was no final event.
    exit: fn(i32) -> Option<FailureClass>,
    record: Option<SessionRecord>,
    /// What a line of that file tells beyond the output, where it does.
    read_record: Option<fn(&mut stream::StreamMemory, &serde_json::Value)>,
    /// Whether a line of standard error is a log of no interest to people.
    is_log: fn(&str) -> bool,
    /// How often it may announce a long pause before we end it and wait ourselves.
    long_pauses: Option<u32>,
    /// How long it may be silent after it met a rate limit.
    silence_after_limit: Option<Duration>,
    resume: ResumeHabit,
    /// The arguments that define a sub-agent, where the client has them.
    helper_args: Option<fn(&TurnHelper<'_>) -> Vec<String>>,
}

/// What is special about resuming a session.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ResumeHabit {
    /// Nothing.
    Plain,
    /// One whose first turn failed is lost, and its id with it.
    LosesFailedStart,
    /// It makes room in its context by itself.
    Compacts,
}

/// A pause that is too long to leave a client waiting in.
const LONG_PAUSE: Duration = Duration::from_mins(1);

impl HeadlessProfile {
    const fn plain(args: fn(&HeadlessTurn<'_>) -> Vec<String>) -> Self {
        Self {
            id: SessionIdSource::Chosen,
            args,
            terminal_args: None,
            env: &[],
            opening: |_| None,
            host_args: &[],
            read: |_, _| {},
            read_error: |_, _| {},
            exit: |_| None,
            record: None,
            read_record: None,
            is_log: |_| false,
            long_pauses: None,
            silence_after_limit: None,
            resume: ResumeHabit::Plain,
            helper_args: None,
        }
    }
}

impl Agent {
    /// How it is run without a person, if it can be.
    pub const fn headless(self) -> Option<Headless> {
        let profile = match self {
            Self::Claude => &claude::HEADLESS,
            Self::Codex => &codex::HEADLESS,
            Self::Gemini => &gemini::HEADLESS,
            Self::Qwen => &qwen::HEADLESS,
            Self::Copilot => &copilot::HEADLESS,
            Self::Kimi => &kimi::HEADLESS,
            Self::OpenCode => &opencode::HEADLESS,
            Self::Pi => &pi::HEADLESS,
            Self::Cursor
            | Self::Droid
            | Self::Antigravity
            | Self::Grok
            | Self::Devin
            | Self::Qoder
            | Self::VsCode => return None,
        };
        Some(Headless { profile })
    }

    /// The agent whose program has this file name.
    pub fn of_program(name: &str) -> Option<Self> {
        let name = name.strip_suffix(".exe").or_else(|| name.strip_suffix(".cmd")).unwrap_or(name);
        Self::ALL.into_iter().find(|agent| agent.files().programs.contains(&name))
    }
}

impl Headless {
    /// Where the id of a new session comes from.
    pub const fn id_source(self) -> SessionIdSource {
        self.profile.id
    }

    /// The command for a turn without a person.
    pub fn command(self, turn: &HeadlessTurn<'_>) -> HeadlessCommand {
        self.assemble(turn, self.profile.args)
    }

    /// The same for a driver that answers what the client asks, where it asks its host, and with
    /// a sub-agent to hand work to, where it has them.
    pub fn hosted_command(
        self,
        turn: &HeadlessTurn<'_>,
        helper: Option<&TurnHelper<'_>>,
    ) -> HeadlessCommand {
        let mut command = self.command(turn);
        let helper = helper.zip(self.profile.helper_args).map(|(helper, args)| args(helper));
        // Before the person's own flags: what follows a flag of many values would be one of them.
        command.argv.splice(1..1, helper.into_iter().flatten());
        command.opening = (self.profile.opening)(turn);
        if command.opening.is_some() {
            let flags = self.profile.host_args.iter().map(|flag| (*flag).to_owned());
            command.argv.splice(1..1, flags);
        }
        command
    }

    /// The command for a turn in a terminal, if that is known.
    pub fn terminal_command(self, turn: &HeadlessTurn<'_>) -> Option<HeadlessCommand> {
        self.profile.terminal_args.map(|args| self.assemble(turn, args))
    }

    fn assemble(
        self,
        turn: &HeadlessTurn<'_>,
        args: fn(&HeadlessTurn<'_>) -> Vec<String>,
    ) -> HeadlessCommand {
        let mut command = vec![turn.program.to_owned()];
        command.extend(args(turn));
        HeadlessCommand { argv: command, env: self.profile.env, opening: None }
    }

    /// Reads its output.
    pub fn reader(self) -> StreamReader {
        StreamReader::new(self.profile)
    }

    /// The file in which the client records a session, where it keeps one that can be read.
    pub const fn record(self) -> Option<SessionRecord> {
        self.profile.record
    }

    /// Whether a failure stands there in more detail than in the output.
    pub const fn explains_in_record(self) -> bool {
        self.profile.read_record.is_some()
    }

    /// Whether its agents can hand work to sub-agents that a command line defines.
    pub const fn has_sub_agents(self) -> bool {
        self.profile.helper_args.is_some()
    }

    /// Whether a session that failed for its length makes room when it is resumed.
    pub const fn compacts_on_resume(self) -> bool {
        matches!(self.profile.resume, ResumeHabit::Compacts)
    }
}

/// A turn in a terminal, for clients that take their first prompt with `-i`.
fn interactive(turn: &HeadlessTurn<'_>) -> Vec<String> {
    let mut args = turn.own_then(&[]);
    args.extend(turn.named_session());
    args.extend(["-i".to_owned(), turn.prompt.to_owned()]);
    args
}

impl HeadlessTurn<'_> {
    /// The person's arguments, then these.
    fn own_then(&self, args: &[&str]) -> Vec<String> {
        let own = self.own_args.iter().cloned();
        own.chain(args.iter().map(|arg| (*arg).to_owned())).collect()
    }

    /// The person's arguments without a leading subcommand that we write ourselves.
    fn own_after(&self, subcommand: &str) -> Vec<String> {
        let own = self.own_args.iter().enumerate();
        own.filter(|(at, arg)| *at > 0 || *arg != subcommand).map(|(_, arg)| arg.clone()).collect()
    }

    /// Model and session, as Gemini and what was made from it take them.
    fn named_session(&self) -> Vec<String> {
        let mut args = self.model_flag("-m", &["-m", "--model"]);
        args.extend(self.session_flag());
        args
    }

    /// The session by its name, whether it is new or resumed.
    fn session_flag(&self) -> [String; 2] {
        match self.session {
            TurnSession::New(id) => ["--session-id".to_owned(), id.to_owned()],
            TurnSession::Resumed(id) => ["--resume".to_owned(), id.to_owned()],
        }
    }

    /// The model, unless the person named one with one of these flags.
    fn model_flag(&self, flag: &str, flags: &[&str]) -> Vec<String> {
        let names = |arg: &String| {
            flags.iter().any(|flag| {
                arg == flag || arg.strip_prefix(flag).is_some_and(|rest| rest.starts_with('='))
            })
        };
        match self.model {
            Some(model) if !self.own_args.iter().any(names) => {
                vec![flag.to_owned(), model.to_owned()]
            }
            Some(_) | None => Vec::new(),
        }
    }
}

impl SessionFailure {
    /// A failure of this class, with no time to wait for.
    pub fn new(class: FailureClass, message: impl Into<String>) -> Self {
        Self { class, reset: None, message: message.into() }
    }
}
