//! Gemini CLI: its stop is called `AfterAgent`, and nearly every failure of a hook continues the turn.
//!
//! Any exit code other than 0 and 1 with any output is an answer to this client, so the installed
//! command is silent and succeeds whatever happens to the program. The message in the payload
//! grows over the whole prompt: an old marker would be heard for ever, so the transcript is
//! asked. Its client sets no limit on continuations.

use stopgate_signals::transcript::TranscriptRecord;

use crate::agent::Profile;
use crate::payload::{Extra, read};
use crate::reply::block_or_tell;
use crate::settings::{EventName, JsonForm, PluginMark, SettingsForm, WindowsShell};
use crate::transcript::{has_part, line, said, texts};
use crate::{Agent, AgentFiles, AgentVariables, Call, Malformed, Provenance};

/// All that is known of it.
pub(crate) const PROFILE: Profile = Profile {
    evidence: Provenance::Tested("0.61.0"),
    render: block_or_tell,
    record,
    is_tool_use,
    variables: AgentVariables {
        session: Some("GEMINI_SESSION_ID"),
        project: Some("GEMINI_PROJECT_DIR"),
        marks: &["GEMINI_CLI", "GEMINI_SESSION_ID"],
        user_home: Some("GEMINI_CLI_HOME"),
        ..AgentVariables::NONE
    },
    files: AgentFiles {
        home: ".gemini",
        user: Some("settings.json"),
        project: Some(".gemini/settings.json"),
        local: None,
        form: SettingsForm::Json(JsonForm {
            timeout_units: 1000,
            needs_silence: true,
            windows_shell: WindowsShell::PowerShell,
            events: &[
                EventName::stop("AfterAgent"),
                EventName::other("SessionStart"),
                EventName::other("BeforeAgent"),
                EventName::other("SessionEnd"),
            ],
            ..JsonForm::GROUPS
        }),
        programs: &["gemini"],
    },
    plugin: Some(PluginMark::GEMINI),
    ..Profile::plain("gemini", "Gemini CLI", parse)
};

fn parse<'a>(raw: &'a [u8], event: Option<&str>) -> Result<Call<'a>, Malformed> {
    read(Agent::Gemini, raw, event, finish)
}

fn finish<'a>(call: Call<'a>, extra: &Extra<'a>) -> Call<'a> {
    let last_message = match call.transcript {
        Some(_) => None,
        None => extra.prompt_response.clone(),
    };
    // It says no where the continued turn used a tool: only a yes can be believed.
    let continued = call.continued.filter(|continued| *continued);
    Call { last_message, continued, ..call }
}

fn record(bytes: &[u8]) -> TranscriptRecord {
    let Some(line) = line(bytes) else { return TranscriptRecord::Foreign };
    match line["type"].as_str() {
        Some("gemini") => said(texts(&line["content"], |part| part["thought"] != true)),
        Some("user") if !has_part(&line["content"], |part| !part["functionResponse"].is_null()) => {
            TranscriptRecord::UserTurn
        }
        Some(_) | None => TranscriptRecord::Other,
    }
}

fn is_tool_use(bytes: &[u8]) -> bool {
    line(bytes).is_some_and(|line| {
        let calls = line["toolCalls"].as_array();
        line["type"] == "gemini" && calls.is_some_and(|calls| !calls.is_empty())
    })
}
