//! Codex CLI: it speaks as Claude Code does, refuses unknown keys, and runs only hooks that a person
//! reviewed.
//!
//! Its client sets no limit on continuations, so only ours ends a loop. Text above some ten
//! thousand bytes would be replaced by a pointer to a file.

use serde_json::Value;
use stopgate_signals::transcript::TranscriptRecord;

use crate::agent::{Profile, StatusLineItems, TrustForm};
use crate::payload::{plain, read};
use crate::reply::block_or_tell;
use crate::settings::{EventName, JsonForm, PluginMark, SettingsForm, TrustEntry, find};
use crate::transcript::{has_part, line, said, texts};
use crate::{Agent, AgentFiles, AgentVariables, Call, Malformed, Provenance};

#[cfg(test)]
mod tests;

/// All that is known of it.
pub(crate) const PROFILE: Profile = Profile {
    evidence: Provenance::Tested("0.166.0"),
    status_line: StatusLineItems::BuiltIn,
    render: block_or_tell,
    record,
    is_tool_use,
    variables: AgentVariables {
        session: Some("CODEX_THREAD_ID"),
        marks: &["CODEX_THREAD_ID"],
        home: Some("CODEX_HOME"),
        ..AgentVariables::NONE
    },
    files: AgentFiles {
        home: ".codex",
        user: Some("hooks.json"),
        project: Some(".codex/hooks.json"),
        local: None,
        form: SettingsForm::Json(JsonForm {
            has_message: true,
            plugin_windows_key: Some("commandWindows"),
            events: &[
                EventName::stop("Stop"),
                EventName::other("SessionStart"),
                EventName::other("UserPromptSubmit"),
                EventName { name: "SessionEnd", timeout_s: 3 },
            ],
            ..JsonForm::GROUPS
        }),
        programs: &["codex"],
    },
    plugin: Some(PluginMark::CODEX),
    trust: Some(TrustForm {
        file: "config.toml",
        entries: trust_entries,
        explanation: "Codex skips hooks that nobody reviewed, without a word: type /hooks in Codex \
                      and trust those of stopgate, or run `stopgate install codex --accept-trust`.",
    }),
    ..Profile::plain("codex", "Codex CLI", parse)
};

fn parse<'a>(raw: &'a [u8], event: Option<&str>) -> Result<Call<'a>, Malformed> {
    read(Agent::Codex, raw, event, plain)
}

fn record(bytes: &[u8]) -> TranscriptRecord {
    let Some(line) = line(bytes) else { return TranscriptRecord::Foreign };
    let item = &line["payload"];
    if line["type"] != "response_item" || item["type"] != "message" {
        return TranscriptRecord::Other;
    }
    match item["role"].as_str() {
        Some("assistant") => said(texts(&item["content"], |part| part["type"] == "output_text")),
        Some("user") if !is_environment(&item["content"]) => TranscriptRecord::UserTurn,
        Some(_) | None => TranscriptRecord::Other,
    }
}

/// Whether the client itself wrote this, about the machine.
fn is_environment(content: &Value) -> bool {
    has_part(content, |part| {
        part["text"].as_str().is_some_and(|text| text.starts_with("<environment_context>"))
    })
}

fn is_tool_use(bytes: &[u8]) -> bool {
    let kinds = ["function_call", "custom_tool_call", "local_shell_call", "web_search_call"];
    line(bytes).is_some_and(|line| {
        let kind = line["payload"]["type"].as_str();
        line["type"] == "response_item" && kind.is_some_and(|kind| kinds.contains(&kind))
    })
}

/// How long a hook may take where its entry does not say.
const TIMEOUT_DEFAULT_S: u64 = 600;

/// Codex knows a reviewed hook by its place in the file and by a hash of what it would run.
fn trust_entries(path: &str, hooks: &str) -> Vec<TrustEntry> {
    let Ok(file) = serde_json::from_str::<Value>(hooks) else { return Vec::new() };
    let own: Vec<String> = find(Agent::Codex, hooks)
        .unwrap_or_default()
        .into_iter()
        .map(|found| found.command.line())
        .collect();
    let is_own = |hook: &Value| {
        hook["command"].as_str().is_some_and(|line| own.iter().any(|one| one == line))
    };
    let events = file["hooks"].as_object().into_iter().flatten();
    let groups = events.flat_map(|(event, groups)| {
        let groups = groups.as_array().into_iter().flatten().enumerate();
        groups.map(move |(at, group)| (snake(event), at, group))
    });
    let mut entries = Vec::new();
    for (event, group_at, group) in groups {
        let inner = group["hooks"].as_array().into_iter().flatten().enumerate();
        entries.extend(inner.filter(|(_, hook)| is_own(hook)).map(|(at, hook)| TrustEntry {
            key: format!("{path}:{event}:{group_at}:{at}"),
            identity: identity(&event, &group["matcher"], hook),
        }));
    }
    entries
}

/// What the hash is of: compact JSON with sorted keys.
fn identity(event: &str, matcher: &Value, hook: &Value) -> String {
    let timeout = hook["timeout"].as_u64().unwrap_or(TIMEOUT_DEFAULT_S);
    let is_async = hook["async"].as_bool().unwrap_or(false);
    let mut parts = vec![
        format!("\"async\":{is_async}"),
        format!("\"command\":{}", hook["command"]),
        format!("\"timeout\":{timeout}"),
        "\"type\":\"command\"".to_string(),
    ];
    if !hook["statusMessage"].is_null() {
        parts.insert(2, format!("\"statusMessage\":{}", hook["statusMessage"]));
    }
    let matcher = match matcher {
        Value::Null => String::new(),
        matcher => format!(",\"matcher\":{matcher}"),
    };
    format!("{{\"event_name\":\"{event}\",\"hooks\":[{{{}}}]{matcher}}}", parts.join(","))
}

fn snake(name: &str) -> String {
    let mut snake = String::new();
    for (at, char) in name.char_indices() {
        if char.is_ascii_uppercase() && at > 0 {
            snake.push('_');
        }
        snake.push(char.to_ascii_lowercase());
    }
    snake
}
