//! `attack`: would a known exploit end as done here?

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use stopgate_engine::{
    AttackAdvice, AttackReport, AttackRequest, AttackStep, AttemptResult, ExploitTrial, Failure,
    project_of,
};
use stopgate_system::CanonicalPath;

use super::check_flags::named_command;
use super::common;
use super::start::time_ms;
use crate::output::{self, BAD, BOLD, CommandResult, DIM, GOOD, ProgressLine, styled};

/// Try known exploits against this project's checks, on a copy of it
///
/// The work is broken first; each exploit then tries to make the checks pass all the same. Only a
/// copy is touched. Exits with 0 when everything that got past the checks was caught, 1 when
/// something would have ended as done, 2 when nothing can be attacked.
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct Args {
    /// Try only about a dozen exploits that represent the rest
    #[arg(long)]
    quick: bool,
    /// A command to attack, instead of those of the project's stopgate.toml (repeatable)
    #[arg(long, value_name = "NAME=COMMAND", value_parser = named_command)]
    check: Vec<(String, String)>,
    /// How long one command of --check may take
    #[arg(long, value_name = "TIME", default_value = "5m", value_parser = time_ms)]
    check_timeout: i64,
    /// Stop after this many minutes
    #[arg(long, value_name = "N", default_value_t = 15)]
    minutes: u32,
    /// A directory of the project [default: this one]
    #[arg(short = 'C', value_name = "DIR")]
    directory: Option<PathBuf>,
    /// Answer in JSON
    #[arg(long)]
    json: bool,
}

/// Attacks and says what was found.
pub(crate) fn run(args: &Args) -> CommandResult {
    let directory = match &args.directory {
        Some(directory) => directory.canonical().map_err(|error| {
            Failure::usage(format!("could not enter {}", directory.display())).because(error)
        })?,
        None => common::directory()?,
    };
    let request = AttackRequest {
        project: project_of(&directory),
        checks: args.check.clone(),
        timeout_ms: args.check_timeout.unsigned_abs(),
        quick: args.quick,
        within: Duration::from_secs(u64::from(args.minutes) * 60),
    };
    let mut engine = common::engine()?;
    let report = {
        let _progress = ProgressLine::begin("attacking a copy of the project");
        engine.attacks().attack(&request, &mut |step| {
            if !args.json {
                show_step(step);
            }
        })?
    };
    output::answer(args.json, &report, show);
    Ok(ExitCode::from(match (report.applicable, report.applicable - report.caught) {
        (0, _) => 2,
        (_, 0) => 0,
        (_, _) => 1,
    }))
}

fn show_step(step: AttackStep<'_>) {
    match step {
        AttackStep::Copied => {}
        AttackStep::Began(name) => output::line(&styled(BOLD, name)),
        AttackStep::Tried(attempt) => show_attempt(attempt),
        AttackStep::Advising(name) => {
            output::line(&styled(DIM, &format!("trying what would help \"{name}\"")));
        }
    }
}

fn show_attempt(attempt: &ExploitTrial) {
    let (style, word) = match attempt.result {
        AttemptResult::Caught => (GOOD, "caught"),
        AttemptResult::Passed => (BAD, "PASSED"),
        AttemptResult::NotApplicable => (DIM, "-"),
        AttemptResult::NotTried => (DIM, "no time"),
    };
    let why = attempt.why.as_deref().map(|why| format!(": {why}")).unwrap_or_default();
    let why = styled(DIM, &why);
    let word = styled(style, &format!("{word:<7}"));
    output::hanging(
        &format!("  {word} {} ({}){why}", attempt.exploit, attempt.ecosystem.word()),
        10,
    );
}

fn show(report: &AttackReport) {
    for own in &report.criteria {
        if let Some(why) = &own.skipped {
            output::warn(&format!("\"{}\" could not be attacked: {why}", own.criterion));
        }
    }
    if report.not_tried > 0 {
        output::warn(&format!(
            "{} exploits were not tried: there was no time left (see --minutes)",
            report.not_tried
        ));
    }
    let holes = report.applicable - report.caught;
    if report.applicable == 0 {
        output::line("no exploit got past the checks themselves, so nothing was attacked");
    } else if holes == 0 {
        let said = format!("{} of {} caught", report.caught, report.applicable);
        output::line(&styled(GOOD.bold(), &said));
    } else {
        let each = if holes == 1 { "this 1".into() } else { format!("these {holes}") };
        let said = format!(
            "{} of {} caught; for {each} add to stopgate.toml:",
            report.caught, report.applicable
        );
        output::line(&styled(BAD.bold(), &said));
        report.advice.iter().for_each(show_advice);
    }
}

fn show_advice(advice: &AttackAdvice) {
    let AttackAdvice { criterion, line, still_pass, .. } = advice;
    output::line(&format!("  {}  # in \"{criterion}\"", styled(BOLD, line)));
    if !still_pass.is_empty() {
        let what = still_pass.join(", ");
        output::line(&format!(
            "  still passes then: {what}; have the check run a script whose name says test"
        ));
    }
}
