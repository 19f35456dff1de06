//! Gemini CLI with a key and an address of its own.

use serde_json::json;

use super::{ClientRunner, DUMMY_KEY, HomeFile, RunnerPlace};
use crate::turn::ScriptedTurn;

pub(super) const RUNNER: ClientRunner = ClientRunner {
    settings,
    environment,
    options: &["-m", "gemini-2.5-flash", "--yolo"],
    again: &["--resume", "latest"],
    before_prompt: &["-p"],
    shell: |command| {
        ScriptedTurn::tool(
            "run_shell_command",
            json!({"command": command, "description": "scripted"}),
        )
    },
};

fn settings(place: &RunnerPlace<'_>) -> Vec<HomeFile> {
    let settings = json!({
        "security": {
            "auth": {"selectedType": "gemini-api-key"},
            "folderTrust": {"enabled": false},
        },
        "telemetry": {"enabled": false},
        "privacy": {"usageStatisticsEnabled": false},
        "general": {"disableAutoUpdate": true, "disableUpdateNag": true},
    });
    vec![(place.home.join(".gemini/settings.json"), format!("{settings:#}\n"))]
}

fn environment(place: &RunnerPlace<'_>) -> Vec<(&'static str, String)> {
    vec![
        ("GEMINI_API_KEY", DUMMY_KEY.into()),
        ("GOOGLE_GEMINI_BASE_URL", place.url.into()),
        // Its launcher would start a second process only for more memory.
        ("GEMINI_CLI_NO_RELAUNCH", "true".into()),
        ("CI", "1".into()),
    ]
}
