//! `explain`: why a stop was decided so.

mod explain_task;

use std::process::ExitCode;

use clap_complete::engine::ArgValueCandidates;
use stopgate_core::{GateAction, GateWord, Receipt, Status, Stopped, ToolUse};
use stopgate_engine::{Engine, Explanation, Failure, LoopTarget};
use stopgate_store::Stored;

use super::common;
use super::completions::{loops, sessions};
use super::status::{checking_line, first_run_line};
use crate::output::{self, BOLD, CommandResult, DIM, styled};

const LABEL_COLUMNS: usize = 13;
/// How many changes of judges are listed.
const CHANGES_SHOWN: usize = 5;

/// Explain a decision: the rule, what was seen, and the text sent
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A loop's or a task's id or the beginning of it, the number of a stop, or LOOP:STOP
    #[arg(value_name = "STOP", add = ArgValueCandidates::new(loops))]
    which: Option<String>,
    /// The loop that holds this session
    #[arg(long, value_name = "ID", add = ArgValueCandidates::new(sessions))]
    session: Option<String>,
    /// Answer in JSON
    #[arg(long)]
    json: bool,
}

/// Explains one stop.
pub(crate) fn run(args: &Args) -> CommandResult {
    let (name, number) = read_which(args.which.as_deref())?;
    let mut engine = common::engine()?;
    let target = common::target(name.as_deref(), args.session.as_deref())?;
    let targets = match number {
        // A number is a stop of one loop.
        Some(_) => vec![target],
        None => every(&mut engine, &target)?,
    };
    for (at, target) in targets.iter().enumerate() {
        if at > 0 && !args.json {
            output::line("");
        }
        if number.is_none()
            && let Some(task) = engine.task_records().explain_task(target)?
        {
            explain_task::show(&task, args.json.into());
            continue;
        }
        let explanation = engine.records().explain(target, number)?;
        if args.json {
            output::json(&explanation);
        } else {
            show(&explanation);
            tell_background(&mut engine, target)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Says which checks of the loop run in the background, where some do.
fn tell_background(engine: &mut Engine, target: &LoopTarget) -> Result<(), Failure> {
    let stored = engine.loops().resolve(target)?;
    let view = engine.views().view(&stored);
    for line in view.criteria.iter().filter(|own| !own.hidden).filter_map(first_run_line) {
        output::line(&format!("\nThe {line}"));
    }
    let now = view.checking;
    if let Some(now) = now.filter(|now| now.background_logs.is_some()) {
        output::line(&format!("\nNow: {}", checking_line(&now)));
    }
    Ok(())
}

/// Every loop that is meant, those without a stop aside where others have one.
fn every(engine: &mut Engine, target: &LoopTarget) -> Result<Vec<LoopTarget>, Failure> {
    let found = engine.loops().resolve_all(target)?;
    let stopped = |stored: &&Stored| found.len() == 1 || stored.state.tally.stops > 0;
    let mut named: Vec<LoopTarget> = found
        .iter()
        .filter(stopped)
        .map(|stored| LoopTarget::Named(stored.state.id.as_str().into()))
        .collect();
    if named.is_empty() {
        named.push(target.clone());
    }
    Ok(named)
}

/// A loop's name has ten letters; a short number is a stop.
fn read_which(which: Option<&str>) -> Result<(Option<String>, Option<usize>), Failure> {
    let Some(which) = which else { return Ok((None, None)) };
    let number = |text: &str| {
        text.parse().map_err(|_| Failure::usage(format!("`{text}` is not the number of a stop")))
    };
    match which.split_once(':') {
        Some((name, stop)) => Ok((Some(name.into()), Some(number(stop)?))),
        None if which.len() < 7 && which.bytes().all(|b| b.is_ascii_digit()) => {
            Ok((None, Some(number(which)?)))
        }
        None => Ok((Some(which.into()), None)),
    }
}

fn show(explanation: &Explanation) {
    let verdict = match explanation.outcome {
        Some(outcome) => format!("{} as {outcome}", explanation.verdict),
        None => explanation.verdict.to_string(),
    };
    output::line(&format!(
        "Stop {} of {} of loop {}: {}",
        explanation.stop,
        explanation.stops,
        styled(BOLD, &explanation.id),
        styled(BOLD, &verdict)
    ));
    output::line(&styled(DIM, &format!("  {}", explanation.at)));
    if !explanation.why.is_empty() {
        output::line(&format!("  because {}", explanation.why));
    }
    output::line("\nAsked in this order:");
    for rule in &explanation.rules {
        let mark = if rule.answered { "▶" } else { " " };
        let text = format!("  {mark} {:<12} {}", rule.rule, rule.question);
        output::line(&if rule.answered { styled(BOLD, &text) } else { styled(DIM, &text) });
    }
    show_seen(&explanation.stopped);
    if !explanation.stopped.text.is_empty() {
        output::line("\nThe agent was told:");
        for line in explanation.stopped.text.lines() {
            output::line(&format!("  {} {line}", styled(DIM, "|")));
        }
    }
}

fn show_seen(stopped: &Stopped) {
    let facts = &stopped.facts;
    let tally = &stopped.tally;
    output::line("\nSeen and counted:");
    let markers: Vec<&str> = facts.markers.iter().map(|marker| marker.text()).collect();
    let said = if markers.is_empty() { "no marker".into() } else { markers.join(", ") };
    row("said", &said);
    row("tools", &tools(stopped));
    if let Some(files) = facts.changed_files {
        row("files changed", &files.to_string());
    }
    row("idle", &tally.idle.to_string());
    row("repeat", &tally.repeat.to_string());
    let cap =
        facts.cap.map_or_else(|| "lifted".into(), |cap| format!("{} of {cap}", tally.refusals));
    row("cap", &cap);
    if !facts.background.is_empty() {
        row("background", &facts.background.join(", "));
    }
    if let Some(gates) = &stopped.gates {
        show_gates(gates);
    }
    for receipt in &stopped.receipts {
        row(&format!("check {}", receipt.criterion), &receipt_line(receipt));
        show_doubt(receipt);
    }
}

/// Why a check that passes is not enough, as `status` says it.
fn show_doubt(receipt: &Receipt) {
    if receipt.status != Status::NeedsApproval {
        return;
    }
    let original = receipt.evidence.original.iter();
    let changes = original.flat_map(|run| run.changes.iter().take(CHANGES_SHOWN));
    for text in receipt.trouble.iter().chain(changes) {
        row("", text);
    }
}

/// Whether a tool was used, and where the session's counter stands.
fn tools(stopped: &Stopped) -> String {
    let used = match stopped.facts.tools {
        ToolUse::Used => "used",
        ToolUse::None => "none",
        ToolUse::Unknown => "unknown",
    };
    match stopped.facts.tool_mark.or(stopped.tally.tool_mark) {
        Some(batches) => format!("{used}, {batches} batches in this session"),
        None => used.into(),
    }
}

fn show_gates(gates: &GateWord) {
    for asked in &gates.asked {
        let said = asked.action.map_or("passed over", GateAction::word);
        let heard = if asked.gate == gates.gate { ", heard" } else { "" };
        row(
            "gate",
            &format!("{}: {said}{heard}, {} µs: {}", asked.gate, asked.micros, asked.reason),
        );
    }
    if let Some(first) = gates.asked.first().filter(|asked| !asked.inputs.is_empty()) {
        row("gates saw", &first.inputs);
    }
    if gates.asked.is_empty() {
        row("gates", &gates.reason);
    }
}

fn row(label: &str, text: &str) {
    output::row(label, LABEL_COLUMNS, text);
}

fn receipt_line(receipt: &Receipt) -> String {
    let code = receipt.exit_code.map(|code| format!(", exit {code}")).unwrap_or_default();
    let log = receipt.log.as_ref().map(|log| format!(", {log}")).unwrap_or_default();
    format!("{}{code}, {} ms{log}", receipt.status, receipt.duration_ms)
}
