//! `man`: the manual.

use std::path::PathBuf;
use std::process::ExitCode;

use stopgate_engine::Failure;

use crate::output::{self, Outcome};

/// Print the manual page, or write one page for each command into a folder
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The folder
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
}

/// Prints or writes the manual.
pub(crate) fn run(args: &Args) -> Outcome {
    let trouble = |error| Failure::fault("could not write the manual").because(error);
    if let Some(folder) = &args.out {
        std::fs::create_dir_all(folder).map_err(trouble)?;
        clap_mangen::generate_to(super::cli(), folder).map_err(trouble)?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut page = Vec::new();
    clap_mangen::Man::new(super::cli()).render(&mut page).map_err(trouble)?;
    output::line(String::from_utf8_lossy(&page).trim_end());
    Ok(ExitCode::SUCCESS)
}
