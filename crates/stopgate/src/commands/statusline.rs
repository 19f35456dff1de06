//! `statusline`: one line for an agent's status bar.

use std::io::Read;
use std::process::ExitCode;

use serde::Deserialize;
use stopgate_core::LoopState;
use stopgate_engine::{LoopView, Settings};

use super::common;
use crate::output::{self, BAD, GOOD, Outcome, mood, styled};

const INPUT_BYTES_MAX: u64 = 1024 * 1024;

/// Print one line for an agent's status bar; reads what the agent says on standard input
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The session; without it the one named on standard input, else the one whose shell this is
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Answer in JSON
    #[arg(long)]
    json: bool,
}

#[derive(Default, Deserialize)]
struct StatusInputWire {
    #[serde(default)]
    session_id: Option<String>,
}

/// Prints the line, or nothing where no loop holds the session.
pub(crate) fn run(args: &Args) -> Outcome {
    let session = args.session.clone().or_else(read_session).or_else(|| Settings.session());
    let Some(session) = session else { return Ok(ExitCode::SUCCESS) };
    let mut engine = common::engine()?;
    match engine.held_by(&session)? {
        Some(view) if args.json => output::json(&stopgate_engine::StatusView::of(view)),
        Some(view) => output::line(&bar(&view)),
        None => {}
    }
    Ok(ExitCode::SUCCESS)
}

fn read_session() -> Option<String> {
    let mut text = String::new();
    std::io::stdin().lock().take(INPUT_BYTES_MAX).read_to_string(&mut text).ok()?;
    serde_json::from_str::<StatusInputWire>(&text).unwrap_or_default().session_id
}

fn bar(view: &LoopView) -> String {
    let mut parts =
        vec![styled(mood(view), &format!("⟳ {}/{}", view.iteration, view.max_iterations))];
    if view.state != LoopState::Active {
        parts.push(view.state.word().into());
    }
    let met = view.criteria.iter().filter(|criterion| criterion.status.is_met()).count();
    if !view.criteria.is_empty() {
        let style = if met == view.criteria.len() { GOOD } else { BAD };
        parts.push(styled(style, &format!("{met}/{} met", view.criteria.len())));
    }
    let goal: String = view.goal.lines().next().unwrap_or_default().chars().take(40).collect();
    parts.push(goal);
    parts.join(" · ")
}
