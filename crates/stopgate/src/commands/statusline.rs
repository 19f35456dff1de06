//! `statusline`: one line for an agent's status bar.

use std::io::{IsTerminal, Read};
use std::process::ExitCode;

use clap_complete::engine::ArgValueCandidates;
use serde::Deserialize;
use stopgate_core::{LoopState, Outcome as LoopOutcome, tokens_text};
use stopgate_engine::{LoopView, Settings};

use super::client::door;
use super::common;
use super::completions::sessions;
use super::status::checking_line;
use crate::output::{self, BAD, GOOD, cut, mood, styled};

const GOAL_COLUMNS: usize = 40;
const WHY_COLUMNS: usize = 60;
const INPUT_BYTES_MAX: u64 = 1024 * 1024;

/// Print one line for an agent's status bar; reads what the agent says on standard input
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The session; without it the one named on standard input, else the one whose shell this is
    #[arg(long, value_name = "ID", add = ArgValueCandidates::new(sessions))]
    session: Option<String>,
    /// A command whose first line comes before ours: your own status line
    #[arg(long, value_name = "COMMAND")]
    with: Option<String>,
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
pub(crate) fn run(args: &Args) -> ExitCode {
    let input = read_input();
    let named = serde_json::from_str::<StatusInputWire>(&input).unwrap_or_default().session_id;
    let other = args.with.as_deref().and_then(|command| other_line(command, &input));
    let session = args.session.clone().or(named).or_else(|| Settings.session());
    // A bar that shows an error is worse than none.
    let found = session.and_then(|session| {
        let mut engine = common::engine().ok()?;
        engine.metering().keep_hint(&session, input.as_bytes());
        engine.views().shown_in(&session).ok().flatten()
    });
    if args.json {
        if let Some(view) = found {
            output::json(&stopgate_engine::StatusView::of(view));
        }
        return ExitCode::SUCCESS;
    }
    let parts: Vec<String> = other.into_iter().chain(found.map(|view| bar(&view))).collect();
    if !parts.is_empty() {
        output::coloured(&parts.join(" · "));
    }
    ExitCode::SUCCESS
}

fn read_input() -> String {
    let mut text = String::new();
    if !std::io::stdin().is_terminal() {
        let _ = std::io::stdin().lock().take(INPUT_BYTES_MAX).read_to_string(&mut text);
    }
    text
}

/// What the person's own status line says.
fn other_line(command: &str, input: &str) -> Option<String> {
    let said = door::ask_shell(command, input)?;
    let line = said.trim_end().lines().next()?.trim_end().to_string();
    (!line.is_empty()).then_some(line)
}

fn bar(view: &LoopView) -> String {
    if let Some(outcome) = view.outcome {
        return styled(mood(view), &ended(view, outcome));
    }
    let count = match view.max_iterations {
        0 => view.iteration.to_string(),
        max => format!("{}/{max}", view.iteration),
    };
    let mut parts = vec![styled(mood(view), &format!("⟳ {count}"))];
    if view.state != LoopState::Active {
        parts.push(view.state.word().into());
    }
    if let Some(checking) = &view.checking {
        parts.push(checking_line(checking));
    } else if !view.criteria.is_empty() {
        let met = view.criteria.iter().filter(|criterion| criterion.status.is_met()).count();
        let style = if met == view.criteria.len() { GOOD } else { BAD };
        parts.push(styled(style, &format!("{met}/{} met", view.criteria.len())));
    }
    parts.extend(spent(view));
    parts.push(cut(view.goal.lines().next().unwrap_or_default(), GOAL_COLUMNS));
    parts.join(" · ")
}

/// What was used, in short: `$3.40/$25.00`, or tokens where no price is known.
fn spent(view: &LoopView) -> Option<String> {
    let budget = &view.budget;
    let text = match (budget.cost_usd, budget.tokens) {
        (Some(cost), _) if cost > 0.0 && budget.max_cost_usd > 0.0 => {
            format!("${cost:.2}/${:.2}", budget.max_cost_usd)
        }
        (Some(cost), _) if cost > 0.0 => format!("${cost:.2}"),
        (_, Some(tokens)) if budget.max_tokens > 0 => {
            format!("{}/{} tokens", tokens_text(tokens), tokens_text(budget.max_tokens))
        }
        (_, Some(tokens)) => format!("{} tokens", tokens_text(tokens)),
        (_, None) => return None,
    };
    Some(if budget.measured { text } else { format!("~{text}") })
}

/// How the loop ended, until the person speaks again.
fn ended(view: &LoopView, outcome: LoopOutcome) -> String {
    let why = view.why.as_deref().unwrap_or_default().lines().next().unwrap_or_default();
    match outcome {
        LoopOutcome::Done | LoopOutcome::Attested => format!("✓ {outcome}"),
        LoopOutcome::Cancelled => "✗ cancelled".into(),
        other => cut(&format!("! {other}: {why}"), WHY_COLUMNS),
    }
}
