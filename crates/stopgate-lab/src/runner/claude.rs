//! Claude Code with a model of its own.

use super::{ClientRunner, DUMMY_KEY, RunnerPlace};
use crate::turn::ScriptedTurn;

pub(super) const RUNNER: ClientRunner = ClientRunner {
    settings: |_| Vec::new(),
    environment,
    options: &["--output-format", "stream-json", "--verbose", "--allowedTools", "Bash"],
    again: &["--continue"],
    before_prompt: &["-p"],
    shell: ScriptedTurn::bash,
};

fn environment(place: &RunnerPlace<'_>) -> Vec<(&'static str, String)> {
    vec![
        ("ANTHROPIC_BASE_URL", place.url.into()),
        ("ANTHROPIC_API_KEY", DUMMY_KEY.into()),
        ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1".into()),
        ("DISABLE_TELEMETRY", "1".into()),
        ("DISABLE_ERROR_REPORTING", "1".into()),
        ("DISABLE_AUTOUPDATER", "1".into()),
    ]
}
