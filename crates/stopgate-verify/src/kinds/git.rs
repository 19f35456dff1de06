//! How the repository must stand.
//!
//! Asks git, but takes neither the index nor the repository's own settings at their word
//! where they could hide a change: contents are compared without the index, settings are
//! those of the start, and what is pushed is asked of the remote itself.

mod basis;

mod clean;

mod conflicts;

mod pushed;

mod status;

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use stopgate_core::{GitDemand, Status};
use stopgate_system::CanonicalPath;
use stopgate_system::ffi::OsStrExt;

pub use self::basis::GitBasis;
use self::basis::GitSettings;
use self::status::WorkTreeStanding;
use super::{FindingBasis, KindFinding, few};
use crate::tool::{own_tool, tool};

const TIMEOUT: Duration = Duration::from_mins(1);
const SHOWN_MAX: usize = 20;

/// All of `demands` must hold, with git set up as it was at the start where that is known.
pub fn git(root: &Path, demands: &[GitDemand], basis: Option<&GitBasis>) -> KindFinding {
    if demands.is_empty() {
        return KindFinding::error("nothing is asked for: set clean, pushed or no_conflicts");
    }
    let mut answer = Answer::default();
    let found = Repository::open(root, basis).and_then(|repository| {
        let standing = WorkTreeStanding::read(&repository)?;
        for demand in demands {
            match demand {
                GitDemand::Clean => clean::look(&repository, &standing, &mut answer)?,
                GitDemand::Pushed => pushed::look(&repository, &standing, &mut answer)?,
                GitDemand::NoConflicts => conflicts::look(&repository, &standing, &mut answer)?,
            }
        }
        Ok(())
    });
    let mut finding = match found {
        Err(trouble) => trouble.into(),
        Ok(()) if answer.faults.is_empty() => {
            let words: Vec<&str> = demands.iter().map(|demand| word(*demand)).collect();
            let notes = answer.notes.iter().map(|note| format!("\n{note}"));
            KindFinding::pass(format!("{}{}", words.join(", "), notes.collect::<String>()))
        }
        Ok(()) => KindFinding::fail(answer.faults.join("\n")).at(answer.spots),
    };
    finding.basis = answer.basis;
    finding
}

/// What was found so far.
#[derive(Default)]
struct Answer {
    faults: Vec<String>,
    spots: Vec<String>,
    /// What a reader of a pass should know.
    notes: Vec<String>,
    basis: FindingBasis,
}

const fn word(demand: GitDemand) -> &'static str {
    match demand {
        GitDemand::Clean => "everything is committed",
        GitDemand::Pushed => "every commit is pushed",
        GitDemand::NoConflicts => "no conflicts",
    }
}

/// Why git gave no answer.
enum Trouble {
    Late,
    Other(String),
}

impl From<Trouble> for KindFinding {
    fn from(trouble: Trouble) -> Self {
        match trouble {
            Trouble::Other(trouble) => Self::error(trouble),
            Trouble::Late => {
                let text = format!("git gave no answer in {} s", TIMEOUT.as_secs());
                Self { status: Status::Timeout, ..Self::error(text) }
            }
        }
    }
}

impl From<String> for Trouble {
    fn from(text: String) -> Self {
        Self::Other(text)
    }
}

/// A repository with a work tree.
struct Repository<'a> {
    /// The project's directory.
    root: PathBuf,
    /// The work tree's.
    top: PathBuf,
    git_dir: PathBuf,
    /// Where settings and refs are, for all work trees.
    common_dir: PathBuf,
    /// Git's settings as they are now.
    settings: GitSettings,
    /// How git was set up at the start.
    basis: Option<&'a GitBasis>,
    /// `key=value` of settings that are not as git must be set up.
    overrides: Vec<String>,
}

/// What git said, and its exit code.
struct Said {
    code: i32,
    text: Vec<u8>,
    complaint: String,
}

impl<'a> Repository<'a> {
    fn open(root: &Path, basis: Option<&'a GitBasis>) -> Result<Self, Trouble> {
        let words = ["rev-parse", "--show-toplevel", "--absolute-git-dir", "--git-common-dir"];
        let said = ask(root, &[], &words, TIMEOUT)?;
        let mut lines = said.text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        let (0, Some(top), Some(git_dir), Some(common)) =
            (said.code, lines.next(), lines.next(), lines.next())
        else {
            let complaint = said.complaint;
            return Err(format!("{} has no work tree of git: {complaint}", root.display()).into());
        };
        let path = |bytes: &[u8]| PathBuf::from(OsStr::from_bytes(bytes));
        let real = |path: &Path| path.canonical().unwrap_or_else(|_| path.into());
        let (top, root) = (real(&path(top)), real(root));
        if !root.starts_with(&top) {
            let text = format!("{} is not in git's work tree {}", root.display(), top.display());
            return Err(text.into());
        }
        let common_dir = root.join(path(common));
        let git_dir = path(git_dir);
        let then = basis.and_then(|basis| basis.directory.as_ref());
        if then.is_some_and(|then| *then != real(&common_dir).display().to_string()) {
            let now = common_dir.display();
            let text = format!("the repository is {now}, and it was another one at the start");
            return Err(text.into());
        }
        let settings = GitSettings::read(&top)?;
        let overrides = settings.overrides(basis, &common_dir);
        Ok(Self { root, top, git_dir, common_dir, settings, basis, overrides })
    }

    fn ask(&self, words: &[&str]) -> Result<Said, Trouble> {
        ask(&self.top, &self.overrides, words, TIMEOUT)
    }

    /// An answer that must not be a refusal.
    fn told(&self, words: &[&str]) -> Result<Vec<u8>, Trouble> {
        self.ask(words)?.unless_refused(words)
    }

    /// The same with an index of our own.
    fn told_with_index(&self, index: &Path, words: &[&str]) -> Result<Vec<u8>, Trouble> {
        let mut variable = OsString::from("GIT_INDEX_FILE=");
        variable.push(index);
        let prefix = [OsString::from("env"), variable];
        let said = ask_after(&prefix, &self.top, &self.overrides, words, TIMEOUT)?;
        said.unless_refused(words)
    }

    /// Names in an answer that ends each with a zero.
    fn names(&self, words: &[&str]) -> Result<Vec<Vec<u8>>, Trouble> {
        let text = self.told(words)?;
        let names = text.split(|byte| *byte == 0).filter(|name| !name.is_empty());
        Ok(names.map(<[u8]>::to_vec).collect())
    }
}

impl Said {
    fn unless_refused(self, words: &[&str]) -> Result<Vec<u8>, Trouble> {
        if self.code == 0 {
            return Ok(self.text);
        }
        let name = words.first().copied().unwrap_or_default();
        Err(format!("git {name} ended with {}: {}", self.code, self.complaint).into())
    }
}

/// Settings that start programs or believe what the index says of a file.
const ALWAYS: [&str; 6] = [
    "core.fsmonitor=false",
    "core.untrackedCache=false",
    "core.quotePath=false",
    "core.ignoreStat=false",
    "core.checkStat=default",
    "core.trustctime=true",
];

/// Runs git without the settings that would start programs or leave something out.
fn ask(
    directory: &Path,
    overrides: &[String],
    words: &[&str],
    timeout: Duration,
) -> Result<Said, Trouble> {
    ask_after(&[], directory, overrides, words, timeout)
}

fn ask_after(
    prefix: &[OsString],
    directory: &Path,
    overrides: &[String],
    words: &[&str],
    timeout: Duration,
) -> Result<Said, Trouble> {
    let settings = ALWAYS.into_iter().chain(overrides.iter().map(String::as_str));
    let settings = settings.flat_map(|setting| ["-c", setting]);
    // What a commit says is what it says, not what was put in its place.
    let begin = ["git", "--no-optional-locks", "--no-replace-objects"];
    let argv = begin.into_iter().chain(settings);
    let argv = argv.chain(words.iter().copied()).map(OsString::from);
    let argv: Vec<OsString> = prefix.iter().cloned().chain(argv).collect();
    // A remote is asked as the person would ask it: with their agent and their proxy.
    let asks_remote = words.first() == Some(&"ls-remote");
    let said = if asks_remote {
        own_tool(&argv, directory, timeout)
    } else {
        tool(&argv, directory, timeout)
    };
    match said {
        Ok(output) => {
            let complaint = String::from_utf8_lossy(&output.stderr);
            let complaint = complaint.lines().next().unwrap_or("no reason given").to_owned();
            Ok(Said { code: output.status_code.unwrap_or(-1), text: output.stdout, complaint })
        }
        Err(error) if error.kind() == io::ErrorKind::TimedOut => Err(Trouble::Late),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Err(format!("git could not be run in {}: {error}", directory.display()).into())
        }
        Err(error) => Err(format!("git could not be asked: {error}").into()),
    }
}

#[cfg(test)]
mod tests;
