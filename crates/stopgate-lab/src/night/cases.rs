//! The table: what happens, and how it must end.

use std::time::Duration;

use serde_json::json;

use crate::pinned::LabAgent;
use crate::turn::{ScriptedTurn, TurnUsage};

/// Something that happens to a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NightCase {
    /// Too many requests, and the person does not want to wait.
    LimitLeft,
    /// The service names an hour, and the client would sleep through it without a word.
    LimitHour,
    /// The plan's window is used up for two seconds.
    LimitWaited,
    /// The service fails twice.
    ServerTwice,
    /// The service has no room, again and again.
    Overloaded,
    /// The key is not accepted.
    Auth,
    /// The conversation is too long, whatever is sent.
    TooLong,
    /// The stream breaks off once.
    Cut,
    /// The model never answers.
    Hang,
    /// The agent ends with a question.
    Question,
    /// The agent asks with its client's own tool, a person answers, and the run goes on.
    Asked,
    /// The agent shows a plan, a person approves it, and the run goes on.
    Planned,
    /// The loop may use no more after two turns.
    Budget,
    /// The client is killed in the middle of a tool call.
    ClientKilled,
    /// The driver is killed while the model thinks.
    DriverKilled,
    /// The stop hook is installed: it judges each stop, and hands over.
    Hooked,
}

/// How a case must end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExpectedNight {
    /// The loop's outcome; a question has none yet.
    pub outcome: &'static str,
    /// The exit code of `run`.
    pub code: i32,
    /// How many fresh sessions there were.
    pub sessions: u64,
}

/// The cases for a client: all of them where it is driven every day, the four main ones elsewhere.
pub fn cases_of(agent: LabAgent) -> Vec<NightCase> {
    use NightCase::{
        Asked, Auth, Budget, ClientKilled, Cut, DriverKilled, Hang, Hooked, LimitHour, LimitLeft,
        LimitWaited, Overloaded, Planned, Question, ServerTwice, TooLong,
    };
    let main = [LimitLeft, ServerTwice, Auth, Cut, Budget];
    let daily =
        [LimitWaited, Overloaded, TooLong, Hang, Question, ClientKilled, DriverKilled, Hooked];
    match agent {
        LabAgent::Claude => [&main[..], &daily, &[Asked, Planned]].concat(),
        LabAgent::Codex => [&main[..], &daily].concat(),
        LabAgent::Gemini | LabAgent::Copilot => main.into(),
        LabAgent::Qwen | LabAgent::OpenCode => [&main[..], &[LimitHour]].concat(),
        LabAgent::Kimi | LabAgent::Pi => Vec::new(),
    }
}

impl NightCase {
    /// Its name in a table.
    pub const fn name(self) -> &'static str {
        match self {
            Self::LimitLeft => "429, --no-wait",
            Self::LimitHour => "429 for an hour, --no-wait",
            Self::LimitWaited => "429 with a reset time",
            Self::ServerTwice => "500 twice",
            Self::Overloaded => "529 for ever",
            Self::Auth => "401",
            Self::TooLong => "context overflow",
            Self::Cut => "cut stream",
            Self::Hang => "hang",
            Self::Question => "question",
            Self::Asked => "asks its host",
            Self::Planned => "shows a plan",
            Self::Budget => "limit on tokens",
            Self::ClientKilled => "client SIGKILLed",
            Self::DriverKilled => "driver SIGKILLed",
            Self::Hooked => "stop hook installed",
        }
    }

    /// How it must end.
    pub fn expected(self, agent: LabAgent) -> ExpectedNight {
        let end = |outcome, code, sessions| ExpectedNight { outcome, code, sessions };
        match self {
            Self::LimitLeft | Self::LimitHour => end("rate_limited", 75, 1),
            // Each session claims without the work and uses 1000 of 1500 tokens or more.
            Self::Budget => end("budget", 3, 2),
            // Gemini does not try again after a cut, and loses a first turn that failed; Qwen takes
            // the broken text for an answer, so that the next session does the work.
            Self::Cut if matches!(agent, LabAgent::Gemini | LabAgent::Qwen) => end("done", 0, 2),
            // Two claims without the work, each the end of a session.
            Self::Hooked => end("done", 0, 3),
            Self::LimitWaited
            | Self::Asked
            | Self::Planned
            | Self::ServerTwice
            | Self::Cut
            | Self::ClientKilled
            | Self::DriverKilled => end("done", 0, 1),
            Self::Overloaded | Self::Hang => end("infra_error", 4, 1),
            Self::TooLong => end("infra_error", 4, 2),
            Self::Auth | Self::Question => end("needs_input", 4, 1),
        }
    }

    /// What the model says.
    pub(super) fn turns(self, agent: LabAgent) -> Vec<ScriptedTurn> {
        let works =
            || vec![agent.shell("touch made.txt"), ScriptedTurn::text("Now the file is there.")];
        let first = |turn: ScriptedTurn, times: usize| {
            let mut turns = vec![turn; times];
            turns.extend(works());
            turns
        };
        match self {
            // Two clients would sleep for the hour without a word; a short time they give up on.
            Self::LimitLeft if matches!(agent, LabAgent::OpenCode | LabAgent::Qwen) => {
                vec![ScriptedTurn::rate_limited(Duration::from_secs(3)); 200]
            }
            Self::LimitLeft | Self::LimitHour => {
                vec![ScriptedTurn::rate_limited(Duration::from_hours(1)); 40]
            }
            Self::LimitWaited => first(ScriptedTurn::rate_limited(Duration::from_secs(2)), 1),
            Self::ServerTwice => first(ScriptedTurn::status(500), 2),
            Self::Overloaded => vec![ScriptedTurn::status(529); 200],
            Self::Auth => vec![ScriptedTurn::unauthorized(); 40],
            Self::TooLong => vec![ScriptedTurn::too_long(); 40],
            Self::Cut => first(ScriptedTurn::text("I am going to make the file.").cut(), 1),
            Self::Hang => vec![ScriptedTurn::hang(); 10],
            Self::Question => {
                vec![ScriptedTurn::text("Both would work.\n\nWhich colour should it have?")]
            }
            Self::Asked => {
                let options = json!([
                    {"label": "Red", "description": "warm"},
                    {"label": "Blue", "description": "cold"},
                ]);
                let question = json!({
                    "question": "Which colour should it have?", "header": "Colour",
                    "multiSelect": false, "options": options,
                });
                first(ScriptedTurn::tool("AskUserQuestion", json!({ "questions": [question] })), 1)
            }
            Self::Planned => {
                first(ScriptedTurn::tool("ExitPlanMode", json!({ "plan": "1. Make the file." })), 2)
            }
            Self::Budget => {
                let usage = TurnUsage { input: 900, output: 100, ..TurnUsage::default() };
                vec![ScriptedTurn::text("All done: {n}").using(usage); 40]
            }
            Self::Hooked => first(ScriptedTurn::text("All done."), 2),
            Self::ClientKilled => first(agent.shell("kill -9 $PPID; sleep 30"), 1),
            Self::DriverKilled => {
                first(ScriptedTurn::text("I am thinking.").after(Duration::from_secs(3)), 1)
            }
        }
    }

    /// What a person answers, where the agent asks.
    pub(super) const fn answer(self) -> Option<&'static str> {
        match self {
            Self::Asked => Some("Blue, please."),
            Self::Planned => Some("Yes, go on."),
            _other => None,
        }
    }

    /// Flags of `run` that make it quick.
    pub(super) fn flags(self) -> Vec<&'static str> {
        let mut flags = vec!["--headless", "--retry-after", "200ms"];
        match self {
            Self::LimitLeft | Self::LimitHour => flags.push("--no-wait"),
            Self::Overloaded => flags.extend(["--max-failures", "1"]),
            Self::Hang => flags.extend(["--hang-after", "6s"]),
            _other => {}
        }
        flags
    }
}
