//! `man`: the manual.

use std::path::PathBuf;
use std::process::ExitCode;

use stopgate_engine::Failure;

use crate::output::{self, CommandResult};

/// Print the manual page, or write one page for each command into a directory
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The directory
    #[arg(long, value_name = "DIRECTORY")]
    out: Option<PathBuf>,
}

/// Prints or writes the manual.
pub(crate) fn run(args: &Args) -> CommandResult {
    let trouble = |error| Failure::fault("could not write the manual").because(error);
    if let Some(directory) = &args.out {
        std::fs::create_dir_all(directory).map_err(trouble)?;
        clap_mangen::generate_to(super::cli(), directory).map_err(trouble)?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut page = Vec::new();
    clap_mangen::Man::new(super::cli()).render(&mut page).map_err(trouble)?;
    output::line(String::from_utf8_lossy(&page).trim_end());
    Ok(ExitCode::SUCCESS)
}
