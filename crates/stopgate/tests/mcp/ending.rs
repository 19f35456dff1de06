//! How calls and servers end: by signals, by cancellation, in time and with their programs.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, ExitStatus, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use serde_json::{Value, json};

use crate::client::{Client, Scene, events_in};

/// How often we look, five milliseconds apart, before we give up: a server that is asked
/// to end needs two seconds at most, and a loaded machine may add to that.
const LOOKS_MAX: u32 = 2000;

/// A rule that notes the process that it is, and would run for an hour.
const LONG: &str = "echo $$ > pid.new; mv pid.new pid; exec sleep 3600";
/// The same, and it does not heed a polite request.
const STUBBORN: &str = "trap '' TERM INT HUP; echo $$ > pid.new; mv pid.new pid; \
    while :; do sleep 3600; done";

fn wait_for<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    for _ in 0..LOOKS_MAX {
        if let Some(found) = look() {
            return found;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    panic!("waited in vain for {what}")
}

/// The process that a rule noted in `project`.
fn rule_process(project: &Path) -> Pid {
    let read = || fs::read_to_string(project.join("pid")).ok()?.trim().parse().ok();
    let raw: i32 = wait_for("the rule to begin", read);
    Pid::from_raw(raw).expect("a process id")
}

fn is_gone(pid: Pid) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    test_kill_process(pid).is_err() || stat.contains(") Z ")
}

/// Sends `signal` and waits for the end.
fn ended_by(server: &mut Child, signal: Signal) -> ExitStatus {
    kill_process(Pid::from_child(server), signal).expect("send the signal");
    wait_for("the server to end", || server.try_wait().expect("look at the server"))
}

/// A task with a rule that runs `command`, being validated: the call has id 700.
fn validating(client: &mut Client, command: &str, meta: &Value) {
    let task = client.task();
    let config = json!({"command": command, "timeout": 600_000});
    let ask = json!({
        "taskId": task, "maxIterations": 3, "completionPromises": ["COMPLETE"],
        "validationRules": [{"type": "command", "name": "long", "config": config}],
    });
    let iteration = client.done("iteration_start", &ask)["iterationId"].clone();
    let arguments = json!({"iterationId": iteration});
    let params = json!({"name": "iteration_validate", "arguments": arguments, "_meta": meta});
    client.write(&json!({"jsonrpc": "2.0", "id": 700, "method": "tools/call", "params": params}));
}

#[test]
fn signals_end_a_server_that_waits() {
    for signal in [Signal::TERM, Signal::INT, Signal::HUP] {
        let scene = Scene::new();
        let mut client = scene.client();
        let status = ended_by(client.server(), signal);
        assert!(status.success(), "{signal:?}: {status}");
    }
}

#[test]
fn signals_end_a_server_after_a_rule_has_run() {
    for signal in [Signal::TERM, Signal::INT] {
        let scene = Scene::new();
        let mut client = scene.client();
        validating(&mut client, "true", &json!({}));
        client.answer_to(700);
        let status = ended_by(client.server(), signal);
        assert!(status.success(), "{signal:?}: {status}");
    }
}

#[test]
fn signals_end_a_server_and_the_rule_that_runs() {
    for (signal, rule) in [
        (Signal::TERM, LONG),
        (Signal::INT, LONG),
        (Signal::TERM, STUBBORN),
        (Signal::INT, STUBBORN),
    ] {
        let scene = Scene::new();
        let mut client = scene.client();
        validating(&mut client, rule, &json!({}));
        let rule = rule_process(&scene.project());
        let status = ended_by(client.server(), signal);
        assert!(status.success(), "{signal:?}: {status}");
        wait_for("the rule to end", || is_gone(rule).then_some(()));
    }
}

#[test]
fn signals_end_a_server_in_the_middle_of_a_line() {
    let scene = Scene::new();
    let mut client = scene.client();
    client.write_part("{\"jsonrpc\":\"2.0\",\"id\":1,");
    let status = ended_by(client.server(), Signal::TERM);
    assert!(status.success(), "{status}");
}

#[test]
fn signals_end_a_server_on_a_terminal_or_a_file() {
    let scene = Scene::new();
    let mut command = scene.command(&["mcp"]);
    // A device that never ends is read on a thread that nothing can wake.
    let endless = fs::File::open("/dev/zero").expect("open a device");
    let mut server = command.stdin(endless).stdout(Stdio::piped()).spawn().expect("start");
    let mut line = String::new();
    let mut out = BufReader::new(server.stdout.take().expect("its output"));
    out.read_line(&mut line).expect("it complains of a line that is too long");
    let status = ended_by(&mut server, Signal::TERM);
    assert!(status.success(), "{status}");
}

#[test]
fn signals_end_an_http_server_with_open_connections() {
    for signal in [Signal::TERM, Signal::INT] {
        let scene = Scene::new();
        let mut command = scene.command(&["mcp", "--http", "127.0.0.1:0", "--json"]);
        let mut server = command.stdout(Stdio::piped()).spawn().expect("start the server");
        let mut line = String::new();
        let mut out = BufReader::new(server.stdout.take().expect("its output"));
        out.read_line(&mut line).expect("where it listens");
        let told: Value = serde_json::from_str(&line).expect("JSON");
        let url = told["url"].as_str().expect("a URL");
        let address = url.trim_start_matches("http://").trim_end_matches("/mcp");
        let mut open = TcpStream::connect(address).expect("connect");
        open.write_all(b"POST /mcp HTTP/1.1\r\nContent-Le").expect("half a request");
        let status = ended_by(&mut server, signal);
        assert!(status.success(), "{signal:?}: {status}");
    }
}

#[test]
fn a_cancelled_call_ends_its_rule_and_stores_nothing() {
    let scene = Scene::new();
    let mut client = scene.client();
    validating(&mut client, LONG, &json!({}));
    let rule = rule_process(&scene.project());
    let before = events_in(&scene.home());
    let params = json!({"requestId": 700, "reason": "the person changed their mind"});
    let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params});
    client.write(&cancel);
    wait_for("the rule to end", || is_gone(rule).then_some(()));
    // The server goes on, and nothing says that the rule failed.
    let rest = client.leave();
    assert!(!rest.contains("\"id\":700"), "{rest}");
    assert_eq!(events_in(&scene.home()), before);
}

#[test]
fn another_call_is_not_ended_by_it() {
    let scene = Scene::new();
    let mut client = scene.client();
    validating(&mut client, LONG, &json!({}));
    let rule = rule_process(&scene.project());
    let params = json!({"requestId": 12345});
    let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params});
    client.write(&cancel);
    client.task();
    assert!(!is_gone(rule), "the rule goes on");
}

#[test]
fn a_client_that_asked_for_it_hears_that_a_long_rule_goes_on() {
    let scene = Scene::new();
    let mut client = scene.client();
    validating(&mut client, "sleep 12", &json!({"progressToken": "t-1"}));
    let told = client.read();
    assert_eq!(told["method"], "notifications/progress", "{told}");
    assert_eq!(told["params"]["progressToken"], "t-1", "{told}");
    assert!(told["params"]["progress"].as_f64().is_some_and(|seconds| seconds >= 10.0), "{told}");
    let answer = client.answer_to(700);
    assert_eq!(answer["result"]["isError"], false, "{answer}");
}
