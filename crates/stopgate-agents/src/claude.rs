//! Claude Code: its payloads, its answers, its transcript, its settings.

mod wire;

mod reply;

mod record;

mod typed;

mod usage;

mod skill;

use crate::agent::{Profile, StatusLineItems};
use crate::settings::{PluginMark, SettingsForm};
use crate::{Agent, AgentFiles, AgentVariables, Provenance};

pub use skill::{SKILL, SKILL_PATH};
pub use typed::TypedCommand;

/// All that is known of it.
pub(crate) const PROFILE: Profile = Profile {
    evidence: Provenance::Tested("2.1.325"),
    status_line: StatusLineItems::Command,
    render: reply::render,
    record: record::record,
    is_tool_use: record::is_tool_use,
    cap: reply::cap,
    version: reply::version,
    context_tokens: usage::context_tokens,
    typed: typed::typed_commands,
    variables: AgentVariables {
        version: Some("AI_AGENT"),
        session: Some("CLAUDE_CODE_SESSION_ID"),
        project: Some("CLAUDE_PROJECT_DIR"),
        cap: Some("CLAUDE_CODE_STOP_HOOK_BLOCK_CAP"),
        process: Some("CLAUDE_PID"),
        marks: &["CLAUDECODE"],
        shell: &["CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SSE_PORT", "CLAUDE_ENV_FILE"],
        home: Some("CLAUDE_CONFIG_DIR"),
        user_home: None,
    },
    files: AgentFiles {
        home: ".claude",
        user: Some("settings.json"),
        project: Some(".claude/settings.json"),
        local: Some(".claude/settings.local.json"),
        form: SettingsForm::CLAUDE,
        programs: &["claude"],
    },
    plugin: Some(PluginMark::CLAUDE),
    readers: &[Agent::Copilot, Agent::Cursor, Agent::Grok, Agent::Devin, Agent::VsCode],
    ..Profile::plain("claude", "Claude Code", wire::parse)
};
