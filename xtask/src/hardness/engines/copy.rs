//! A journal moves to a server and back: the same bytes.

use std::fs;
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use serde_json::Value;
use stopgate_lab::Cluster;

use super::super::Findings;
use crate::engines::place;
use crate::journal;
use crate::scene::Scene;

const LOOPS: u32 = 10_000;
const EVENTS_A_LOOP: u32 = 10;
/// A journal of this size is checked long before.
const CHECK_MAX: Duration = Duration::from_secs(30);

/// Copies there and back, and compares.
pub(super) fn measure(cluster: &Cluster, findings: &mut Findings) -> Result<()> {
    let own = Scene::new()?;
    fs::create_dir_all(own.home())?;
    journal::fill(&own.home(), &own.project(), LOOPS, EVENTS_A_LOOP)?;
    let address = cluster.socket_url(&place::database(cluster)?);
    let begun = Instant::now();
    let there = copy(&own, &address)?;
    let first_took = begun.elapsed();
    let begun = Instant::now();
    let server = Scene::on(&address)?;
    let back = format!("sqlite:{}", own.path("back.db").display());
    let again = copy(&server, &back)?;
    let second_took = begun.elapsed();
    let mut violations = Vec::new();
    for scene in [&own, &server, &Scene::on(&back)?] {
        violations.extend(check(scene)?);
    }
    let hashes =
        [&there["from_blake3"], &there["to_blake3"], &again["from_blake3"], &again["to_blake3"]];
    let first = hashes[0].as_str().unwrap_or_default();
    if first.is_empty() || hashes.iter().any(|hash| *hash != hashes[0]) {
        violations.push(format!("the hashes differ: {hashes:?}"));
    }
    let expected = u64::from(LOOPS * EVENTS_A_LOOP);
    if there["events"] != expected || again["events"] != expected {
        violations.push(format!("{} and {} events", there["events"], again["events"]));
    }
    let figures = format!(
        "there {:.1} s, back {:.1} s, each with both exports compared; blake3 {}…",
        first_took.as_secs_f64(),
        second_took.as_secs_f64(),
        first.get(..16).unwrap_or(first)
    );
    let what = "store copy: 100,000 events, SQLite to PostgreSQL and back";
    findings.add(what, 2, &violations, &figures);
    Ok(())
}

/// Has the program check its store; gives what is wrong with that.
fn check(scene: &Scene) -> Result<Option<String>> {
    let mut child = scene.call(&["store", "check"]).process()?.stdout(Stdio::null()).spawn()?;
    let begun = Instant::now();
    while begun.elapsed() < CHECK_MAX {
        if let Some(status) = child.try_wait()? {
            return Ok((!status.success()).then(|| format!("store check: {status}")));
        }
        thread::sleep(Duration::from_millis(10));
    }
    child.kill()?;
    child.wait()?;
    Ok(Some(format!("store check is not done after {} s", CHECK_MAX.as_secs())))
}

fn copy(from: &Scene, to: &str) -> Result<Value> {
    let ran = from.command(&["store", "copy", "--to", to, "--json"])?;
    serde_json::from_slice(&ran.stdout).with_context(|| format!("copy the journal: {}", ran.status))
}
