//! What the fake model says, one turn at a time.

use std::time::Duration;

use serde_json::{Value, json};

/// One scripted answer of the fake model.
#[derive(Clone, Debug)]
pub struct Turn {
    parts: Vec<Part>,
    pub(crate) delay: Duration,
    pub(crate) input_tokens: Option<u64>,
}

#[derive(Clone, Debug)]
enum Part {
    Text(String),
    Tool { name: String, input: Value },
}

impl Turn {
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

    /// The same answer, said to have used this much of the context window.
    /// A client that thinks its window is full compacts before its next call.
    #[must_use]
    pub fn filling(mut self, input_tokens: u64) -> Self {
        self.input_tokens = Some(input_tokens);
        self
    }

    /// The content blocks of the answer: `call` fills `{n}`, `serial` makes
    /// the ids of tool calls unique.
    pub(crate) fn blocks(&self, call: usize, serial: usize) -> Vec<Value> {
        let block = |(at, part): (usize, &Part)| match part {
            Part::Text(text) => {
                json!({"type": "text", "text": text.replace("{n}", &call.to_string())})
            }
            Part::Tool { name, input } => json!({
                "type": "tool_use",
                "id": format!("toolu_{serial:016}{at:08}"),
                "name": name,
                "input": input,
            }),
        };
        self.parts.iter().enumerate().map(block).collect()
    }

    /// Why the model stopped talking: it wants a tool, or it is finished.
    pub(crate) fn stop_reason(&self) -> &'static str {
        let wants_tool = self.parts.iter().any(|part| matches!(part, Part::Tool { .. }));
        if wants_tool { "tool_use" } else { "end_turn" }
    }

    fn of(part: Part) -> Self {
        Self { parts: vec![part], delay: Duration::ZERO, input_tokens: None }
    }
}
