//! Hooks that an agent runs only after a person reviewed them, as Codex does.
//!
//! Its list of reviewed hooks is in another file than the hooks. It is written only where the
//! person says so on the command line.

use std::path::PathBuf;

use stopgate_agents::settings::{Edited, SettingsError};

use super::file;
use super::{BackupPlace, HookTrust, Plan, ScopeFiles};
use crate::failure::Failure;
use crate::settings::Settings;

impl Plan {
    /// Writes that a person trusts the hooks in `hooks`, where they said so.
    pub(super) fn change_trust(
        &mut self,
        settings: Settings,
        place: &ScopeFiles,
        hooks: &str,
        trust: HookTrust,
    ) -> Result<(), Failure> {
        let Some(path) = list_of(settings, place).filter(|_| trust == HookTrust::Accept) else {
            return Ok(());
        };
        let entries = place.agent.trust_entries(&place.settings.display().to_string(), hooks);
        self.edit_list(place, path, |text| {
            entries.iter().try_fold(unchanged(text), |edited, entry| {
                joined(edited, |text| entry.add_to(text))
            })
        })
    }

    /// Takes the hooks in `hooks` out of the list of trusted ones.
    pub(super) fn drop_trust(
        &mut self,
        settings: Settings,
        place: &ScopeFiles,
        hooks: &str,
    ) -> Result<(), Failure> {
        let Some(path) = list_of(settings, place).filter(|path| path.exists()) else {
            return Ok(());
        };
        let entries = place.agent.trust_entries(&place.settings.display().to_string(), hooks);
        self.edit_list(place, path, |text| {
            // In the reverse order, so that each block stands at the end as it was added.
            entries.iter().rev().try_fold(unchanged(text), |edited, entry| {
                joined(edited, |text| entry.take_from(text))
            })
        })
    }

    fn edit_list(
        &mut self,
        place: &ScopeFiles,
        path: PathBuf,
        edit: impl Fn(&str) -> Result<Edited, SettingsError>,
    ) -> Result<(), Failure> {
        let before = file::read(&path)?;
        let text = before.clone().unwrap_or_default();
        let list = ScopeFiles { settings: path, ..place.clone() };
        let edited = edit(&text).map_err(|error| list.refused(error))?;
        if edited.changes.is_empty() {
            return Ok(());
        }
        self.changes.extend(edited.changes);
        let after = Some(edited.text).filter(|text| !text.is_empty());
        let keep = if file::backup_of(&list.settings).exists() {
            BackupPlace::Nowhere
        } else {
            BackupPlace::Beside
        };
        self.change(&list, &list.settings, before, after, keep);
        Ok(())
    }
}

/// The list of trusted hooks, if the agent has one. It is always the person's own.
fn list_of(settings: Settings, place: &ScopeFiles) -> Option<PathBuf> {
    Some(settings.agent_home(place.agent)?.join(place.agent.trust_list()?))
}

fn unchanged(text: &str) -> Edited {
    Edited { text: text.into(), changes: Vec::new(), notes: Vec::new() }
}

fn joined(
    before: Edited,
    edit: impl Fn(&str) -> Result<Edited, SettingsError>,
) -> Result<Edited, SettingsError> {
    let mut after = edit(&before.text)?;
    after.changes.splice(0..0, before.changes);
    Ok(after)
}
