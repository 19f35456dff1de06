//! A program that is started and left alone: nothing waits for it, and it has a time limit.

use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::time::Duration;

use crate::child::Child;

/// Runs its arguments, for at most ten seconds, without a word.
const SCRIPT: &str = "exec >/dev/null 2>&1 </dev/null; \"$@\" & p=$!; \
                      (sleep 10; kill \"$p\") & w=$!; wait \"$p\"; kill \"$w\"";

/// Most programs that tell something are done in no time: so long they are waited for.
const LOOKS: u32 = 50;
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// Starts `argv` in a process group of its own; one that takes its time is left alone.
pub fn detached(argv: &[&str], folder: &Path) -> io::Result<()> {
    let shell = ["/bin/sh", "-c", SCRIPT, "stopgate"];
    let argv: Vec<OsString> = shell.iter().chain(argv).map(OsString::from).collect();
    let (_out, out_writer) = io::pipe()?;
    let (_err, err_writer) = io::pipe()?;
    // A person chose the command for themselves: a desktop is reached by their variables.
    let variables = std::env::vars_os().collect();
    let child = Child::spawn(&argv, folder, variables, (out_writer, err_writer))?;
    for _ in 0..LOOKS {
        if child.has_ended() {
            break;
        }
        std::thread::sleep(LOOK_EVERY);
    }
    std::mem::forget(child);
    Ok(())
}
