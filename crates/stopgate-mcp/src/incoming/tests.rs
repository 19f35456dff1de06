use serde_json::{Value, json};

use super::{Incoming, read};

fn answered(line: &str) -> (i64, Value) {
    match read(line.as_bytes()) {
        Incoming::Unreadable(unreadable) => {
            let answer = unreadable.answer();
            assert_eq!(answer["jsonrpc"], "2.0");
            assert!(answer["error"]["message"].is_string(), "{answer}");
            (answer["error"]["code"].as_i64().expect("a code"), answer["id"].clone())
        }
        other => panic!("{line}: {other:?}"),
    }
}

#[test]
fn what_is_not_json_is_a_parse_error_without_an_id() {
    let deep = "[".repeat(100_000);
    for line in ["this is not JSON", "{\"id\":1,", "{'a':1}", "\"open", &deep] {
        assert_eq!(answered(line), (-32700, Value::Null), "{}", &line[..line.len().min(40)]);
    }
    let Incoming::Unreadable(bytes) = read(b"\xff\xfe{}") else { panic!("bytes") };
    assert_eq!(bytes.answer()["error"]["code"], -32700);
}

#[test]
fn an_invalid_request_is_answered_with_its_id() {
    for (line, id) in [
        (r#"{"jsonrpc":"2.0","id":7,"method":"ping","params":[1]}"#, json!(7)),
        (r#"{"jsonrpc":"2.0","id":"a","method":"ping","params":"x"}"#, json!("a")),
        (r#"{"jsonrpc":"1.0","id":8,"method":"ping"}"#, json!(8)),
        (r#"{"id":9,"method":"ping"}"#, json!(9)),
        (r#"{"jsonrpc":"2.0","id":10}"#, json!(10)),
        (r#"{"jsonrpc":"2.0","id":11,"method":5}"#, json!(11)),
        (r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, json!(1.5)),
        (r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#, Value::Null),
        (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, Value::Null),
        (r#"{"foo":"bar"}"#, Value::Null),
        ("[]", Value::Null),
        (r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, Value::Null),
        ("5", Value::Null),
        ("null", Value::Null),
    ] {
        assert_eq!(answered(line), (-32600, id), "{line}");
    }
}

#[test]
fn a_served_method_with_wrong_parameters_has_invalid_parameters() {
    for line in [
        r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":5}}"#,
        r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"x","arguments":[]}}"#,
        r#"{"jsonrpc":"2.0","id":3,"method":"tools/call"}"#,
        r#"{"jsonrpc":"2.0","id":3,"method":"initialize","params":{}}"#,
    ] {
        assert_eq!(answered(line), (-32602, json!(3)), "{line}");
    }
}

#[test]
fn messages_and_what_nobody_waits_for_go_through() {
    for line in [
        r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"no/such/method","params":{"a":1}}"#,
        // Of a revision without a handshake: as unknown as any other.
        r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        "\u{feff}{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}",
        "  {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\r",
    ] {
        assert!(matches!(read(line.as_bytes()), Incoming::Message(_)), "{line}");
    }
    for line in ["", " \t\r", r#"{"jsonrpc":"2.0","method":"notifications/x","params":[1]}"#] {
        assert!(matches!(read(line.as_bytes()), Incoming::Nothing), "{line}");
    }
}
