//! Unix: a shell sees to the time limit.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::Path;
use std::time::Duration;

use crate::child::Child;

/// Runs its arguments but the first, for at most so many seconds as that says, without a word.
const SCRIPT: &str = "exec >/dev/null 2>&1 </dev/null; t=$1; shift; \"$@\" & p=$!; \
                      (sleep \"$t\"; kill \"$p\") & w=$!; wait \"$p\"; kill \"$w\"";

/// Most programs that tell something are done in no time: so long they are waited for.
const LOOKS: u32 = 50;
const LOOK_EVERY: Duration = Duration::from_millis(5);
const SECONDS: u32 = 10;

/// Starts `argv` in a process group of its own; one that takes its time is left alone.
pub fn detached(argv: &[&str], directory: &Path) -> io::Result<()> {
    let argv: Vec<&OsStr> = argv.iter().map(OsStr::new).collect();
    let child = begin(&argv, directory, SECONDS)?;
    for _ in 0..LOOKS {
        if child.has_ended() {
            break;
        }
        std::thread::sleep(LOOK_EVERY);
    }
    std::mem::forget(child);
    Ok(())
}

/// Starts `argv` the same way, for at most so many seconds; nothing waits for it at all.
pub fn detached_for(argv: &[&OsStr], directory: &Path, seconds: u32) -> io::Result<()> {
    std::mem::forget(begin(argv, directory, seconds)?);
    Ok(())
}

fn begin(argv: &[&OsStr], directory: &Path, seconds: u32) -> io::Result<Child> {
    let seconds = seconds.to_string();
    let shell = ["/bin/sh", "-c", SCRIPT, "stopgate", &seconds];
    let shell = shell.iter().map(OsString::from);
    let argv: Vec<OsString> = shell.chain(argv.iter().map(OsString::from)).collect();
    let (_out, out_writer) = io::pipe()?;
    let (_err, err_writer) = io::pipe()?;
    // A person chose the command for themselves: a desktop is reached by their variables.
    let variables = crate::environment::variables().collect();
    Child::spawn(&argv, directory, variables, (out_writer, err_writer))
}
