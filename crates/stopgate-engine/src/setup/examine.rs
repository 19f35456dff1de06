//! Whether stopgate can do its work here, as far as files and variables tell.
//!
//! Nothing is started here: what a hook really answers is proven by the caller, which may start
//! programs.

mod home;

mod hooks;

mod project;

use std::path::{Path, PathBuf};

use serde::Serialize;
use stopgate_agents::Agent;
use stopgate_agents::settings::{self as text, EntryCommand, InstalledEntry, Switches};

use super::{ScopeFiles, SettingsScope, plugin};
use crate::failure::Failure;
use crate::project::project_of;
use crate::settings::Settings;
use crate::stores::Stores;

#[cfg(test)]
mod tests;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// As it should be.
    Ok,
    /// Works, but not as well as it could.
    Warning,
    /// Keeps stopgate from its work.
    Problem,
}

/// One thing that was looked at.
#[derive(Clone, Debug, Serialize)]
pub struct DoctorFinding {
    /// How bad it is.
    pub level: Level,
    /// What was looked at, in a word.
    pub about: &'static str,
    /// What was found.
    pub text: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// A hook of ours that judges stops.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Configured {
    /// The agent that runs it.
    pub agent: Agent,
    /// Whose settings name it; the first of them, where several do.
    pub scope: SettingsScope,
    /// What it starts.
    pub command: EntryCommand,
    /// Whose loop files it serves, where it is not for loops of our own.
    pub dialect: Option<String>,
}

/// Everything that was found.
#[derive(Clone, Debug)]
pub struct Examination {
    /// The findings, in reading order.
    pub findings: Vec<DoctorFinding>,
    /// The distinct hooks, ready to be tried.
    pub hooks: Vec<Configured>,
}

impl DoctorFinding {
    /// As it should be.
    pub fn ok(about: &'static str, text: impl Into<String>) -> Self {
        Self { level: Level::Ok, about, text: text.into(), hint: None }
    }

    /// Works, but not as well as it could.
    pub fn warning(about: &'static str, text: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { level: Level::Warning, about, text: text.into(), hint: Some(hint.into()) }
    }

    /// Keeps stopgate from its work.
    pub fn problem(about: &'static str, text: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { level: Level::Problem, about, text: text.into(), hint: Some(hint.into()) }
    }
}

/// Looks at everything that concerns somebody who works in `directory` with `program`.
pub(crate) fn examine(
    settings: Settings,
    stores: Stores,
    directory: &Path,
    program: &Path,
) -> Examination {
    let mut findings = Vec::new();
    let mut hooks = Vec::new();
    findings.extend(on_path(settings.on_path().as_deref(), program));
    for agent in examined(settings, directory) {
        let places = ScopeFiles::all(settings, agent, directory);
        let looks: Vec<Look> = places.iter().map(Look::at).collect();
        let plugin: Vec<Configured> =
            plugin::hook_of(settings, agent, directory).into_iter().collect();
        findings.extend(hooks::installed(agent, &looks, &plugin));
        findings.extend(hooks::doubled(&looks));
        findings.extend(hooks::disabled(&looks));
        findings.extend(hooks::cap(agent, &looks, settings.cap_of(agent).as_deref()));
        findings.extend(hooks::subdirectory(agent, &looks, directory, &project_of(directory)));
        findings.extend(hooks::untrusted(settings, &places));
        findings.extend(hooks::others(&places));
        if !plugin.is_empty() || looks.iter().any(|look| look.all_entries().next().is_some()) {
            findings.extend(hooks::fired(settings, agent));
        }
        hooks.extend(hooks::configured(&looks));
        hooks.extend(plugin);
        hooks.extend(hooks::for_dialects(&looks));
    }
    findings.extend(home::switches(settings));
    findings.extend(home::directory(settings));
    findings.extend(home::journal(settings, stores));
    findings.extend(project::file(settings, &project_of(directory)));
    Examination { findings, hooks }
}

/// The agents whose settings have entries of ours; the first one where none has.
fn examined(settings: Settings, directory: &Path) -> Vec<Agent> {
    let has_entries = |agent: &Agent| {
        let places = ScopeFiles::all(settings, *agent, directory);
        places.iter().any(|place| match place.entries() {
            Ok(entries) => !entries.is_empty(),
            // A file that can't be read may have had some.
            Err(_) => true,
        }) || plugin::has_plugin(settings, *agent, directory)
    };
    let mut agents: Vec<Agent> = Agent::ALL.into_iter().filter(has_entries).collect();
    if agents.is_empty() {
        agents.extend(Agent::ALL.first());
    }
    agents
}

/// One settings file, read.
struct Look {
    agent: Agent,
    scope: SettingsScope,
    path: PathBuf,
    read: Result<Read, Failure>,
}

/// What of a settings file concerns us.
#[derive(Default)]
struct Read {
    entries: Vec<InstalledEntry>,
    switches: Switches,
}

impl Look {
    fn at(place: &ScopeFiles) -> Self {
        let read = place.read().and_then(|text| {
            let text = text.unwrap_or_default();
            let entries = text::find(place.agent, &text).map_err(|error| place.refused(error))?;
            let switches = if place.agent.has_switches() {
                text::switches(&text).map_err(|error| place.refused(error))?
            } else {
                Switches::default()
            };
            Ok(Read { entries, switches })
        });
        Self { agent: place.agent, scope: place.scope, path: place.settings.clone(), read }
    }

    /// Our entries, those for another tool's loop files aside.
    fn entries(&self) -> impl Iterator<Item = &InstalledEntry> {
        self.all_entries().filter(|found| found.dialect().is_none())
    }

    /// All of our entries.
    fn all_entries(&self) -> impl Iterator<Item = &InstalledEntry> {
        self.read.as_ref().ok().into_iter().flat_map(|read| &read.entries)
    }
}

fn on_path(found: Option<&Path>, program: &Path) -> Vec<DoctorFinding> {
    let finding = match found {
        Some(path) if super::same_file(path, program) => {
            DoctorFinding::ok("path", format!("`stopgate` is {}", path.display()))
        }
        Some(path) => DoctorFinding::warning(
            "path",
            format!("`stopgate` is {}, another program than this one", path.display()),
            format!("this one is {}; let PATH name it first", program.display()),
        ),
        None => DoctorFinding::warning(
            "path",
            "`stopgate` is not on PATH: the agent can't type `stopgate done` or `stopgate blocked`",
            format!(
                "ln -s {} ~/.local/bin/stopgate, or another directory of PATH",
                program.display()
            ),
        ),
    };
    vec![finding]
}
