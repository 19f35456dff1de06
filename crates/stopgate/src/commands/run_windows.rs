//! `run` on Windows: not available yet.

use stopgate_engine::Failure;

use crate::output::CommandResult;

/// Carry a loop on through many sessions of an agent: not available on Windows yet
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// What `run` takes on other systems
    #[arg(value_name = "WORDS", trailing_var_arg = true, allow_hyphen_values = true)]
    _words: Vec<String>,
}

/// Says what is missing.
pub(crate) fn run(_: &Args) -> CommandResult {
    Err(Failure::usage("stopgate run is not available on Windows yet")
        .hint("start the agent yourself, or use run in WSL"))
}
