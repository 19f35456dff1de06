//! Codex with a provider of its own, in a trusted project.

use serde_json::json;

use super::{ClientRunner, DUMMY_KEY, HomeFile, RunnerPlace};
use crate::turn::ScriptedTurn;

const KEY_VARIABLE: &str = "LAB_KEY";

pub(super) const RUNNER: ClientRunner = ClientRunner {
    settings,
    environment,
    options: &["exec"],
    again: &["resume", "--last"],
    before_prompt: &[],
    shell: |command| ScriptedTurn::tool("exec_command", json!({"cmd": command})),
};

fn settings(place: &RunnerPlace<'_>) -> Vec<HomeFile> {
    // JSON's strings are TOML's basic strings, too.
    let (url, project) = (json!(format!("{}/v1", place.url)), json!(place.project));
    let text = format!(
        "model = \"gpt-5\"\n\
         model_provider = \"lab\"\n\
         approval_policy = \"never\"\n\
         sandbox_mode = \"danger-full-access\"\n\
         check_for_update_on_startup = false\n\n\
         [model_providers.lab]\n\
         name = \"lab\"\n\
         base_url = {url}\n\
         env_key = \"{KEY_VARIABLE}\"\n\
         wire_api = \"responses\"\n\
         request_max_retries = 0\n\
         stream_max_retries = 0\n\
         supports_websockets = false\n\n\
         [analytics]\n\
         enabled = false\n\n\
         [projects.{project}]\n\
         trust_level = \"trusted\"\n"
    );
    vec![(place.home.join(".codex/config.toml"), text)]
}

fn environment(_place: &RunnerPlace<'_>) -> Vec<(&'static str, String)> {
    vec![(KEY_VARIABLE, DUMMY_KEY.into())]
}
