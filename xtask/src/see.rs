//! Whether looking costs anything: viewers beside a storm, many loops, and reports in a browser.

mod browser;
mod fresh;
mod many;
mod viewer;
mod viewers;

use anyhow::Result;
use clap::Args;

use crate::Verdict;
use crate::table::Gates;
use crate::tools::ProgramOption;

/// Which parts, of which program, and whether pictures are kept.
#[derive(Args)]
pub(crate) struct SeeOptions {
    #[arg(long, value_name = "PART", value_parser = ["viewers", "fresh", "quiet", "many", "report"])]
    only: Option<String>,
    #[command(flatten)]
    program: ProgramOption,
    /// Keeps the pictures in docs/screens
    #[arg(long)]
    write: bool,
}

/// Measures what is asked for.
pub(crate) fn run(SeeOptions { only, program, write }: &SeeOptions) -> Result<Verdict> {
    let program = program.find()?;
    let pictures = if *write { browser::Pictures::Keep } else { browser::Pictures::Drop };
    let mut gates = Gates::default();
    let wants = |part: &str| only.as_deref().is_none_or(|only| only == part);
    if wants("viewers") {
        viewers::measure(&program, &mut gates)?;
    }
    if wants("fresh") {
        fresh::measure(&program, &mut gates)?;
    }
    if wants("quiet") {
        fresh::measure_quiet(&program, &mut gates)?;
    }
    if wants("many") {
        many::measure(&program, &mut gates)?;
    }
    if wants("report") {
        browser::check(&program, pictures, &mut gates)?;
    }
    Ok(gates.verdict())
}
