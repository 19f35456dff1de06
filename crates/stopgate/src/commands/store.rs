//! `store`: what is done to the journal as a whole.

mod check;
mod compact;
mod copy;
mod export;
mod import;
mod migrate;

use clap::Subcommand;

use crate::output::CommandResult;

/// Check the journal, move it to another store, keep it small
///
/// The journal is the one that `STOPGATE_STORE` or the user's `config.toml` names, else
/// stopgate's own. An address is `sqlite:PATH` or `postgres://USER@HOST/DATABASE`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
    /// Answer in JSON
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum Command {
    Check(check::Args),
    Migrate(migrate::Args),
    Export(export::Args),
    Import(import::Args),
    Copy(copy::Args),
    Compact(compact::Args),
}

/// Runs one of them.
pub(crate) fn run(args: &Args) -> CommandResult {
    let to = args.json.into();
    match &args.command {
        Command::Check(_) => check::run(to),
        Command::Migrate(_) => migrate::run(to),
        Command::Export(args) => export::run(args, to),
        Command::Import(args) => import::run(args, to),
        Command::Copy(args) => copy::run(args, to),
        Command::Compact(args) => compact::run(args, to),
    }
}

/// `1 loop`, `2 loops`.
fn count(number: u64, word: &str) -> String {
    format!("{number} {word}{}", if number == 1 { "" } else { "s" })
}
