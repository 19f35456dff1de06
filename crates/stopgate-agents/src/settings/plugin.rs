//! Our hooks as a plugin has them, and how to tell that an agent has our plugin.
//!
//! The entries are those of an installation: the same events and time-outs, by the same text.
//! They find the program on the PATH, and stand down where settings have an entry.

use jsonc_parser::ast::Value;

use super::form::{JsonForm, SettingsForm};
use super::own::value;
use super::tree::SettingsTree;
use super::windows::HookSystem;
use super::{EntryCommand, EntryForm, HookEntry, InstalledEntry, draft, without_bom};
use crate::Agent;

#[cfg(test)]
mod tests;

/// What plugins of ours are called, in every agent.
const NAME: &str = "stopgate";

/// How to tell that an agent has our plugin.
#[derive(Clone, Copy, Debug)]
pub struct PluginMark {
    /// The file that says so, below the agent's own directory.
    pub file: &'static str,
    /// Whether its text does.
    pub shows: fn(&str) -> bool,
}

impl PluginMark {
    /// Claude Code: its settings list what is enabled.
    pub(crate) const CLAUDE: Self = Self { file: "settings.json", shows: is_enabled_in_json };

    /// Codex: a table of its configuration.
    pub(crate) const CODEX: Self = Self { file: "config.toml", shows: is_enabled_in_toml };

    /// Gemini CLI: the extension's own manifest.
    pub(crate) const GEMINI: Self =
        Self { file: "extensions/stopgate/gemini-extension.json", shows: |_| true };
}

/// The hooks of a plugin for this agent: the whole text of `hooks/hooks.json`.
pub fn plugin_hooks(agent: Agent) -> Option<String> {
    let SettingsForm::Json(form) = agent.files().form else { return None };
    // A plugin has hooks only: limits, permissions and the status line stay a person's.
    let form = JsonForm { is_claude: false, ..form };
    // A plugin is the same on every system: its lines are for a POSIX shell, or for any shell that
    // its client may use.
    let (form_of, system) = (EntryForm::Plugin, HookSystem::Unix);
    let entry = HookEntry { form: form_of, system, ..HookEntry::new(agent, NAME) };
    draft::install("", form, &entry).ok().map(|edited| edited.text)
}

/// What a plugin of ours starts at a stop.
pub fn plugin_stop(agent: Agent) -> Option<EntryCommand> {
    let found = super::find(agent, &plugin_hooks(agent)?).ok()?;
    found.into_iter().find(InstalledEntry::judges_stops).map(|found| found.command)
}

fn is_ours(name: &str) -> bool {
    name.split('@').next() == Some(NAME)
}

fn is_enabled_in_json(text: &str) -> bool {
    let Ok(Some(tree)) = SettingsTree::read(without_bom(text), JsonForm::CLAUDE) else {
        return false;
    };
    let Ok(Some(plugins)) = tree.object("enabledPlugins") else { return false };
    let names = plugins.properties.iter().map(|member| member.name.as_str());
    let is_on = |name: &str| {
        value(plugins, name).and_then(Value::as_boolean_lit).is_some_and(|on| on.value)
    };
    names.into_iter().any(|name| is_ours(name) && is_on(name))
}

fn is_enabled_in_toml(text: &str) -> bool {
    let Ok(file) = text.parse::<toml_edit::DocumentMut>() else { return false };
    let Some(plugins) = file.get("plugins").and_then(|plugins| plugins.as_table_like()) else {
        return false;
    };
    let is_on = |plugin: &toml_edit::Item| {
        plugin.get("enabled").and_then(toml_edit::Item::as_bool).unwrap_or(true)
    };
    plugins.iter().any(|(name, plugin)| is_ours(name) && is_on(plugin))
}
