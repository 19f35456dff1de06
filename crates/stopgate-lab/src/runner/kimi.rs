//! Kimi Code with a provider of its own.

use serde_json::json;

use super::{ClientRunner, DUMMY_KEY, HomeFile, MODEL, RunnerPlace};
use crate::turn::ScriptedTurn;

pub(super) const RUNNER: ClientRunner = ClientRunner {
    settings,
    environment,
    options: &[],
    again: &["--continue"],
    before_prompt: &["-p"],
    shell: |command| ScriptedTurn::tool("Bash", json!({"command": command})),
};

fn settings(place: &RunnerPlace<'_>) -> Vec<HomeFile> {
    let url = json!(format!("{}/v1", place.url));
    let text = format!(
        "default_model = \"lab\"\n\n\
         [providers.lab]\n\
         type = \"openai\"\n\
         base_url = {url}\n\
         api_key = \"{DUMMY_KEY}\"\n\n\
         [models.lab]\n\
         provider = \"lab\"\n\
         model = \"{MODEL}\"\n\
         max_context_size = 100000\n\
         capabilities = [\"tool_use\"]\n"
    );
    vec![(place.home.join(".kimi-code/config.toml"), text)]
}

fn environment(_place: &RunnerPlace<'_>) -> Vec<(&'static str, String)> {
    vec![
        ("KIMI_DISABLE_TELEMETRY", "1".into()),
        ("KIMI_CODE_NO_AUTO_UPDATE", "1".into()),
        ("CI", "1".into()),
    ]
}
