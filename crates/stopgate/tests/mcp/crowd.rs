//! HTTP with too many of everything: connections, sessions, descriptors, slow bodies.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::{Value, json};

use crate::client::Scene;
use crate::doors;
use crate::http::{Listening, hello};

fn connections(server: &Listening, count: usize) -> Vec<TcpStream> {
    (0..count).map(|_| TcpStream::connect(&server.address).expect("connect")).collect()
}

/// A request of which only the head and the first letter of the body were sent.
fn half_sent(server: &Listening) -> TcpStream {
    let mut stream = TcpStream::connect(&server.address).expect("connect");
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\n\
         Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n\
         Content-Length: 500\r\n\r\n{{",
        server.address, server.token
    );
    stream.write_all(head.as_bytes()).expect("send the head");
    stream
}

#[test]
fn silent_connections_keep_nobody_out() {
    let scene = Scene::new();
    let server = Listening::new(&scene);
    let silent = connections(&server, 200);
    assert_eq!(server.ask(&[], &hello()).status, 200);
    drop(silent);
}

#[test]
fn out_of_descriptors_it_waits_and_then_serves_again() {
    let scene = Scene::new();
    let program = scene.command(&["mcp", "--http", "127.0.0.1:0", "--json"]);
    // Fewer descriptors than connections that would be let in.
    let mut command = doors::with_descriptors(40, &program);
    command.current_dir(scene.project());
    let server = Listening::of(command);
    let silent = connections(&server, 100);
    drop(silent);
    assert_eq!(server.ask(&[], &hello()).status, 200);
}

#[test]
fn a_body_that_does_not_come_is_given_up() {
    let scene = Scene::new();
    let server = Listening::new(&scene);
    let mut slow = half_sent(&server);
    slow.set_read_timeout(Some(Duration::from_mins(1))).expect("a time limit");
    let mut answer = String::new();
    slow.read_to_string(&mut answer).expect("an answer, and the end of the connection");
    assert!(answer.starts_with("HTTP/1.1 408"), "{answer}");
}

#[test]
fn what_is_not_a_message_is_a_bad_request() {
    let scene = Scene::new();
    let server = Listening::new(&scene);
    let shown = format!("Bearer {}", server.token);
    let headers = [("Authorization", shown.as_str())];
    for (body, code, id) in [
        ("this is not JSON", -32700, Value::Null),
        ("{\"jsonrpc\":\"2.0\",", -32700, Value::Null),
        ("[]", -32600, Value::Null),
        (r#"{"jsonrpc":"1.0","id":4,"method":"ping"}"#, -32600, json!(4)),
        (r#"{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{}}"#, -32602, json!(5)),
    ] {
        let answer = server.send("POST /mcp", &headers, body);
        assert_eq!(answer.status, 400, "{body}: {}", answer.body);
        let message = answer.message();
        assert_eq!((&message["error"]["code"], &message["id"]), (&json!(code), &id), "{body}");
    }
}

#[test]
fn sessions_that_fell_silent_make_room_for_new_ones() {
    let scene = Scene::new();
    let server = Listening::new(&scene);
    let session = || server.ask(&[], &hello()).header("mcp-session-id").expect("a session");
    let sessions: Vec<String> = (0..70).map(|_| session()).collect();
    let ping = json!({"jsonrpc": "2.0", "id": 2, "method": "ping"});
    let status = |session: &String| {
        let headers =
            [("Mcp-Session-Id", session.as_str()), ("MCP-Protocol-Version", "2025-06-18")];
        let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        server.ask(&headers, &ready);
        server.ask(&headers, &ping).status
    };
    assert_eq!(status(&sessions[0]), 404, "the first was silent for longest");
    assert_eq!(status(&sessions[69]), 200);
}
