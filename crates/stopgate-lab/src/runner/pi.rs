//! Pi with a provider of its own.

use serde_json::json;

use super::{ClientRunner, DUMMY_KEY, HomeFile, MODEL, RunnerPlace, line};
use crate::prompt::Prompt;
use crate::turn::ScriptedTurn;

pub(super) struct PiRunner;

impl ClientRunner for PiRunner {
    fn settings(&self, place: &RunnerPlace<'_>) -> Vec<HomeFile> {
        let models = json!({"providers": {"lab": {
            "baseUrl": format!("{}/v1", place.url), "api": "openai-completions",
            "apiKey": DUMMY_KEY, "models": [{"id": MODEL}],
        }}});
        vec![(place.home.join(".pi/agent/models.json"), format!("{models:#}\n"))]
    }

    fn environment(&self, _place: &RunnerPlace<'_>) -> Vec<(&'static str, String)> {
        vec![("PI_OFFLINE", "1".into()), ("PI_SKIP_VERSION_CHECK", "1".into()), ("CI", "1".into())]
    }

    fn arguments(&self, prompt: &Prompt) -> Vec<String> {
        let options = ["--provider", "lab", "--model", MODEL];
        line(&options, prompt, &["--continue"], &["-p", &prompt.text])
    }

    fn shell(&self, command: &str) -> ScriptedTurn {
        ScriptedTurn::tool("bash", json!({"command": command}))
    }
}
