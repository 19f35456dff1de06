//! The same stop on each engine: how long it takes, how many there are a second, and
//! whether it grows.
//!
//! PostgreSQL runs in a cluster of its own, on this machine, beside its clients: what it
//! gives here, a server of its own gives more of.

mod cold;
mod grown;
pub(crate) mod place;
mod pool;

use anyhow::Result;
use clap::Args;
use stopgate_lab::{Cluster, Setup};

use crate::Verdict;
use crate::table::Gates;

/// For the widest pool, and some more.
const CONNECTIONS: u16 = 200;

/// Which parts, and how long.
#[derive(Args)]
pub(crate) struct EnginesOptions {
    #[arg(long)]
    long: bool,
    #[arg(long, value_name = "PART", value_parser = ["cold", "pool", "growth"])]
    only: Option<String>,
}

/// Measures everything and prints it.
pub(crate) fn run(EnginesOptions { long, only }: &EnginesOptions) -> Result<Verdict> {
    let (rounds, stops, sizes) = if *long { (200, 100_000, 4) } else { (100, 20_000, 3) };
    let mut gates = Gates::default();
    let cluster = Cluster::start(Setup { max_connections: CONNECTIONS })?;
    let wants = |part: &str| only.as_deref().is_none_or(|only| only == part);
    if wants("cold") {
        cold::measure(rounds, &cluster)?;
    }
    if wants("pool") {
        pool::measure(stops, &cluster, &mut gates)?;
    }
    if wants("growth") {
        grown::measure(rounds, sizes, &cluster, &mut gates)?;
    }
    Ok(gates.verdict())
}
