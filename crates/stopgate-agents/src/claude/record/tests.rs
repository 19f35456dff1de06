//! Lines of transcripts, captured and older.

use super::*;

const CAPTURED: &str = include_str!("../../../tests/data/transcript_one_block.jsonl");

#[test]
fn a_captured_transcript_tells_who_said_what() {
    let told: Vec<_> = CAPTURED.lines().map(|line| tell(line.as_bytes())).collect();
    let told: Vec<_> = told.iter().filter(|told| *told != "other").collect();
    assert_eq!(
        told,
        [
            "turn",
            "msg_87e8e267193b48bfbfb8: first answer",
            "msg_c0cdb26008b04e2a8975: second answer"
        ]
    );
    assert!(!CAPTURED.lines().any(|line| is_tool_use(line.as_bytes())));
}

#[test]
fn only_the_text_of_an_answer_is_said() {
    for (content, expected) in [
        (r#"[{"type":"text","text":"a"}]"#, "m: a"),
        (
            r#"[{"type":"text","text":"a"},{"type":"thinking","thinking":"t"},{"type":"text","text":"b"}]"#,
            "m: a\nb",
        ),
        (r#"[{"type":"thinking","thinking":"text","text":"no"}]"#, "m"),
        (r#"[{"type":"tool_use","name":"Bash","input":{"text":"no"}}]"#, "m"),
        (r#"[{"type":"text","text":""}]"#, "m: "),
        (r#"[null,1,"x",{"type":"text"},{"type":"text","text":null}]"#, "m"),
        (r#""as one text""#, "m: as one text"),
        (r#""half \ud83d""#, "m: half \u{fffd}"),
        ("null", "m"),
        ("{}", "m"),
    ] {
        check(
            &format!(r#"{{"type":"assistant","message":{{"id":"m","content":{content}}}}}"#),
            expected,
        );
    }
}

#[test]
fn a_turn_begins_with_a_prompt_and_nothing_else() {
    for (line, expected) in [
        (r#"{"type":"user","message":{"role":"user","content":"hello"}}"#, "turn"),
        (
            r#"{"type":"user","message":{"content":[{"type":"text","text":"hello"},{"type":"image"}]}}"#,
            "turn",
        ),
        (r#"{"type":"user","isMeta":false,"isSidechain":false,"message":{"content":"x"}}"#, "turn"),
        (
            r#"{"type":"user","isMeta":true,"message":{"content":"Stop hook feedback:\nx"}}"#,
            "other",
        ),
        (r#"{"type":"user","isCompactSummary":true,"message":{"content":"so far"}}"#, "other"),
        (r#"{"type":"user","isSidechain":true,"message":{"content":"to a subagent"}}"#, "other"),
        (
            r#"{"type":"user","message":{"content":[{"type":"tool_result","content":"ok"}]}}"#,
            "other",
        ),
        (r#"{"type":"user","message":{"content":[]}}"#, "other"),
        (r#"{"type":"user","message":null}"#, "other"),
        (r#"{"type":"user"}"#, "other"),
    ] {
        check(line, expected);
    }
}

#[test]
fn book_keeping_and_subagents_are_other() {
    for line in [
        r#"{"type":"assistant","isSidechain":true,"message":{"id":"m","content":[{"type":"text","text":"sub"}]}}"#,
        r#"{"type":"progress","data":{"type":"assistant","message":{"id":"m","content":"nested"}}}"#,
        r#"{"type":"system","subtype":"stop_hook_summary","hookErrors":["x"]}"#,
        r#"{"type":"summary","summary":"x","leafUuid":"y"}"#,
        r#"{"type":["assistant"],"message":{"id":"m"}}"#,
        r#"{"message":{"id":"m","content":"untyped"}}"#,
        "{}",
    ] {
        check(line, "other");
    }
    check(r#"{"type":"assistant","message":{"content":"no id"}}"#, "?: no id");
    check(r#"{"type":"assistant","message":7}"#, "?");
}

#[test]
fn what_is_no_object_is_foreign() {
    for line in [
        "",
        " ",
        "[]",
        "null",
        "7",
        "text",
        "{",
        r#"{"type":"assistant","mess"#,
        r#"ant"}"#,
        "{} {}",
    ] {
        check(line, "foreign");
    }
    assert_eq!(record(b"\xff\x00{}"), TranscriptRecord::Foreign);
}

#[test]
fn tool_use_is_a_block_of_the_main_agents_answer() {
    for (line, expected) in [
        (r#"{"type":"assistant","message":{"content":[{"type":"tool_use","name":"Bash"}]}}"#, true),
        (
            r#"{"type":"assistant","message":{"content":[{"type":"text","text":"x"},{"type":"tool_use"}]}}"#,
            true,
        ),
        (
            r#"{"type":"assistant","isSidechain":true,"message":{"content":[{"type":"tool_use"}]}}"#,
            false,
        ),
        (
            r#"{"type":"assistant","message":{"content":[{"type":"text","text":"tool_use"}]}}"#,
            false,
        ),
        (r#"{"type":"assistant","message":{"content":"tool_use"}}"#, false),
        (
            r#"{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t"}]}}"#,
            false,
        ),
        (r#"{"type":"progress","data":{"message":{"content":[{"type":"tool_use"}]}}}"#, false),
        ("tool_use", false),
        ("{\"type\":\"assistant\",\"tool_use", false),
        ("", false),
    ] {
        assert_eq!(is_tool_use(line.as_bytes()), expected, "{line}");
    }
    assert!(!is_tool_use(b"\xfftool_use"));
}

#[track_caller]
fn check(line: &str, expected: &str) {
    assert_eq!(tell(line.as_bytes()), expected, "{line}");
}

fn tell(line: &[u8]) -> String {
    match record(line) {
        TranscriptRecord::Assistant { message, text } => {
            let text = text.map(|text| format!(": {text}")).unwrap_or_default();
            format!("{}{text}", message.as_deref().unwrap_or("?"))
        }
        TranscriptRecord::UserTurn => "turn".into(),
        TranscriptRecord::Other => "other".into(),
        TranscriptRecord::Foreign => "foreign".into(),
    }
}
