//! Windows: Git's bash, as agents use it there; else the system's own interpreter.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

const INTERPRETER: &str = "cmd";
/// Without a person's settings; quotes around the line are taken off.
const OPTIONS: [&str; 3] = ["/D", "/S", "/C"];

/// What a shell exits with where it finds no such command: bash, and the system's own.
pub(crate) const NOT_FOUND: [i32; 2] = [127, 9009];

/// Whether lines are for a POSIX shell.
pub fn has_posix_shell() -> bool {
    bash().is_some()
}

/// The program that runs a line, and its arguments.
pub(crate) fn shell_argv(line: &str) -> Vec<OsString> {
    match bash() {
        Some(bash) => vec![bash.into(), "-c".into(), line.into()],
        None => {
            [&[INTERPRETER][..], &OPTIONS, &[line]].concat().iter().map(OsString::from).collect()
        }
    }
}

/// The arguments of the system's interpreter, if a line is for it: it has rules of its own about
/// quotes.
pub(crate) fn command_line(argv: &[OsString]) -> Option<OsString> {
    let [program, options @ .., line] = argv else { return None };
    if program != INTERPRETER || options != OPTIONS {
        return None;
    }
    let mut raw = OsString::from(OPTIONS.join(" "));
    raw.push(" \"");
    raw.push(line);
    raw.push("\"");
    Some(raw)
}

/// Git's bash: beside the `git` of the PATH, or where Git is installed by default. The one of the
/// system's directory belongs to another system.
#[expect(clippy::disallowed_methods, reason = "where Windows says what is installed")]
fn bash() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let beside = std::env::split_paths(&path)
        .filter(|directory| directory.join("git.exe").is_file())
        .filter_map(|directory| Some(directory.parent()?.join("bin")));
    let usual = ["ProgramFiles", "LocalAppData"].into_iter().filter_map(std::env::var_os);
    let usual = usual.flat_map(|base| {
        let base = PathBuf::from(base);
        [base.join("Git/bin"), base.join("Programs/Git/bin")]
    });
    let named = std::env::var_os("CLAUDE_CODE_GIT_BASH_PATH").map(PathBuf::from);
    let found = beside.chain(usual).map(|directory| directory.join(OsStr::new("bash.exe")));
    named.into_iter().chain(found).find(|file| file.is_file())
}
