//! Cursor: it takes a follow-up message instead of a refusal, and asks also when a turn was
//! aborted. From its documentation.
//!
//! Without `loop_limit` it sends five follow-ups at most; the entry that we install has none.

use serde::Serialize;
use stopgate_core::{CapScope, ClientCap};

use crate::agent::Profile;
use crate::payload::{Extra, read};
use crate::reply::{cut, nothing, print};
use crate::settings::{EventName, JsonForm, SettingsForm};
use crate::{
    Agent, AgentAnswer, AgentFiles, AgentVariables, Call, Client, HookEvent, Malformed, Reply,
};

#[cfg(test)]
mod tests;

const CAP_DEFAULT: u32 = 5;

/// All that is known of it.
pub(crate) const PROFILE: Profile = Profile {
    render,
    cap,
    variables: AgentVariables { marks: &["CURSOR_AGENT"], ..AgentVariables::NONE },
    files: AgentFiles {
        home: ".cursor",
        user: Some("hooks.json"),
        project: Some(".cursor/hooks.json"),
        local: None,
        form: SettingsForm::Json(JsonForm {
            has_groups: false,
            has_type: false,
            arguments: &["--cap", "none"],
            begins_with: Some(("version", 1)),
            unlimited_key: Some("loop_limit"),
            events: &[EventName::stop("stop"), EventName::other("sessionStart")],
            ..JsonForm::GROUPS
        }),
        programs: &["cursor", "cursor-agent"],
    },
    readers: &[Agent::Grok],
    mark: Some("cursor_version"),
    after_install: &[
        "`cursor-agent -p` does not fire its stop hook; the editor and its terminal do.",
    ],
    ..Profile::plain("cursor", "Cursor", parse)
};

#[derive(Serialize)]
struct FollowUpWire<'a> {
    followup_message: &'a str,
}

#[derive(Serialize)]
struct ContextWire<'a> {
    additional_context: &'a str,
}

fn parse<'a>(raw: &'a [u8], event: Option<&str>) -> Result<Call<'a>, Malformed> {
    read(Agent::Cursor, raw, event, finish)
}

fn finish<'a>(call: Call<'a>, extra: &Extra<'a>) -> Call<'a> {
    let is_over = extra.status.as_deref().is_some_and(|status| status != "completed");
    let event =
        if call.event == HookEvent::Stop && is_over { HookEvent::Other } else { call.event };
    let continued = extra.loop_count.map(|count| count > 0).or(call.continued);
    // Nobody described the lines of its transcript.
    Call { event, continued, transcript: None, ..call }
}

#[expect(clippy::unnecessary_wraps, reason = "an agent may have no limit")]
fn cap(_: Option<&str>, _: Client) -> Option<ClientCap> {
    let lift = "lift it with \"loop_limit\": null and --cap none in the entry, or `stopgate install cursor`";
    Some(ClientCap { refusals: CAP_DEFAULT, scope: CapScope::Turn, lift })
}

fn render(answer: &AgentAnswer<'_>, _: Client) -> Reply {
    match *answer {
        AgentAnswer::Continue(text) if !text.trim().is_empty() => {
            print(&FollowUpWire { followup_message: cut(text) })
        }
        AgentAnswer::Context { event: HookEvent::SessionStart, text } if !text.is_empty() => {
            print(&ContextWire { additional_context: cut(text) })
        }
        AgentAnswer::Continue(_)
        | AgentAnswer::Allow
        | AgentAnswer::Tell(_)
        | AgentAnswer::Ended(_)
        | AgentAnswer::Context { .. } => nothing(),
    }
}
