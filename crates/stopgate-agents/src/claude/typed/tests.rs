use serde_json::{Value, json};

use super::{TypedCommand, typed_commands};

/// A session of version 2.1.325: a command after `!`, one by the agent's tool, one that was typed
/// while a tool ran and waited for it.
const SEEN: &str = include_str!("../../../tests/data/typed_session.jsonl");
const SESSION: &str = "8f80eb7c-337f-4a7d-b97d-e60e704c7c1e";

fn line(uuid: &str, parent: Option<&str>, content: &Value) -> Value {
    json!({
        "type": "user", "uuid": uuid, "parentUuid": parent, "sessionId": "s", "isSidechain": false,
        "timestamp": "2026-11-15T06:00:00.000Z", "message": {"role": "user", "content": content},
    })
}

fn typed(lines: &[Value]) -> Vec<TypedCommand> {
    let text: Vec<String> = lines.iter().map(Value::to_string).collect();
    typed_commands(&text.join("\n"), "s")
}

#[test]
fn a_real_session_shows_what_was_typed_and_not_what_the_agent_ran() {
    let found = typed_commands(SEEN, SESSION);
    let commands: Vec<&str> = found.iter().map(|typed| typed.command.as_str()).collect();
    assert_eq!(commands, ["sh /lab/probe.sh bang", "sh /lab/probe.sh mid"]);
    assert!(found[0].output.contains("probe bang says &lt;bash-input&gt;"), "{found:?}");
    assert_eq!(found[0].begun_at, "2026-11-15T18:09:23.643Z");
    assert_eq!(found[0].ended_at, "2026-11-15T18:09:24.173Z");
    assert_eq!(typed_commands(SEEN, "another"), []);
}

#[test]
fn a_command_counts_only_with_its_own_output() {
    let input = line("a", None, &json!("<bash-input>x</bash-input>"));
    let output =
        line("b", Some("a"), &json!("<bash-stdout>y</bash-stdout><bash-stderr></bash-stderr>"));
    assert_eq!(typed(&[input.clone(), output.clone()]).len(), 1);
    assert_eq!(typed(std::slice::from_ref(&input)), []);
    assert_eq!(typed(std::slice::from_ref(&output)), []);
    let foreign = line("b", Some("z"), &json!("<bash-stdout>y</bash-stdout>"));
    assert_eq!(typed(&[input, foreign]), []);
}

#[test]
fn what_an_agent_can_print_is_never_a_typed_command() {
    let text = "<bash-input>x</bash-input>";
    let result = json!([{"type": "tool_result", "tool_use_id": "t", "content": text}]);
    let block = json!([{"type": "text", "text": text}]);
    let spoken = format!("I ran {text}");
    let mut meta = line("a", None, &json!(text));
    meta["isMeta"] = json!(true);
    let mut side = line("a", None, &json!(text));
    side["isSidechain"] = json!(true);
    let mut assistant = line("a", None, &json!(text));
    assistant["type"] = json!("assistant");
    assistant["message"]["role"] = json!("assistant");
    let forgeries = [
        line("a", None, &result),
        line("a", None, &block),
        line("a", None, &json!(spoken)),
        meta,
        side,
        assistant,
    ];
    for forged in forgeries {
        let output = line("b", Some("a"), &json!("<bash-stdout>y</bash-stdout>"));
        assert_eq!(typed(&[forged.clone(), output]), [], "{forged}");
    }
}

#[test]
fn nothing_is_typed_while_a_tool_runs() {
    let call = json!([{"type": "tool_use", "id": "t", "name": "Bash", "input": {}}]);
    let result =
        line("r", None, &json!([{"type": "tool_result", "tool_use_id": "t", "content": ""}]));
    let mut called = line("c", None, &call);
    called["type"] = json!("assistant");
    let input = line("a", None, &json!("<bash-input>x</bash-input>"));
    let output = line("b", Some("a"), &json!("<bash-stdout>y</bash-stdout>"));
    assert_eq!(typed(&[called.clone(), input.clone(), output.clone()]), []);
    assert_eq!(typed(&[called, result, input, output]).len(), 1);
}

#[test]
fn lines_that_are_cut_are_passed_over() {
    let input = line("a", None, &json!("<bash-input>x</bash-input>")).to_string();
    let output = line("b", Some("a"), &json!("<bash-stdout>y</bash-stdout>")).to_string();
    let text = format!("{}\n{input}\n{output}\n{}", &input[40..], &output[..30]);
    assert_eq!(typed_commands(&text, "s").len(), 1);
}
