//! Packages for people without Rust, and plugins for agents, all from one source.
//!
//! `packages/` and the workspace's manifest say what they are called; the program is given, and
//! is the same in each of them. Nothing is published from here.

mod about;
mod archive;
mod platform;
mod plugins;

use anyhow::{Result, bail};

use crate::Verdict;
use about::PackageFacts;

/// Makes packages, plugins, or both.
pub(crate) fn run(options: &[&str]) -> Result<Verdict> {
    let facts = PackageFacts::read()?;
    match options {
        ["--plugins"] => plugins::write_plugins(&facts)?,
        _ => bail!("understand {options:?}"),
    }
    Ok(Verdict::Fine)
}
