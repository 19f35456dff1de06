//! `OpenCode` with a provider of its own.

use serde_json::json;

use super::{ClientRunner, DUMMY_KEY, HomeFile, MODEL, RunnerPlace};
use crate::turn::ScriptedTurn;

pub(super) const RUNNER: ClientRunner = ClientRunner {
    settings,
    environment,
    options: &["run", "--auto"],
    again: &["--continue"],
    before_prompt: &[],
    shell: |command| {
        ScriptedTurn::tool("bash", json!({"command": command, "description": "scripted"}))
    },
};

fn settings(place: &RunnerPlace<'_>) -> Vec<HomeFile> {
    let model = format!("lab/{MODEL}");
    let settings = json!({
        "model": model, "small_model": model, "autoupdate": false, "share": "disabled",
        "provider": {"lab": {
            "npm": "@ai-sdk/openai-compatible", "name": "lab",
            "options": {"baseURL": format!("{}/v1", place.url), "apiKey": DUMMY_KEY},
            "models": {MODEL: {
                "name": MODEL, "tool_call": true, "limit": {"context": 100_000, "output": 8_000},
            }},
        }},
    });
    vec![(place.home.join(".config/opencode/opencode.json"), format!("{settings:#}\n"))]
}

fn environment(_place: &RunnerPlace<'_>) -> Vec<(&'static str, String)> {
    vec![
        ("OPENCODE_DISABLE_AUTOUPDATE", "1".into()),
        ("OPENCODE_DISABLE_MODELS_FETCH", "1".into()),
        ("OPENCODE_DISABLE_LSP_DOWNLOAD", "1".into()),
        // It tries to fetch the types of plugins, for more than a minute.
        ("npm_config_fetch_retries", "0".into()),
        ("CI", "1".into()),
    ]
}
