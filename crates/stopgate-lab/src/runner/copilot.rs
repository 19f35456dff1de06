//! Copilot CLI offline, with a provider of its own, in a trusted project.

use serde_json::json;

use super::{ClientRunner, DUMMY_KEY, HomeFile, MODEL, RunnerPlace};
use crate::turn::ScriptedTurn;

pub(super) const RUNNER: ClientRunner = ClientRunner {
    settings,
    environment,
    options: &["--allow-all-tools"],
    again: &["--continue"],
    before_prompt: &["-p"],
    shell: |command| {
        ScriptedTurn::tool("bash", json!({"command": command, "description": "scripted"}))
    },
};

fn settings(place: &RunnerPlace<'_>) -> Vec<HomeFile> {
    let settings = json!({"trustedFolders": [place.project]});
    vec![(place.home.join(".copilot/config.json"), format!("{settings:#}\n"))]
}

fn environment(place: &RunnerPlace<'_>) -> Vec<(&'static str, String)> {
    vec![
        ("COPILOT_OFFLINE", "true".into()),
        ("COPILOT_AUTO_UPDATE", "false".into()),
        ("COPILOT_PROVIDER_TYPE", "openai".into()),
        ("COPILOT_PROVIDER_BASE_URL", format!("{}/v1", place.url)),
        ("COPILOT_PROVIDER_API_KEY", DUMMY_KEY.into()),
        ("COPILOT_MODEL", MODEL.into()),
        ("CI", "1".into()),
    ]
}
