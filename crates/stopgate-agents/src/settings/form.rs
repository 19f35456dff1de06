//! What hooks look like in the settings of each agent.

use super::windows::{HookSystem, WindowsShell};
use crate::HookEvent;

/// The form of an agent's settings file.
#[derive(Clone, Copy, Debug)]
pub enum SettingsForm {
    /// JSON, with comments where people wrote some.
    Json(JsonForm),
    /// Kimi's TOML: a table `[[hooks]]` for each hook.
    KimiToml,
    /// A program text of our own, which the agent loads as a plugin.
    Bridge(BridgeForm),
}

impl SettingsForm {
    /// Claude Code's.
    pub(crate) const CLAUDE: Self = Self::Json(JsonForm::CLAUDE);
}

/// A plugin of ours.
#[derive(Clone, Copy, Debug)]
pub struct BridgeForm {
    /// The plugin's text, with a place for the program.
    pub text: &'static str,
}

/// Hooks in JSON.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a trait of a form of its own")]
pub struct JsonForm {
    /// The object that holds the events; `None` if that is the whole file.
    pub wrapper: Option<&'static str>,
    /// Whether an event lists groups that list hooks, or hooks at once.
    pub has_groups: bool,
    /// Whether a hook has `"type": "command"`.
    pub has_type: bool,
    /// The key of what is started.
    pub command_key: &'static str,
    /// The key of what is started on Windows, where that is another one.
    pub windows_key: Option<&'static str>,
    /// The key of a second line for Windows beside the first one: a plugin is the same everywhere.
    pub plugin_windows_key: Option<&'static str>,
    /// What runs commands on Windows.
    pub windows_shell: WindowsShell,
    /// Arguments behind the agent's name.
    pub arguments: &'static [&'static str],
    /// The key of the time-out.
    pub timeout_key: &'static str,
    /// How many of the time-out's units make a second.
    pub timeout_units: u32,
    /// What a new file begins with.
    pub begins_with: Option<(&'static str, u32)>,
    /// A key that lifts the client's limit on continuations where it is null.
    pub unlimited_key: Option<&'static str>,
    /// Whether the client shows a message while a hook runs.
    pub has_message: bool,
    /// Whether every failure of the command must be silent: the client takes it for an answer.
    pub needs_silence: bool,
    /// Whether the answer is the exit code.
    pub needs_exit_code: bool,
    /// Whether this is Claude Code's own file, with its permissions, limit and status line.
    pub is_claude: bool,
    /// The events that we answer.
    pub events: &'static [EventName],
}

/// An event that we answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventName {
    /// Its name in the settings.
    pub name: &'static str,
    /// How many seconds an answer may take. Checks run at a stop.
    pub timeout_s: u32,
}

impl EventName {
    /// The events of most clients.
    pub(crate) const USUAL: &'static [Self] = &[
        Self::stop("Stop"),
        Self::other("SessionStart"),
        Self::other("UserPromptSubmit"),
        Self::other("SessionEnd"),
    ];

    /// A stop, at which checks run.
    pub(crate) const fn stop(name: &'static str) -> Self {
        Self { name, timeout_s: 600 }
    }

    /// Another event, which takes no time.
    pub(crate) const fn other(name: &'static str) -> Self {
        Self { name, timeout_s: 10 }
    }

    pub(super) fn event(self) -> HookEvent {
        HookEvent::named(self.name)
    }
}

impl JsonForm {
    /// Claude Code's.
    pub(crate) const CLAUDE: Self = Self {
        has_message: true,
        is_claude: true,
        events: &[
            EventName::stop("Stop"),
            EventName::other("SubagentStop"),
            EventName::other("SessionStart"),
            EventName::other("SessionEnd"),
            EventName::other("UserPromptSubmit"),
            EventName::other("PostToolBatch"),
            EventName::other("PreCompact"),
            EventName::other("StopFailure"),
        ],
        ..Self::GROUPS
    };

    /// The form that most agents took over from Claude Code.
    pub(crate) const GROUPS: Self = Self {
        wrapper: Some("hooks"),
        has_groups: true,
        has_type: true,
        command_key: "command",
        windows_key: None,
        plugin_windows_key: None,
        windows_shell: WindowsShell::Any,
        arguments: &[],
        timeout_key: "timeout",
        timeout_units: 1,
        begins_with: None,
        unlimited_key: None,
        has_message: false,
        needs_silence: false,
        needs_exit_code: false,
        is_claude: false,
        events: &[EventName::stop("Stop"), EventName::other("SessionStart")],
    };

    pub(super) const fn timeout(self, seconds: u32) -> u32 {
        seconds * self.timeout_units
    }

    /// The key of what is started on a system.
    pub(super) fn key_on(self, system: HookSystem) -> &'static str {
        match system {
            HookSystem::Unix => self.command_key,
            HookSystem::Windows => self.windows_key.unwrap_or(self.command_key),
        }
    }

    /// What keeps a command silent whatever happens to the program.
    pub(super) const fn guard(self) -> &'static str {
        if self.needs_silence { " 2>/dev/null || true" } else { "" }
    }
}
