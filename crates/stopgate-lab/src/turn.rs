//! What the fake model says, one turn at a time.

use std::time::Duration;

use serde_json::{Value, json};

use crate::reply::ReplyBlock;

/// One scripted answer of the fake model.
#[derive(Clone, Debug)]
pub struct ScriptedTurn {
    parts: Vec<Part>,
    pub(crate) delay: Duration,
    pub(crate) input_tokens: Option<u64>,
    pub(crate) usage: Option<TurnUsage>,
    pub(crate) fault: Option<ModelFault>,
}

/// What an answer is said to have used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TurnUsage {
    /// Given to the model and not read from its cache.
    pub input: u64,
    /// Read from its cache.
    pub cached: u64,
    /// Written by it, its reasoning included.
    pub output: u64,
    /// The part of the output that was reasoning.
    pub reasoning: u64,
}

/// What goes wrong with an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ModelFault {
    Status { status: u16, retry_after: Option<Duration> },
    Hang,
    Drop,
    Cut,
    TooLong,
}

#[derive(Clone, Debug)]
enum Part {
    Text(String),
    Tool { name: String, input: Value },
}

impl TurnUsage {
    /// All tokens.
    pub const fn total(&self) -> u64 {
        self.input + self.cached + self.output
    }
}

impl ScriptedTurn {
    /// A plain answer that ends the turn. `{n}` becomes the number of the
    /// session's model call, counted from 1.
    pub fn text(text: &str) -> Self {
        Self::of(Part::Text(text.into()))
    }

    /// A call of one of the client's tools. In it, `{last:TASK-}` becomes the last word of
    /// the conversation that begins with `TASK-`.
    pub fn tool(name: &str, input: Value) -> Self {
        Self::of(Part::Tool { name: name.into(), input })
    }

    /// A shell command by way of the client's Bash tool.
    pub fn bash(command: &str) -> Self {
        Self::tool("Bash", json!({"command": command, "description": "scripted"}))
    }

    /// A shell command that the client runs in the background.
    pub fn background(command: &str) -> Self {
        let input =
            json!({"command": command, "description": "scripted", "run_in_background": true});
        Self::tool("Bash", input)
    }

    /// The server refuses with this status.
    pub fn status(status: u16) -> Self {
        Self::faulty(ModelFault::Status { status, retry_after: None })
    }

    /// The key is not accepted.
    pub fn unauthorized() -> Self {
        Self::status(401)
    }

    /// The limit is used up, and is lifted after this time.
    pub fn rate_limited(retry_after: Duration) -> Self {
        Self::faulty(ModelFault::Status { status: 429, retry_after: Some(retry_after) })
    }

    /// The conversation does not fit into the model's window.
    pub fn too_long() -> Self {
        Self::faulty(ModelFault::TooLong)
    }

    /// No byte ever comes; ends when the client hangs up or the model is gone.
    pub fn hang() -> Self {
        Self::faulty(ModelFault::Hang)
    }

    /// The connection is closed without an answer.
    pub fn dropped() -> Self {
        Self::faulty(ModelFault::Drop)
    }

    /// The same answer, but the connection breaks in the middle of its stream.
    #[must_use]
    pub fn cut(mut self) -> Self {
        self.fault = Some(ModelFault::Cut);
        self
    }

    /// The same answer, given only after a while.
    #[must_use]
    pub fn after(mut self, delay: Duration) -> Self {
        self.delay = delay;
        self
    }

    /// The same answer with another text block behind it.
    #[must_use]
    pub fn and_text(mut self, text: &str) -> Self {
        self.parts.push(Part::Text(text.into()));
        self
    }

    /// The same answer with another one behind it.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        self.parts.extend(other.parts);
        self
    }

    /// The same answer, said to have used this much of the context window.
    /// A client that thinks its window is full compacts before its next call.
    #[must_use]
    pub fn filling(mut self, input_tokens: u64) -> Self {
        self.input_tokens = Some(input_tokens);
        self
    }

    /// The same answer, said to have used exactly this.
    #[must_use]
    pub const fn using(mut self, usage: TurnUsage) -> Self {
        self.usage = Some(usage);
        self
    }

    /// The pieces of the answer: `call` fills `{n}`, `serial` makes the ids of tool calls unique.
    pub(crate) fn blocks(&self, call: usize, serial: usize) -> Vec<ReplyBlock> {
        let block = |(at, part): (usize, &Part)| match part {
            Part::Text(text) => ReplyBlock::Text(text.replace("{n}", &call.to_string())),
            Part::Tool { name, input } => ReplyBlock::Tool {
                id: format!("toolu_{serial:016}{at:08}"),
                name: name.clone(),
                input: input.clone(),
            },
        };
        self.parts.iter().enumerate().map(block).collect()
    }

    fn of(part: Part) -> Self {
        Self { parts: vec![part], ..Self::nothing() }
    }

    fn faulty(fault: ModelFault) -> Self {
        Self { fault: Some(fault), ..Self::nothing() }
    }

    fn nothing() -> Self {
        Self {
            parts: Vec::new(),
            delay: Duration::ZERO,
            input_tokens: None,
            usage: None,
            fault: None,
        }
    }
}
