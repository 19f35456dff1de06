//! Copilot CLI: its payload has no message, and it ends a turn by itself after eight blocks.
//!
//! It also runs the hooks of `.claude/settings.json` in directories that it trusts. Tool calls do
//! not start its count again, and nobody is told when it ends a turn.

use stopgate_core::{CapScope, ClientCap};
use stopgate_signals::transcript::TranscriptRecord;

use crate::agent::Profile;
use crate::payload::{plain, read};
use crate::reply::block;
use crate::settings::{EventName, JsonForm, SettingsForm, WindowsShell};
use crate::transcript::{line, said};
use crate::{Agent, AgentFiles, AgentVariables, Call, Client, Malformed, Provenance};

const CAP: u32 = 8;

/// All that is known of it.
pub(crate) const PROFILE: Profile = Profile {
    evidence: Provenance::Tested("1.0.102"),
    render: block,
    record,
    is_tool_use,
    cap,
    variables: AgentVariables {
        project: Some("COPILOT_PROJECT_DIR"),
        marks: &["COPILOT_CLI"],
        home: Some("COPILOT_HOME"),
        ..AgentVariables::NONE
    },
    files: AgentFiles {
        home: ".copilot",
        user: Some("hooks/stopgate.json"),
        project: Some(".github/hooks/stopgate.json"),
        local: None,
        form: SettingsForm::Json(JsonForm {
            has_groups: false,
            command_key: "bash",
            windows_key: Some("powershell"),
            windows_shell: WindowsShell::PowerShell,
            timeout_key: "timeoutSec",
            begins_with: Some(("version", 1)),
            // The older spelling of these names gives payloads without an event.
            events: EventName::USUAL,
            ..JsonForm::GROUPS
        }),
        programs: &["copilot"],
    },
    readers: &[Agent::VsCode],
    ..Profile::plain("copilot", "Copilot CLI", parse)
};

fn parse<'a>(raw: &'a [u8], event: Option<&str>) -> Result<Call<'a>, Malformed> {
    read(Agent::Copilot, raw, event, plain)
}

#[expect(clippy::unnecessary_wraps, reason = "an agent may have no limit")]
fn cap(_: Option<&str>, _: Client) -> Option<ClientCap> {
    let lift = "it can't be lifted: give the agent a new prompt to go on";
    Some(ClientCap { refusals: CAP, scope: CapScope::Turn, lift })
}

fn record(bytes: &[u8]) -> TranscriptRecord {
    let Some(line) = line(bytes) else { return TranscriptRecord::Foreign };
    match line["type"].as_str() {
        Some("assistant.message") => said(line["data"]["content"].as_str().map(String::from)),
        Some("user.message") => TranscriptRecord::UserTurn,
        Some(_) | None => TranscriptRecord::Other,
    }
}

fn is_tool_use(bytes: &[u8]) -> bool {
    line(bytes).is_some_and(|line| line["type"] == "tool.execution_start")
}
