//! Property tests of settings edits, with many more files than the ordinary tests make.

use std::process::Command;

use anyhow::{Context, Result};

use crate::{Verdict, tools};

/// Runs them, built to be fast.
pub(crate) fn run(cases: u32) -> Result<Verdict> {
    let mut cargo = Command::new("cargo");
    cargo.args(["test", "--release", "--package", "stopgate-agents", "--lib"]);
    cargo.args(["settings::properties", "--", "--nocapture"]);
    cargo.env("STOPGATE_SETTINGS_CASES", cases.to_string()).current_dir(tools::root()?);
    let status = cargo.status().context("start cargo")?;
    Ok(Verdict::from(status.success()))
}
