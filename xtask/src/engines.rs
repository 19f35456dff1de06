//! The same stop on each engine: how long it takes, how many there are a second, and
//! whether it grows.
//!
//! PostgreSQL runs in a cluster of its own, on this machine, beside its clients: what it
//! gives here, a server of its own gives more of.

mod cold;
mod grown;
pub(crate) mod place;
mod pool;

use anyhow::{Result, bail};
use stopgate_lab::{Cluster, Setup};

use crate::Verdict;
use crate::table::Gates;

/// For the widest pool, and some more.
const CONNECTIONS: u16 = 200;

/// What the command line asks for.
#[derive(Clone, Copy, Debug)]
struct Plan {
    rounds: usize,
    /// Stops of one row of the table of pools.
    stops: usize,
    /// How many of the sizes a journal is grown to.
    sizes: usize,
    only: Only,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Only {
    All,
    Cold,
    Pool,
    Growth,
}

/// Measures everything and prints it.
pub(crate) fn run(options: &[&str]) -> Result<Verdict> {
    let plan = plan(options)?;
    let mut gates = Gates::default();
    let cluster = Cluster::start(Setup { max_connections: CONNECTIONS })?;
    let wants = |part| plan.only == Only::All || plan.only == part;
    if wants(Only::Cold) {
        cold::measure(plan.rounds, &cluster)?;
    }
    if wants(Only::Pool) {
        pool::measure(plan.stops, &cluster, &mut gates)?;
    }
    if wants(Only::Growth) {
        grown::measure(plan, &cluster, &mut gates)?;
    }
    Ok(gates.verdict())
}

fn plan(options: &[&str]) -> Result<Plan> {
    let mut plan = Plan { rounds: 100, stops: 20_000, sizes: 3, only: Only::All };
    let mut options = options.iter();
    while let Some(option) = options.next() {
        match *option {
            "--long" => plan = Plan { rounds: 200, stops: 100_000, sizes: 4, ..plan },
            "--only" => {
                plan.only = match options.next() {
                    Some(&"cold") => Only::Cold,
                    Some(&"pool") => Only::Pool,
                    Some(&"growth") => Only::Growth,
                    other => bail!("understand --only {other:?}: one of cold, pool, growth"),
                }
            }
            other => bail!("understand {other}: see cargo xtask --help"),
        }
    }
    Ok(plan)
}
