//! Servers that die, or hand over to another, while hooks run: nothing answered is lost.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use stopgate_lab::{Cluster, ServerStop, Setup};

use super::super::{Findings, HardnessOptions};
use crate::engines::place;
use crate::figures::millis;
use crate::journal;
use crate::scene::{Call, ENDLESS, Said, Scene};

const AGENTS: usize = 6;
/// What a hook allows the server, unless it is told otherwise.
pub(super) const DEADLINE: Duration = Duration::from_secs(2);
/// To start a process and to end it, on a busy machine.
pub(super) const SLACK: Duration = Duration::from_millis(1500);
const LULL: Duration = Duration::from_millis(600);
const FAILOVER_MAX: Duration = Duration::from_secs(30);

/// What one agent knows of its own stops.
#[derive(Debug, Default)]
struct Known {
    /// Answered: must be in the journal.
    answered: u32,
    /// Let go, because the server could not be asked: may be in the journal.
    let_go: u32,
    slowest: Duration,
    nonsense: Vec<String>,
}

/// The server is killed and started again, again and again.
pub(super) fn restart(plan: &HardnessOptions, findings: &mut Findings) -> Result<()> {
    let rounds = if plan.long { 20 } else { 3 };
    let mut cluster = Cluster::start(Setup::default())?;
    let database = place::database(&cluster)?;
    let scene = Scene::on(&cluster.socket_url(&database))?;
    let known = rage(&scene, |_| {
        for _ in 0..rounds {
            thread::sleep(LULL);
            cluster.stop(ServerStop::Kill)?;
            cluster.start_again()?;
        }
        thread::sleep(LULL);
        Ok(())
    })?;
    let what = format!("PostgreSQL: server killed {rounds} times and started again under load");
    judge(&what, &scene, &known, findings)
}

/// The server is killed, and its standby takes over.
pub(super) fn promote(findings: &mut Findings) -> Result<()> {
    let mut primary = Cluster::start(Setup::default())?;
    let standby = primary.standby()?;
    let address = format!(
        "postgres://postgres:{}@127.0.0.1:{},127.0.0.1:{}/postgres?target_session_attrs=read-write",
        primary.password().replace(' ', "%20"),
        primary.port(),
        standby.port()
    );
    let scene = Scene::on(&address)?;
    let mut took = Duration::ZERO;
    let known = rage(&scene, |answered| {
        thread::sleep(LULL);
        let begun = Instant::now();
        primary.stop(ServerStop::Kill)?;
        standby.promote()?;
        let before = answered.load(Ordering::Relaxed);
        while answered.load(Ordering::Relaxed) < before + AGENTS {
            if begun.elapsed() > FAILOVER_MAX {
                bail!("see hooks find the new server");
            }
            thread::sleep(Duration::from_millis(5));
        }
        took = begun.elapsed();
        thread::sleep(LULL);
        Ok(())
    })?;
    let took = millis(took);
    let what = format!("PostgreSQL: standby promoted under load, answers again after {took} ms");
    judge(&what, &scene, &known, findings)
}

/// Agents stop without pause while `happen` does its worst; it sees how many were answered.
fn rage(scene: &Scene, happen: impl FnOnce(&AtomicUsize) -> Result<()>) -> Result<Vec<Known>> {
    let mut calls = Vec::new();
    for agent in 0..AGENTS {
        scene.start(&session(agent), &ENDLESS)?;
        calls.push(scene.hook(&session(agent), "Stop")?);
    }
    let over = AtomicBool::new(false);
    let answered = AtomicUsize::new(0);
    thread::scope(|scope| {
        let (over, answered) = (&over, &answered);
        let agents: Vec<_> =
            calls.iter().map(|call| scope.spawn(move || agent(call, over, answered))).collect();
        let happened = happen(answered);
        over.store(true, Ordering::Relaxed);
        let known = agents.into_iter().filter_map(|agent| agent.join().ok()).collect();
        happened.map(|()| known)
    })
}

fn session(agent: usize) -> String {
    format!("agent-{agent}")
}

fn agent(call: &Call, over: &AtomicBool, answered: &AtomicUsize) -> Known {
    let mut known = Known::default();
    while !over.load(Ordering::Relaxed) {
        let ran = match call.run() {
            Ok(ran) => ran,
            Err(error) => {
                known.nonsense.push(format!("could not {error:#}"));
                continue;
            }
        };
        known.slowest = known.slowest.max(ran.took);
        match ran.said() {
            Said::Continue => {
                known.answered += 1;
                answered.fetch_add(1, Ordering::Relaxed);
            }
            Said::Nothing | Said::Warning if ran.status.success() => {
                known.let_go += 1;
                // An agent that was let go comes back when a person wants it to.
                thread::sleep(Duration::from_millis(20));
            }
            said => known.nonsense.push(format!("a stop said {said:?}, {}", ran.status)),
        }
    }
    known
}

fn judge(what: &str, scene: &Scene, known: &[Known], findings: &mut Findings) -> Result<()> {
    let mut violations: Vec<String> =
        known.iter().flat_map(|known| known.nonsense.iter().cloned()).collect();
    let found = scene.inspect()?;
    for (agent, known) in known.iter().enumerate() {
        let counted = journal::iteration(&found, &session(agent)).unwrap_or(0);
        if counted < known.answered || counted > known.answered + known.let_go {
            violations.push(format!("agent {agent}: counted {counted}, {known:?}"));
        }
    }
    let sum = |pick: fn(&Known) -> u32| known.iter().map(pick).sum::<u32>() as usize;
    let (answered, let_go) = (sum(|known| known.answered), sum(|known| known.let_go));
    if scene.faults() != let_go {
        violations.push(format!("{let_go} let go, {} lines in the log", scene.faults()));
    }
    let slowest = known.iter().map(|known| known.slowest).max().unwrap_or_default();
    if slowest > DEADLINE + SLACK {
        violations.push(format!("a stop took {} ms", millis(slowest)));
    }
    let figures = format!(
        "{answered} answered, none lost; {let_go} let go and logged; slowest {} ms",
        millis(slowest)
    );
    findings.add(what, answered + let_go, &violations, &figures);
    Ok(())
}
