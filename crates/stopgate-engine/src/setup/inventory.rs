//! Every hook of every agent, and what changed since a person last looked.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use stopgate_agents::Agent;
use stopgate_agents::settings::{self as text, AnyHook};
use stopgate_verify::files::{Durable, read_text, replace_private};

use super::ScopeFiles;
use crate::failure::Failure;
use crate::settings::Settings;

const NOTE_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// A hook that an agent would run here.
#[derive(Clone, Debug, Serialize)]
pub struct HookView {
    /// The agent.
    pub agent: &'static str,
    /// The file.
    pub path: PathBuf,
    /// The event.
    pub event: String,
    /// What it starts.
    pub command: String,
    /// Its fingerprint.
    pub hash: String,
    /// Whether it is one of ours.
    pub ours: bool,
    /// How it compares with the last look.
    pub change: HookChange,
}

/// How a hook compares with the last look.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum HookChange {
    /// Nobody looked before.
    FirstLook,
    /// It was there.
    Same,
    /// It was not there, or not so.
    New,
    /// It was there, and is gone.
    Gone,
}

/// The last look: what each fingerprint was.
#[derive(Default, Serialize, Deserialize)]
struct LookWire {
    hooks: BTreeMap<String, String>,
}

/// Lists every hook that an agent would run for somebody in `directory`, and notes the look.
pub fn hook_inventory(settings: Settings, directory: &Path) -> Result<Vec<HookView>, Failure> {
    let mut views = Vec::new();
    for agent in Agent::ALL {
        for place in ScopeFiles::all(settings, agent, directory) {
            let Ok(Some(file)) = place.read() else { continue };
            let hooks = text::all_hooks(agent, &file).map_err(|error| place.refused(error))?;
            views.extend(hooks.into_iter().map(|hook| view(&place, hook)));
        }
    }
    let note = settings.home()?.directory().join("hooks-seen.json");
    compare(&mut views, read_text(&note, NOTE_BYTES_MAX).ok().as_deref());
    let seen = views.iter().filter(|view| view.change != HookChange::Gone);
    let look = LookWire { hooks: seen.map(|view| (view.hash.clone(), name(view))).collect() };
    let text = serde_json::to_string(&look).unwrap_or_default();
    settings
        .home()?
        .create()
        .and_then(|()| replace_private(&note, text.as_bytes(), Durable::Buffered))
        .map_err(|error| {
            Failure::fault(format!("could not write {}", note.display())).because(error)
        })?;
    Ok(views)
}

fn view(place: &ScopeFiles, hook: AnyHook) -> HookView {
    let hash = hook.fingerprint(&place.settings.display().to_string());
    HookView {
        agent: place.agent.word(),
        path: place.settings.clone(),
        event: hook.event,
        command: hook.command,
        hash,
        ours: hook.is_ours,
        change: HookChange::FirstLook,
    }
}

fn compare(views: &mut Vec<HookView>, before: Option<&str>) {
    let before = before.and_then(|text| serde_json::from_str::<LookWire>(text).ok());
    let Some(before) = before else { return };
    for view in views.iter_mut() {
        let known = before.hooks.contains_key(&view.hash);
        view.change = if known { HookChange::Same } else { HookChange::New };
    }
    let gone = before.hooks.into_iter().filter(|(hash, _)| views.iter().all(|v| v.hash != *hash));
    let gone: Vec<HookView> = gone.filter_map(|(hash, name)| lost(hash, &name)).collect();
    views.extend(gone);
}

/// A hook by one line: agent, file, event, command.
fn name(view: &HookView) -> String {
    let path = view.path.display();
    format!("{}\t{path}\t{}\t{}", view.agent, view.event, view.command)
}

fn lost(hash: String, name: &str) -> Option<HookView> {
    let mut parts = name.splitn(4, '\t');
    Some(HookView {
        agent: Agent::named(parts.next()?)?.word(),
        path: parts.next()?.into(),
        event: parts.next()?.into(),
        command: parts.next()?.into(),
        hash,
        ours: false,
        change: HookChange::Gone,
    })
}
