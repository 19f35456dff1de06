//! `report`: what happened, why, and who must act, as Markdown or one HTML file.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use stopgate_engine::{Failure, span_ms};
use stopgate_view::{html, markdown};

use super::common;
use crate::output::{self, Outcome};

/// Tell what happened, why, and who must act: Markdown, or one HTML file
///
/// What needs a person comes first; then outcomes, criteria, every stop with its rule, the files
/// changed since the start, and whether the record and the signature hold. The HTML file has no
/// script and asks for nothing, so it opens offline.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The loop's name or its beginning; without it this session's, else the only one running here
    #[arg(value_name = "LOOP", conflicts_with = "since")]
    name: Option<String>,
    /// The loop that holds this session
    #[arg(long, value_name = "ID", conflicts_with_all = ["name", "since"])]
    session: Option<String>,
    /// Every loop that was touched in this time, such as 12h or 7d
    #[arg(long, value_name = "TIME", value_parser = span_ms)]
    since: Option<u64>,
    /// One HTML file instead of Markdown
    #[arg(long)]
    html: bool,
    /// Write it to this file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// Tells what happened.
pub(crate) fn run(args: &Args) -> Outcome {
    let mut engine = common::engine()?;
    let report = match args.since {
        Some(since) => engine.report_since(since)?,
        None => {
            engine.report_on(&common::target(args.name.as_deref(), args.session.as_deref())?)?
        }
    };
    let text = if args.html { html(&report) } else { markdown(&report) };
    match &args.output {
        Some(path) => {
            write(path, &text)?;
            output::line(&format!("Wrote {}", path.display()));
        }
        None => output::document(&text),
    }
    Ok(ExitCode::SUCCESS)
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    std::fs::write(path, text).map_err(|error| {
        Failure::usage(format!("could not write {}", path.display()))
            .hint("name a file in a directory that you may write to")
            .because(error)
    })
}
