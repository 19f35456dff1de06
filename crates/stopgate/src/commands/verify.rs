//! `verify`: what the hook would find now.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use stopgate_core::{Status, Verified};
use stopgate_engine::{
    CriterionStatus, CriterionView, Failure, FailureKind, Settings, Verification, project_of,
};

use super::common::{self, OnLoop};
use super::status::{criterion_line, mask_one};
use crate::output::{self, BAD, BOLD, CommandResult, DIM, Elsewhere, GOOD, ProgressLine, styled};

/// Run the criteria now, as the hook would
///
/// They are those of the loop that runs here, else those of the project's stopgate.toml.
///
/// Exits with 0 when every required check passes, 1 when one does not or a person must approve
/// changed judges, 2 when there is nothing to verify, 5 when the record was forged. Nothing is
/// recorded, and no earlier result is used.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Verify the project's stopgate.toml, even where there is a loop
    #[arg(long, conflicts_with_all = ["name", "session"])]
    project: bool,
    /// Trust the project's stopgate.toml if its hash is this one: `stopgate trust --print-hash`
    /// prints it; with another content nothing is run
    #[arg(long, value_name = "HASH")]
    trust_hash: Option<String>,
    /// Write the results to this file, in the XML form of `JUnit`
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    #[command(flatten)]
    on: OnLoop,
}

/// Verifies and says what was found.
pub(crate) fn run(args: &Args) -> CommandResult {
    let found = {
        let progress = ProgressLine::begin("looking at the project");
        verification(args, &progress)
    };
    let mut found = found?;
    if Settings.is_agents_shell() {
        found.criteria.iter_mut().filter(|c| c.hidden).for_each(mask_one);
    }
    if let Some(path) = &args.junit {
        write(path, &junit(&found))?;
    }
    output::answer(args.on.json, &found, show);
    Ok(ExitCode::from(match found.result {
        Verified::Pass => 0,
        Verified::Fail | Verified::NeedsApproval => 1,
        Verified::Nothing => 2,
        Verified::Tampered => 5,
    }))
}

fn verification(args: &Args, progress: &ProgressLine) -> Result<Verification, Failure> {
    let mut engine = common::engine()?;
    let elsewhere = if args.on.json { Elsewhere::Silent } else { Elsewhere::Once };
    engine.tell_checks(progress.listener(elsewhere));
    let named = args.on.name.is_some() || args.on.session.is_some();
    let project = project_of(&common::directory()?);
    if let Some(hash) = &args.trust_hash {
        engine.trust().trust_hash(&project, hash)?;
    }
    let wants_project = args.project || args.trust_hash.is_some() || Settings.is_ci();
    if named || !wants_project {
        match engine.verifier().verify(&args.on.target()?) {
            Err(failure) if failure.kind == FailureKind::NoLoop && !named => {}
            found => return found,
        }
    }
    engine.verifier().verify_project(&project)?.ok_or_else(|| {
        Failure::usage(
            "there is nothing to verify: no loop here, and no stopgate.toml with criteria",
        )
        .hint("write a stopgate.toml with: stopgate init, or start a loop with --check; every key: stopgate help toml")
    })
}

fn show(found: &Verification) {
    for criterion in &found.criteria {
        output::hanging(&format!("  {}", criterion_line(criterion)), 4);
        if !criterion.status.is_met() {
            show_output(criterion);
        }
    }
    let (style, said) = match found.result {
        Verified::Pass => (GOOD, "every required check passes"),
        Verified::NeedsApproval => {
            (BAD, "every check passes, but not by its judges as they were at the start")
        }
        Verified::Tampered => (BAD, "the record was forged"),
        Verified::Fail | Verified::Nothing => (BAD, "not proven"),
    };
    output::line(&styled(style.bold(), said).clone());
    if let Some(id) = &found.id {
        output::line(&format!("loop {}", styled(BOLD, id)));
    }
}

/// What a failing check printed, and where the rest of it is.
fn show_output(criterion: &CriterionView) {
    let Some(receipt) = &criterion.receipt else { return };
    for line in receipt.tail.lines() {
        output::hanging(&format!("    {} {line}", styled(DIM, "|")), 6);
    }
    if let Some(log) = &receipt.log {
        output::line(&format!("    {} {log}", styled(DIM, "log:")));
    }
    if let Some(command) = &criterion.command {
        output::line(&format!("    {} {command}", styled(DIM, "reproduce:")));
    }
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    std::fs::write(path, text).map_err(|error| {
        Failure::usage(format!("could not write {}", path.display())).because(error)
    })
}

/// The results in the form that CI servers read.
fn junit(found: &Verification) -> String {
    let count = |wanted| found.criteria.iter().filter(|c| element(c) == Some(wanted)).count();
    let (failures, errors, skipped) = (count("failure"), count("error"), count("skipped"));
    let mut text = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"stopgate\" tests=\"{}\" \
         failures=\"{failures}\" errors=\"{errors}\" skipped=\"{skipped}\">\n",
        found.criteria.len()
    );
    for criterion in &found.criteria {
        text.push_str(&case(criterion));
    }
    text.push_str("</testsuite>\n");
    text
}

fn case(criterion: &CriterionView) -> String {
    let receipt = criterion.receipt.as_ref();
    let millis = receipt.map_or(0, |receipt| receipt.duration_ms);
    let mut text = format!(
        "  <testcase classname=\"{}\" name=\"{}\" time=\"{}.{:03}\"",
        criterion.kind,
        escaped(&criterion.name),
        millis / 1000,
        millis % 1000
    );
    let why =
        receipt.and_then(|receipt| receipt.trouble.as_deref()).unwrap_or(criterion.status.word());
    match element(criterion) {
        None => text.push_str("/>\n"),
        Some(element) => {
            let why = escaped(why);
            let _ = write!(text, ">\n    <{element} message=\"{why}\">{}", details(criterion));
            let _ = write!(text, "</{element}>\n  </testcase>\n");
        }
    }
    text
}

/// What a server shows of a failure: the output, where its log is, how to see it again.
fn details(criterion: &CriterionView) -> String {
    let Some(receipt) = &criterion.receipt else { return String::new() };
    let mut text = String::new();
    let mut line = |label: &str, value: Option<&String>| {
        if let Some(value) = value {
            let _ = writeln!(text, "{label}: {value}");
        }
    };
    line("reproduce", criterion.command.as_ref());
    line("log", receipt.log.as_ref());
    text.push_str(&receipt.tail);
    escaped_text(&text)
}

/// The element that says how a criterion came out; `None` where it is met.
const fn element(criterion: &CriterionView) -> Option<&'static str> {
    match criterion.status {
        CriterionStatus::Approved | CriterionStatus::Checked(Status::Pass) => None,
        CriterionStatus::Checked(Status::Fail | Status::Tampered | Status::NeedsApproval) => {
            Some("failure")
        }
        CriterionStatus::Unknown => Some("skipped"),
        CriterionStatus::Checked(Status::Error | Status::Timeout) => Some("error"),
    }
}

/// Text as an attribute.
fn escaped(text: &str) -> String {
    escaped_text(text).replace(['\n', '\t'], " ")
}

/// Text between tags; what XML can't hold at all is left out.
fn escaped_text(text: &str) -> String {
    let mut safe = String::new();
    for c in text.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\n' | '\t' => safe.push(c),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => {}
            c => safe.push(c),
        }
    }
    safe
}
