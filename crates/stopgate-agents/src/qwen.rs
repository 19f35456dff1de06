//! Qwen Code: it speaks as Claude Code does, but `continue: false` continues, and it ends a turn
//! by itself after eight blocks.
//!
//! The block that reaches its limit is thrown away, so one continuation fewer than the limit is
//! of use. Tool calls do not start its count again.

use stopgate_core::{CapScope, ClientCap};
use stopgate_signals::transcript::TranscriptRecord;

use crate::agent::{Profile, StatusLineItems};
use crate::payload::{plain, read};
use crate::reply::block_or_tell;
use crate::settings::{EventName, JsonForm, SettingsForm};
use crate::transcript::{has_part, line, said, texts};
use crate::{Agent, AgentFiles, AgentVariables, Call, Client, Malformed, Provenance};

const CAP_DEFAULT: u32 = 8;
const CAP_MAX: u32 = 100;

/// All that is known of it.
pub(crate) const PROFILE: Profile = Profile {
    evidence: Provenance::Tested("0.24.4"),
    status_line: StatusLineItems::Command,
    render: block_or_tell,
    record,
    is_tool_use,
    cap,
    variables: AgentVariables {
        session: Some("QWEN_CODE_SESSION_ID"),
        project: Some("QWEN_PROJECT_DIR"),
        cap: Some("QWEN_CODE_STOP_HOOK_BLOCK_CAP"),
        marks: &["QWEN_CODE", "QWEN_CODE_SESSION_ID"],
        home: Some("QWEN_HOME"),
        ..AgentVariables::NONE
    },
    files: AgentFiles {
        home: ".qwen",
        user: Some("settings.json"),
        project: Some(".qwen/settings.json"),
        local: None,
        form: SettingsForm::Json(JsonForm {
            timeout_units: 1000,
            events: EventName::USUAL,
            ..JsonForm::GROUPS
        }),
        programs: &["qwen"],
    },
    after_install: &[
        "Qwen Code ends a turn after 8 blocks; QWEN_CODE_STOP_HOOK_BLOCK_CAP in its environment \
         raises that to 100 at most.",
    ],
    ..Profile::plain("qwen", "Qwen Code", parse)
};

fn parse<'a>(raw: &'a [u8], event: Option<&str>) -> Result<Call<'a>, Malformed> {
    read(Agent::Qwen, raw, event, plain)
}

#[expect(clippy::unnecessary_wraps, reason = "an agent may have no limit")]
fn cap(variable: Option<&str>, _: Client) -> Option<ClientCap> {
    let set = variable.and_then(|value| value.trim().parse::<u32>().ok());
    let cap = set.filter(|cap| *cap > 0).unwrap_or(CAP_DEFAULT).min(CAP_MAX);
    let lift = "raise it with QWEN_CODE_STOP_HOOK_BLOCK_CAP (100 at most)";
    Some(ClientCap { refusals: cap.saturating_sub(1), scope: CapScope::Turn, lift })
}

fn record(bytes: &[u8]) -> TranscriptRecord {
    let Some(line) = line(bytes) else { return TranscriptRecord::Foreign };
    let parts = &line["message"]["parts"];
    match line["type"].as_str() {
        Some("assistant") => said(texts(parts, |part| part["thought"] != true)),
        Some("user") if !has_part(parts, |part| !part["functionResponse"].is_null()) => {
            TranscriptRecord::UserTurn
        }
        Some(_) | None => TranscriptRecord::Other,
    }
}

fn is_tool_use(bytes: &[u8]) -> bool {
    line(bytes).is_some_and(|line| {
        line["type"] == "assistant"
            && has_part(&line["message"]["parts"], |part| !part["functionCall"].is_null())
    })
}
