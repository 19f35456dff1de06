//! `daemon`: the process that watches what parked loops wait for.

use std::process::ExitCode;

use serde::Serialize;
use stopgate_daemon::{DaemonState, Served, Stay};
use stopgate_engine::{Failure, Settings};

use crate::output::{self, Audience, CommandResult};
use crate::stores::STORES;

/// Watch what parked loops wait for; `wait` starts it when it is needed
///
/// Without a flag it runs in the foreground, and exits after five minutes with nothing to watch.
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
#[command(group = clap::ArgGroup::new("act").multiple(false))]
pub(crate) struct Args {
    /// Print whether one is running and how many loops it watches; exit 1 if none is
    #[arg(long, group = "act")]
    status: bool,
    /// Stop the one that is running
    #[arg(long, group = "act")]
    stop: bool,
    /// Print a unit for systemd's user manager
    #[arg(long, group = "act")]
    unit: bool,
    /// Keep running with nothing to watch, too
    #[arg(long, group = "act")]
    stay: bool,
    /// Answer in JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct DaemonView {
    running: bool,
    version: Option<String>,
    pid: Option<i32>,
    waiting: usize,
}

/// Does what the flags ask for.
pub(crate) fn run(args: &Args) -> CommandResult {
    if args.status {
        return status(args.json.into());
    }
    if args.stop {
        let ended = stopgate_daemon::stop(Settings)?;
        output::line(if ended { "It has ended." } else { "None is running." });
        return Ok(ExitCode::SUCCESS);
    }
    if args.unit {
        return unit();
    }
    let stay = if args.stay { Stay::Always } else { Stay::WhileNeeded };
    match stopgate_daemon::serve(Settings, STORES, stay)? {
        Served::Elsewhere => output::line("Another one is running: stopgate daemon --status"),
        Served::Done => {}
    }
    Ok(ExitCode::SUCCESS)
}

/// The same as a process that nobody sees.
pub(crate) fn hidden() -> ExitCode {
    stopgate_engine::leave_session();
    match stopgate_daemon::serve(Settings, STORES, Stay::WhileNeeded) {
        Ok(_) => ExitCode::SUCCESS,
        Err(failure) => {
            stopgate_engine::log_failure(Settings, &failure);
            ExitCode::from(failure.kind.exit_code())
        }
    }
}

fn status(to: Audience) -> CommandResult {
    let state = stopgate_daemon::state(Settings)?;
    let code = if state.is_some() { ExitCode::SUCCESS } else { ExitCode::from(1) };
    let text = state.as_ref().map_or_else(
        || "No background process is running.".to_string(),
        |state| {
            let DaemonState { pid, version, waiting } = state;
            format!("Process {pid} of version {version} is watching for {waiting} loops.")
        },
    );
    match to {
        Audience::People => output::line(&text),
        Audience::Programs => output::json(&DaemonView {
            running: state.is_some(),
            version: state.as_ref().map(|state| state.version.clone()),
            pid: state.as_ref().map(|state| state.pid),
            waiting: state.map_or(0, |state| state.waiting),
        }),
    }
    Ok(code)
}

fn unit() -> CommandResult {
    let program = std::env::current_exe()
        .map_err(|error| Failure::fault("could not tell where this program is").because(error))?;
    let home = Settings.home()?;
    output::line(stopgate_daemon::unit_text(&program, home.directory()).trim_end());
    Ok(ExitCode::SUCCESS)
}
