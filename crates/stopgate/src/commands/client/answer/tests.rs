//! Outputs of hooks, and what the client makes of them.

use super::ClientReading;

#[track_caller]
fn check(stdout: &str, expected: &str) {
    let read = match ClientReading::parse(stdout, "Stop") {
        ClientReading::Allowed => "allowed".into(),
        ClientReading::Told(text) => format!("told {text}"),
        ClientReading::Held(text) => format!("held {text}"),
        ClientReading::Refused(why) => format!("refused: {why}"),
    };
    assert!(read.starts_with(expected), "{stdout}: {read}");
}

#[test]
fn accepted_answers() {
    check("", "allowed");
    check("{}\n", "allowed");
    check(r#"{"systemMessage":"over"}"#, "told over");
    check(r#"{"decision":"block","reason":"go on"}"#, "held go on");
    let context = r#"{"hookSpecificOutput":{"hookEventName":"Stop","additionalContext":"go on"}}"#;
    check(context, "held go on");
}

#[test]
fn refused_answers() {
    check("{}{}", "refused: the answer is not one JSON value");
    check("log line\n{}", "refused: the answer is not one JSON value");
    check("[]", "refused: the answer is JSON, but not an object");
    check(r#"{"decision":"block","reason":null}"#, "refused: the answer holds a null");
    check(r#"{"decision":"allow"}"#, "refused: the answer fits no form");
    check(r#"{"continue":false}"#, "refused: the answer has a field too many");
    let wrong = r#"{"hookSpecificOutput":{"hookEventName":"Start","additionalContext":"x"}}"#;
    check(wrong, "refused: the answer fits no form");
}
