use std::io::{Read, Write};

use super::*;

/// Sends one request by hand and returns the whole answer.
fn ask(model: &FakeModel, verb_and_path: &str, session: &str, body: &Value) -> String {
    let mut stream = TcpStream::connect(model.address).unwrap();
    let body = body.to_string();
    write!(
        stream,
        "{verb_and_path} HTTP/1.1\r\nX-Claude-Code-Session-Id: {session}\r\n\
         Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

fn prompt(text: &str) -> Value {
    json!({"model": "m", "tools": [{"name": "Bash"}], "messages": [{"role": "user", "content": text}]})
}

fn say(model: &FakeModel, session: &str) -> String {
    let answer = ask(model, "POST /v1/messages", session, &prompt("hello"));
    let (_, body) = answer.split_once("\r\n\r\n").unwrap();
    let message: Value = serde_json::from_str(body).unwrap();
    message["content"][0]["text"].as_str().unwrap_or_default().to_owned()
}

#[test]
fn each_session_has_its_own_script_and_then_the_default() {
    let model = FakeModel::start().unwrap();
    model.script("a", [Turn::text("first of a")]);
    model.script_for_all([Turn::text("first of anyone")]);
    model.default_turn(Turn::text("call {n}"));
    let said = ["a", "b", "a", "b", "c"].map(|session| say(&model, session));
    assert_eq!(said, ["first of a", "first of anyone", "call 2", "call 2", "first of anyone"]);
    assert_eq!(model.main_calls().len(), 5);
    assert_eq!(model.main_calls_of("b").len(), 2);
}

#[test]
fn a_stream_carries_text_and_tool_calls() {
    let model = FakeModel::start().unwrap();
    model.script_for_all([Turn::bash("true").and_text("after")]);
    let mut body = prompt("hello");
    body["stream"] = json!(true);
    let answer = ask(&model, "POST /v1/messages?beta=true", "a", &body);
    for part in [
        "transfer-encoding: chunked",
        "event: message_start",
        r#""partial_json":"{\"command\":\"true\""#,
        r#""delta":{"text":"after","type":"text_delta"}"#,
        r#""stop_reason":"tool_use""#,
        "event: message_stop",
        "\r\n0\r\n\r\n",
    ] {
        assert!(answer.contains(part), "no {part} in {answer}");
    }
}

#[test]
fn requests_are_sorted_by_what_they_are_for() {
    let model = FakeModel::start().unwrap();
    let summary = prompt("Your task is to create a detailed summary of the conversation");
    let mut verdict = prompt("is it done?");
    verdict["system"] = json!("You are verifying a stop condition");
    let bodies = [prompt("hello"), json!({"messages": []}), summary, verdict];
    for body in &bodies {
        ask(&model, "POST /v1/messages", "a", body);
    }
    let kinds: Vec<Kind> = model.requests().iter().map(|request| request.kind).collect();
    assert_eq!(kinds, [Kind::Main, Kind::Side, Kind::Compact, Kind::Verifier]);
}

#[test]
fn what_is_not_a_message_is_answered_too() {
    let model = FakeModel::start().unwrap();
    for (asked, expected) in [
        ("POST /v1/messages/count_tokens", "\"input_tokens\":"),
        ("GET /v1/models", "\"has_more\":false"),
        ("HEAD /", "200 OK"),
        ("GET /elsewhere", "404 Not Found"),
    ] {
        let answer = ask(&model, asked, "a", &json!({}));
        assert!(answer.contains(expected), "{asked}: {answer}");
    }
    assert!(model.requests().iter().all(|request| request.kind == Kind::Other));
}

#[test]
fn told_is_what_came_after_the_last_answer() {
    let model = FakeModel::start().unwrap();
    let mut body = prompt("the task");
    ask(&model, "POST /v1/messages", "a", &body);
    body["messages"] = json!([
        {"role": "user", "content": "the task"},
        {"role": "assistant", "content": "done"},
        {"role": "user", "content": [
            {"type": "tool_result", "content": [{"type": "text", "text": "exit 0"}]},
            {"type": "text", "text": "not yet"},
        ]},
    ]);
    ask(&model, "POST /v1/messages", "a", &body);
    let told = Told { session: "a".into(), call: 2, text: "exit 0\nnot yet".into() };
    assert_eq!(model.told(), [told]);
}

#[test]
fn a_dropped_model_is_gone() {
    let model = FakeModel::start().unwrap();
    let address = model.address;
    let mut open = TcpStream::connect(address).unwrap();
    drop(model);
    assert_eq!(open.read(&mut [0; 1]).unwrap_or(0), 0);
    assert!(TcpStream::connect(address).is_err());
}
