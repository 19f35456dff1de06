//! The best-known other hook, measured in the same rounds, where it is to be had.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result};

use super::times::{Case, Expected, Form, Limit};
use super::{MIB, Plan, transcript_of};
use crate::figures::{Sample, ratio};
use crate::scene::{Call, Scene};
use crate::table::Table;
use crate::tools;

/// It is slow: one call in so many rounds is enough.
const EVERY: usize = 10;
/// It reads the whole transcript: more than this only takes time.
const BYTES_MAX: u64 = 200 * MIB;

const STATE: &str = "---\nactive: true\niteration: 1\nsession_id: peer\nmax_iterations: 0\n\
completion_promise: \"DONE\"\nstarted_at: \"2026-01-01T00:00:00Z\"\n---\n\nmigrate the tests\n";

/// Adds the peer's rows, or says why there are none.
pub(super) fn cases(
    plan: &Plan<'_>,
    scene: &Scene,
    cases: &mut Vec<Case>,
) -> Result<Option<String>> {
    let Some(script) = plan.peer else {
        let how = "give the plugin's hooks/stop-hook.sh: --peer FILE";
        return Ok(Some(format!(
            "Peer not measured: its script is not part of this repository; {how}."
        )));
    };
    if !["bash", "jq", "perl"].iter().all(|tool| tools::has(tool)) {
        return Ok(Some("Peer not measured: it needs bash, jq and perl.".into()));
    }
    let script = fs::canonicalize(script).context("find the peer's script")?;
    for size in plan.sizes.iter().filter(|size| size.bytes <= BYTES_MAX) {
        let project = scene.path(&format!("peer-{}", size.bytes));
        fs::create_dir_all(project.join(".claude"))?;
        fs::write(project.join(".claude/ralph-loop.local.md"), STATE)?;
        let payload = scene.payload("peer", "Stop", &transcript_of(scene, *size));
        let mut call = scene.hook_with(&format!("peer-{}", size.bytes), &payload)?;
        call.project = project;
        call.line = vec![PathBuf::from("bash"), script.clone()];
        cases
            .push(row(&format!("ralph-loop, sh -c, transcript of {}", size.name), call.by_shell()));
    }
    Ok(None)
}

fn row(name: &str, call: Call) -> Case {
    Case {
        name: name.into(),
        call,
        form: Form::Shell,
        expected: Expected::Continue,
        limit: Limit::None,
        every: EVERY,
        took: Vec::new(),
    }
}

/// Says how many times slower the peer is than our stop by a shell.
pub(super) fn notes(plan: &Plan<'_>, cases: &[Case], ours: usize, table: &mut Table) {
    let own = cases.iter().find(|case| case.name == "active, sh -c");
    let Some(own) = own.map(|case| Sample::new(case.took.clone()).median()) else { return };
    let goals = [(100 * 1024, 15.0), (10 * MIB, 20.0), (BYTES_MAX, 50.0)];
    let peers = cases.get(ours..).unwrap_or_default();
    let said: Vec<String> = plan
        .sizes
        .iter()
        .zip(peers)
        .map(|(size, peer)| {
            let times = ratio(Sample::new(peer.took.clone()).median(), own);
            let goal = goals.iter().find(|(bytes, _)| *bytes == size.bytes).map_or(0.0, |g| g.1);
            format!("{times:.0} times at {} (goal {goal:.0})", size.name)
        })
        .collect();
    if !said.is_empty() {
        let jq = version();
        let said = said.join(", ");
        table
            .note(format!("ralph-loop ({jq}) takes longer than our active stop by sh -c: {said}."));
    }
}

fn version() -> String {
    let said = Command::new("jq").arg("--version").output();
    said.map_or_else(|_| "jq".into(), |said| String::from_utf8_lossy(&said.stdout).trim().into())
}
