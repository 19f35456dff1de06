//! The official conformance suite for servers, once for each revision it knows.
//!
//! It can't show a token, so a small door between them adds it and changes nothing else.

use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result};

use super::Lab;
use crate::table::Gates;

const REVISIONS: [&str; 2] = ["2025-11-25", "2026-07-28"];
const MISSES: &str = include_str!("misses.yaml");
const DOOR: &str = include_str!("door.mjs");

/// Runs it; only what is listed as missing may be missed.
pub(super) fn check(lab: &Lab, gates: &mut Gates) -> Result<()> {
    let place = tempfile::tempdir()?;
    let door = Door::open(lab, place.path())?;
    for revision in REVISIONS {
        let misses = place.path().join(format!("{revision}.yaml"));
        std::fs::write(&misses, misses_of(lab, revision)?)?;
        let mut node = lab.node(&lab.script("conformance"));
        node.args(["server", "--url", &door.address, "--requirements", revision]);
        node.arg("--expected-failures").arg(&misses);
        node.arg("--output-dir").arg(place.path().join(revision));
        let ran = node.output().context("start the conformance suite")?;
        let text = String::from_utf8_lossy(&ran.stdout).into_owned();
        let complaint = format!("conformance to {revision}:\n{text}");
        let word = gates.ask((!ran.status.success()).then_some(complaint));
        let total = text.lines().find(|line| line.starts_with("Total:")).unwrap_or_default();
        println!("\nConformance to {revision}: {total}; all but the known misses pass: {word}.");
    }
    Ok(())
}

/// The misses among the scenarios that a revision has: one that it has not counts as passed.
fn misses_of(lab: &Lab, revision: &str) -> Result<String> {
    let sets = "node_modules/@modelcontextprotocol/conformance/requirements";
    let file = lab.directory.join(sets).join(format!("{revision}.yaml"));
    let wanted =
        std::fs::read_to_string(&file).with_context(|| format!("read {}", file.display()))?;
    let is_in = |line: &&str| {
        let Some(entry) = line.trim().strip_prefix("- ") else { return true };
        let scenario = entry.split(':').next().unwrap_or_default();
        wanted.lines().any(|line| line.split_whitespace().any(|word| word == scenario))
    };
    Ok(MISSES.lines().filter(is_in).collect::<Vec<_>>().join("\n"))
}

/// A server over HTTP, and the door before it. Gone when dropped.
struct Door {
    address: String,
    both: [Child; 2],
}

impl Door {
    fn open(lab: &Lab, home: &Path) -> Result<Self> {
        let mut command = Command::new(&lab.program);
        command.args(["mcp", "--http", "127.0.0.1:0"]).env("STOPGATE_HOME", home);
        let mut server = command.current_dir(home).stdout(Stdio::piped()).spawn()?;
        let mut line = String::new();
        BufReader::new(server.stdout.take().context("find its output")?).read_line(&mut line)?;
        let port = line.split([':', '/']).find(|word| word.parse::<u16>().is_ok());
        let port = port.with_context(|| format!("find the port in {line}"))?;
        let token = std::fs::read_to_string(home.join("mcp-token"))?;
        let script = home.join("door.mjs");
        std::fs::write(&script, DOOR)?;
        let free = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port().to_string();
        let mut node = lab.node(&script);
        let mut door = node.args([&free, port, token.trim()]).stdout(Stdio::piped()).spawn()?;
        // It says a word once it listens.
        BufReader::new(door.stdout.take().context("find its output")?).read_line(&mut line)?;
        Ok(Self { address: format!("http://127.0.0.1:{free}/mcp"), both: [server, door] })
    }
}

impl Drop for Door {
    fn drop(&mut self) {
        for child in &mut self.both {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
