//! `receipt keys`: whose signatures count here.

use std::process::ExitCode;

use stopgate_engine::{KeyView, KeysView};

use crate::commands::common;
use crate::output::{self, CommandResult, DIM, styled};

/// List the keys whose signatures are accepted here; add, remove or rotate them
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    command: Option<Command>,
    /// Answer in JSON
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Accept signatures by this public key
    Add {
        /// The key, as `receipt keys` shows it to its owner
        key: String,
        /// What to call it
        #[arg(long, value_name = "NAME")]
        name: Option<String>,
    },
    /// No longer accept signatures by this key
    Remove {
        /// The key, the beginning of it, or its name
        key: String,
    },
    /// Sign with a new key from now on; what the old one signed still counts here
    Rotate,
}

/// Lists or changes.
pub(super) fn run(args: &Args) -> CommandResult {
    let mut engine = common::engine()?;
    let view = match &args.command {
        None => engine.certificates().keys()?,
        Some(Command::Add { key, name }) => engine.certificates().add_key(key, name.as_deref())?,
        Some(Command::Remove { key }) => engine.certificates().remove_key(key)?,
        Some(Command::Rotate) => engine.certificates().rotate_key()?,
    };
    output::answer(args.json, &view, show);
    Ok(ExitCode::SUCCESS)
}

fn show(view: &KeysView) {
    if view.keys.is_empty() {
        output::line("No key yet: one is made when the first loop is done.");
    }
    for key in &view.keys {
        output::line(&format!("{}  {}", key.key, styled(DIM, &note(key))));
    }
}

fn note(key: &KeyView) -> String {
    if key.own {
        return "own: signs here".into();
    }
    let name = key.name.as_deref().unwrap_or("no name");
    let when = key.added_at.as_deref().unwrap_or("unknown");
    format!("{name}, added {when}")
}
