//! The one door to git.
//!
//! A repository is a stranger's: its own settings may name programs (file system monitors,
//! hooks, filters, signers, transports). None of them is started, no lock is taken, nothing is
//! fetched, and git has the time that it is given and no more.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::Path;
use std::time::Duration;

use crate::env::Variable;
use crate::tool::{ToolOutput, tool_with};

/// What every call begins with.
const ALWAYS: [&str; 13] = [
    "git",
    "--no-optional-locks",
    "--no-pager",
    "--no-replace-objects",
    "--literal-pathspecs",
    "-c",
    "core.fsmonitor=false",
    "-c",
    "core.hooksPath=/dev/null",
    "-c",
    "core.sshCommand=false",
    "-c",
    "log.showSignature=false",
];

/// Whether programs that a repository's settings name as filters may be run on its files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GitFilters {
    /// They may: a person trusts what is asked here.
    Run,
    /// Those of the repository are left out; the person's own are run.
    OwnOnly,
}

/// Why something could not be done with git.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    /// Git refused.
    #[error("{what}: git says: {said}")]
    Git {
        /// What was tried.
        what: &'static str,
        /// The end of what it said.
        said: String,
    },
    /// The system refused.
    #[error("{what}")]
    Io {
        /// What was tried.
        what: &'static str,
        /// What the system said.
        source: io::Error,
    },
}

/// Asks git something in `directory`.
pub fn git<S: AsRef<OsStr>>(
    words: &[S],
    directory: &Path,
    filters: GitFilters,
    timeout: Duration,
) -> io::Result<ToolOutput> {
    git_with(words, directory, filters, timeout, &[])
}

/// The same, with variables of its own: another index, another author.
pub(crate) fn git_with<S: AsRef<OsStr>>(
    words: &[S],
    directory: &Path,
    filters: GitFilters,
    timeout: Duration,
    own: &[Variable],
) -> io::Result<ToolOutput> {
    let mut argv: Vec<OsString> = ALWAYS.iter().map(OsString::from).collect();
    if filters == GitFilters::OwnOnly {
        for name in foreign_filters(directory, timeout)? {
            let off = ["clean=", "smudge=", "process=", "required=false"];
            for setting in off {
                argv.extend(["-c".into(), format!("{name}.{setting}").into()]);
            }
        }
    }
    argv.extend(words.iter().map(|word| word.as_ref().to_os_string()));
    if filters == GitFilters::OwnOnly {
        stay_outside(&mut argv);
    }
    tool_with(&argv, directory, timeout, own)
}

/// Keeps git out of repositories within this one: their filters stand in settings of their own,
/// which were not looked through, and only a word on the command line is stronger than what
/// the repository says about them.
fn stay_outside(argv: &mut Vec<OsString>) {
    let looks = argv.iter().position(|word| word == "diff" || word == "status");
    let says_so = |word: &OsString| word.to_string_lossy().starts_with("--ignore-submodules=");
    if let Some(at) = looks.filter(|_| !argv.iter().any(says_so)) {
        argv.insert(at + 1, "--ignore-submodules=dirty".into());
    }
}

/// The filters, as `filter.NAME`, that the repository itself defines.
fn foreign_filters(directory: &Path, timeout: Duration) -> io::Result<Vec<String>> {
    foreign_settings("^filter\\.", directory, timeout)
}

/// The merge drivers, as `merge.NAME`, that the repository itself defines.
pub(crate) fn foreign_merge_drivers(
    directory: &Path,
    timeout: Duration,
) -> io::Result<Vec<String>> {
    foreign_settings("^merge\\..*\\.driver$", directory, timeout)
}

/// The names before the last point of settings of the repository's own.
fn foreign_settings(pattern: &str, directory: &Path, timeout: Duration) -> io::Result<Vec<String>> {
    let words = ["config", "--show-scope", "-z", "--name-only", "--get-regexp", pattern];
    let said = git(&words, directory, GitFilters::Run, timeout)?;
    let text = String::from_utf8(said.stdout).map_err(|_| unclear())?;
    let mut fields = text.split_terminator('\0');
    let mut names = Vec::new();
    while let (Some(scope), Some(key)) = (fields.next(), fields.next()) {
        let Some((name, _)) = key.rsplit_once('.').filter(|_| !is_persons(scope)) else { continue };
        // Such a name can't be said on a command line, so it could not be turned off.
        if name.contains('=') {
            return Err(unclear());
        }
        if !names.iter().any(|known| known == name) {
            names.push(name.to_owned());
        }
    }
    Ok(names)
}

fn is_persons(scope: &str) -> bool {
    matches!(scope, "system" | "global" | "command")
}

fn unclear() -> io::Error {
    io::Error::other("the repository defines a filter or a merge driver with a strange name")
}

#[cfg(test)]
mod tests;
