//! Whether looking costs anything: viewers beside a storm, many loops, and reports in a browser.

mod browser;
mod fresh;
mod many;
mod viewer;
mod viewers;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::Verdict;
use crate::table::Gates;
use crate::tools;

/// What the command line asks for.
struct Plan<'a> {
    program: PathBuf,
    only: Option<&'a str>,
    /// Whether pictures are kept in docs/screens.
    pictures: browser::Pictures,
}

/// Measures what is asked for.
pub(crate) fn run(options: &[&str]) -> Result<Verdict> {
    let plan = plan(options)?;
    let mut gates = Gates::default();
    let wants = |part: &str| plan.only.is_none_or(|only| only == part);
    if wants("viewers") {
        viewers::measure(&plan.program, &mut gates)?;
    }
    if wants("fresh") {
        fresh::measure(&plan.program, &mut gates)?;
    }
    if wants("quiet") {
        fresh::measure_quiet(&plan.program, &mut gates)?;
    }
    if wants("many") {
        many::measure(&plan.program, &mut gates)?;
    }
    if wants("report") {
        browser::check(&plan.program, plan.pictures, &mut gates)?;
    }
    Ok(gates.verdict())
}

fn plan<'a>(options: &[&'a str]) -> Result<Plan<'a>> {
    let (mut program, mut only, mut pictures) = (None, None, browser::Pictures::Drop);
    let mut options = options.iter();
    while let Some(option) = options.next() {
        match (*option, options.as_slice()) {
            ("--write", _) => pictures = browser::Pictures::Keep,
            ("--program", [file, ..]) => {
                options.next();
                program = Some(Path::new(file).canonicalize().context("find the program")?);
            }
            ("--only", [word @ ("viewers" | "fresh" | "quiet" | "many" | "report"), ..]) => {
                options.next();
                only = Some(*word);
            }
            (other, _) => bail!("understand {other}: see cargo xtask --help"),
        }
    }
    let program = program.map_or_else(tools::program, Ok)?;
    Ok(Plan { program, only, pictures })
}
