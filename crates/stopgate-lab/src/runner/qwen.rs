//! Qwen Code with a model that speaks chat completions.

use serde_json::json;

use super::{ClientRunner, DUMMY_KEY, HomeFile, MODEL, RunnerPlace};
use crate::turn::ScriptedTurn;

pub(super) const RUNNER: ClientRunner = ClientRunner {
    settings,
    environment,
    options: &["--auth-type", "openai", "--yolo"],
    again: &["--continue"],
    before_prompt: &["-p"],
    shell: |command| {
        let input = json!({"command": command, "description": "scripted", "is_background": false});
        ScriptedTurn::tool("run_shell_command", input)
    },
};

fn settings(place: &RunnerPlace<'_>) -> Vec<HomeFile> {
    let settings = json!({
        "security": {"auth": {"selectedType": "openai"}},
        "telemetry": {"enabled": false},
        "privacy": {"usageStatisticsEnabled": false},
        "general": {"disableAutoUpdate": true, "disableUpdateNag": true},
        // Whatever it remembers after a stop is one more conversation with the model.
        "memory": {"enableManagedAutoMemory": false, "enableManagedAutoDream": false},
    });
    vec![(place.home.join(".qwen/settings.json"), format!("{settings:#}\n"))]
}

fn environment(place: &RunnerPlace<'_>) -> Vec<(&'static str, String)> {
    vec![
        ("OPENAI_API_KEY", DUMMY_KEY.into()),
        ("OPENAI_BASE_URL", format!("{}/v1", place.url)),
        ("OPENAI_MODEL", MODEL.into()),
        ("CI", "1".into()),
    ]
}
