//! `edit`: a person changes what a running loop is about.

use std::path::PathBuf;
use std::process::ExitCode;

use clap_complete::engine::ArgValueCandidates;
use stopgate_engine::{Changed, EditRequest};

use super::check_flags::{CheckFlags, drafts, named_command};
use super::common::{self, OnLoop};
use super::completions::checks;
use super::preflight;
use super::start::{time_ms, usd_micros};
use crate::output::{self, BOLD, CommandResult, Elsewhere, ProgressLine, styled};

/// Change a running loop: its checks, its limits or its goal
///
/// Recorded in the journal, shown by `stopgate log`, and told to the agent with the next text
/// that it is sent. Only a person can do it, in a terminal of their own.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// What must be true at the end, from now on
    #[arg(long, value_name = "GOAL")]
    goal: Option<String>,
    /// A command that must pass from now on; one with the same name is replaced (repeatable)
    #[arg(long, value_name = "NAME=COMMAND", value_parser = named_command)]
    check: Vec<(String, String)>,
    /// A criterion that no longer counts (repeatable)
    #[arg(long, value_name = "NAME", add = ArgValueCandidates::new(checks))]
    drop: Vec<String>,
    /// Files that the new checks judge by, which the work must not change (repeatable)
    #[arg(long, value_name = "GLOB", requires = "check")]
    protect: Vec<String>,
    /// A variable that is passed to the new checks (repeatable)
    #[arg(long, value_name = "NAME", requires = "check")]
    pass_env: Vec<String>,
    /// The directory that the new checks run in [default: the project's root]
    #[arg(long, value_name = "DIR", requires = "check")]
    cwd: Option<PathBuf>,
    /// How long one of the new checks may take
    #[arg(long, value_name = "TIME", default_value = "5m", value_parser = time_ms)]
    check_timeout: i64,
    /// How often the agent may be sent back in total
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), allow_negative_numbers = true)]
    max_iterations: Option<u32>,
    /// Minutes of work allowed; 0 means no limit
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    max_minutes: Option<u32>,
    /// Tokens that the agent may use, cached ones included; 0 means no limit
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    max_tokens: Option<u64>,
    /// US dollars that the agent may spend; 0 means no limit
    #[arg(long, value_name = "USD", allow_negative_numbers = true, value_parser = usd_micros)]
    max_cost: Option<u64>,
    /// Percent of the subscription's usage window that may be used; 0 means no limit
    #[arg(long, value_name = "PERCENT", allow_negative_numbers = true, value_parser = clap::value_parser!(u8).range(0..=100))]
    max_quota: Option<u8>,
    #[command(flatten)]
    on: OnLoop,
}

/// Changes a loop.
pub(crate) fn run(args: Args) -> CommandResult {
    let flags = CheckFlags {
        check: args.check,
        protect: args.protect,
        pass_env: args.pass_env,
        cwd: args.cwd,
        check_timeout: args.check_timeout,
        ..CheckFlags::default()
    };
    let request = EditRequest {
        goal: args.goal.map(|goal| goal.trim().to_string()),
        max_iterations: args.max_iterations,
        max_minutes: args.max_minutes,
        max_tokens: args.max_tokens,
        max_cost_micros: args.max_cost,
        max_quota: args.max_quota,
        checks: drafts(flags, Vec::new())?,
        dropped: args.drop,
    };
    let mut engine = common::engine()?;
    let target = args.on.target()?;
    let changed = {
        let progress = ProgressLine::begin("changing the loop");
        engine.tell_checks(progress.listener(Elsewhere::Silent));
        engine.loops().edit(&target, request)
    };
    let Changed { stored, preflighted, judges, warnings, said } = changed?;
    let view = engine.views().view(&stored);
    if args.on.json {
        return Ok(common::show(&view, args.on.json.into(), |_| String::new()));
    }
    output::line(&format!("Loop {} is changed: {said}", styled(BOLD, &view.id)));
    preflight::tell_checks(&preflighted, &judges);
    for one in &preflighted {
        for warning in preflight::warnings(one) {
            output::warn(&format!("{}: {warning}", one.criterion));
        }
    }
    for warning in &warnings {
        output::warn(warning);
    }
    let used = format!("{} of {} continuations used", view.iteration, view.max_iterations);
    output::line(&styled(output::DIM, &format!("  {used}; the agent hears it at its next stop")));
    Ok(ExitCode::SUCCESS)
}
