//! `statusline`: one line for an agent's status bar.

mod format;

use std::io::{IsTerminal, Read};
use std::process::ExitCode;

use clap_complete::engine::ArgValueCandidates;
use serde::Deserialize;
use stopgate_core::{LoopState, Outcome as LoopOutcome, tokens_text};
use stopgate_engine::{Failure, LoopView, Settings, project_of};
use stopgate_store::EndedFilter;

use self::format::LineFormat;
use super::client::door;
use super::common;
use super::completions::sessions;
use super::status::checking_line;
use crate::output::{self, Audience, BAD, GOOD, cut, mood, styled};

const GOAL_COLUMNS: usize = 40;
const WHY_COLUMNS: usize = 60;
const INPUT_BYTES_MAX: u64 = 1024 * 1024;

/// Print one line for an agent's status bar; reads what the agent says on standard input
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct Args {
    /// The session; without it the one named on standard input, else the one whose shell this is
    #[arg(long, value_name = "ID", add = ArgValueCandidates::new(sessions))]
    session: Option<String>,
    /// The loop that runs in this directory's project, whichever session it holds: for a shell prompt
    #[arg(long, conflicts_with_all = ["session", "all"])]
    here: bool,
    /// How many loops need you, run and wait, in all projects: for a bar of tmux
    #[arg(long, conflicts_with_all = ["session", "json"])]
    all: bool,
    /// What to print, such as '{count} {met} {goal}'; tmux: or zsh: before it quotes for that program
    #[arg(long, value_name = "TEXT", conflicts_with = "json", long_help = format::HELP)]
    format: Option<String>,
    /// A command whose first line comes before ours: your own status line
    #[arg(long, value_name = "COMMAND")]
    with: Option<String>,
    /// Answer in JSON
    #[arg(long)]
    json: bool,
}

#[derive(Default, Deserialize)]
struct StatusInputWire {
    session_id: Option<String>,
}

/// Prints the line, or nothing where no loop holds the session.
pub(crate) fn run(args: &Args) -> ExitCode {
    let line = args.format.as_deref().map(LineFormat::read).transpose();
    let line = match line {
        Ok(line) => line,
        Err(unknown) => return output::failure(&Failure::usage(unknown), Audience::People),
    };
    if args.all {
        return print_all(line.as_ref());
    }
    let input = if args.here { String::new() } else { read_input() };
    let named = serde_json::from_str::<StatusInputWire>(&input).unwrap_or_default().session_id;
    let other = args.with.as_deref().and_then(|command| other_line(command, &input));
    let session = args.session.clone().or(named).or_else(|| Settings.session());
    // A bar that shows an error is worse than none.
    let found = if args.here { found_here() } else { held_by(session, &input) };
    if args.json {
        if let Some(view) = found {
            output::json_member("loop", &view);
        }
        return ExitCode::SUCCESS;
    }
    let own = found.map(|view| match &line {
        Some(line) => line.of_loop(&view, spent(&view).as_deref()),
        None => bar(&view),
    });
    let parts: Vec<String> = other.into_iter().chain(own).collect();
    if !parts.is_empty() {
        output::coloured(&parts.join(" · "));
    }
    ExitCode::SUCCESS
}

fn held_by(session: Option<String>, input: &str) -> Option<LoopView> {
    let session = session?;
    let mut engine = common::engine().ok()?;
    engine.metering().keep_hint(&session, input.as_bytes());
    engine.views().shown_in(&session).ok().flatten()
}

/// The loop that runs in this directory's project; one that waits for a person before the others.
fn found_here() -> Option<LoopView> {
    let mut engine = common::engine().ok()?;
    if !engine.records().may_have_running() {
        return None;
    }
    let project = project_of(&common::directory().ok()?).display().to_string();
    let mut loops = engine.views().list(Some(&project), EndedFilter::Running).ok()?;
    loops.sort_by_key(|view| view.state != LoopState::Waiting);
    loops.into_iter().next()
}

/// How many loops there are of each kind; nothing where none runs.
fn print_all(line: Option<&LineFormat>) -> ExitCode {
    let counts = common::engine().ok().and_then(|mut engine| engine.records().count_running().ok());
    let counts = counts.unwrap_or_default();
    if counts.iter().any(|(_, count)| *count > 0) {
        output::coloured(
            &line.map_or_else(|| format::summary(&counts), |line| line.of_all(&counts)),
        );
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
