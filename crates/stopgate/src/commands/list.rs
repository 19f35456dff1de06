//! `list`: all loops.

use std::process::ExitCode;

use stopgate_core::tokens_text;
use stopgate_engine::{LoopView, project_of};
use stopgate_store::EndedFilter;

use super::common;
use crate::output::{self, BOLD, CommandResult, DIM, cut, cut_start, mood, span, styled, window};

/// What a project and a goal take at least, before the other gives way.
const PROJECT_COLUMNS_MAX: usize = 24;
const GOAL_COLUMNS_MIN: usize = 12;

/// List loops, the newest first
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct Args {
    /// Only those of the project in this directory
    #[arg(long)]
    here: bool,
    /// Only those that have not ended
    #[arg(long)]
    running: bool,
    /// Show at most this many
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
    /// Answer in JSON
    #[arg(long)]
    json: bool,
}

/// Lists loops.
pub(crate) fn run(args: &Args) -> CommandResult {
    let mut engine = common::engine()?;
    let project = if args.here {
        Some(project_of(&common::directory()?).display().to_string())
    } else {
        None
    };
    let standing = if args.running { EndedFilter::Running } else { EndedFilter::Any };
    let mut loops = engine.views().list(project.as_deref(), standing)?;
    common::watch_over(&loops);
    let all = loops.len();
    loops.truncate(args.limit.unwrap_or(usize::MAX));
    if args.json {
        output::json_member("loops", &loops);
    } else if loops.is_empty() {
        output::line("No loops. Begin one with: stopgate start \"GOAL\"");
    } else {
        table(&loops);
        if loops.len() < all {
            output::line(&styled(DIM, &format!("and {} more", all - loops.len())));
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// One loop a line, as wide as the window.
fn table(loops: &[LoopView]) {
    let rows: Vec<[String; 6]> = loops.iter().map(cells).collect();
    let wide = |column: usize, title: &str| {
        let cells = rows.iter().map(|row| output::width(&row[column]));
        cells.max().unwrap_or(0).max(title.len())
    };
    let titles = ["LOOP", "STATE", "USED", "PROGRESS", "PROJECT", "GOAL"];
    let mut columns: Vec<usize> =
        titles.iter().enumerate().map(|(at, title)| wide(at, title)).collect();
    columns[4] = columns[4].min(PROJECT_COLUMNS_MAX);
    if let Some(window) = window() {
        let gaps = 2 * (columns.len() - 1);
        let fixed: usize = columns[..4].iter().sum::<usize>() + gaps;
        let left = window.saturating_sub(fixed);
        columns[4] = columns[4].min(left.saturating_sub(GOAL_COLUMNS_MIN)).max(7);
        columns[5] = left.saturating_sub(columns[4]).max(4);
    }
    let heads: Vec<String> = titles.iter().zip(&columns).map(|(t, c)| pad(t, *c)).collect();
    output::line(styled(DIM, heads.join("  ").trim_end()).as_str());
    for (row, view) in rows.iter().zip(loops) {
        output::line(&format!(
            "{}  {}  {}  {}  {}  {}",
            styled(BOLD, &pad(&row[0], columns[0])),
            styled(mood(view), &pad(&row[1], columns[1])),
            pad_left(&row[2], columns[2]),
            styled(DIM, &pad_left(&row[3], columns[3])),
            pad(&cut_start(&row[4], columns[4]), columns[4]),
            cut(&row[5], columns[5]),
        ));
    }
}

fn cells(view: &LoopView) -> [String; 6] {
    let word = view.outcome.map_or_else(|| view.state.word(), stopgate_core::Outcome::word);
    let count = match view.max_iterations {
        0 => view.iteration.to_string(),
        max => format!("{}/{max}", view.iteration),
    };
    let project = std::path::Path::new(&view.project);
    let project = project
        .file_name()
        .map_or_else(|| view.project.clone(), |name| name.to_string_lossy().into_owned());
    let used = match (view.budget.cost_usd, view.budget.tokens) {
        (Some(cost), Some(_)) if cost > 0.0 => format!("{count} ${cost:.2}"),
        (_, Some(tokens)) if tokens > 0 => format!("{count} {}", tokens_text(tokens)),
        _uncounted => count,
    };
    let goal = view.goal.lines().next().unwrap_or_default();
    let background = view.checking.as_ref().filter(|now| now.background_logs.is_some());
    let goal = match background {
        Some(now) => format!("(checking {} in the background) {goal}", now.checks.join(", ")),
        None => goal.to_string(),
    };
    [view.id.clone(), word.into(), used, span(view.progress_age_ms), project, goal]
}

fn pad(text: &str, columns: usize) -> String {
    format!("{text}{}", " ".repeat(columns.saturating_sub(output::width(text))))
}

fn pad_left(text: &str, columns: usize) -> String {
    format!("{}{text}", " ".repeat(columns.saturating_sub(output::width(text))))
}
