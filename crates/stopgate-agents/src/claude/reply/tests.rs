//! Answers, as each version of the client takes them.

use super::*;

const NEW: Client = Client { version: Some(ClientVersion(2, 1, 325)) };
const FIRST: Client = Client { version: Some(ClientVersion(2, 1, 163)) };
const OLD: Client = Client { version: Some(ClientVersion(2, 1, 162)) };
const UNKNOWN: Client = Client { version: None };

#[test]
fn to_allow_is_to_print_nothing() {
    for client in [NEW, OLD, UNKNOWN] {
        check(AgentAnswer::Allow, client, "");
        check(AgentAnswer::Tell(""), client, "");
    }
}

#[test]
fn a_message_goes_to_the_person() {
    for client in [NEW, OLD, UNKNOWN] {
        check(
            AgentAnswer::Tell("loop ended: \"done\"\n"),
            client,
            r#"{"systemMessage":"loop ended: \"done\"\n"}"#,
        );
    }
}

#[test]
fn a_continuation_takes_the_form_that_the_version_knows() {
    let context = r#"{"hookSpecificOutput":{"hookEventName":"Stop","additionalContext":"go on"}}"#;
    let block = r#"{"decision":"block","reason":"go on"}"#;
    check(AgentAnswer::Continue("go on"), NEW, context);
    check(AgentAnswer::Continue("go on"), FIRST, context);
    check(AgentAnswer::Continue("go on"), OLD, block);
    check(AgentAnswer::Continue("go on"), UNKNOWN, block);
    check(AgentAnswer::Continue(""), NEW, r#"{"decision":"block","reason":""}"#);
}

#[test]
fn a_long_continuation_is_a_block_and_arrives_whole() {
    let fits = "x".repeat(9_999);
    let long = "x".repeat(10_000);
    let wide = "😀".repeat(5_000);
    assert!(
        render(&AgentAnswer::Continue(&fits), NEW).stdout.starts_with(r#"{"hookSpecificOutput""#)
    );
    for text in [long, wide] {
        check(
            AgentAnswer::Continue(&text),
            NEW,
            &format!(r#"{{"decision":"block","reason":"{text}"}}"#),
        );
    }
}

#[test]
fn a_long_message_is_cut_between_characters() {
    for (text, kept) in [("x", 9_500), ("é", 4_750), ("😀", 2_375), ("a😀", 3_800)] {
        let told: String = text.chars().cycle().take(12_000).collect();
        let kept: String = text.chars().cycle().take(kept).collect();
        check(AgentAnswer::Tell(&told), NEW, &format!(r#"{{"systemMessage":"{kept}"}}"#));
    }
}

#[test]
fn context_is_given_only_where_it_does_not_hold_the_agent() {
    for (event, name) in [
        (HookEvent::SessionStart, Some("SessionStart")),
        (HookEvent::UserPromptSubmit, Some("UserPromptSubmit")),
        (HookEvent::Stop, None),
        (HookEvent::SubagentStop, None),
        (HookEvent::SessionEnd, None),
        (HookEvent::PostToolBatch, None),
        (HookEvent::PreCompact, None),
        (HookEvent::StopFailure, None),
        (HookEvent::Other, None),
    ] {
        let expected = name.map(|name| {
            format!(r#"{{"hookSpecificOutput":{{"hookEventName":"{name}","additionalContext":"goal"}}}}"#)
        });
        check(AgentAnswer::Context { event, text: "goal" }, NEW, &expected.unwrap_or_default());
        check(AgentAnswer::Context { event, text: "" }, NEW, "");
    }
}

#[test]
fn control_characters_stay_inside_the_string() {
    let text = "a\u{0}\u{1b}[31m\u{2028}\r\n\t\"\\";
    for client in [NEW, OLD] {
        let reply = render(&AgentAnswer::Continue(text), client);
        assert_eq!(reply.stdout.matches('\n').count(), 1);
        assert_accepted(&reply);
    }
}

#[test]
fn the_version_is_read_from_the_agents_name() {
    for (name, expected) in [
        ("claude-code_2-1-325_harness", Some(ClientVersion(2, 1, 325))),
        ("claude-code_2-1-325_agent", Some(ClientVersion(2, 1, 325))),
        ("claude-code_2-1-325", Some(ClientVersion(2, 1, 325))),
        ("claude-code_2-1-325-beta_harness", Some(ClientVersion(2, 1, 325))),
        ("claude-code/2.1.325", Some(ClientVersion(2, 1, 325))),
        ("claude-code_3-0-0_x_y", Some(ClientVersion(3, 0, 0))),
        ("claude-code_2-1_harness", None),
        ("claude-code_2-1-x", None),
        ("claude-code_2-1-99999999", None),
        ("claude-code_", None),
        ("claude-code", None),
        ("claude-codex_2-1-325", None),
        ("codex_2-1-325_harness", None),
        ("gemini-cli_0-61-0", None),
        ("", None),
    ] {
        assert_eq!(version(name), expected, "{name}");
    }
    assert!(ClientVersion(2, 1, 99) < ClientVersion(2, 1, 163));
    assert!(ClientVersion(2, 0, 999) < ClientVersion(2, 1, 0));
}

#[test]
fn the_cap_is_what_the_client_takes_it_for() {
    let (new, old, edge) =
        (ClientVersion(2, 1, 325), ClientVersion(2, 1, 142), ClientVersion(2, 1, 143));
    for (variable, version, expected) in [
        (None, Some(&new), Some(8)),
        (None, Some(&edge), Some(8)),
        (None, None, Some(8)),
        (None, Some(&old), None),
        (Some("0"), Some(&new), None),
        (Some("-3"), None, None),
        (Some("50"), Some(&new), Some(50)),
        (Some(" 50 "), None, Some(50)),
        (Some("many"), Some(&new), Some(8)),
        (Some("many"), Some(&old), None),
        (Some(""), None, Some(8)),
        (Some("99999999999"), None, Some(u32::MAX)),
    ] {
        let client = Client { version: version.copied() };
        let cap = cap(variable, client).map(|cap| cap.refusals);
        assert_eq!(cap, expected, "{variable:?} {version:?}");
    }
}

#[track_caller]
fn check(answer: AgentAnswer<'_>, client: Client, expected: &str) {
    let reply = render(&answer, client);
    assert_eq!(reply.stdout.trim_end(), expected);
    assert_accepted(&reply);
}

/// The client's own rules: nothing, or one object with known fields and no null.
#[track_caller]
fn assert_accepted(reply: &Reply) {
    assert_eq!((reply.exit_code, reply.stderr.as_str()), (0, ""));
    if reply.stdout.is_empty() {
        return;
    }
    let answer: serde_json::Value = serde_json::from_str(&reply.stdout).unwrap();
    for (key, value) in answer.as_object().unwrap() {
        match key.as_str() {
            "decision" => assert_eq!(value, "block"),
            "reason" | "systemMessage" => assert!(value.is_string()),
            "hookSpecificOutput" => assert_specific(value),
            _ => panic!("the client knows no {key}"),
        }
    }
}

#[track_caller]
fn assert_specific(output: &serde_json::Value) {
    let output = output.as_object().unwrap();
    assert_eq!(output.len(), 2);
    let event = output["hookEventName"].as_str().unwrap();
    assert!(["Stop", "SessionStart", "UserPromptSubmit"].contains(&event));
    let context = output["additionalContext"].as_str().unwrap();
    assert!(!context.is_empty() && context.encode_utf16().count() < 10_000);
}
