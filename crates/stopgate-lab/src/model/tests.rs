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
    model.script("a", [ScriptedTurn::text("first of a")]);
    model.script_for_all([ScriptedTurn::text("first of anyone")]);
    model.default_turn(ScriptedTurn::text("call {n}"));
    let said = ["a", "b", "a", "b", "c"].map(|session| say(&model, session));
    assert_eq!(said, ["first of a", "first of anyone", "call 2", "call 2", "first of anyone"]);
    assert_eq!(model.main_calls().len(), 5);
    assert_eq!(model.main_calls_of("b").len(), 2);
}

#[test]
fn a_stream_carries_text_and_tool_calls() {
    let model = FakeModel::start().unwrap();
    model.script_for_all([ScriptedTurn::bash("true").and_text("after")]);
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

/// A first prompt in each API, with a tool, and where it is sent.
fn prompts() -> [(&'static str, Value); 4] {
    let tools = json!([{"name": "shell"}]);
    let said = json!([{"role": "user", "content": "hello"}]);
    let part = json!([{"role": "user", "parts": [{"text": "hello"}]}]);
    [
        ("/v1/messages", json!({"tools": tools, "stream": true, "messages": said})),
        ("/v1/responses", json!({"tools": tools, "stream": true, "input": said})),
        ("/v1/chat/completions", json!({"tools": tools, "stream": true, "messages": said})),
        ("/v1beta/models/m:streamGenerateContent", json!({"tools": tools, "contents": part})),
    ]
}

/// The data of a stream's events that are JSON.
fn events(answer: &str) -> Vec<Value> {
    let lines = answer.lines().filter_map(|line| line.strip_prefix("data: "));
    lines.filter_map(|line| serde_json::from_str(line).ok()).collect()
}

#[test]
fn every_api_carries_text_and_tool_calls() {
    let turn =
        ScriptedTurn::text("before").and(ScriptedTurn::tool("shell", json!({"command": "true"})));
    let at = |events: &[Value], pointer: &str| {
        events.iter().rev().find_map(|event| event.pointer(pointer).cloned()).unwrap_or_default()
    };
    // Where each API's stream has the text, the tool's name and its input.
    let pointers = [
        ["/delta/text", "/content_block/name", "/delta/partial_json"],
        ["/response/output/0/content/0/text", "/item/name", "/item/arguments"],
        [
            "/choices/0/delta/content",
            "/choices/0/delta/tool_calls/0/function/name",
            "/choices/0/delta/tool_calls/0/function/arguments",
        ],
        [
            "/candidates/0/content/parts/0/text",
            "/candidates/0/content/parts/0/functionCall/name",
            "/candidates/0/content/parts/0/functionCall/args",
        ],
    ];
    for ((path, body), [text, name, input]) in prompts().into_iter().zip(pointers) {
        let model = FakeModel::start().unwrap();
        model.script_for_all([turn.clone()]);
        let answer = ask(&model, &format!("POST {path}"), "a", &body);
        assert!(answer.ends_with("\r\n0\r\n\r\n"), "{path}: {answer}");
        let events = events(&answer);
        assert_eq!(at(&events, name), "shell", "{path}: {answer}");
        let input = at(&events, input);
        let input =
            input.as_str().map_or(input.clone(), |text| serde_json::from_str(text).unwrap());
        assert_eq!(input, json!({"command": "true"}), "{path}: {answer}");
        let texts = events.iter().filter_map(|event| event.pointer(text));
        assert!(texts.clone().any(|text| text == "before"), "{path}: {answer}");
    }
}

#[test]
fn a_path_can_name_its_session() {
    let model = FakeModel::start().unwrap();
    for (path, body) in prompts() {
        let path = format!("{}{path}", model.url_for("codex")).split_off(model.url().len());
        let answer = ask(&model, &format!("POST {path}"), "a", &body);
        assert!(answer.contains("turn "), "{answer}");
    }
    let calls = model.main_calls_of("codex");
    let paths: Vec<&str> = calls.iter().map(|call| call.path.as_str()).collect();
    assert_eq!(paths, prompts().map(|(path, _)| path));
}

#[test]
fn told_is_found_in_every_api() {
    let function = json!({"functionResponse": {"response": {"output": "exit 0"}}});
    for (path, body) in [
        (
            "/v1/responses",
            json!({"input": [
                {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "the task"}]},
                {"type": "function_call", "name": "shell", "arguments": "{}"},
                {"type": "function_call_output", "output": "exit 0"},
                {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "not yet"}]},
            ]}),
        ),
        (
            "/v1/chat/completions",
            json!({"messages": [
                {"role": "user", "content": "the task"},
                {"role": "assistant", "content": null, "tool_calls": [{}]},
                {"role": "tool", "content": "exit 0"},
                {"role": "user", "content": [{"type": "text", "text": "not yet"}]},
            ]}),
        ),
        (
            "/v1beta/models/m:streamGenerateContent",
            json!({"contents": [
                {"role": "user", "parts": [{"text": "the task"}]},
                {"role": "model", "parts": [{"functionCall": {"name": "shell"}}]},
                {"role": "user", "parts": [function, {"text": "not yet"}]},
            ]}),
        ),
    ] {
        let model = FakeModel::start().unwrap();
        let mut body = body;
        body["tools"] = json!([{"name": "shell"}]);
        ask(&model, &format!("POST {path}"), "a", &body);
        let told = ModelInput { session: "a".into(), call: 1, text: "exit 0\nnot yet".into() };
        assert_eq!(model.told(), [told], "{path}");
    }
}

#[test]
fn every_api_refuses_in_its_own_words() {
    let reset = Duration::from_mins(15);
    let words = ["rate_limit_error", "resets_in_seconds", "rate_limit_exceeded", "900s"];
    for ((path, body), word) in prompts().into_iter().zip(words) {
        let model = FakeModel::start().unwrap();
        model.script_for_all([
            ScriptedTurn::rate_limited(reset),
            ScriptedTurn::unauthorized(),
            ScriptedTurn::status(500),
        ]);
        let answers = [0; 3].map(|_| ask(&model, &format!("POST {path}"), "a", &body));
        for part in ["429 Too Many Requests", "retry-after: 900\r\n", word] {
            assert!(answers[0].contains(part), "{path}: no {part} in {}", answers[0]);
        }
        assert!(answers[1].starts_with("HTTP/1.1 401 Unauthorized\r\n"), "{}", answers[1]);
        assert!(answers[2].starts_with("HTTP/1.1 500 Internal Server Error\r\n"), "{}", answers[2]);
        assert_eq!(model.main_calls_of("a").len(), 3);
    }
}

#[test]
fn a_broken_stream_has_no_end() {
    for (path, body) in prompts() {
        let model = FakeModel::start().unwrap();
        model.script_for_all([ScriptedTurn::text("half").cut(), ScriptedTurn::dropped()]);
        let cut = ask(&model, &format!("POST {path}"), "a", &body);
        assert!(cut.starts_with("HTTP/1.1 200 OK\r\n") && cut.contains("data: "), "{cut}");
        assert!(!cut.ends_with("\r\n0\r\n\r\n"), "{cut}");
        assert_eq!(ask(&model, &format!("POST {path}"), "a", &body), "", "{path}");
    }
}

#[test]
fn a_hanging_model_says_nothing_until_it_is_gone() {
    let model = FakeModel::start().unwrap();
    model.default_turn(ScriptedTurn::hang());
    let mut stream = TcpStream::connect(model.address).unwrap();
    let body = prompt("hello").to_string();
    let length = body.len();
    write!(stream, "POST /v1/messages HTTP/1.1\r\nContent-Length: {length}\r\n\r\n{body}").unwrap();
    while model.main_calls().is_empty() {
        thread::yield_now();
    }
    drop(model);
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap_or_default();
    assert_eq!(answer, "");
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
    let told = ModelInput { session: "a".into(), call: 2, text: "exit 0\nnot yet".into() };
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
