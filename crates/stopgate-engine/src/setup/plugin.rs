//! Our plugin in an agent, and which of its hooks and those of settings answers a call.

use std::path::Path;

use stopgate_agents::Agent;
use stopgate_agents::settings::{self as text, InstalledEntry, plugin_stop};
use stopgate_system::CanonicalPath;

use super::examine::Configured;
use super::{ScopeFiles, SettingsScope, file};
use crate::settings::Settings;

/// Whether the agent has our plugin, as far as its files tell.
pub(super) fn has_plugin(settings: Settings, agent: Agent, directory: &Path) -> bool {
    let Some(mark) = agent.plugin_mark() else { return false };
    let own = settings.agent_home(agent).map(|home| home.join(mark.file));
    // A project may enable a plugin in its settings, too.
    let is_settings = agent.files().user == Some(mark.file);
    let places = ScopeFiles::all(settings, agent, directory).into_iter().filter(|_| is_settings);
    let mut files = own.into_iter().chain(places.map(|place| place.settings));
    files.any(|path| matches!(file::read(&path), Ok(Some(text)) if (mark.shows)(&text)))
}

/// The plugin's hook, ready to be tried; `None` if settings have one, which answers instead.
pub(super) fn hook_of(settings: Settings, agent: Agent, directory: &Path) -> Option<Configured> {
    let is_alone = has_plugin(settings, agent, directory)
        && !is_answered_by_settings(settings, agent, directory);
    let command = plugin_stop(agent).filter(|_| is_alone)?;
    Some(Configured { agent, scope: SettingsScope::User, command, dialect: None })
}

/// Whether settings that a client reads which was started in `directory` have an entry for stops,
/// so that the plugin's need not answer.
pub fn is_answered_by_settings(settings: Settings, agent: Agent, directory: &Path) -> bool {
    let directory = directory.canonical().unwrap_or_else(|_| directory.into());
    SettingsScope::ALL.into_iter().any(|scope| {
        let Ok(mut place) = ScopeFiles::of(settings, agent, scope, &directory) else {
            return false;
        };
        if scope != SettingsScope::User && agent.reads_start_directory_only() {
            let name = place.settings.strip_prefix(&place.floor).map(Path::to_path_buf);
            place.settings = name.map(|name| directory.join(name)).unwrap_or(place.settings);
        }
        let read = place.read().ok().flatten().unwrap_or_default();
        text::find(agent, &read).is_ok_and(|found| found.iter().any(InstalledEntry::judges_stops))
    })
}
