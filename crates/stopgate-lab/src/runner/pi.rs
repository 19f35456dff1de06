//! Pi with a provider of its own.

use serde_json::json;

use super::{ClientRunner, DUMMY_KEY, HomeFile, MODEL, RunnerPlace};
use crate::turn::ScriptedTurn;

pub(super) const RUNNER: ClientRunner = ClientRunner {
    settings,
    environment,
    options: &["--provider", "lab", "--model", MODEL],
    again: &["--continue"],
    before_prompt: &["-p"],
    shell: |command| ScriptedTurn::tool("bash", json!({"command": command})),
};

fn settings(place: &RunnerPlace<'_>) -> Vec<HomeFile> {
    let models = json!({"providers": {"lab": {
        "baseUrl": format!("{}/v1", place.url), "api": "openai-completions",
        "apiKey": DUMMY_KEY, "models": [{"id": MODEL}],
    }}});
    vec![(place.home.join(".pi/agent/models.json"), format!("{models:#}\n"))]
}

fn environment(_place: &RunnerPlace<'_>) -> Vec<(&'static str, String)> {
    vec![("PI_OFFLINE", "1".into()), ("PI_SKIP_VERSION_CHECK", "1".into()), ("CI", "1".into())]
}
