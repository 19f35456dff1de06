//! `status`: how a loop stands.

use std::process::ExitCode;

use stopgate_engine::{CriterionView, LoopView, OriginView, StatusView};

use super::common::{self, OnLoop};
use super::criteria;
use super::dialects::{self, DialectWord};
use crate::output::{self, BAD, BOLD, DIM, GOOD, Outcome, WAITS, mood, span, styled};

/// Show how a loop stands: this session's, else the project's newest
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct Args {
    /// Say by the exit code how it ended
    #[arg(long)]
    exit_code: bool,
    /// The loop is kept in somebody else's files
    #[arg(long, value_enum, value_name = "D", conflicts_with_all = ["name", "session"])]
    dialect: Option<DialectWord>,
    /// Print the block that an iteration of --dialect criteria ends with
    #[arg(long, requires = "dialect", conflicts_with = "json")]
    block: bool,
    #[command(flatten)]
    on: OnLoop,
}

/// Shows one loop.
pub(crate) fn run(args: &Args) -> Outcome {
    if let Some(dialect) = args.dialect.filter(|_| args.block) {
        return criteria::block(dialect.into());
    }
    let mut view = if let Some(dialect) = args.dialect {
        dialects::view(dialect.into())?
    } else {
        let mut engine = common::engine()?;
        let stored = engine.resolve(&args.on.target()?)?;
        engine.view_checked(&stored)?
    };
    if stopgate_engine::Settings.is_agents_shell() {
        mask(&mut view);
    }
    let code = if args.exit_code { exit_code(&view) } else { 0 };
    if args.on.json {
        output::json(&StatusView::of(view));
    } else {
        show(&view);
    }
    Ok(ExitCode::from(code))
}

/// An agent is not told which criteria are hidden from it.
pub(crate) fn mask(view: &mut LoopView) {
    for criterion in view.criteria.iter_mut().filter(|criterion| criterion.hidden) {
        mask_one(criterion);
    }
}

/// Takes out everything that tells which criterion it is.
pub(crate) fn mask_one(criterion: &mut CriterionView) {
    criterion.name = "hidden".into();
    criterion.command = None;
    criterion.receipt = None;
}

fn show(view: &LoopView) {
    let state = view.outcome.map_or_else(
        || view.state.to_uppercase(),
        |o| format!("{} ({o})", view.state.to_uppercase()),
    );
    let head = format!("{}  {}", styled(BOLD, &view.id), styled(mood(view).bold(), &state));
    output::line(&format!("{head}  {}", view.goal.lines().next().unwrap_or_default()));
    row("iteration", &iteration_line(view));
    for frame in view.frames.iter().skip(1) {
        row(
            "",
            &format!("> {} {} of {}: {}", frame.mode, frame.iteration, frame.max, frame.prompt),
        );
    }
    if let Some(why) = &view.why {
        row("why", why);
    }
    for (at, criterion) in view.criteria.iter().enumerate() {
        row(if at == 0 { "criteria" } else { "" }, &criterion_line(criterion));
    }
    row("time", &time_line(view));
    row("progress", &format!("{} ago", span(view.progress_age_ms)));
    match view.dialect {
        Some(dialect) => row("kept in", &format!("somebody else's file (--dialect {dialect})")),
        None => row("session", &session_line(view)),
    }
    row("project", &view.project);
    for line in origin_lines(&view.origin) {
        row("begun by", &line);
    }
    if let Some(line) = trust_line(view) {
        row("record", &line);
    }
    row("next", next_line(view));
}

/// Who began it, where that was no person, and what was put aside for it.
fn origin_lines(origin: &OriginView) -> Vec<String> {
    if origin.by != "agent" && origin.replaced.is_empty() {
        return Vec::new();
    }
    let shown = origin.shown_by.as_ref().map(|by| format!(" ({by})")).unwrap_or_default();
    let approved = if origin.approved { ", approved by a person" } else { "" };
    let mut lines = vec![format!("{}{shown}{approved}", origin.by)];
    for earlier in &origin.replaced {
        lines.push(format!("replaced {} by {}", earlier.id, earlier.by));
    }
    lines
}

/// What can't be confirmed about the record, where something can't.
fn trust_line(view: &LoopView) -> Option<String> {
    let record = match view.record {
        "unchained" => Some("unchained: an older stopgate wrote part of it"),
        "unknown writer" => Some("by an unknown writer: the key is on another machine"),
        _sound => None,
    };
    let signature = match view.signature {
        Some("unknown signer") => Some("signed by an unknown key: stopgate receipt keys add KEY"),
        _known => None,
    };
    let parts: Vec<&str> = record.into_iter().chain(signature).collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// Somebody else's format may know no limit.
fn iteration_line(view: &LoopView) -> String {
    match view.max_iterations {
        0 => view.iteration.to_string(),
        max => format!("{} of {max}", view.iteration),
    }
}

fn row(label: &str, text: &str) {
    output::line(&format!("  {}  {text}", styled(DIM, &format!("{label:<9}"))));
}

pub(crate) fn criterion_line(criterion: &CriterionView) -> String {
    let (style, mark) = match criterion.status {
        "pass" | "approved" => (GOOD, "✓"),
        "unknown" => (WAITS, "·"),
        _other => (BAD, "✗"),
    };
    let how = match (&criterion.receipt, criterion.kind) {
        (_, "attest") => "the agent's word".into(),
        (_, "approve") if criterion.status == "approved" => "a person's word".into(),
        (_, "approve") => "waits for a person: stopgate approve".into(),
        (Some(receipt), _) => {
            let seconds = receipt.duration_ms / 1000;
            let tenths = receipt.duration_ms % 1000 / 100;
            let code = receipt.exit_code.map(|code| format!("exit {code}, ")).unwrap_or_default();
            let mut text = format!("{}, {code}{seconds}.{tenths} s", criterion.status);
            if receipt.flaky {
                text.push_str(", flaky: it passed only when tried again");
            }
            if !receipt.known.is_empty() {
                text.push_str(", with failures that were there before");
            }
            if let Some(trouble) = &receipt.trouble {
                text.push_str(": ");
                text.push_str(trouble);
            }
            text
        }
        (None, _) => "not run yet".into(),
    };
    let advisory = if criterion.required { "" } else { " (advisory)" };
    format!("{} {}{advisory}  {}", styled(style, mark), criterion.name, styled(DIM, &how))
}

fn time_line(view: &LoopView) -> String {
    let used = span(view.budget.used_ms);
    match view.budget.max_minutes {
        0 => format!("{used} used, no limit"),
        limit => format!("{used} of {limit} min"),
    }
}

fn session_line(view: &LoopView) -> String {
    match (&view.session, &view.claim_until) {
        (Some(session), _) => session.clone(),
        (None, Some(until)) => format!("none yet; may be claimed until {until}"),
        (None, None) => "none".into(),
    }
}

fn next_line(view: &LoopView) -> &'static str {
    match (view.outcome, view.state, view.next) {
        (None, "paused", _) => "a person: stopgate resume",
        (None, "waiting", "person") if view.why.as_deref().is_some_and(is_approval) => {
            "a person: stopgate approve"
        }
        (None, "waiting", "person") => "a person: answer in the session",
        (None, "idle", _) => "nobody claimed it in time: stopgate cancel, then start again",
        (None, _, _) => "the agent",
        (Some(_), _, "person") => "a person: look at it, then stopgate resume or start anew",
        (Some(_), _, _) => "nobody: it is over",
    }
}

fn is_approval(why: &str) -> bool {
    why.ends_with("stopgate approve")
}

/// How it ended, or that it has not, as a number.
fn exit_code(view: &LoopView) -> u8 {
    match (view.outcome, view.next) {
        (Some("done" | "attested"), _) => 0,
        (Some("max_iterations" | "budget" | "capped"), _) => 3,
        (Some("blocked" | "impossible" | "needs_input"), _) => 4,
        (None, "person") if view.state == "waiting" => 4,
        (Some("tampered"), _) => 5,
        (Some("cancelled"), _) => 6,
        (Some("rate_limited"), _) => 75,
        (Some(_) | None, _) => 1,
    }
}
