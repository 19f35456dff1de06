//! One session's output, line by line, and what it comes to at the end.

use std::time::Duration;

use serde_json::Value;

use super::{
    ClientExit, FailureClass, HeadlessProfile, LONG_PAUSE, QuestionHabit, ResetTime, ResumeHabit,
    SessionFailure, StreamFact, UsageHint,
};

/// Reads the output of one client's process.
pub struct StreamReader {
    profile: &'static HeadlessProfile,
    memory: StreamMemory,
}

/// What the lines so far told.
#[derive(Debug, Default)]
pub(super) struct StreamMemory {
    facts: Vec<StreamFact>,
    session: Option<String>,
    said: String,
    pub(super) end: Option<Result<(), SessionFailure>>,
    pub(super) reset: Option<ResetTime>,
    long_pauses: u32,
    pub(super) last_retry: Option<FailureClass>,
    heard: SessionReach,
    error_text: Option<String>,
    pub(super) complaint: Option<String>,
    pub(super) context: Option<(u64, Option<u64>)>,
    usage: Option<UsageHint>,
    pub(super) habit: QuestionHabit,
    pub(super) plan: Option<String>,
    pub(super) question: Option<String>,
}

/// How far a session came.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum SessionReach {
    /// Not a single event.
    #[default]
    Nothing,
    /// The client spoke.
    Client,
    /// The model answered.
    Model,
}

/// What a session came to.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionReport {
    /// Its id, if it was told.
    pub session: Option<String>,
    /// How it ended.
    pub end: Result<(), SessionFailure>,
    /// The agent's last message.
    pub said: String,
    /// How far it came.
    pub reach: SessionReach,
    /// Whether the session can be resumed: it has an id, and the client stored it.
    pub can_resume: bool,
    /// Tokens in the window, and the window's size where it was told.
    pub context: Option<(u64, Option<u64>)>,
    /// What the stream told of use.
    pub usage: Option<UsageHint>,
    /// What the agent asked a person in the middle of its turn, which then ended.
    pub question: Option<String>,
}

impl StreamReader {
    pub(super) fn new(profile: &'static HeadlessProfile) -> Self {
        Self { profile, memory: StreamMemory::default() }
    }

    /// The id that we chose for the session.
    #[must_use]
    pub fn with_session(mut self, id: &str) -> Self {
        self.memory.session = Some(id.to_owned());
        self
    }

    /// What happens to questions in the middle of a turn.
    #[must_use]
    pub fn with_questions(mut self, habit: QuestionHabit) -> Self {
        self.memory.habit = habit;
        self
    }

    /// The session's id, as far as it is known.
    pub fn session(&self) -> Option<&str> {
        self.memory.session.as_deref()
    }

    /// Whether the stream has its final event.
    pub fn has_ended(&self) -> bool {
        self.memory.end.is_some()
    }

    /// Reads a line of standard output.
    pub fn line(&mut self, line: &[u8]) -> Vec<StreamFact> {
        if let Ok(event) = serde_json::from_slice::<Value>(line)
            && event.is_object()
        {
            self.memory.heard = self.memory.heard.max(SessionReach::Client);
            (self.profile.read)(&mut self.memory, &event);
        }
        std::mem::take(&mut self.memory.facts)
    }

    /// Reads a line of standard error.
    pub fn error_line(&mut self, line: &str) -> Vec<StreamFact> {
        (self.profile.read_error)(&mut self.memory, line);
        let line = line.trim();
        if !line.is_empty() && !(self.profile.is_log)(line) {
            self.memory.error_text = Some(line.to_owned());
        }
        std::mem::take(&mut self.memory.facts)
    }

    /// Reads a line of the client's own record of the session, after a failure.
    pub fn record_line(&mut self, line: &[u8]) {
        if let Some(read) = self.profile.read_record
            && let Ok(record) = serde_json::from_slice::<Value>(line)
        {
            read(&mut self.memory, &record);
        }
        self.memory.facts.clear();
    }

    /// Whether the client should be ended, since it would wait long by itself.
    pub fn gives_up(&self, silent: Duration) -> Option<SessionFailure> {
        let memory = &self.memory;
        let is_pausing = self.profile.long_pauses.is_some_and(|most| memory.long_pauses >= most);
        let is_silent = memory.last_retry == Some(FailureClass::RateLimit)
            && self.profile.silence_after_limit.is_some_and(|most| silent >= most);
        (memory.end.is_none() && (is_pausing || is_silent)).then(|| SessionFailure {
            class: memory.last_retry.unwrap_or(FailureClass::RateLimit),
            reset: memory.reset,
            message: match &memory.complaint {
                Some(words) => format!("the client would wait long by itself: {words}"),
                None => "the client would wait long by itself".to_owned(),
            },
        })
    }

    /// A client that was silent for so long; one that met a rate limit waits for it to be over.
    pub fn hang(&self, silent: Duration) -> SessionFailure {
        let class = match self.memory.last_retry {
            Some(FailureClass::RateLimit) => FailureClass::RateLimit,
            Some(_) | None => FailureClass::Hang,
        };
        SessionFailure { class, reset: self.memory.reset, message: self.hang_words(silent) }
    }

    fn hang_words(&self, silent: Duration) -> String {
        let seconds = silent.as_secs();
        let memory = &self.memory;
        let tried = memory.last_retry.map(FailureClass::word);
        match (&memory.complaint, tried) {
            (Some(words), _) => format!(
                "no output for {seconds} s after the service said: {words}; the client may \
                 be waiting as long as the service asked"
            ),
            (None, Some(class)) => format!(
                "no output for {seconds} s after a request was tried again ({class}); the \
                 client may be waiting as long as the service asked"
            ),
            (None, None) => format!("no output for {seconds} s"),
        }
    }

    /// What it came to, once the process has ended.
    pub fn report(self, exit: ClientExit) -> SessionReport {
        let Self { profile, memory } = self;
        let end = memory.end.clone().unwrap_or_else(|| Err(no_last_word(profile, &memory, exit)));
        let least = match profile.resume {
            ResumeHabit::LosesFailedStart => SessionReach::Model,
            ResumeHabit::Plain | ResumeHabit::Compacts => SessionReach::Client,
        };
        SessionReport {
            can_resume: memory.session.is_some() && memory.heard >= least,
            session: memory.session,
            end: end.map_err(|failure| SessionFailure {
                reset: failure.reset.or(memory.reset),
                ..failure
            }),
            said: memory.said,
            reach: memory.heard,
            context: memory.context,
            usage: memory.usage,
            question: memory.question,
        }
    }
}

/// A stream that broke off. Words count only where the client ended by itself.
fn no_last_word(
    profile: &HeadlessProfile,
    memory: &StreamMemory,
    exit: ClientExit,
) -> SessionFailure {
    let message = memory.error_text.clone().unwrap_or_default();
    let class = match exit {
        ClientExit::Signal => FailureClass::Killed,
        ClientExit::Code(code) => (profile.exit)(code)
            .or_else(|| (code != 0).then(|| super::classify::by_words(&message)))
            .filter(|class| *class != FailureClass::Unknown)
            .unwrap_or(FailureClass::Killed),
    };
    SessionFailure::new(class, message)
}

impl StreamMemory {
    pub(super) fn session(&mut self, id: &Value) {
        self.names(id.as_str().unwrap_or_default());
    }

    /// The session's id.
    pub(super) fn names(&mut self, id: &str) {
        if id.is_empty() {
            return;
        }
        self.heard = self.heard.max(SessionReach::Client);
        if self.session.as_deref() != Some(id) {
            self.session = Some(id.to_owned());
            self.facts.push(StreamFact::Session(id.to_owned()));
        }
    }

    pub(super) fn answered(&mut self) {
        self.heard = SessionReach::Model;
        self.recovers();
        self.long_pauses = 0;
        self.facts.push(StreamFact::Answered);
    }

    pub(super) fn says(&mut self, text: &str) {
        text.clone_into(&mut self.said);
    }

    pub(super) fn adds(&mut self, text: &str) {
        self.said.push_str(text);
    }

    pub(super) fn retry(&mut self, class: FailureClass, delay: Option<Duration>) {
        self.last_retry = Some(class);
        if delay.is_some_and(|delay| delay >= LONG_PAUSE) {
            self.long_pauses += 1;
            self.reset = delay.map(ResetTime::After);
        }
        self.facts.push(StreamFact::Retry { class, delay });
    }

    /// The request that was tried again went well, or another one was begun.
    pub(super) fn recovers(&mut self) {
        self.last_retry = None;
        self.complaint = None;
    }

    /// What the client must be told.
    pub(super) fn replies(&mut self, line: String) {
        self.facts.push(StreamFact::Reply(line));
    }

    pub(super) fn quota(&mut self, used: f64, resets_at: u64) {
        self.facts.push(StreamFact::Quota { used, resets_at });
    }

    pub(super) fn usage(&mut self, usage: UsageHint) {
        self.usage = Some(usage);
        self.facts.push(StreamFact::Usage(usage));
    }

    pub(super) fn context(&mut self, tokens: u64, window: Option<u64>) {
        let window = window.or(self.context.and_then(|(_, window)| window));
        self.context = Some((tokens, window));
        self.facts.push(StreamFact::Context { tokens, window });
    }

    pub(super) fn finished(&mut self) {
        self.end = Some(Ok(()));
        self.facts.push(StreamFact::Finished);
    }

    pub(super) fn failed(&mut self, class: FailureClass, message: &str) {
        let failure = SessionFailure { class, reset: self.reset, message: message.to_owned() };
        self.end = Some(Err(failure.clone()));
        self.facts.push(StreamFact::Failed(failure));
    }

    /// A better word about the failure that was read.
    pub(super) fn reclass(&mut self, class: FailureClass) {
        if let Some(Err(failure)) = &mut self.end {
            failure.class = class;
        }
    }
}
