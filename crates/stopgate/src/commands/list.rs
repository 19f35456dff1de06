//! `list`: all loops.

use std::process::ExitCode;

use stopgate_engine::{LoopView, project_of};
use stopgate_store::Standing;

use super::common;
use crate::output::{self, BOLD, DIM, Outcome, mood, span, styled};

/// List loops, the newest first
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct Args {
    /// Only those of the project in this folder
    #[arg(long)]
    here: bool,
    /// Only those that have not ended
    #[arg(long)]
    running: bool,
    /// Answer in JSON
    #[arg(long)]
    json: bool,
}

/// Lists loops.
pub(crate) fn run(args: &Args) -> Outcome {
    let mut engine = common::engine()?;
    let project =
        if args.here { Some(project_of(&common::folder()?).display().to_string()) } else { None };
    let standing = if args.running { Standing::Running } else { Standing::Any };
    let list = engine.list(project.as_deref(), standing)?;
    if args.json {
        output::json(&list);
    } else if list.loops.is_empty() {
        output::line("No loops. Begin one with: stopgate start \"GOAL\"");
    } else {
        list.loops.iter().for_each(show);
    }
    Ok(ExitCode::SUCCESS)
}

fn show(view: &LoopView) {
    let word = view.outcome.unwrap_or(view.state);
    let count = match view.max_iterations {
        0 => view.iteration.to_string(),
        max => format!("{}/{max}", view.iteration),
    };
    let goal: String = view.goal.lines().next().unwrap_or_default().chars().take(50).collect();
    output::line(&format!(
        "{}  {}  {count:>7}  {}  {goal}",
        styled(BOLD, &view.id),
        styled(mood(view), &format!("{word:<14}")),
        styled(DIM, &format!("{:>12} ago", span(view.progress_age_ms))),
    ));
}
