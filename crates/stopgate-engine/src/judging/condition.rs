//! Whether what a loop waits for has happened.
//!
//! Time, processes and paths are looked at; a reference is asked of git; a command runs with the
//! limits and the variables of a check; an address is fetched. None takes longer than it may.

use std::path::{Path, PathBuf};
use std::time::Duration;

use stopgate_core::{LoopId, Status, Timestamp, WaitCondition};
use stopgate_system::fs::MetadataExt;
use stopgate_verify::{
    Check, CheckCommand, ChecksRun, CompiledPython, GitFilters, ProcessMark, RunLimits, Strangers,
    git,
};

use super::{instant, wait_note};
use crate::context::Context;
use crate::failure::Failure;
use crate::notify::web_agent;
use crate::watchdog;

/// How long a command may take.
const COMMAND_TIME: Duration = Duration::from_mins(1);
/// How long an address may take to answer.
const URL_TIME: Duration = Duration::from_secs(15);
const GIT_TIME: Duration = Duration::from_secs(5);
const REDIRECTS_MAX: u32 = 5;

/// What a loop shall wait for, as it was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WaitFor {
    /// A time, as people write it.
    Time(String),
    /// The end of a process.
    Process(i32),
    /// A change of a path.
    Path(PathBuf),
    /// A command that exits with 0.
    Command(String),
    /// An address that answers with 2xx.
    Url(String),
    /// A git reference that moves.
    Reference(String),
}

/// What is known of a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ConditionWord {
    /// It holds.
    Holds,
    /// It does not, or nobody can tell.
    Open,
}

impl From<bool> for ConditionWord {
    fn from(holds: bool) -> Self {
        if holds { Self::Holds } else { Self::Open }
    }
}

/// What to wait for, as things are now; refused where there is nothing to wait for.
pub(crate) fn begin(
    what: &WaitFor,
    directory: &Path,
    now: Timestamp,
) -> Result<WaitCondition, Failure> {
    let here = || directory.display().to_string();
    Ok(match what {
        WaitFor::Time(text) => WaitCondition::Time { at: time(text, now)? },
        WaitFor::Process(pid) => {
            let found = ProcessMark::of(*pid).ok_or_else(|| {
                Failure::usage(format!("there is no process {pid}"))
                    .hint("it is over: go on instead of waiting for it")
            })?;
            WaitCondition::Process { pid: found.pid, began: found.began }
        }
        WaitFor::Path(path) => {
            let path = std::path::absolute(directory.join(path)).unwrap_or_else(|_| path.clone());
            WaitCondition::Path { seen: stamp(&path), path: path.display().to_string() }
        }
        WaitFor::Command(command) if command.trim().is_empty() => {
            return Err(Failure::usage("--cmd is empty"));
        }
        WaitFor::Command(command) => {
            WaitCondition::Command { command: command.clone(), directory: here() }
        }
        WaitFor::Url(url) => WaitCondition::Url { url: address(url)? },
        WaitFor::Reference(name) => reference(name, directory)?,
    })
}

fn time(text: &str, now: Timestamp) -> Result<Timestamp, Failure> {
    let wrong = || {
        Failure::usage(format!("`{text}` is not a time"))
            .hint("write for example 03:00, 2026-11-16T03:00:00Z or 90m")
    };
    let at = instant::moment(text, now).ok_or_else(wrong)?;
    if at <= now {
        return Err(
            Failure::usage(format!("`{text}` is over")).hint("go on instead of waiting for it")
        );
    }
    Ok(at)
}

fn address(url: &str) -> Result<String, Failure> {
    let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"));
    if rest.is_none_or(str::is_empty) || url.contains(char::is_whitespace) {
        return Err(Failure::usage("--url is not an address").hint("write https://HOST/PATH"));
    }
    Ok(url.into())
}

fn reference(name: &str, directory: &Path) -> Result<WaitCondition, Failure> {
    if name.trim().is_empty() || name.starts_with('-') {
        return Err(Failure::usage(format!("`{name}` is not a git reference")));
    }
    let inside = ask_git(&["rev-parse", "--git-dir"], directory);
    if inside.is_none() {
        return Err(Failure::usage(format!("{} is not in a git repository", directory.display())));
    }
    Ok(WaitCondition::Reference {
        directory: directory.display().to_string(),
        name: name.into(),
        seen: commit(name, directory),
    })
}

/// The commit that a reference leads to, if it leads to one.
fn commit(name: &str, directory: &Path) -> Option<String> {
    ask_git(&["rev-parse", "--verify", "--quiet", "--end-of-options", name], directory)
}

fn ask_git(words: &[&str], directory: &Path) -> Option<String> {
    let said = git(words, directory, GitFilters::OwnOnly, GIT_TIME).ok()?;
    let text = String::from_utf8(said.stdout).ok()?;
    (said.status_code == Some(0)).then(|| text.trim().to_string()).filter(|text| !text.is_empty())
}

/// What is at a path, in few words: another text means that it changed.
fn stamp(path: &Path) -> String {
    let Ok(found) = std::fs::metadata(path) else {
        let link = std::fs::symlink_metadata(path).is_ok();
        return if link { "a link to nothing".into() } else { "absent".into() };
    };
    let kind = if found.is_dir() { "directory" } else { "file" };
    let (seconds, nanos) = (found.mtime(), found.mtime_nsec());
    format!("{kind} {}-{} {} {seconds}.{nanos:09}", found.dev(), found.ino(), found.len())
}

/// Whether a condition holds, where that can be told by a look; nothing where it must be asked for.
pub fn holds_at_a_look(condition: &WaitCondition, now: Timestamp) -> Option<bool> {
    match condition {
        WaitCondition::Time { at } => Some(now >= *at),
        WaitCondition::Process { pid, began } => {
            Some(!ProcessMark { pid: *pid, began: *began }.is_alive())
        }
        WaitCondition::Path { path, seen } => Some(stamp(Path::new(path)) != *seen),
        WaitCondition::Reference { .. }
        | WaitCondition::Command { .. }
        | WaitCondition::Url { .. } => None,
    }
}

/// The paths whose changes may make a condition hold; none where changes of files don't matter.
pub fn watch_points(condition: &WaitCondition) -> Vec<PathBuf> {
    match condition {
        WaitCondition::Path { path, .. } => vec![PathBuf::from(path)],
        WaitCondition::Reference { directory, name, .. } => {
            reference_files(name, Path::new(directory))
        }
        WaitCondition::Time { .. }
        | WaitCondition::Process { .. }
        | WaitCondition::Command { .. }
        | WaitCondition::Url { .. } => Vec::new(),
    }
}

/// The files of a repository that change when a reference moves.
fn reference_files(name: &str, directory: &Path) -> Vec<PathBuf> {
    let words = ["rev-parse", "--path-format=absolute", "--git-dir", "--git-common-dir"];
    let Some(told) = ask_git(&words, directory) else { return Vec::new() };
    let mut lines = told.lines().map(PathBuf::from);
    let (Some(own), Some(common)) = (lines.next(), lines.next()) else { return Vec::new() };
    let full = ask_git(&["rev-parse", "--symbolic-full-name", "--end-of-options", name], directory);
    let full = full.filter(|full| full.starts_with("refs/"));
    let mut files = vec![own.join("HEAD"), common.join("packed-refs")];
    files.push(common.join("reftable").join("tables.list"));
    let guesses = ["refs/heads", "refs/remotes", "refs/tags"].map(|at| format!("{at}/{name}"));
    let names = full.map_or_else(|| guesses.to_vec(), |full| vec![full]);
    files.extend(names.iter().map(|name| common.join(name)));
    files
}

/// Whether what the loop `id` waits for has happened.
pub(crate) fn ask_condition(
    context: &mut Context,
    id: &LoopId,
    condition: &WaitCondition,
) -> ConditionWord {
    if let Some(holds) = holds_at_a_look(condition, context.now()) {
        return ConditionWord::from(holds);
    }
    // What others wrote into a shared journal runs nothing here.
    if !wait_note::began_here(&context.home, id, condition) {
        return ConditionWord::Open;
    }
    match condition {
        WaitCondition::Time { .. } | WaitCondition::Process { .. } | WaitCondition::Path { .. } => {
            ConditionWord::Open
        }
        WaitCondition::Reference { directory, name, seen } => {
            let directory = Path::new(directory);
            // Where git can't be asked, nothing has moved.
            let asked = ask_git(&["rev-parse", "--git-dir"], directory).is_some();
            ConditionWord::from(asked && commit(name, directory) != *seen)
        }
        WaitCondition::Command { command, directory } => {
            run_condition(context, id, command, directory)
        }
        WaitCondition::Url { url } => {
            watchdog::allow(URL_TIME);
            let answers = answers(url);
            watchdog::allow(Duration::ZERO);
            ConditionWord::from(answers)
        }
    }
}

/// Runs a command as a check is run: with its limits, its variables and no more.
fn run_condition(
    context: &mut Context,
    id: &LoopId,
    command: &str,
    directory: &str,
) -> ConditionWord {
    let log = context.home.check_logs(id).join("wait.log");
    let mut check = Check::new("wait", CheckCommand::Shell(command), PathBuf::from(directory), log);
    check.timeout = COMMAND_TIME;
    let pass = context.passed_variables();
    let limits = RunLimits {
        budget: COMMAND_TIME,
        jobs: 1,
        pass: &pass,
        strangers: Strangers::Spare,
        compiled: CompiledPython::Anew,
    };
    watchdog::allow(COMMAND_TIME);
    let ran = context.world.run(&[check], limits);
    watchdog::allow(Duration::ZERO);
    match ran {
        ChecksRun::Runs(runs) => {
            ConditionWord::from(runs.iter().any(|run| run.receipt.status == Status::Pass))
        }
        ChecksRun::Interrupted => ConditionWord::Open,
    }
}

/// Whether an address answers with a status of 200 to 299.
fn answers(url: &str) -> bool {
    let answer = web_agent(URL_TIME, REDIRECTS_MAX).get(url).call();
    answer.is_ok_and(|answer| answer.status().is_success())
}
