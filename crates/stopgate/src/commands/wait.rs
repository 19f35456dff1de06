//! `wait`: an agent parks its loop until something happens.

use std::path::PathBuf;

use stopgate_engine::{Settings, WaitFor, WaitRequest};
use stopgate_view::waits_for;

use super::common::{self, OnLoop};
use super::start::time_ms;
use crate::output::{self, CommandResult};

/// Park the loop until something happens
///
/// Stops are allowed and not counted until then.
///
/// When it happens and no client holds the session, the session is resumed by its own client. A
/// stop that comes earlier asks by itself. With nothing by the deadline, a person is told.
#[derive(Debug, clap::Args)]
#[command(group = clap::ArgGroup::new("what").required(true).multiple(false))]
pub(crate) struct Args {
    /// A time is reached: 03:00, 2026-11-16T03:00:00Z, or 90m from now
    #[arg(long, value_name = "TIME", group = "what")]
    until: Option<String>,
    /// A process has exited
    #[arg(long, value_name = "N", group = "what", value_parser = clap::value_parser!(i32).range(1..))]
    pid: Option<i32>,
    /// A path is created, removed or written to
    #[arg(long, value_name = "P", group = "what")]
    path: Option<PathBuf>,
    /// A command exits with 0; it runs with the limits and variables of a check, every 5 to 60 s
    #[arg(long, value_name = "C", group = "what")]
    cmd: Option<String>,
    /// A URL answers with 2xx; it is polled every 5 to 60 s
    #[arg(long, value_name = "U", group = "what")]
    url: Option<String>,
    /// A git reference of this repository moves
    #[arg(long = "ref", value_name = "R", group = "what")]
    reference: Option<String>,
    /// The deadline after which a person is told instead
    #[arg(long, value_name = "TIME", value_parser = time_ms)]
    deadline: Option<i64>,
    #[command(flatten)]
    on: OnLoop,
}

/// Parks the loop.
pub(crate) fn run(args: &Args) -> CommandResult {
    let mut engine = common::engine()?;
    let request = WaitRequest {
        deadline_ms: args.deadline,
        directory: common::directory()?,
        what: what(args),
    };
    let stored = engine.waits().wait(&args.on.target()?, &request)?;
    let what = stored.state.parking().map(waits_for).unwrap_or_default();
    let shown = args.on.show(&mut engine, &stored, |_| {
        format!("Parked: you may stop now. The loop goes on after {what}.")
    });
    drop(engine);
    // Without it a stop still asks by itself, so the loop stays parked.
    if let Err(failure) = stopgate_daemon::ensure(Settings) {
        output::warn(&format!("nobody will wake the session: {}", failure.story()));
    }
    Ok(shown)
}

fn what(args: &Args) -> WaitFor {
    if let Some(time) = &args.until {
        return WaitFor::Time(time.clone());
    }
    if let Some(pid) = args.pid {
        return WaitFor::Process(pid);
    }
    if let Some(path) = &args.path {
        return WaitFor::Path(path.clone());
    }
    if let Some(command) = &args.cmd {
        return WaitFor::Command(command.clone());
    }
    if let Some(url) = &args.url {
        return WaitFor::Url(url.clone());
    }
    WaitFor::Reference(args.reference.clone().unwrap_or_default())
}
