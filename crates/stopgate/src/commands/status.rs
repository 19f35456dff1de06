//! `status`: how a loop stands.

use std::process::ExitCode;

use stopgate_core::{CriterionJudge, LoopState, Outcome as LoopOutcome, Party, Soundness};
use stopgate_engine::{
    CheckingView, CriterionStatus, CriterionView, Engine, LoopView, OriginView, PausedUntil,
    Settings, Signed, WaitsFor, WhoActs,
};

use super::common::{self, OnLoop};
use super::criteria;
use super::dialects::{self, DialectWord};
use crate::output::{self, BAD, BOLD, CommandResult, GOOD, WAITS, clock, mood, span, styled};

const LABEL_COLUMNS: usize = 9;

/// Show how the loop stands, and who must act
///
/// Without a name: this session's loop, else those that run in the project, else the last one.
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct Args {
    /// Say by the exit code how it ended
    #[arg(long)]
    exit_code: bool,
    /// The loop is kept in another tool's files
    #[arg(long, value_enum, value_name = "D", conflicts_with_all = ["name", "session"])]
    dialect: Option<DialectWord>,
    /// Print the block that an iteration of --dialect criteria ends with
    #[arg(long, requires = "dialect", conflicts_with = "json")]
    block: bool,
    #[command(flatten)]
    on: OnLoop,
}

/// Shows one loop, or all that run here.
pub(crate) fn run(args: &Args) -> CommandResult {
    if let Some(dialect) = args.dialect.filter(|_| args.block) {
        return criteria::block(dialect.into());
    }
    let mut views = match args.dialect {
        Some(dialect) => vec![dialects::view(dialect.into())?],
        None => views(&mut common::engine()?, &args.on)?,
    };
    if Settings.is_agents_shell() {
        views.iter_mut().for_each(mask);
    }
    common::watch_over(&views);
    let code = if args.exit_code { views.iter().map(exit_code).max().unwrap_or(0) } else { 0 };
    if args.on.json {
        json(&views);
    } else {
        switches();
        for (at, view) in views.iter().enumerate() {
            if at > 0 {
                output::line("");
            }
            show(view);
        }
    }
    Ok(ExitCode::from(code))
}

fn views(engine: &mut Engine, on: &OnLoop) -> Result<Vec<LoopView>, stopgate_engine::Failure> {
    let found = engine.loops().resolve_all(&on.target()?)?;
    found.iter().map(|stored| engine.views().view_checked(stored)).collect()
}

fn json(views: &[LoopView]) {
    match views {
        [view] => output::json_member("loop", view),
        views => output::json_member("loops", &views),
    }
}

/// Says so where a kill switch lets every agent stop, whatever its loop says.
fn switches() {
    for switch in Settings.switches() {
        output::warn(&format!("{switch}: every agent may stop, and no check runs"));
    }
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
    criterion.first_run = None;
}

fn show(view: &LoopView) {
    // How it ended says more than the state it is left in.
    let ended = view.outcome.map(|outcome| outcome.to_string());
    let state = ended.unwrap_or_else(|| view.state.word().into()).to_uppercase();
    let head = format!("{}  {}", styled(BOLD, &view.id), styled(mood(view).bold(), &state));
    let goal = view.goal.lines().next().unwrap_or_default();
    output::hanging(&format!("{head}  {goal}"), LABEL_COLUMNS + 4);
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
    if let Some(checking) = &view.checking {
        row("now", &checking_line(checking));
    }
    for (at, criterion) in view.criteria.iter().enumerate() {
        row(if at == 0 { "criteria" } else { "" }, &criterion_line(criterion));
        if let Some(line) = first_run_line(criterion) {
            row("", &styled(output::DIM, &line));
        }
    }
    row("time", &time_line(view));
    if let Some(words) = &view.budget.words {
        row("spend", words);
    }
    row("progress", &format!("{} ago", span(view.progress_age_ms)));
    match view.dialect {
        Some(dialect) => row("kept in", &format!("another tool's file (--dialect {dialect})")),
        None => row("session", &session_line(view)),
    }
    row("project", &view.project);
    for line in origin_lines(&view.origin) {
        row("begun by", &line);
    }
    if let Some(line) = trust_line(view) {
        row("record", &line);
    }
    row("next", &next_line(view));
}

/// Who began it, where that was not a person, and what was put aside for it.
fn origin_lines(origin: &OriginView) -> Vec<String> {
    if origin.by != Party::Agent && origin.replaced.is_empty() {
        return Vec::new();
    }
    let shown = origin.shown_by.as_ref().map(|by| format!(" ({by})")).unwrap_or_default();
    let approved = if origin.approved { ", approved by a person" } else { "" };
    let mut lines = vec![format!("{}{shown}{approved}", origin.by.word())];
    for earlier in &origin.replaced {
        lines.push(format!("replaced {} by {}", earlier.id, earlier.by));
    }
    lines
}

/// What can't be confirmed about the record, where something can't.
fn trust_line(view: &LoopView) -> Option<String> {
    let record = match view.record {
        Some(Soundness::Unchained) => Some("unchained: an older stopgate wrote part of it"),
        Some(Soundness::UnknownWriter) => {
            Some("by an unknown writer: the key is on another machine")
        }
        Some(Soundness::Sound | Soundness::Forged) | None => None,
    };
    let signature = match view.signature {
        Some(Signed::UnknownSigner) => {
            Some("signed by an unknown key: stopgate receipt keys add KEY")
        }
        Some(Signed::Genuine | Signed::Forged) | None => None,
    };
    let parts: Vec<&str> = record.into_iter().chain(signature).collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// Another tool's format may have no limit.
fn iteration_line(view: &LoopView) -> String {
    match view.max_iterations {
        0 => view.iteration.to_string(),
        max => format!("{} of {max}", view.iteration),
    }
}

fn row(label: &str, text: &str) {
    output::row(label, LABEL_COLUMNS, text);
}

/// What runs now: `checking tests, 22 s of about 40 s`.
pub(crate) fn checking_line(checking: &CheckingView) -> String {
    let elapsed = span(checking.elapsed_ms);
    let usual = checking.usual_ms.and_then(|usual| i64::try_from(usual).ok());
    let about = usual.map(|usual| format!(" of about {}", span(usual))).unwrap_or_default();
    let names = checking.checks.join(", ");
    match &checking.background_logs {
        Some(logs) if checking.first_run => format!(
            "first run of {names} on a copy of the tree as it was at the start, {elapsed}; \
             output: {logs}"
        ),
        Some(logs) => {
            format!("checking {names} in the background, {elapsed}{about}; output: {logs}")
        }
        None => format!("checking {names}, {elapsed}{about}"),
    }
}

/// What the first run of a check said, where `start` did not wait for its end.
pub(crate) fn first_run_line(criterion: &CriterionView) -> Option<String> {
    let words = &criterion.first_run.as_ref()?.words;
    Some(format!("first run of {}, before the work began: {words}", criterion.name))
}

pub(crate) fn criterion_line(criterion: &CriterionView) -> String {
    let (style, mark) = match criterion.status {
        status if status.is_met() => (GOOD, "✓"),
        CriterionStatus::Unknown => (WAITS, "·"),
        CriterionStatus::Approved | CriterionStatus::Checked(_) => (BAD, "✗"),
    };
    let how = match (criterion.judge, criterion.status, &criterion.receipt) {
        (CriterionJudge::Agent, _, _) => "the agent's word".into(),
        (CriterionJudge::Person, CriterionStatus::Approved, _) => "a person's word".into(),
        (CriterionJudge::Person, _, _) => "waits for a person: stopgate approve".into(),
        (CriterionJudge::Check, _, None) => "not run at a stop yet".into(),
        (CriterionJudge::Reviewer, _, None) => "another agent is asked when the rest passes".into(),
        (CriterionJudge::Check | CriterionJudge::Reviewer, status, Some(receipt)) => {
            let seconds = receipt.duration_ms / 1000;
            let tenths = receipt.duration_ms % 1000 / 100;
            let code = receipt.exit_code.map(|code| format!("exit {code}, ")).unwrap_or_default();
            let mut text = format!("{}, {code}{seconds}.{tenths} s", status.word());
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
    };
    let advisory = if criterion.required { "" } else { " (advisory)" };
    format!("{} {}{advisory}  {}", styled(style, mark), criterion.name, styled(output::DIM, &how))
}

fn time_line(view: &LoopView) -> String {
    let used = span(view.budget.used_ms);
    match view.budget.max_minutes {
        0 => format!("{used} used, no limit"),
        limit => format!("{used} of {limit} min"),
    }
}

fn session_line(view: &LoopView) -> String {
    match (&view.session, view.claim_until_at) {
        (Some(session), _) if view.session_gone => format!("{session} (ended)"),
        (Some(session), _) => session.clone(),
        (None, Some(until)) if view.state != LoopState::Idle => {
            format!("none yet; the next one in this project until {} is held", clock(until))
        }
        (None, _) => "none".into(),
    }
}

fn next_line(view: &LoopView) -> String {
    let id = &view.id;
    match (view.outcome, view.state, view.next) {
        (Some(LoopOutcome::NeedsApproval), LoopState::Waiting, _) => {
            format!("a person: stopgate approve {id}")
        }
        (Some(_), _, WhoActs::Person) => {
            "a person: look at it, then stopgate resume or start a new loop".into()
        }
        (Some(_), _, _) => "nobody: it is over".into(),
        (None, LoopState::Idle, _) => {
            format!("nobody attached to it in time: stopgate attach {id}, or stopgate cancel {id}")
        }
        (None, LoopState::Waiting, _) if view.waiting == Some(WaitsFor::Condition) => {
            "stopgate: it watches for what the loop waits for".into()
        }
        (None, _, _) if view.session_gone => gone_line(view),
        (None, LoopState::Paused, _) => paused_line(view).into(),
        (None, LoopState::Waiting, WhoActs::Person) => match view.waiting {
            Some(WaitsFor::Approval) => "a person: stopgate approve".into(),
            Some(WaitsFor::Answer | WaitsFor::Background | WaitsFor::Condition) | None => {
                format!("a person: answer in the session, or stopgate answer {id} TEXT")
            }
        },
        (None, LoopState::Active, _) if view.session.is_none() && view.claim_until.is_some() => {
            "a person: open an agent session in this project, or go on with one".into()
        }
        (None, _, _) => "the agent".into(),
    }
}

fn paused_line(view: &LoopView) -> &'static str {
    match view.paused_until {
        Some(PausedUntil::Prompt) => "a person: your next prompt to the agent ends the pause",
        Some(PausedUntil::Session) => "another session takes over",
        Some(PausedUntil::Resume) | None => "a person: stopgate resume",
    }
}

fn gone_line(view: &LoopView) -> String {
    let session = view.session.as_deref().unwrap_or_default();
    format!(
        "a person: its session ended. claude --resume {session}, or give the loop to another \
         session: stopgate attach {}",
        view.id
    )
}

/// How it ended, or that it has not, as a number.
pub(crate) fn exit_code(view: &LoopView) -> u8 {
    match view.outcome {
        Some(LoopOutcome::Done | LoopOutcome::Attested) => 0,
        Some(LoopOutcome::MaxIterations | LoopOutcome::Budget | LoopOutcome::Capped) => 3,
        Some(
            LoopOutcome::Blocked
            | LoopOutcome::Impossible
            | LoopOutcome::NeedsInput
            | LoopOutcome::NeedsApproval
            | LoopOutcome::Stalled
            | LoopOutcome::Oscillating
            | LoopOutcome::Stale
            | LoopOutcome::InfraError,
        ) => 4,
        Some(LoopOutcome::Tampered) => 5,
        Some(LoopOutcome::Cancelled | LoopOutcome::Aborted) => 6,
        Some(LoopOutcome::RateLimited) => 75,
        None if view.state == LoopState::Waiting && view.next == WhoActs::Person => 4,
        None => 1,
    }
}
