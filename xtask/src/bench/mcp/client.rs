//! A client that does as little as it can, so that servers are seen and not itself.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use super::{Calls, answered};

/// One call, as often as it is made.
#[derive(Debug)]
pub(super) struct Call {
    params: Value,
}

impl Call {
    pub(super) fn new(tool: &str, arguments: &Value) -> Self {
        Self { params: json!({"name": tool, "arguments": arguments}) }
    }

    fn line(&self, id: usize) -> String {
        let params = &self.params;
        let ask = json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params});
        format!("{ask}\n")
    }
}

/// A client and the server that it started.
#[derive(Debug)]
pub(super) struct Client {
    server: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    line: String,
    /// From the start of the process to its first list of tools.
    pub(super) born: Duration,
}

impl Client {
    pub(super) fn start(mut command: Command) -> Result<Self> {
        let begin = Instant::now();
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut server = command.spawn().context("start a server")?;
        let to = server.stdin.take().context("find its input")?;
        let from = BufReader::new(server.stdout.take().context("find its output")?);
        let mut client = Self { server, to, from, line: String::new(), born: Duration::ZERO };
        let params = json!({
            "protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": {"name": "bench", "version": "1"},
        });
        client
            .ask(&json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}))?;
        let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
        client.to.write_all(format!("{ready}\n{list}\n").as_bytes())?;
        client.read()?;
        client.born = begin.elapsed();
        Ok(client)
    }

    /// Calls a tool once; its answer.
    pub(super) fn call(&mut self, tool: &str, arguments: &Value) -> Result<Value> {
        let line = Call::new(tool, arguments).line(2);
        self.to.write_all(line.as_bytes())?;
        let answer = self.message()?;
        if answer["result"]["isError"] == true || answer["error"].is_object() {
            bail!("call {tool}: {answer}");
        }
        Ok(answered(&answer["result"]))
    }

    /// Calls one after the other.
    pub(super) fn one_by_one(&mut self, call: &Call, times: usize) -> Result<Calls> {
        let line = call.line(3);
        let mut spans = Vec::with_capacity(times);
        let begin = Instant::now();
        for _ in 0..times {
            let sent = Instant::now();
            self.to.write_all(line.as_bytes())?;
            self.read()?;
            spans.push(sent.elapsed());
        }
        let whole = begin.elapsed();
        self.must_have_worked()?;
        spans.sort_unstable();
        #[expect(clippy::cast_precision_loss, reason = "a figure for people")]
        let per_second = times as f64 / whole.as_secs_f64();
        Ok(Calls { per_second, p50: spans[times / 2], p99: spans[times * 99 / 100] })
    }

    /// Calls with `width` of them under way at any time; how many a second.
    pub(super) fn in_flight(&mut self, call: &Call, times: usize, width: usize) -> Result<f64> {
        let begin = Instant::now();
        let first: String = (0..width).map(|at| call.line(1000 + at)).collect();
        self.to.write_all(first.as_bytes())?;
        for at in 0..times {
            self.read()?;
            if at + width < times {
                self.to.write_all(call.line(1000 + width + at).as_bytes())?;
            }
        }
        self.must_have_worked()?;
        #[expect(clippy::cast_precision_loss, reason = "a figure for people")]
        Ok(times as f64 / begin.elapsed().as_secs_f64())
    }

    /// What the server keeps in memory.
    pub(super) fn resident_kib(&self) -> Result<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.server.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let figure = line.and_then(|line| line.split_whitespace().next());
        figure.and_then(|figure| figure.parse().ok()).context("read its memory")
    }

    fn ask(&mut self, message: &Value) -> Result<()> {
        self.to.write_all(format!("{message}\n").as_bytes())?;
        self.read()
    }

    fn read(&mut self) -> Result<()> {
        self.line.clear();
        if self.from.read_line(&mut self.line)? == 0 {
            bail!("hear from the server: it closed its output");
        }
        Ok(())
    }

    fn message(&mut self) -> Result<Value> {
        self.read()?;
        Ok(serde_json::from_str(&self.line)?)
    }

    /// A server that only refuses would be a fast one.
    fn must_have_worked(&self) -> Result<()> {
        let answer: Value = serde_json::from_str(&self.line)?;
        if answer["result"]["isError"] == true || !answer["result"].is_object() {
            bail!("measure: the server answered {answer}");
        }
        Ok(())
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}
