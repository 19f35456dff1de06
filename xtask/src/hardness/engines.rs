//! What a stop survives on each engine: crowds, kills, servers that die, move or refuse.

mod copy;
mod errors;
mod survival;

use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use stopgate_lab::{Cluster, Setup};

use super::{Findings, HardnessOptions, kills, storm};
use crate::engines::place;
use crate::scene::Scene;

/// Sixty-four hooks at once, those that are just leaving, and some more.
const CONNECTIONS: u16 = 300;
/// In a crowd on two cores nobody is late.
const PATIENCE: &str = "60s";
const REST_MAX: Duration = Duration::from_mins(1);

/// Runs everything that was asked for.
pub(super) fn measure(plan: &HardnessOptions, findings: &mut Findings) -> Result<()> {
    let cluster = Cluster::start(Setup { max_connections: CONNECTIONS })?;
    if plan.wants("storm") {
        storm::measure(findings)?;
        for (what, loops) in [
            ("PostgreSQL: storm: 64 x 50 cold stops on one loop", 1),
            ("PostgreSQL: storm: 64 x 50 cold stops on 200 loops", 200),
        ] {
            storm::storm(what, loops, &patient(&cluster)?, None, findings)?;
        }
    }
    if plan.wants("kills") {
        let wanted = if plan.long { 500 } else { 100 };
        let scene = patient(&cluster)?;
        let what = "PostgreSQL: kill -9 at random among 4 agents";
        kills::kill(what, wanted, &scene, &|| rest(&cluster), plan.seed, findings)?;
    }
    if plan.wants("copy") {
        copy::measure(&cluster, findings)?;
    }
    if plan.wants("errors") {
        errors::measure(&cluster, findings)?;
    }
    drop(cluster);
    if plan.wants("restart") {
        survival::restart(plan, findings)?;
    }
    if plan.wants("promote") {
        survival::promote(findings)?;
    }
    Ok(())
}

/// An empty machine with a database of its own, whose hooks wait as long as it takes.
fn patient(cluster: &Cluster) -> Result<Scene> {
    let mut scene = Scene::on(&cluster.socket_url(&place::database(cluster)?))?;
    scene.variables.push(("STOPGATE_STORE_DEADLINE", PATIENCE.into()));
    Ok(scene)
}

/// Waits until the server works for nobody: a killed client's last wish may still be granted.
fn rest(cluster: &Cluster) -> Result<()> {
    let begun = Instant::now();
    let busy = "SELECT count(*) FROM pg_stat_activity \
                WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()";
    while cluster.sql("postgres", busy)?.trim() != "0" {
        if begun.elapsed() > REST_MAX {
            bail!("see the server come to rest");
        }
        thread::sleep(Duration::from_millis(5));
    }
    Ok(())
}
