//! One run of the client: what it is asked, how, and for how long.

use std::ffi::OsString;
use std::time::Duration;

/// Lifts the client's own limit on consecutive blocks when it is `0`.
const CAP_VARIABLE: &str = "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP";
const LIMIT: Duration = Duration::from_mins(1);

/// A `claude -p` session to be run on a stage, under an id known beforehand.
#[derive(Clone, Debug)]
pub struct Session {
    /// The session's id, as the client and its hooks will call it.
    pub id: String,
    pub(crate) args: Vec<OsString>,
    pub(crate) env: Vec<(OsString, OsString)>,
    pub(crate) limit: Duration,
}

impl Session {
    pub(crate) fn new(id: String, prompt: &str) -> Self {
        Self::starting_with("--session-id", id, prompt)
    }

    /// The same session taken up again with another prompt.
    #[must_use]
    pub fn resumed(&self, prompt: &str) -> Self {
        let again = Self::starting_with("--resume", self.id.clone(), prompt);
        Self { env: self.env.clone(), limit: self.limit, ..again }
    }

    /// Adds arguments for the client.
    #[must_use]
    pub fn args<A: Into<OsString>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.args.extend(args.into_iter().map(Into::into));
        self
    }

    /// Lets the client run its Bash tool without asking.
    #[must_use]
    pub fn allowing_bash(self) -> Self {
        self.args(["--allowedTools", "Bash"])
    }

    /// Sets a variable for the client, and so for its hooks.
    #[must_use]
    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.env.push((name.into(), value.into()));
        self
    }

    /// Takes the client's cap on consecutive blocks away.
    #[must_use]
    pub fn uncapped(self) -> Self {
        self.env(CAP_VARIABLE, "0")
    }

    /// Kills the client after this time instead of a minute.
    #[must_use]
    pub fn limit(mut self, limit: Duration) -> Self {
        self.limit = limit;
        self
    }

    fn starting_with(option: &str, id: String, prompt: &str) -> Self {
        let args = ["-p", prompt, "--output-format", "stream-json", "--verbose"];
        let mut args: Vec<OsString> = args.into_iter().map(Into::into).collect();
        args.extend(["--include-hook-events".into(), option.into(), OsString::from(&id)]);
        Self { id, args, env: Vec::new(), limit: LIMIT }
    }
}
