//! The simulator, built to be fast: `crates/stopgate-sim`.

use std::process::Command;

use anyhow::Result;

use crate::Verdict;
use crate::tools;

/// Plays histories; the options are the simulator's own.
pub(crate) fn run(options: &[&str]) -> Result<Verdict> {
    let mut cargo = Command::new("cargo");
    cargo.current_dir(tools::root()?);
    cargo.args(["run", "--quiet", "--release", "--package", "stopgate-sim", "--"]).args(options);
    Ok(if cargo.status()?.success() { Verdict::Fine } else { Verdict::Broken })
}
