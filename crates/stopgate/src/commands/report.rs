//! `report`: what happened, why, and who must act, as Markdown or one HTML file.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde::Serialize;
use stopgate_core::RulingWord;
use stopgate_engine::{Failure, span_ms, time_text};
use stopgate_view::{CriterionStory, LoopReport, MustAct, ReportedLoop, StopStory, html, markdown};

use super::common;
use crate::output::{self, CommandResult};

/// Tell what happened, why, and who must act, in Markdown or HTML
///
/// What needs a person comes first; then outcomes, criteria, every stop with its rule, the files
/// changed since the start, and whether the record and the signature hold. The HTML file has no
/// script and asks for nothing, so it opens offline.
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct Args {
    /// The loop's id or the beginning of it; without it this session's, else the only one running here
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
    /// Answer in JSON
    #[arg(long, conflicts_with = "html")]
    json: bool,
}

/// Tells what happened.
pub(crate) fn run(args: &Args) -> CommandResult {
    let mut engine = common::engine()?;
    let report = match args.since {
        Some(since) => engine.records().report_since(since)?,
        None => engine
            .records()
            .report_on(&common::target(args.name.as_deref(), args.session.as_deref())?)?,
    };
    let text = if args.json {
        for_programs(&report)
    } else if args.html {
        html(&report)
    } else {
        markdown(&report)
    };
    match &args.output {
        Some(path) => {
            write(path, &text)?;
            if !args.json {
                output::line(&format!("Wrote {}", path.display()));
            }
        }
        None => output::document(&text),
    }
    Ok(ExitCode::SUCCESS)
}

/// A report for programs.
#[derive(Serialize)]
struct ReportView<'a> {
    made_at: String,
    loops: Vec<LoopReportView<'a>>,
}

#[derive(Serialize)]
struct LoopReportView<'a> {
    id: &'a str,
    goal: &'a str,
    project: &'a str,
    state: &'a str,
    why: Option<&'a str>,
    needs_person: Option<&'static str>,
    record: &'a str,
    signature: Option<&'a str>,
    iteration: u32,
    max_iterations: u32,
    used_ms: i64,
    started_at: String,
    updated_at: String,
    criteria: Vec<CriterionReportView<'a>>,
    stops: Vec<StopReportView<'a>>,
    changed_files: Option<usize>,
}

#[derive(Serialize)]
struct CriterionReportView<'a> {
    name: &'a str,
    required: bool,
    now: &'static str,
    took_ms: u64,
}

#[derive(Serialize)]
struct StopReportView<'a> {
    stop: usize,
    at: String,
    verdict: RulingWord,
    outcome: Option<&'static str>,
    rule: &'static str,
    why: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    changed_files: Option<u32>,
}

fn for_programs(report: &LoopReport) -> String {
    let view = ReportView {
        made_at: time_text(report.made_at),
        loops: report.loops.iter().map(loop_view).collect(),
    };
    output::versioned(&view) + "\n"
}

fn loop_view(told: &ReportedLoop) -> LoopReportView<'_> {
    let story = &told.story;
    let (iteration, max_iterations) = story.iterations();
    LoopReportView {
        id: &story.id,
        goal: &story.goal,
        project: &story.project,
        state: story.word(),
        why: story.why.as_deref(),
        needs_person: match story.act {
            MustAct::Person(turn) => Some(turn.advice()),
            MustAct::Agent | MustAct::Nobody => None,
        },
        record: told.record,
        signature: told.signature,
        iteration,
        max_iterations,
        used_ms: story.used_ms,
        started_at: time_text(story.started_at),
        updated_at: time_text(story.updated_at),
        criteria: story.criteria.iter().map(criterion_view).collect(),
        stops: story.stops.iter().map(stop_view).collect(),
        changed_files: told.diff.as_ref().map(|diff| diff.files.len() + diff.new_files.len()),
    }
}

fn criterion_view(criterion: &CriterionStory) -> CriterionReportView<'_> {
    CriterionReportView {
        name: &criterion.name,
        required: criterion.is_required,
        now: criterion.now.word(),
        took_ms: criterion.took_ms,
    }
}

fn stop_view(stop: &StopStory) -> StopReportView<'_> {
    StopReportView {
        stop: stop.number,
        at: time_text(stop.at),
        verdict: stop.verdict,
        outcome: stop.outcome.map(stopgate_core::Outcome::word),
        rule: stop.rule.word(),
        why: &stop.why,
        changed_files: stop.changed_files,
    }
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    std::fs::write(path, text).map_err(|error| {
        Failure::usage(format!("could not write {}", path.display()))
            .hint("name a file in a directory that you may write to")
            .because(error)
    })
}
