//! Claude Code with a model of its own.

use super::{ClientRunner, DUMMY_KEY, HomeFile, RunnerPlace, line};
use crate::prompt::Prompt;
use crate::turn::ScriptedTurn;

pub(super) struct ClaudeRunner;

impl ClientRunner for ClaudeRunner {
    fn settings(&self, _place: &RunnerPlace<'_>) -> Vec<HomeFile> {
        Vec::new()
    }

    fn environment(&self, place: &RunnerPlace<'_>) -> Vec<(&'static str, String)> {
        vec![
            ("ANTHROPIC_BASE_URL", place.url.into()),
            ("ANTHROPIC_API_KEY", DUMMY_KEY.into()),
            ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1".into()),
            ("DISABLE_TELEMETRY", "1".into()),
            ("DISABLE_ERROR_REPORTING", "1".into()),
            ("DISABLE_AUTOUPDATER", "1".into()),
        ]
    }

    fn arguments(&self, prompt: &Prompt) -> Vec<String> {
        let options = ["--output-format", "stream-json", "--verbose", "--allowedTools", "Bash"];
        line(&options, prompt, &["--continue"], &["-p", &prompt.text])
    }

    fn shell(&self, command: &str) -> ScriptedTurn {
        ScriptedTurn::bash(command)
    }
}
