//! Every requirement of the five workflows, run against the program.
//!
//! A row is data below `requirements/`: what is asked, and a small script that fails where the
//! program does not do it. Each script plays in a directory and with a home of its own.

mod helper;
mod page;
mod play;
mod rows;

use std::path::Path;
use std::sync::Mutex;

use anyhow::{Context, Result};
use clap::Args;

use crate::Verdict;
use crate::tools::{self, ProgramOption};
use rows::RequirementRow;

const JOBS: usize = 2;

/// How one row came out: nothing where it works, else why not.
struct RowResult {
    row: RequirementRow,
    trouble: Option<String>,
}

/// Which rows, against what, and whether the page is made.
#[derive(Args)]
pub(crate) struct RequirementsOptions {
    #[command(flatten)]
    program: ProgramOption,
    /// Only rows whose id matches
    #[arg(long, value_name = "REGEX")]
    only: Option<regex_lite::Regex>,
    /// Makes docs/requirements.md
    #[arg(long, conflicts_with = "only")]
    write: bool,
    /// A small command for the scripts of rows
    #[arg(long, hide = true, num_args = 1.., allow_hyphen_values = true)]
    helper: Vec<String>,
}

/// Runs the rows and says how each came out.
pub(crate) fn run(plan: &RequirementsOptions) -> Result<Verdict> {
    if !plan.helper.is_empty() {
        return helper::run(&plan.helper.iter().map(String::as_str).collect::<Vec<_>>());
    }
    let mut rows = rows::load()?;
    rows.retain(|row| plan.only.as_ref().is_none_or(|only| only.is_match(&row.id)));
    let results = play_all(&plan.program.find()?, rows);
    let unknown = results.iter().filter(|result| result.is_news()).count();
    let works = results.iter().filter(|result| result.trouble.is_none()).count();
    println!("\n{works} of {} requirements work.", results.len());
    if plan.write {
        let page = tools::root()?.join("docs/requirements.md");
        std::fs::write(&page, page::text(&results)).context("write the page")?;
        println!("Written: {}", page.display());
    }
    Ok(Verdict::from(unknown == 0))
}

impl RowResult {
    /// Whether it does not work, and nobody knew.
    fn is_news(&self) -> bool {
        self.trouble.is_some() && self.row.gap.is_none()
    }
}

fn play_all(program: &Path, rows: Vec<RequirementRow>) -> Vec<RowResult> {
    let queue = Mutex::new(rows.into_iter());
    let results = Mutex::new(Vec::new());
    let one_job = || {
        while let Some(row) = queue.lock().ok().and_then(|mut queue| queue.next()) {
            let trouble =
                play::row(program, &row).unwrap_or_else(|error| Some(format!("{error:#}")));
            println!("{:<12} {}", row.id, trouble.as_deref().unwrap_or("works"));
            if let Ok(mut results) = results.lock() {
                results.push(RowResult { row, trouble });
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..JOBS {
            scope.spawn(one_job);
        }
    });
    let mut results = results.into_inner().unwrap_or_default();
    results.sort_by_key(|result| result.row.place);
    results
}
