//! Every requirement of the five workflows, run against the program.
//!
//! A row is data below `requirements/`: what is asked, and a small script that fails where the
//! program does not do it. Each script plays in a directory and with a home of its own.

mod helper;
mod page;
mod play;
mod rows;

use std::path::{Path, PathBuf};
use std::sync::Mutex;

use anyhow::{Context, Result, bail};

use crate::{Verdict, tools};
use rows::RequirementRow;

const JOBS: usize = 2;

/// How one row came out: nothing where it works, else why not.
struct RowResult {
    row: RequirementRow,
    trouble: Option<String>,
}

/// What the command line asks for.
struct RequirementsPlan {
    program: PathBuf,
    only: Option<regex_lite::Regex>,
    writes: bool,
}

/// Runs the rows and says how each came out.
pub(crate) fn run(options: &[&str]) -> Result<Verdict> {
    if let ["--helper", words @ ..] = options {
        return helper::run(words);
    }
    let plan = read(options)?;
    let mut rows = rows::load()?;
    rows.retain(|row| plan.only.as_ref().is_none_or(|only| only.is_match(&row.id)));
    let results = play_all(&plan.program, rows);
    let unknown = results.iter().filter(|result| result.is_news()).count();
    let works = results.iter().filter(|result| result.trouble.is_none()).count();
    println!("\n{works} of {} requirements work.", results.len());
    if plan.writes {
        if plan.only.is_some() {
            bail!("write the page from some of the rows: leave --only out");
        }
        let page = tools::root()?.join("docs/requirements.md");
        std::fs::write(&page, page::text(&results)).context("write the page")?;
        println!("Written: {}", page.display());
    }
    Ok(if unknown == 0 { Verdict::Fine } else { Verdict::Broken })
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

fn read(mut options: &[&str]) -> Result<RequirementsPlan> {
    let (mut program, mut only, mut writes) = (None, None, false);
    loop {
        options = match options {
            [] => break,
            ["--program", file, rest @ ..] => {
                program = Some(Path::new(file).canonicalize().context("find the program")?);
                rest
            }
            ["--only", pattern, rest @ ..] => {
                only = Some(regex_lite::Regex::new(pattern).context("read --only")?);
                rest
            }
            ["--write", rest @ ..] => {
                writes = true;
                rest
            }
            other => bail!("understand {other:?}: see cargo xtask --help"),
        };
    }
    let program = program.map_or_else(tools::program, Ok)?;
    Ok(RequirementsPlan { program, only, writes })
}
