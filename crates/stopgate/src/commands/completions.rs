//! `completions`: for shells.

use std::process::ExitCode;

use clap_complete::Shell;

use crate::output::{self, Outcome};

/// Print completions for a shell
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

/// Prints the completions.
#[expect(clippy::unnecessary_wraps, reason = "every command has the same shape")]
pub(crate) fn run(args: &Args) -> Outcome {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut super::cli(), "stopgate", &mut script);
    output::line(String::from_utf8_lossy(&script).trim_end());
    Ok(ExitCode::SUCCESS)
}
