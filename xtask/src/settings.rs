//! Property tests of settings edits, with many more files than the ordinary tests make.

use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::{Verdict, tools};

/// Files of each format.
const CASES: u32 = 10_000;

/// Runs them, built to be fast.
pub(crate) fn run(options: &[&str]) -> Result<Verdict> {
    let cases: u32 = match options {
        [] => CASES,
        ["--cases", number] => number.parse().context("read the number of cases")?,
        other => bail!("understand {other:?}: see cargo xtask --help"),
    };
    let mut cargo = Command::new("cargo");
    cargo.args(["test", "--release", "--package", "stopgate-agents", "--lib"]);
    cargo.args(["settings::properties", "--", "--nocapture"]);
    cargo.env("STOPGATE_SETTINGS_CASES", cases.to_string()).current_dir(tools::root()?);
    let status = cargo.status().context("start cargo")?;
    Ok(if status.success() { Verdict::Fine } else { Verdict::Broken })
}
