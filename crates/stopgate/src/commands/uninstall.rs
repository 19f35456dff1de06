//! `uninstall`: an agent's settings forget this program.

use std::process::ExitCode;

use stopgate_engine::Settings;

use super::claude_files::OnAgent;
use super::common;
use crate::output::Outcome;

/// Take the hook out of an agent's settings; loops and their journal stay
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    on: OnAgent,
}

/// Removes our entries and our skill file.
pub(crate) fn run(args: &Args) -> Outcome {
    let place = args.on.place()?;
    let plan = place.uninstall(Settings, &common::folder()?)?;
    args.on.perform(&place, &plan, "Not installed, nothing to do")?;
    Ok(ExitCode::SUCCESS)
}
