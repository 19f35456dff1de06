//! HTTP: who is let in, who is not, and that old and new clients are served.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use crate::client::Scene;

/// A server that listens, and the token that it wants to see.
pub(crate) struct Listening {
    server: Child,
    pub(crate) address: String,
    pub(crate) token: String,
}

/// What a server answered.
pub(crate) struct Answer {
    pub(crate) status: u16,
    head: String,
    pub(crate) body: String,
}

impl Answer {
    /// The message in the body, whether it came alone or in a stream.
    pub(crate) fn message(&self) -> Value {
        let data = self.body.lines().filter_map(|line| line.strip_prefix("data:"));
        let mut streamed = data.map(str::trim).filter(|text| !text.is_empty());
        let text = streamed.next_back().unwrap_or(&self.body);
        serde_json::from_str(text).unwrap_or_else(|_| panic!("no message: {}", self.body))
    }

    pub(crate) fn header(&self, name: &str) -> Option<String> {
        let begin = format!("{name}:");
        let mut lines = self.head.lines();
        let line = lines.find(|line| line.to_lowercase().starts_with(&begin))?;
        Some(line[begin.len()..].trim().into())
    }
}

impl Listening {
    pub(crate) fn new(scene: &Scene) -> Self {
        Self::of(scene.command(&["mcp", "--http", "127.0.0.1:0", "--json"]))
    }

    /// The server that `command` starts.
    pub(crate) fn of(mut command: Command) -> Self {
        let mut server = command.stdout(Stdio::piped()).spawn().expect("start the server");
        let mut line = String::new();
        let mut out = BufReader::new(server.stdout.take().expect("its output"));
        out.read_line(&mut line).expect("read where it listens");
        let told: Value = serde_json::from_str(&line).expect("it says where in JSON");
        let url = told["url"].as_str().expect("a URL");
        let address = url.strip_prefix("http://").and_then(|rest| rest.strip_suffix("/mcp"));
        let address = address.unwrap_or_else(|| panic!("no address: {line}")).to_string();
        let file = told["token_file"].as_str().expect("a file");
        let token = fs::read_to_string(file).expect("the token");
        Self { server, address, token: token.trim().into() }
    }

    /// Posts `message` with these headers; no token unless it is among them.
    fn post(&self, headers: &[(&str, &str)], message: &Value) -> Answer {
        self.send("POST /mcp", headers, &message.to_string())
    }

    /// Posts `message` as a client that knows the token.
    pub(crate) fn ask(&self, headers: &[(&str, &str)], message: &Value) -> Answer {
        let shown = format!("Bearer {}", self.token);
        self.post(&[&[("Authorization", shown.as_str())], headers].concat(), message)
    }

    pub(crate) fn send(&self, what: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        let mut stream = TcpStream::connect(&self.address).expect("connect");
        stream.set_read_timeout(Some(Duration::from_secs(20))).expect("a time limit");
        let mut lines = vec![
            format!("{what} HTTP/1.1"),
            "Connection: close".into(),
            "Content-Type: application/json".into(),
            "Accept: application/json, text/event-stream".into(),
            format!("Content-Length: {}", body.len()),
        ];
        if !headers.iter().any(|(name, _)| *name == "Host") {
            lines.push(format!("Host: {}", self.address));
        }
        lines.extend(headers.iter().map(|(name, value)| format!("{name}: {value}")));
        let text = format!("{}\r\n\r\n{body}", lines.join("\r\n"));
        stream.write_all(text.as_bytes()).expect("send");
        answer(stream)
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

fn answer(mut stream: TcpStream) -> Answer {
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).expect("read the answer");
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let (head, body) = text.split_once("\r\n\r\n").expect("an answer has a head");
    let status = head.split(' ').nth(1).and_then(|code| code.parse().ok()).expect("a status");
    Answer { status, head: head.into(), body: body.into() }
}

pub(crate) fn hello() -> Value {
    let params = json!({
        "protocolVersion": "2025-06-18", "capabilities": {},
        "clientInfo": {"name": "tests", "version": "1"},
    });
    json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params})
}

#[test]
fn nobody_comes_in_without_the_token() {
    let scene = Scene::new();
    let server = Listening::new(&scene);
    let refused = server.post(&[], &hello());
    assert_eq!(refused.status, 401);
    assert_eq!(refused.header("www-authenticate").as_deref(), Some("Bearer"));
    let wrong = [("Authorization", "Bearer 0000000000000000000000000000000000000000")];
    assert_eq!(server.post(&wrong, &hello()).status, 401);
    assert_eq!(server.send("GET /mcp", &[], "").status, 401);
    assert_eq!(server.send("DELETE /mcp", &[], "").status, 401);
    assert_eq!(server.ask(&[], &hello()).status, 200);
}

#[test]
fn pages_from_elsewhere_do_not_come_in_with_it() {
    let scene = Scene::new();
    let server = Listening::new(&scene);
    let from = |name, value| server.ask(&[(name, value)], &hello()).status;
    assert_eq!(from("Host", "evil.example"), 403);
    assert_eq!(from("Origin", "http://evil.example"), 403);
    assert_eq!(from("Origin", "null"), 403);
    assert_eq!(from("Origin", "http://localhost.evil.example:80"), 403);
    assert_eq!(from("Origin", "http://localhost:6274"), 200);
    assert_eq!(from("Origin", "http://127.0.0.1:80"), 200);
}

#[test]
fn an_old_client_has_a_session_and_calls_tools() {
    let scene = Scene::new();
    let server = Listening::new(&scene);
    let greeted = server.ask(&[], &hello());
    assert_eq!(greeted.message()["result"]["protocolVersion"], "2025-06-18");
    let session = greeted.header("mcp-session-id").expect("a session");
    let headers = [("Mcp-Session-Id", session.as_str()), ("MCP-Protocol-Version", "2025-06-18")];
    let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    assert_eq!(server.ask(&headers, &ready).status, 202);
    let params = json!({"name": "task_create", "arguments": {"title": "over HTTP"}});
    let call = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params});
    let made = server.ask(&headers, &call).message();
    assert_eq!(made["result"]["structuredContent"]["title"], "over HTTP", "{made}");
}

#[test]
fn a_new_client_has_none_and_sees_the_same_tasks() {
    let scene = Scene::new();
    let mut client = scene.client();
    let task = client.task();
    let server = Listening::new(&scene);
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "tests", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let params = json!({"name": "task_get", "arguments": {"id": task}, "_meta": meta});
    let call = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params});
    let headers = [
        ("MCP-Protocol-Version", "2026-07-28"),
        ("Mcp-Method", "tools/call"),
        ("Mcp-Name", "task_get"),
    ];
    let found = server.ask(&headers, &call);
    assert_eq!(found.header("mcp-session-id"), None);
    assert_eq!(found.message()["result"]["structuredContent"]["id"], json!(task));
}

#[test]
fn other_paths_and_large_bodies_are_refused() {
    let scene = Scene::new();
    let server = Listening::new(&scene);
    assert_eq!(server.send("POST /", &[], "{}").status, 404);
    let mut large = hello();
    large["params"]["clientInfo"]["name"] = json!("x".repeat(5 * 1024 * 1024));
    assert_eq!(server.ask(&[], &large).status, 413);
    // Refused before any of it came.
    let announced = format!(
        "POST /mcp HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nAuthorization: Bearer {}\r\n\
         Content-Length: 1099511627776\r\n\r\n",
        server.address, server.token
    );
    let mut stream = TcpStream::connect(&server.address).expect("connect");
    stream.write_all(announced.as_bytes()).expect("send");
    assert_eq!(answer(stream).status, 413);
}

#[test]
fn the_token_is_kept_for_its_owner_alone() {
    let scene = Scene::new();
    let first = Listening::new(&scene);
    let file = scene.home().join("mcp-token");
    let mode = fs::metadata(&file).expect("the file").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    assert_eq!(first.token.len(), 64);
    let second = Listening::new(&scene);
    assert_eq!(first.token, second.token, "the next server takes the same");
}

#[test]
fn what_can_be_reached_from_outside_is_not_served() {
    let scene = Scene::new();
    for address in ["0.0.0.0:0", "[::]:0", "192.0.2.1:80"] {
        let ran = scene.command(&["mcp", "--http", address]).output().expect("run");
        let said = String::from_utf8_lossy(&ran.stderr);
        assert_eq!(ran.status.code(), Some(2), "{said}");
        assert!(said.contains("it can be reached from outside"), "{said}");
    }
    fs::write(scene.home().join("mcp-token"), "short\n").expect("write a token");
    let ran = scene.command(&["mcp", "--http", "127.0.0.1:0"]).output().expect("run");
    let said = String::from_utf8_lossy(&ran.stderr);
    assert_eq!(ran.status.code(), Some(2), "{said}");
    assert!(said.contains("contains no token"), "{said}");
}
