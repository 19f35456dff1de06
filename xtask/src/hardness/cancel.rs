//! A person cancels while eight hooks run: from then on every stop is allowed.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Result;
use stopgate_core::Outcome;

use super::{Findings, HardnessOptions};
use crate::journal;
use crate::scene::{Call, ENDLESS, Said, Scene};

const HOOKS: usize = 8;
const SESSION: &str = "held";
/// Events that might wake what must stay asleep.
const LATER: [&str; 6] =
    ["SessionStart", "UserPromptSubmit", "PostToolBatch", "PreCompact", "StopFailure", "Stop"];

/// Cancels again and again, on a new loop each time.
pub(super) fn measure(plan: &HardnessOptions, findings: &mut Findings) -> Result<()> {
    let rounds = if plan.long { 50 } else { 5 };
    let mut violations = Vec::new();
    let (mut held, mut free) = (0, 0);
    for round in 0..rounds {
        let scene = Scene::new()?;
        scene.start(SESSION, &ENDLESS)?;
        let stops = cancelled(&scene, Duration::from_millis(100 + 7 * round))?;
        held += stops.held;
        free += stops.free;
        violations.extend(stops.violations);
        stays_cancelled(&scene, &mut violations)?;
    }
    let figures = format!("{held} stops held, {free} begun after the cancel and allowed");
    findings.add("cancel while 8 hooks run", held + free, &violations, &figures);
    Ok(())
}

#[derive(Default)]
struct Stops {
    held: usize,
    free: usize,
    violations: Vec<String>,
}

/// Stops in a tight loop on eight threads, with a cancel in between.
fn cancelled(scene: &Scene, after: Duration) -> Result<Stops> {
    let call = scene.hook(SESSION, "Stop")?;
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        let hooks: Vec<_> =
            (0..HOOKS).map(|_| scope.spawn(|| stop_all_the_time(&call, &over))).collect();
        thread::sleep(after);
        let cancel = scene.command(&["cancel", "--session", SESSION]);
        let returned = Instant::now();
        thread::sleep(Duration::from_millis(150));
        over.store(true, Ordering::Relaxed);
        let said: Vec<_> =
            hooks.into_iter().filter_map(|hook| hook.join().ok()).flatten().collect();
        let cancel = cancel?;
        let mut stops = Stops::default();
        if !cancel.status.success() {
            stops.violations.push(format!("cancel ended with {}", cancel.status));
        }
        for (begun, said) in said {
            match said {
                Said::Continue if begun > returned => {
                    stops.violations.push("a stop was held after the cancel".into());
                }
                Said::Continue => stops.held += 1,
                Said::Nothing if begun > returned => stops.free += 1,
                Said::Nothing => {}
                other => stops.violations.push(format!("a stop said {other:?}")),
            }
        }
        Ok(stops)
    })
}

fn stop_all_the_time(call: &Call, over: &AtomicBool) -> Vec<(Instant, Said)> {
    let mut said = Vec::new();
    while !over.load(Ordering::Relaxed) {
        let begun = Instant::now();
        let ran = call.run();
        said.push((begun, ran.map_or_else(|e| Said::Nonsense(format!("{e:#}")), |r| r.said())));
    }
    said
}

/// Whatever comes later, the loop is cancelled.
fn stays_cancelled(scene: &Scene, violations: &mut Vec<String>) -> Result<()> {
    for event in LATER {
        let ran = scene.hook(SESSION, event)?.run()?;
        if ran.said() != Said::Nothing {
            violations.push(format!("{event} after the cancel said {:?}", ran.said()));
        }
    }
    let found = journal::inspect(&scene.home())?;
    let id = found.first().map(|stored| stored.state.id.to_string()).unwrap_or_default();
    for command in [["resume", &id], ["pause", &id], ["done", &id]] {
        let ran = scene.command(&command)?;
        if ran.status.success() {
            violations.push(format!("{} of a cancelled loop is not refused", command[0]));
        }
    }
    let found = journal::inspect(&scene.home())?;
    let outcome = found.first().and_then(|stored| stored.state.outcome());
    if outcome.map(Outcome::word) != Some("cancelled") {
        violations.push(format!("the loop ended as {outcome:?}"));
    }
    if scene.faults() > 0 {
        violations.push(format!("{} lines in the log of faults", scene.faults()));
    }
    Ok(())
}
