//! Kimi Code: it continues a turn once, by exit code 2, and its payload names no transcript.
//!
//! A second stop of the same turn does not reach a hook, so a loop goes on with the next prompt.
//! A table with a key that it does not know keeps its whole configuration from loading.

use stopgate_core::{CapScope, ClientCap};
use stopgate_signals::transcript::TranscriptRecord;

use crate::agent::{Profile, StatusLineItems};
use crate::payload::{plain, read};
use crate::reply::exit_two;
use crate::settings::SettingsForm;
use crate::transcript::line;
use crate::{
    Agent, AgentFiles, AgentVariables, Call, Client, Malformed, Provenance, TranscriptSearch,
};

/// All that is known of it.
pub(crate) const PROFILE: Profile = Profile {
    evidence: Provenance::Tested("2.1.0"),
    status_line: StatusLineItems::Command,
    render: exit_two,
    record,
    is_tool_use,
    cap,
    variables: AgentVariables { home: Some("KIMI_CODE_HOME"), ..AgentVariables::NONE },
    files: AgentFiles {
        home: ".kimi-code",
        user: Some("config.toml"),
        project: None,
        local: None,
        form: SettingsForm::KimiToml,
        programs: &["kimi"],
    },
    search: Some(TranscriptSearch { sessions: "sessions", file: "agents/main/wire.jsonl" }),
    mark: Some("client_type"),
    after_install: &[
        "Kimi Code continues a turn once: a loop goes on with your next prompt, or drive it with \
         `stopgate run`.",
    ],
    ..Profile::plain("kimi", "Kimi Code", parse)
};

fn parse<'a>(raw: &'a [u8], event: Option<&str>) -> Result<Call<'a>, Malformed> {
    read(Agent::Kimi, raw, event, plain)
}

#[expect(clippy::unnecessary_wraps, reason = "an agent may have no limit")]
fn cap(_: Option<&str>, _: Client) -> Option<ClientCap> {
    let lift = "give it a new prompt to go on";
    Some(ClientCap { refusals: 1, scope: CapScope::Turn, lift })
}

fn record(bytes: &[u8]) -> TranscriptRecord {
    let Some(line) = line(bytes) else { return TranscriptRecord::Foreign };
    let (event, part) = (&line["event"], &line["event"]["part"]);
    match line["type"].as_str() {
        Some("context.append_loop_event") if event["type"] == "content.part" => {
            TranscriptRecord::Assistant {
                message: event["stepUuid"].as_str().map(String::from),
                text: part["text"].as_str().filter(|_| part["type"] == "text").map(String::from),
            }
        }
        Some("turn.prompt") => TranscriptRecord::UserTurn,
        Some("context.append_message") if line["message"]["origin"]["name"] == "stop_hook" => {
            TranscriptRecord::UserTurn
        }
        Some(_) | None => TranscriptRecord::Other,
    }
}

fn is_tool_use(bytes: &[u8]) -> bool {
    line(bytes).is_some_and(|line| {
        let kind = line["event"]["type"].as_str();
        line["type"] == "context.append_loop_event" && kind == Some("tool.call")
    })
}
