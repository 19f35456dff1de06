//! Agents that are known from their documentation or source alone: Droid, Antigravity, Grok
//! Build, Devin, Qoder and VS Code.
//!
//! Each is asked and answered by what its maker wrote; nobody here has seen it run.

use serde::Serialize;

use crate::agent::Profile;
use crate::payload::{Extra, plain, read};
use crate::reply::{block_or_tell, cut, exit_two, print};
use crate::settings::{EventName, JsonForm, SettingsForm};
use crate::transcript::{is_role_tool_use, role_record};
use crate::{
    Agent, AgentAnswer, AgentFiles, AgentVariables, Call, Client, HookEvent, Malformed, Reply,
};

#[cfg(test)]
mod tests;

/// Factory's Droid: as Claude Code, in a file without a wrapper.
pub(crate) const DROID: Profile = Profile {
    render: block_or_tell,
    record: role_record,
    is_tool_use: is_role_tool_use,
    variables: AgentVariables {
        project: Some("DROID_PROJECT_DIR"),
        marks: &["DROID_PROJECT_DIR"],
        ..AgentVariables::NONE
    },
    files: AgentFiles {
        home: ".factory",
        user: Some("hooks.json"),
        project: Some(".factory/hooks.json"),
        local: None,
        form: SettingsForm::Json(JsonForm {
            wrapper: None,
            events: EventName::USUAL,
            ..JsonForm::GROUPS
        }),
        programs: &["droid"],
    },
    ..Profile::plain("droid", "Factory Droid", parse_droid)
};

/// Antigravity: named groups, a payload without an event, and a decision in every answer.
pub(crate) const ANTIGRAVITY: Profile = Profile {
    render: render_antigravity,
    files: AgentFiles {
        home: ".gemini/config",
        user: Some("hooks.json"),
        project: Some(".agents/hooks.json"),
        local: None,
        form: SettingsForm::Json(JsonForm {
            wrapper: Some("stopgate"),
            has_groups: false,
            arguments: &["--event", "Stop"],
            events: &[EventName::stop("Stop")],
            ..JsonForm::GROUPS
        }),
        programs: &["agy", "antigravity"],
    },
    mark: Some("terminationReason"),
    ..Profile::plain("antigravity", "Antigravity", parse_antigravity)
};

/// Grok Build: as Claude Code, in a file of our own; five seconds unless the entry says more.
pub(crate) const GROK: Profile = Profile {
    variables: AgentVariables {
        session: Some("GROK_SESSION_ID"),
        marks: &["GROK_SESSION_ID"],
        ..AgentVariables::NONE
    },
    files: AgentFiles {
        home: ".grok",
        user: Some("hooks/stopgate.json"),
        project: Some(".grok/hooks/stopgate.json"),
        local: None,
        form: SettingsForm::Json(JsonForm::GROUPS),
        programs: &["grok"],
    },
    after_install: &["Grok Build runs a project's hooks only after /hooks-trust."],
    ..Profile::plain("grok", "Grok Build", parse_grok)
};

/// Devin CLI: as Claude Code, in a file without a wrapper; a person's hooks are part of a larger file.
pub(crate) const DEVIN: Profile = Profile {
    variables: AgentVariables { marks: &["DEVIN_CLI"], ..AgentVariables::NONE },
    files: AgentFiles {
        home: ".config/devin",
        user: None,
        project: Some(".devin/hooks.v1.json"),
        local: None,
        form: SettingsForm::Json(JsonForm { wrapper: None, ..JsonForm::GROUPS }),
        programs: &["devin"],
    },
    ..Profile::plain("devin", "Devin CLI", parse_devin)
};

/// Qoder CLI: as Claude Code, but only exit code 2 blocks.
pub(crate) const QODER: Profile = Profile {
    render: exit_two,
    files: AgentFiles {
        home: ".qoder",
        user: Some("settings.json"),
        project: Some(".qoder/settings.json"),
        local: None,
        form: SettingsForm::Json(JsonForm { needs_exit_code: true, ..JsonForm::GROUPS }),
        programs: &["qodercli", "qoder"],
    },
    ..Profile::plain("qoder", "Qoder CLI", parse_qoder)
};

/// VS Code's agent mode: hooks of a project only.
pub(crate) const VSCODE: Profile = Profile {
    files: AgentFiles {
        home: ".vscode",
        user: None,
        project: Some(".github/hooks/stopgate-vscode.json"),
        local: None,
        form: SettingsForm::Json(JsonForm { has_groups: false, ..JsonForm::GROUPS }),
        programs: &["code"],
    },
    readers: &[Agent::Copilot],
    ..Profile::plain("vscode", "VS Code", parse_vscode)
};

#[derive(Serialize)]
struct DecisionWire<'a> {
    decision: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
}

fn parse_droid<'a>(raw: &'a [u8], event: Option<&str>) -> Result<Call<'a>, Malformed> {
    read(Agent::Droid, raw, event, plain)
}

fn parse_grok<'a>(raw: &'a [u8], event: Option<&str>) -> Result<Call<'a>, Malformed> {
    read(Agent::Grok, raw, event, without_transcript)
}

fn parse_devin<'a>(raw: &'a [u8], event: Option<&str>) -> Result<Call<'a>, Malformed> {
    read(Agent::Devin, raw, event, without_transcript)
}

fn parse_qoder<'a>(raw: &'a [u8], event: Option<&str>) -> Result<Call<'a>, Malformed> {
    read(Agent::Qoder, raw, event, without_transcript)
}

fn parse_vscode<'a>(raw: &'a [u8], event: Option<&str>) -> Result<Call<'a>, Malformed> {
    read(Agent::VsCode, raw, event, without_transcript)
}

fn parse_antigravity<'a>(raw: &'a [u8], event: Option<&str>) -> Result<Call<'a>, Malformed> {
    read(Agent::Antigravity, raw, event, |call, extra| {
        let rests = extra.fully_idle != Some(false) && call.error.is_none();
        let event =
            if call.event == HookEvent::Stop && !rests { HookEvent::Other } else { call.event };
        without_transcript(Call { event, ..call }, extra)
    })
}

/// Nobody described the lines of the transcript.
fn without_transcript<'a>(call: Call<'a>, _: &Extra<'a>) -> Call<'a> {
    Call { transcript: None, ..call }
}

fn render_antigravity(answer: &AgentAnswer<'_>, _: Client) -> Reply {
    match *answer {
        AgentAnswer::Continue(text) if !text.trim().is_empty() => {
            print(&DecisionWire { decision: "continue", reason: Some(cut(text)) })
        }
        AgentAnswer::Continue(_)
        | AgentAnswer::Allow
        | AgentAnswer::Tell(_)
        | AgentAnswer::Ended(_)
        | AgentAnswer::Context { .. } => print(&DecisionWire { decision: "stop", reason: None }),
    }
}
