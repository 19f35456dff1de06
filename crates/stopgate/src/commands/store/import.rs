//! `store import`: loops from an export or an archive.

use std::fs::File;
use std::io::{self, Read, Seek};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use stopgate_engine::{Existing, Failure};

use super::count;
use crate::commands::common;
use crate::output::{self, Audience, CommandResult};

/// Import the loops of an export or an archive: all of them or none
///
/// The file is read to its end before anything is written: one that is cut off, altered or
/// from a newer program is refused, and so are loops that the journal has already.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The file, or - for standard input
    file: PathBuf,
    /// Skip loops that exist already
    #[arg(long)]
    skip_existing: bool,
}

/// Imports.
pub(super) fn run(args: &Args, to: Audience) -> CommandResult {
    let mut file = open(&args.file)?;
    let existing = if args.skip_existing { Existing::Skip } else { Existing::Refuse };
    let mut engine = common::engine()?;
    let view = engine.upkeep().import_store(&mut file, existing)?;
    match to {
        Audience::Programs => output::json(&view),
        Audience::People => {
            let (loops, events) =
                (count(view.imported.loops, "loop"), count(view.imported.events, "event"));
            let skipped = match view.imported.skipped {
                0 => String::new(),
                some => format!(", {} left out", count(some, "event")),
            };
            output::line(&format!("{}: {loops}, {events} imported{skipped}", view.address));
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// A file that can be read twice; what can't is kept in one that can.
fn open(path: &Path) -> Result<File, Failure> {
    let trouble = |error: io::Error| {
        Failure::usage(format!("could not read {}", path.display())).because(error)
    };
    if path == Path::new("-") {
        return spool(&mut io::stdin().lock()).map_err(trouble);
    }
    let mut file = File::open(path).map_err(trouble)?;
    if file.metadata().map_err(trouble)?.is_file() {
        return Ok(file);
    }
    spool(&mut file).map_err(trouble)
}

fn spool(input: &mut dyn Read) -> io::Result<File> {
    let mut file = tempfile::tempfile()?;
    io::copy(input, &mut file)?;
    file.rewind()?;
    Ok(file)
}
