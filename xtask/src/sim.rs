//! The simulator, built to be fast: `crates/stopgate-sim`.

use std::process::Command;

use anyhow::{Context, Result};

use crate::Verdict;
use crate::tools;

/// Plays histories; the options are the simulator's own.
pub(crate) fn run(options: &[String]) -> Result<Verdict> {
    let mut cargo = Command::new("cargo");
    cargo.current_dir(tools::root()?);
    cargo.args(["run", "--quiet", "--release", "--package", "stopgate-sim", "--"]).args(options);
    verdict(&mut cargo)
}

/// Plays the usual histories with the simulator as it was built beside the program: to build it
/// alone means to build most rooms once more, with fewer features.
pub(crate) fn run_built() -> Result<Verdict> {
    verdict(&mut Command::new(tools::root()?.join("target/release/stopgate-sim")))
}

fn verdict(simulator: &mut Command) -> Result<Verdict> {
    let ended = simulator.status().context("start the simulator")?;
    Ok(Verdict::from(ended.success()))
}
