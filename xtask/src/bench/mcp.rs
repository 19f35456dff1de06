//! The MCP server beside one on the Node SDK: how soon it is there, how fast it answers,
//! how much it keeps.
//!
//! The peer's tool does nothing; ours asks its journal. Both are called in turn by the
//! same client, over pipes.

mod client;
mod peer;

use std::path::Path;
use std::time::Duration;

use anyhow::Result;
use serde_json::{Value, json};

use self::client::{Call, Client};
use super::super::table::{Gates, Table};
use crate::tools;

const GATES: usize = 10;
const IN_FLIGHT: usize = 32;

/// What was seen of one server.
#[derive(Debug)]
struct Seen {
    start: Duration,
    calls: Calls,
    pipelined_per_second: f64,
    resident_kib: u64,
}

/// How long calls took, one after the other.
#[derive(Debug)]
struct Calls {
    per_second: f64,
    p50: Duration,
    p99: Duration,
}

/// Measures both and prints the table.
pub(crate) fn measure(rounds: usize, gates: &mut Gates) -> Result<()> {
    let place = tempfile::tempdir()?;
    let ours = Ours { home: place.path() };
    let calls = rounds * 25;
    let columns =
        "server|start to tools/list, ms|calls/s|p50, us|p99, us|32 in flight, calls/s|resident, MB";
    let mut table = Table::headed("The MCP server", columns);
    let own = ours.task_get(rounds / 10, calls)?;
    row(&mut table, "stopgate mcp, task_get", &own);
    let gate = ours.hook_evaluate(calls)?;
    row(&mut table, &format!("stopgate mcp, hook_evaluate with {GATES} gates"), &gate);
    match peer::command()? {
        Some(node) => {
            let call = Call::new("echo", &json!({"text": "x"}));
            let theirs = see(&|| Client::start(node.command()), &call, rounds / 10, calls)?;
            row(&mut table, "Node SDK, a tool that does nothing", &theirs);
            compare(&mut table, &own, &theirs, gates);
        }
        None => table.note(gates.unmeasured("the Node SDK could not be installed")),
    }
    table.print();
    Ok(())
}

fn row(table: &mut Table, name: &str, seen: &Seen) {
    let micros = |span: Duration| format!("{:.0}", span.as_secs_f64() * 1e6);
    #[expect(clippy::cast_precision_loss, reason = "a figure for people")]
    let megabytes = seen.resident_kib as f64 / 1024.0;
    table.row([
        name.into(),
        format!("{:.2}", seen.start.as_secs_f64() * 1e3),
        format!("{:.0}", seen.calls.per_second),
        micros(seen.calls.p50),
        micros(seen.calls.p99),
        format!("{:.0}", seen.pipelined_per_second),
        format!("{megabytes:.1}"),
    ]);
}

fn compare(table: &mut Table, own: &Seen, theirs: &Seen, gates: &mut Gates) {
    #[expect(clippy::cast_precision_loss, reason = "a ratio for people")]
    let memory = theirs.resident_kib as f64 / own.resident_kib as f64;
    let start = theirs.start.as_secs_f64() / own.start.as_secs_f64();
    let p99 = theirs.calls.p99.as_secs_f64() / own.calls.p99.as_secs_f64();
    let mut at_least = |what: &str, got: f64, wanted: f64| {
        let complaint = format!("{what} is only {got:.1} times less, not {wanted}");
        let word = gates.ask((got < wanted).then_some(complaint));
        format!("{what} {got:.1} times less (at least {wanted}: {word})")
    };
    let told = [
        at_least("start-up", start, 5.0),
        at_least("memory", memory, 10.0),
        at_least("p99", p99, 1.0),
    ];
    table.note(format!("Beside Node: {}.", told.join(", ")));
}

/// Our server, with a journal of its own.
struct Ours<'a> {
    home: &'a Path,
}

impl Ours<'_> {
    fn client(&self) -> Result<Client> {
        let mut command = std::process::Command::new(tools::program()?);
        command.arg("mcp").env_clear().current_dir(self.home);
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.env("HOME", self.home).env("STOPGATE_HOME", self.home.join("stopgate"));
        Client::start(command)
    }

    fn task_get(&self, starts: usize, calls: usize) -> Result<Seen> {
        let task = self.client()?.call("task_create", &json!({"title": "t"}))?["id"].clone();
        see(&|| self.client(), &Call::new("task_get", &json!({"id": task})), starts, calls)
    }

    fn hook_evaluate(&self, calls: usize) -> Result<Seen> {
        let mut client = self.client()?;
        let task = client.call("task_create", &json!({"title": "t"}))?["id"].clone();
        let gate = json!({"if": "iteration > 50", "action": "escalate", "reason": "too many"});
        for at in 0..GATES {
            let ask = match at % 2 {
                0 => json!({"taskId": task, "hookType": "promise"}),
                _odd => json!({"taskId": task, "hookType": "custom", "gate": gate}),
            };
            client.call("hook_register", &ask)?;
        }
        let ask = json!({"taskId": task, "maxIterations": 100, "completionPromises": ["COMPLETE"]});
        let iteration = client.call("iteration_start", &ask)?["iterationId"].clone();
        let ask = json!({"iterationId": iteration, "agentOutput": "on it"});
        see(&|| self.client(), &Call::new("hook_evaluate", &ask), 10, calls / 5)
    }
}

/// Starts servers, then calls one of them in both ways.
fn see(
    start: &dyn Fn() -> Result<Client>,
    call: &Call,
    starts: usize,
    calls: usize,
) -> Result<Seen> {
    let mut spans = (0..starts.max(5)).map(|_| Ok(start()?.born)).collect::<Result<Vec<_>>>()?;
    spans.sort_unstable();
    let mut client = start()?;
    let calls_seen = client.one_by_one(call, calls)?;
    let pipelined_per_second = client.in_flight(call, calls * 2, IN_FLIGHT)?;
    let resident_kib = client.resident_kib()?;
    Ok(Seen {
        start: spans[spans.len() / 2],
        calls: calls_seen,
        pipelined_per_second,
        resident_kib,
    })
}

/// The answer's text as JSON.
fn answered(result: &Value) -> Value {
    let text = result["content"][0]["text"].as_str().unwrap_or_default();
    serde_json::from_str(text).unwrap_or_else(|_| json!(text))
}
