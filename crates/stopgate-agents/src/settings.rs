//! An agent's hook settings, edited as text.
//!
//! Only our own entries are written, replaced or removed. Everybody else's
//! hooks, keys, comments, order and indentation stay byte for byte, and a file
//! that isn't what it should be is refused, never repaired by guess.

mod bridge;

mod draft;

mod error;

mod exits;

mod form;

mod inventory;

mod own;

mod plugin;

mod print;

mod toml_hooks;

mod tree;

mod windows;

use jsonc_parser::ast::Value;
use jsonc_parser::common::Ranged;

pub use error::{SettingsError, TextPosition};
pub use form::{BridgeForm, EventName, JsonForm, SettingsForm};
pub use inventory::{AnyHook, all_hooks};
pub use own::EntryCommand;
pub use plugin::{PluginMark, plugin_hooks, plugin_stop};
pub use toml_hooks::TrustEntry;
pub use windows::{HookSystem, WindowsShell};

use own::value;
use tree::SettingsTree;

use crate::{Agent, HookEvent};

#[cfg(test)]
mod forms_tests;
#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;

/// The variable that lifts Claude Code's limit on continuations.
pub const CAP_VARIABLE: &str = "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP";

/// What an installation writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookEntry {
    /// Whose settings they are.
    pub agent: Agent,
    /// The absolute path of the program.
    pub program: String,
    /// How the hook finds it.
    pub form: EntryForm,
    /// Whether agents may run their exits without asking.
    pub exits: ExitRules,
    /// Whether the status line shows the loop.
    pub statusline: StatusLine,
    /// Whose loop files the entry serves, where it is not for loops of our own.
    pub dialect: Option<String>,
    /// The system that it is for.
    pub system: HookSystem,
}

/// How an installed hook finds its program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryForm {
    /// By its path on this machine.
    Own,
    /// On the PATH of each person who works on the project; where it is missing, the agent may stop.
    Shared,
    /// The same from a plugin, which also stands down where settings have an entry.
    Plugin,
}

/// Whether agents may run their exits without asking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExitRules {
    /// They may.
    Allow,
    /// Nothing is said about it.
    Leave,
}

/// Whether the status line shows the loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatusLine {
    /// It does, behind what it shows already.
    Show,
    /// It stays as it is.
    Leave,
}

impl HookEntry {
    /// The usual installation of the program at this path.
    pub fn new(agent: Agent, program: &str) -> Self {
        Self {
            agent,
            program: program.into(),
            form: EntryForm::Own,
            exits: ExitRules::Allow,
            statusline: StatusLine::Leave,
            dialect: None,
            system: HookSystem::CURRENT,
        }
    }
}

/// A settings file after an edit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edited {
    /// The whole new text.
    pub text: String,
    /// What was changed, a sentence each. Empty if nothing was.
    pub changes: Vec<String>,
    /// What the person should know, a sentence each.
    pub notes: Vec<String>,
}

/// A hook entry of ours in a settings file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstalledEntry {
    /// The event's name, as the file has it.
    pub event: String,
    /// What that name means.
    pub kind: HookEvent,
    /// What it starts.
    pub command: EntryCommand,
    /// How long it may take, if the entry says so.
    pub timeout_s: Option<u64>,
}

/// Settings that decide whether our hooks can do their work.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Switches {
    /// No hook runs at all.
    pub disable_all_hooks: bool,
    /// What the file sets the limit on continuations to, if it does.
    pub cap: Option<String>,
}

impl InstalledEntry {
    /// Whether the entry judges stops of loops of our own.
    pub fn judges_stops(&self) -> bool {
        self.kind == HookEvent::Stop && self.dialect().is_none()
    }

    /// Whose loop files the entry serves, where it is not for loops of our own.
    pub fn dialect(&self) -> Option<String> {
        let words = self.command.words();
        let at = words.iter().position(|word| word == "--dialect")?;
        Some(words.get(at + 1).cloned().unwrap_or_default())
    }

    /// Whether the entry is shared by a team.
    pub fn is_shared(&self) -> bool {
        self.command.words().iter().any(|word| word == own::SHARED)
    }
}

/// Adds our entries to a settings file, or brings older ones of ours up to date.
/// A second time changes nothing.
pub fn install(text: Option<&str>, entry: &HookEntry) -> Result<Edited, SettingsError> {
    match entry.agent.files().form {
        SettingsForm::Json(form) => draft::install(text.unwrap_or_default(), form, entry),
        SettingsForm::KimiToml => toml_hooks::install(text.unwrap_or_default(), entry),
        SettingsForm::Bridge(form) => Ok(bridge::install(text, form, entry)),
    }
}

/// Removes our entries from an agent's settings file, what they leave empty, and what came with
/// them. With a dialect, only the entries that serve it.
pub fn uninstall(agent: Agent, text: &str, dialect: Option<&str>) -> Result<Edited, SettingsError> {
    match agent.files().form {
        SettingsForm::Json(form) => draft::uninstall(text, form, dialect),
        SettingsForm::KimiToml => toml_hooks::uninstall(text, dialect),
        SettingsForm::Bridge(form) => Ok(bridge::uninstall(text, form)),
    }
}

/// Whether `now` is what an installation makes of `before`, so that taking it back is to write
/// `before` again. Empty lists that were there come back only so.
pub fn is_installation(agent: Agent, before: &str, now: &str) -> bool {
    let found = find(agent, now).unwrap_or_default();
    let Some(program) = found.first().and_then(|found| found.command.words().into_iter().next())
    else {
        return false;
    };
    let form = if found[0].is_shared() { EntryForm::Shared } else { EntryForm::Own };
    let exits = [ExitRules::Allow, ExitRules::Leave].into_iter();
    let mut wishes = exits.flat_map(|exits| {
        [StatusLine::Leave, StatusLine::Show].map(|statusline| (exits, statusline))
    });
    wishes.any(|(exits, statusline)| {
        let entry = HookEntry { form, exits, statusline, ..HookEntry::new(agent, &program) };
        install(Some(before), &entry).is_ok_and(|edited| edited.text == now)
    })
}

/// Lists our entries in an agent's settings file.
pub fn find(agent: Agent, text: &str) -> Result<Vec<InstalledEntry>, SettingsError> {
    match agent.files().form {
        SettingsForm::Json(form) => draft::find(text, form),
        SettingsForm::KimiToml => toml_hooks::find(text),
        SettingsForm::Bridge(form) => Ok(bridge::find(text, form, agent)),
    }
}

/// Whether a file holds nothing but what an installation begins a new file with.
pub fn is_blank(agent: Agent, text: &str) -> bool {
    match agent.files().form {
        SettingsForm::Json(form) => draft::is_blank(text, form),
        SettingsForm::KimiToml | SettingsForm::Bridge(_) => text.trim().is_empty(),
    }
}

/// Reads the settings of Claude Code that could keep our entries from working.
pub fn switches(text: &str) -> Result<Switches, SettingsError> {
    match SettingsTree::read(without_bom(text), JsonForm::CLAUDE)? {
        Some(tree) => switches_of(&tree),
        None => Ok(Switches::default()),
    }
}

fn without_bom(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

fn switches_of(tree: &SettingsTree<'_>) -> Result<Switches, SettingsError> {
    let disabled = value(&tree.root, "disableAllHooks").and_then(Value::as_boolean_lit);
    let cap = tree.object("env")?.and_then(|env| value(env, CAP_VARIABLE));
    Ok(Switches {
        disable_all_hooks: disabled.is_some_and(|disabled| disabled.value),
        cap: cap.map(|cap| literal(tree, cap)),
    })
}

/// A text's content, or whatever else stands there, as it stands there.
fn literal(tree: &SettingsTree<'_>, value: &Value<'_>) -> String {
    own::text(value).map_or_else(|| value.text(tree.text).into(), String::from)
}
