//! Windows: in no job of ours, so that it outlives us; nothing limits its time.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::Path;

use crate::launch::{LaunchPlan, launch};

/// Starts `argv`; one that takes its time is left alone.
pub fn detached(argv: &[&str], directory: &Path) -> io::Result<()> {
    let argv: Vec<&OsStr> = argv.iter().map(OsStr::new).collect();
    detached_for(&argv, directory, 0)
}

/// Starts `argv` the same way; it has to see to its time itself.
pub fn detached_for(argv: &[&OsStr], directory: &Path, _: u32) -> io::Result<()> {
    let argv: Vec<OsString> = argv.iter().map(OsString::from).collect();
    // A person chose the command for themselves: a desktop is reached by their variables.
    let variables: Vec<_> = crate::environment::variables().collect();
    launch(&LaunchPlan { argv: &argv, directory, variables: &variables, log: None }).map(|_| ())
}
