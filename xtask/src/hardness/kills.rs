//! Killed at random times while four agents stop without pause.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result};

use super::{Findings, HardnessOptions};
use crate::figures::{Chance, Sample};
use crate::journal;
use crate::scene::{Call, ENDLESS, Said, Scene, said};

const AGENTS: usize = 4;
const KILLS_A_ROUND: usize = 20;

/// What one agent knows of its own stops.
#[derive(Clone, Copy, Debug, Default)]
struct Known {
    /// Answered: must be in the journal.
    answered: u32,
    /// Killed without an answer: may be in the journal.
    unsure: u32,
    /// Unharmed and without an answer: must not happen.
    silent: u32,
}

/// Kills as often as the plan says; looks at the journal after every round.
pub(super) fn measure(plan: &HardnessOptions, findings: &mut Findings) -> Result<()> {
    let wanted = if plan.long { 2000 } else { 500 };
    kill(
        "kill -9 at random among 4 agents",
        wanted,
        &Scene::new()?,
        &|| Ok(()),
        plan.seed,
        findings,
    )
}

/// Kills `wanted` stops on an empty machine, whichever its store is.
///
/// `rest` waits until nobody works for the dead any more.
pub(super) fn kill(
    what: &str,
    wanted: usize,
    scene: &Scene,
    rest: &dyn Fn() -> Result<()>,
    seed: u64,
    findings: &mut Findings,
) -> Result<()> {
    let mut calls = Vec::new();
    for agent in 0..AGENTS {
        scene.start(&session(agent), &ENDLESS)?;
        calls.push(scene.hook(&session(agent), "Stop")?);
    }
    let mut known = [Known::default(); AGENTS];
    let usual = usual(&calls, &mut known)?;
    let kills = AtomicUsize::new(0);
    let mut violations = Vec::new();
    let mut round: u64 = 0;
    while kills.load(Ordering::Relaxed) < wanted {
        let until = kills.load(Ordering::Relaxed) + KILLS_A_ROUND;
        rage(&calls, &mut known, seed ^ (round << 8), &Round { usual, kills: &kills, until });
        round += 1;
        rest()?;
        look(scene, &mut known, &mut violations);
    }
    let answered: u32 = known.iter().map(|known| known.answered).sum();
    let figures =
        format!("{answered} stops answered, none lost; usual stop {} us", usual.as_micros());
    findings.add(what, kills.into_inner(), &violations, &figures);
    Ok(())
}

fn session(agent: usize) -> String {
    format!("agent-{agent}")
}

/// How long a stop usually takes when all agents stop at once.
fn usual(calls: &[Call], known: &mut [Known]) -> Result<Duration> {
    let mut took = Vec::new();
    for _ in 0..20 {
        for (call, known) in calls.iter().zip(known.iter_mut()) {
            took.push(call.run()?.took);
            known.answered += 1;
        }
    }
    Ok(Sample::new(took).median())
}

/// What the agents of one round share.
struct Round<'a> {
    usual: Duration,
    kills: &'a AtomicUsize,
    until: usize,
}

fn rage(calls: &[Call], known: &mut [Known], seed: u64, round: &Round<'_>) {
    thread::scope(|scope| {
        for (seed, (call, known)) in (seed..).zip(calls.iter().zip(known)) {
            scope.spawn(move || agent_stops(call, known, Chance::new(seed), round));
        }
    });
}

fn agent_stops(call: &Call, known: &mut Known, mut chance: Chance, round: &Round<'_>) {
    while round.kills.load(Ordering::Relaxed) < round.until {
        // Every third stop or so lives.
        let span = u64::try_from(round.usual.as_micros()).unwrap_or(u64::MAX).saturating_mul(3);
        let patience = Duration::from_micros(chance.below(span));
        match stop(call, patience) {
            Ok(Stop::Answered) => known.answered += 1,
            Ok(Stop::Killed { answered }) => {
                round.kills.fetch_add(1, Ordering::Relaxed);
                known.answered += u32::from(answered);
                known.unsure += u32::from(!answered);
            }
            // A stop that could not be started changes nothing.
            Ok(Stop::Silent) => known.silent += 1,
            Err(_) => {}
        }
    }
}

enum Stop {
    Answered,
    Killed { answered: bool },
    Silent,
}

fn stop(call: &Call, patience: Duration) -> Result<Stop> {
    let mut child = call.spawn()?;
    thread::sleep(patience);
    // A process that has ended already is not harmed.
    child.kill()?;
    let output = child.wait_with_output().context("wait for a stop")?;
    let answered = said(&output.stdout) == Said::Continue;
    Ok(match (output.status.success(), answered) {
        (true, true) => Stop::Answered,
        (true, false) => Stop::Silent,
        (false, answered) => Stop::Killed { answered },
    })
}

/// Nothing answered is lost, and nothing is counted that nobody did.
fn look(scene: &Scene, known: &mut [Known], violations: &mut Vec<String>) {
    let found = match scene.inspect() {
        Ok(found) => found,
        Err(error) => return violations.push(format!("could not {error:#}")),
    };
    for (agent, known) in known.iter_mut().enumerate() {
        let counted = journal::iteration(&found, &session(agent)).unwrap_or(0);
        let right = counted >= known.answered && counted <= known.answered + known.unsure;
        if !right || known.silent > 0 {
            violations.push(format!("agent {agent}: counted {counted}, {known:?}"));
        }
        *known = Known { answered: counted, ..Known::default() };
    }
    if scene.faults() > 0 {
        violations.push(format!("{} lines in the log of faults", scene.faults()));
    }
}
