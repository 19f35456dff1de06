//! What a client is asked, and for how long it may take.

use std::time::Duration;

const LIMIT: Duration = Duration::from_mins(5);

/// One prompt for a client that runs without a person.
#[derive(Clone, Debug)]
pub struct Prompt {
    pub(crate) text: String,
    pub(crate) asking: PromptKind,
    pub(crate) args: Vec<String>,
    pub(crate) env: Vec<(String, String)>,
    pub(crate) limit: Duration,
}

/// Whether a prompt begins a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PromptKind {
    First,
    Again,
}

impl Prompt {
    /// Begins a session.
    pub fn first(text: &str) -> Self {
        Self::new(text, PromptKind::First)
    }

    /// Continues the client's last session in this project.
    pub fn again(text: &str) -> Self {
        Self::new(text, PromptKind::Again)
    }

    /// Adds options for the client.
    #[must_use]
    pub fn args(mut self, args: &[&str]) -> Self {
        self.args.extend(args.iter().map(|arg| (*arg).to_owned()));
        self
    }

    /// Sets a variable for the client, and so for its hooks.
    #[must_use]
    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.env.push((name.into(), value.into()));
        self
    }

    /// Kills the client after this time instead of five minutes.
    #[must_use]
    pub fn limit(mut self, limit: Duration) -> Self {
        self.limit = limit;
        self
    }

    fn new(text: &str, asking: PromptKind) -> Self {
        Self { text: text.into(), asking, args: Vec::new(), env: Vec::new(), limit: LIMIT }
    }
}
