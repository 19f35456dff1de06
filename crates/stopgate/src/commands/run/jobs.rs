//! `run --jobs`: features side by side, a line for each.

use std::process::ExitCode;

use serde::Serialize;
use stopgate_core::Outcome;
use stopgate_drive::{DriveEnd, DrivePlan, Interrupts, JobEnded, JobNews, drive_jobs};
use stopgate_engine::{Failure, LoopView, Settings};

use super::board::JobBoard;
use super::{Args, INTERRUPTED, common, status};
use crate::commands::dialects::DialectWord;
use crate::output::{self, CommandResult};
use crate::stores::STORES;

#[derive(Serialize)]
struct JobWire<'a> {
    feature: &'a str,
    description: &'a str,
    #[serde(rename = "loop")]
    view: Option<&'a LoopView>,
    error: Option<String>,
}

/// Drives the features of a list.
pub(super) fn run(args: &Args, plan: &DrivePlan, jobs: usize) -> CommandResult {
    if !matches!(args.dialect, None | Some(DialectWord::Features)) {
        return Err(Failure::usage("--jobs builds the features of a list")
            .hint("use it with --dialect features, or alone"));
    }
    let interrupts = Interrupts::listen();
    let is_quiet = args.json;
    let board = JobBoard::default();
    let tell = |job: &JobNews<'_>| {
        if !is_quiet {
            board.tell(job);
        }
    };
    let from = (Settings, STORES);
    let ended = drive_jobs(from, common::directory()?, plan, jobs, &interrupts, &tell)?;
    if args.json {
        output::json_member("jobs", &wire(&ended));
    } else {
        tell_all(&ended);
    }
    Ok(ExitCode::from(exit_code(&ended)))
}

fn wire(ended: &[JobEnded]) -> Vec<JobWire<'_>> {
    let jobs = ended.iter().map(|own| {
        let (view, error) = match &own.ended {
            Some(Ok(ended)) => (Some(&ended.view), None),
            Some(Err(failure)) => (None, Some(failure.story())),
            None => (None, None),
        };
        let (feature, description) = (&own.feature.id, &own.feature.description);
        JobWire { feature, description, view, error }
    });
    jobs.collect()
}

fn tell_all(ended: &[JobEnded]) {
    if ended.is_empty() {
        output::line("Every feature of the list passes; there is nothing to build.");
    }
    for job in ended {
        let what = match &job.ended {
            None => "not begun".into(),
            Some(Err(failure)) => {
                let hint = failure.hint.as_ref().map(|hint| format!(" ({hint})"));
                format!("failed: {}{}", failure.story(), hint.unwrap_or_default())
            }
            Some(Ok(ended)) => {
                let view = &ended.view;
                let outcome = view.outcome.map_or(view.state.word(), Outcome::word);
                let why = view.why.as_ref().map(|why| format!(": {why}")).unwrap_or_default();
                format!("{outcome} (loop {}){why}", view.id)
            }
        };
        output::line(&format!("feature {}  {what}", job.feature.id));
    }
    if exit_code(ended) != 0 {
        output::line("Go on with what is left: stopgate run --jobs N --continue -- AGENT");
    }
}

/// The code of the feature that needs most: an interrupt, then what a person must do.
fn exit_code(ended: &[JobEnded]) -> u8 {
    let code = |job: &JobEnded| match &job.ended {
        None => INTERRUPTED,
        Some(Ok(ended)) if ended.end == DriveEnd::Interrupted => INTERRUPTED,
        Some(Ok(ended)) => status::exit_code(&ended.view),
        Some(Err(failure)) => failure.kind.exit_code(),
    };
    let rank =
        |code: &u8| [0, 1, 6, 75, 3, 4, 5, 2].iter().position(|own| own == code).unwrap_or(9);
    ended.iter().map(code).max_by_key(rank).unwrap_or(0)
}
