//! Sixty-four agents stop at once, again and again: every stop counts, exactly once.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Result;

use super::Findings;
use crate::figures::{Sample, millis};
use crate::journal;
use crate::scene::{Call, Said, Scene};

const SPAWNERS: usize = 64;
const STOPS_EACH: usize = 50;
const OPTIONS: [&str; 4] = ["--max-idle", "0", "--max-iterations", "100000"];
const P99_GOAL: Duration = Duration::from_millis(450);
const P99_GATE: Duration = Duration::from_millis(900);
const WAL_STORM_MAX: u64 = 8 * 1024 * 1024;
const WAL_IDLE_MAX: u64 = 1024 * 1024;

/// Storms on one loop and on two hundred.
pub(super) fn measure(findings: &mut Findings) -> Result<()> {
    let gate = Some(P99_GATE);
    storm("storm: 64 x 50 cold stops on one loop", 1, &Scene::new()?, gate, findings)?;
    storm("storm: 64 x 50 cold stops on 200 loops", 200, &Scene::new()?, gate, findings)
}

/// One storm on an empty machine, whichever its store is.
pub(super) fn storm(
    what: &str,
    loops: usize,
    scene: &Scene,
    gate: Option<Duration>,
    findings: &mut Findings,
) -> Result<()> {
    let Storm { sample, mut violations, wal_max, wal_after, stops_a_second } = blow(loops, scene)?;
    if gate.is_some_and(|gate| sample.percentile(99) > gate) {
        violations.push(format!("p99 {} ms", millis(sample.percentile(99))));
    }
    let [p50, p99, max] = [50, 99, 100].map(|percent| millis(sample.percentile(percent)));
    let mut figures = format!("{stops_a_second} stops/s; p50 {p50}, p99 {p99}, max {max} ms");
    if let Some(gate) = gate {
        let reached = if sample.percentile(99) <= P99_GOAL { "reached" } else { "missed" };
        let (most, after) = (wal_max / 1024, wal_after / 1024);
        let goals = format!("(p99 goal 450 {reached}, gate {})", gate.as_millis());
        figures = format!("{figures} {goals}; log at most {most} KiB, after {after} KiB");
    }
    findings.add(what, SPAWNERS * STOPS_EACH, &violations, &figures);
    Ok(())
}

/// What a storm did.
pub(crate) struct Storm {
    /// How long each stop took.
    pub(crate) sample: Sample,
    /// What was lost, counted twice or refused.
    pub(crate) violations: Vec<String>,
    /// The write-ahead log's most bytes.
    pub(crate) wal_max: u64,
    /// The write-ahead log's bytes afterwards.
    pub(crate) wal_after: u64,
    pub(crate) stops_a_second: u128,
}

/// Begins loops and has all agents stop at once.
pub(crate) fn blow(loops: usize, scene: &Scene) -> Result<Storm> {
    let mut calls = Vec::new();
    for number in 0..loops {
        let session = session(number);
        scene.start(&session, &OPTIONS)?;
        calls.push(scene.hook(&session, "Stop")?);
    }
    let begun = Instant::now();
    let (outcomes, wal_max) = rage(scene, &calls);
    let lasted = begun.elapsed();
    let mut violations: Vec<String> =
        outcomes.iter().filter_map(|outcome| outcome.clone().err()).collect();
    let sample = Sample::new(outcomes.into_iter().filter_map(Result::ok).collect());
    let wal_after = scene.wal_bytes();
    judge(scene, loops, [wal_max, wal_after], &mut violations)?;
    let stops_a_second = Duration::from_secs(1).as_nanos() * (SPAWNERS * STOPS_EACH) as u128
        / lasted.as_nanos().max(1);
    Ok(Storm { sample, violations, wal_max, wal_after, stops_a_second })
}

fn session(number: usize) -> String {
    format!("storm-{number}")
}

/// All stops at once; how long each took, or what was wrong, and the log's most bytes.
fn rage(scene: &Scene, calls: &[Call]) -> (Vec<Result<Duration, String>>, u64) {
    let over = AtomicBool::new(false);
    let wal_max = AtomicU64::new(0);
    let outcomes = thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                wal_max.fetch_max(scene.wal_bytes(), Ordering::Relaxed);
                thread::sleep(Duration::from_millis(5));
            }
        });
        let spawners: Vec<_> =
            (0..SPAWNERS).map(|own| scope.spawn(move || spawner(own, calls))).collect();
        let all = spawners.into_iter().filter_map(|spawner| spawner.join().ok()).flatten();
        let all: Vec<_> = all.collect();
        over.store(true, Ordering::Relaxed);
        all
    });
    (outcomes, wal_max.into_inner())
}

fn spawner(own: usize, calls: &[Call]) -> Vec<Result<Duration, String>> {
    let stops = (0..STOPS_EACH).map(|at| &calls[(own * STOPS_EACH + at) % calls.len()]);
    stops
        .map(|call| {
            let ran = call.run().map_err(|error| format!("{error:#}"))?;
            match ran.said() {
                Said::Continue if ran.status.success() => Ok(ran.took),
                said => Err(format!("a stop said {said:?}, {}", ran.status)),
            }
        })
        .collect()
}

fn judge(
    scene: &Scene,
    loops: usize,
    [wal_max, wal_after]: [u64; 2],
    violations: &mut Vec<String>,
) -> Result<()> {
    if wal_max > WAL_STORM_MAX || wal_after > WAL_IDLE_MAX {
        violations.push(format!("the log has {wal_max}, after the storm {wal_after} bytes"));
    }
    if scene.faults() > 0 {
        violations.push(format!("{} lines in the log of faults", scene.faults()));
    }
    let view = scene.status(&session(0))?;
    let expected = (SPAWNERS * STOPS_EACH / loops) as u64;
    if view["iteration"] != expected || view["revision"] != expected + 1 {
        let seen = format!("iteration {}, revision {}", view["iteration"], view["revision"]);
        violations.push(format!("status says {seen} instead of {expected}"));
    }
    match scene.inspect() {
        Err(error) => violations.push(format!("could not {error:#}")),
        Ok(found) => {
            let counted: u32 =
                (0..loops).filter_map(|number| journal::iteration(&found, &session(number))).sum();
            if counted as usize != SPAWNERS * STOPS_EACH {
                violations.push(format!("{counted} stops counted"));
            }
        }
    }
    Ok(())
}
