//! Payloads, as captured from the client and as they should never be.

use std::borrow::Cow;
use std::fmt::Write;

use super::*;

const CAPTURED: &str = include_str!("../../../tests/data/hook_payloads.json");

#[test]
fn every_captured_payload_is_understood() {
    let captured: Vec<serde_json::Value> = serde_json::from_str(CAPTURED).unwrap();
    let mut told = String::new();
    for sample in &captured {
        let payload = sample["payload"].to_string();
        let call = parse(payload.as_bytes(), None).unwrap();
        assert_eq!(call.session, sample["payload"]["session_id"].as_str().unwrap());
        assert_eq!(call.transcript.as_deref(), sample["payload"]["transcript_path"].as_str());
        assert_eq!(call.prompt_id.as_deref(), sample["payload"]["prompt_id"].as_str());
        assert_eq!(call.cwd.as_deref(), Some("/home/dev/proj"));
        let (name, variant) = (&sample["event"], &sample["variant"]);
        let name = format!("{} {}", name.as_str().unwrap(), variant.as_str().unwrap());
        writeln!(told, "{} = {}", name.trim_end(), tell(&call)).unwrap();
    }
    assert_eq!(told, TOLD);
}

const TOLD: &str = "\
MessageDisplay = Other
Notification idle_prompt = Other
PostCompact auto = Other trigger(auto)
PostCompact manual = Other trigger(manual)
PostToolBatch = PostToolBatch
PostToolUse = Other
PreCompact auto = PreCompact trigger(auto)
PreCompact manual = PreCompact trigger(manual)
PreToolUse = Other
SessionEnd clear = SessionEnd ended(clear)
SessionEnd other = SessionEnd ended(other)
SessionEnd prompt_input_exit = SessionEnd ended(prompt_input_exit)
SessionStart clear = SessionStart source(Clear)
SessionStart compact = SessionStart source(Compact)
SessionStart fork = SessionStart source(Fork)
SessionStart resume = SessionStart source(Resume)
SessionStart startup = SessionStart source(Startup)
Stop = Stop said(part two) continued(false)
Stop active = Stop said(xxxxxxxxxxxxxxxxxxxx) continued(true)
Stop bg = Stop said(launched, waiting) continued(false) running(subagent a78e388dc67b2c051: sub task)
Stop cron = Stop said(scheduled) continued(false)
StopFailure = StopFailure said(API Error: 529 Overl) error(server_error)
StopFailure authentication_failed = StopFailure said(Invalid API key · Fi) error(authentication_faile)
StopFailure server_error = StopFailure said(API Error: 529 Overl) error(server_error)
StopFailure unknown = StopFailure said(API Error: 400 bad) error(unknown)
SubagentStart = Other agent(a4b26da0d0705d2ee)
SubagentStop bg = SubagentStop said(sub answer 1) continued(false) running(subagent a4b26da0d0705d2ee: sub task) agent(a4b26da0d0705d2ee)
SubagentStop compaction-fork = SubagentStop said(<analysis>none</anal) continued(false) agent(a0012d398e2117015)
TaskCompleted = Other
TaskCreated = Other
UserPromptExpansion = Other prompt(/loop 5m check the b)
UserPromptSubmit task-notification = UserPromptSubmit prompt(<task-notification> ) task(notified)
UserPromptSubmit user = UserPromptSubmit prompt(first prompt)
";

#[test]
fn a_normal_payload_is_borrowed_whole() {
    let raw = br#"{"session_id":"s1","cwd":"/proj","hook_event_name":"Stop","last_assistant_message":"hi"}"#;
    let call = parse(raw, None).unwrap();
    assert!(matches!(call.session, Cow::Borrowed(_)));
    assert!(matches!(call.cwd, Some(Cow::Borrowed(_))));
    assert!(matches!(call.last_message, Some(Cow::Borrowed(_))));
}

#[test]
fn a_value_of_the_wrong_kind_counts_as_missing() {
    let fields = [
        "cwd",
        "transcript_path",
        "prompt_id",
        "last_assistant_message",
        "stop_hook_active",
        "background_tasks",
        "source",
        "reason",
        "prompt",
        "error",
        "agent_id",
        "trigger",
    ];
    let values = [
        "null",
        "1",
        "-1",
        "1.5e3",
        r#"{"a":[{}]}"#,
        r#"[[1],{"b":null}]"#,
        "12345678901234567890123",
    ];
    for field in fields {
        for value in values {
            check(
                &format!(r#"{{"session_id":"s","hook_event_name":"Stop","{field}":{value}}}"#),
                "Stop",
            );
        }
    }
    check(
        r#"{"session_id":"s","hook_event_name":"Stop","cwd":true,"stop_hook_active":"true"}"#,
        "Stop",
    );
}

#[test]
fn only_running_work_counts() {
    let tasks = r#"[{"id":"a","type":"shell","status":"running","description":"dev server"},
        {"id":"b","type":"shell","status":"completed"}, {"id":"c"}, null, 7, [], "x",
        {"id":null,"type":1,"status":"running","command":"sleep"}]"#;
    check(
        &format!(r#"{{"session_id":"s","hook_event_name":"Stop","background_tasks":{tasks}}}"#),
        "Stop running(shell a: dev server) running( : )",
    );
}

#[test]
fn the_named_event_counts_where_the_payload_has_none() {
    check_as(r#"{"session_id":"s"}"#, Some("Stop"), "Stop");
    check_as(r#"{"session_id":"s","hook_event_name":null}"#, Some("SessionEnd"), "SessionEnd");
    check_as(r#"{"session_id":"s","hook_event_name":""}"#, Some("Stop"), "Stop");
    check_as(
        r#"{"session_id":"s","hook_event_name":"SubagentStop"}"#,
        Some("Stop"),
        "SubagentStop",
    );
    check_as(r#"{"session_id":"s"}"#, Some("Novelty"), "Other");
    check_as(r#"{"session_id":"s"}"#, Some(""), "NoEvent");
}

#[test]
fn what_is_no_call_is_refused() {
    for (raw, expected) in [
        ("", "Empty"),
        (" \r\n\t", "Empty"),
        ("\u{feff}", "Empty"),
        ("[]", "NotAnObject"),
        (r#"[{"session_id":"s","hook_event_name":"Stop"}]"#, "NotAnObject"),
        ("null", "NotAnObject"),
        ("7", "NotAnObject"),
        ("\"text\"", "NotAnObject"),
        ("hello", "NotJson"),
        ("{", "NotJson"),
        ("}", "NotJson"),
        (r#"{"session_id":"s","hook_event_name":"Stop"} x"#, "NotJson"),
        (r#"{"session_id":"s","hook_event_name":"St"#, "NotJson"),
        (r#"{"session_id":"\q","hook_event_name":"Stop"}"#, "NotJson"),
        ("{}", "NoSession"),
        (r#"{"session_id":"","hook_event_name":"Stop"}"#, "NoSession"),
        (r#"{"session_id":null,"hook_event_name":"Stop"}"#, "NoSession"),
        (r#"{"session_id":5,"hook_event_name":"Stop"}"#, "NoSession"),
        (r#"{"session_id":"s"}"#, "NoEvent"),
        (r#"{"session_id":"s","hook_event_name":[]}"#, "NoEvent"),
    ] {
        check(raw, expected);
    }
    assert!(matches!(parse(b"\xff\xfe{}", None), Err(Malformed::NotUtf8)));
    assert!(matches!(parse(b"{\"session_id\":\"\xc3\"}", None), Err(Malformed::NotUtf8)));
}

#[test]
fn a_damaged_payload_is_refused_or_read() {
    let whole = r#"{"session_id":"s\u00e9","stop_hook_active":true,"background_tasks":[{"status":"running"}]}"#;
    for at in 0..whole.len() {
        assert!(parse(&whole.as_bytes()[..at], Some("Stop")).is_err());
        for byte in *b"\0\"\\{[]},:x1\xff" {
            let mut damaged = whole.as_bytes().to_vec();
            damaged[at] = byte;
            if let Ok(call) = parse(&damaged, Some("Stop")) {
                assert!(!call.session.is_empty());
            }
        }
    }
}

#[test]
fn what_surrounds_the_payload_is_tolerated() {
    check("\u{feff}{\"session_id\":\"s\",\"hook_event_name\":\"Stop\"}\r\n", "Stop");
    check(
        "\n {\"session_id\":\"s\",\"hook_event_name\":\"Stop\",\"new\":{\"deep\":[1e9999]}}",
        "Stop",
    );
    let deep = format!("{}{}", "[".repeat(5_000), "]".repeat(5_000));
    check(&format!(r#"{{"new":{deep},"session_id":"s","hook_event_name":"Stop"}}"#), "Stop");
}

#[test]
fn half_a_character_does_not_cost_the_payload() {
    check(
        r#"{"session_id":"s","hook_event_name":"Stop","last_assistant_message":"ok \ud83d"}"#,
        "Stop said(ok \u{fffd})",
    );
}

#[track_caller]
fn check(raw: &str, expected: &str) {
    check_as(raw, None, expected);
}

#[track_caller]
fn check_as(raw: &str, event: Option<&str>, expected: &str) {
    let told = match parse(raw.as_bytes(), event) {
        Ok(call) => tell(&call),
        Err(error) => {
            let error = format!("{error:?}");
            error.split('(').next().unwrap_or_default().into()
        }
    };
    assert_eq!(told, expected, "{raw}");
}

/// What a call says, but for what every call says.
fn tell(call: &Call<'_>) -> String {
    let mut told = format!("{:?}", call.event);
    let mut add = |name: &str, value: Option<String>| {
        told.extend(value.map(|value| format!(" {name}({value})")));
    };
    add("said", call.last_message.as_deref().map(brief));
    add("continued", call.continued.map(|continued| continued.to_string()));
    for task in &call.background {
        add("running", Some(format!("{} {}: {}", task.kind, task.id, task.description)));
    }
    add("source", call.source.map(|source| format!("{source:?}")));
    add("ended", call.end_reason.as_deref().map(brief));
    add("prompt", call.prompt.as_deref().map(brief));
    add("error", call.error.as_deref().map(brief));
    add("agent", call.agent_id.as_deref().map(brief));
    add("trigger", call.trigger.as_deref().map(brief));
    add("task", call.is_task_notification().then(|| "notified".into()));
    told
}

fn brief(text: &str) -> String {
    text.chars().take(20).collect::<String>().replace('\n', " ")
}
