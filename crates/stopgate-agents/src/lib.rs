//! How each agent asks to stop, and how it wants to be answered.
//!
//! One module an agent: payload in, reply out, its transcript's records, and
//! its settings edited as text. Bytes come in and bytes go out; nothing here
//! opens a file, starts a program, or reads a clock or a variable.

mod call;

mod agent;

mod lenient;

mod surrogates;

mod payload;

mod reply;

mod transcript;

mod claude;

mod codex;

mod gemini;

mod qwen;

mod copilot;

mod kimi;

mod opencode;

mod pi;

mod cursor;

mod documented;

pub mod settings;

mod headless;

mod reviewer;

mod oracle;

pub use agent::{
    Agent, AgentFiles, AgentVariables, Client, ClientVersion, Provenance, StatusLineItems,
    TranscriptSearch,
};
pub use call::{AgentAnswer, Background, Call, HookEvent, Malformed, Reply, SessionSource};
pub use claude::{SKILL, SKILL_PATH, TypedCommand};
pub use headless::{
    ClientExit, FailureClass, Headless, HeadlessCommand, HeadlessTurn, QuestionHabit, ResetTime,
    SessionFailure, SessionIdSource, SessionReach, SessionRecord, SessionReport, StreamFact,
    StreamReader, TurnHelper, TurnSession, UsageHint,
};
pub use oracle::{HookOutput, StopSample, Understood};
pub use reviewer::ReviewerForm;
