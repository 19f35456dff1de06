//! Where a checked call is carried out.

use std::fmt;

use serde_json::{Map, Value};

use crate::tool_name::ToolName;

/// Does what a tool is for. Calls come from several threads.
pub trait ToolHandler: Send + Sync + 'static {
    /// Carries out one call; its arguments fit the tool's schema.
    fn call(&self, tool: ToolName, arguments: Map<String, Value>) -> Result<Value, CallRefusal>;

    /// Whether a call may be carried out on the thread that speaks the protocol.
    ///
    /// Not where it runs programs, waits for a server, or has a runtime of its own.
    fn is_near(&self, tool: ToolName, arguments: &Map<String, Value>) -> bool;

    /// Chores of this thread that may wait until the answer is on its way.
    fn settle(&self) {}
}

/// Why a call was not carried out, in words for the model that asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallRefusal {
    /// What was wrong, as a sentence.
    pub why: String,
    /// What to do next, as a sentence; empty where nothing can be done.
    pub next: String,
}

impl CallRefusal {
    /// A refusal without advice.
    pub fn new(why: impl Into<String>) -> Self {
        Self { why: why.into(), next: String::new() }
    }

    /// Adds what to do next.
    #[must_use]
    pub fn next(mut self, next: impl Into<String>) -> Self {
        self.next = next.into();
        self
    }
}

impl fmt::Display for CallRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.why)?;
        if self.next.is_empty() {
            return Ok(());
        }
        let stop = if self.why.ends_with(['.', '!', '?']) { "" } else { "." };
        write!(f, "{stop} {}", self.next)
    }
}
