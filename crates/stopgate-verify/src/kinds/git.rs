//! How the repository must stand.
//!
//! Asks git, and takes neither the repository's settings nor its index's flags at their
//! word where they would hide a change.

mod conflicts;

mod status;

use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use stopgate_core::{GitDemand, Status};

use self::status::{Head, Standing};
use super::{Finding, few};
use crate::git::GitFilters;

const TIMEOUT: Duration = Duration::from_mins(1);
const SHOWN_MAX: usize = 20;
/// More files than these with hidden changes are not looked at one by one.
const FLAGGED_MAX: usize = 50;

/// All of `demands` must hold.
pub fn git(root: &Path, demands: &[GitDemand]) -> Finding {
    if demands.is_empty() {
        return Finding::error("nothing is asked for: set clean, pushed or no_conflicts");
    }
    let found = Repository::open(root).and_then(|repository| {
        let standing = Standing::read(&repository)?;
        let mut faults = Vec::new();
        let mut spots = Vec::new();
        for demand in demands {
            match demand {
                GitDemand::Clean => faults.extend(unclean(&repository, &standing)?),
                GitDemand::Pushed => faults.extend(unpushed(&repository, &standing)?),
                GitDemand::NoConflicts => {
                    faults.extend(conflicts::find(&repository, &standing, &mut spots)?);
                }
            }
        }
        Ok((faults, spots))
    });
    match found {
        Err(trouble) => trouble.into(),
        Ok((faults, _)) if faults.is_empty() => {
            let words: Vec<&str> = demands.iter().map(|demand| word(*demand)).collect();
            Finding::pass(words.join(", "))
        }
        Ok((faults, spots)) => Finding::fail(faults.join("\n")).at(spots),
    }
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

impl From<Trouble> for Finding {
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
struct Repository {
    /// The project's folder.
    root: PathBuf,
    /// The work tree's.
    top: PathBuf,
    git_dir: PathBuf,
}

/// What git said, and its exit code.
struct Said {
    code: i32,
    text: Vec<u8>,
    complaint: String,
}

impl Repository {
    fn open(root: &Path) -> Result<Self, Trouble> {
        let words = ["rev-parse", "--show-toplevel", "--absolute-git-dir"];
        let said = ask(root, &words.map(OsStr::new))?;
        let mut lines = said.text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        match (said.code, lines.next(), lines.next()) {
            (0, Some(top), Some(git_dir)) => {
                let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.into());
                let top = real(Path::new(OsStr::from_bytes(top)));
                let root = real(root);
                if !root.starts_with(&top) {
                    let text =
                        format!("{} is not in git's work tree {}", root.display(), top.display());
                    return Err(text.into());
                }
                Ok(Self { root, top, git_dir: PathBuf::from(OsStr::from_bytes(git_dir)) })
            }
            _ => {
                Err(format!("{} has no work tree of git: {}", root.display(), said.complaint)
                    .into())
            }
        }
    }

    fn ask(&self, words: &[&str]) -> Result<Said, Trouble> {
        let words: Vec<&OsStr> = words.iter().map(OsStr::new).collect();
        ask(&self.top, &words)
    }

    /// An answer that must not be a refusal.
    fn told(&self, words: &[&str]) -> Result<Vec<u8>, Trouble> {
        let said = self.ask(words)?;
        if said.code == 0 {
            return Ok(said.text);
        }
        let name = words.first().copied().unwrap_or_default();
        Err(format!("git {name} ended with {}: {}", said.code, said.complaint).into())
    }
}

/// Runs git without the settings that would start programs or leave something out.
fn ask(folder: &Path, words: &[&OsStr]) -> Result<Said, Trouble> {
    let always = [
        "-c",
        "core.untrackedCache=false",
        "-c",
        "core.quotePath=false",
        "-c",
        "core.ignoreStat=false",
    ];
    let words: Vec<&OsStr> = always.iter().map(OsStr::new).chain(words.iter().copied()).collect();
    match crate::git::git(&words, folder, GitFilters::Run, TIMEOUT) {
        Ok(output) => {
            let complaint = String::from_utf8_lossy(&output.stderr);
            let complaint = complaint.lines().next().unwrap_or("no reason given").to_owned();
            Ok(Said { code: output.status_code.unwrap_or(-1), text: output.stdout, complaint })
        }
        Err(error) if error.kind() == io::ErrorKind::TimedOut => Err(Trouble::Late),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Err(format!("git could not be run in {}: {error}", folder.display()).into())
        }
        Err(error) => Err(format!("git could not be asked: {error}").into()),
    }
}

fn unclean(repository: &Repository, standing: &Standing) -> Result<Vec<String>, Trouble> {
    let mut faults = Vec::new();
    let changed: Vec<&String> = standing.changed.iter().chain(&standing.unmerged).collect();
    if !changed.is_empty() {
        let names = few(&changed, SHOWN_MAX);
        faults.push(format!("{} not committed: {names}", files(changed.len())));
    }
    if !standing.untracked.is_empty() {
        let names = few(&standing.untracked, SHOWN_MAX);
        let count = files(standing.untracked.len());
        faults.push(format!("{count} untracked (commit or ignore): {names}"));
    }
    let hidden = hidden(repository)?;
    if !hidden.is_empty() {
        let names = few(&hidden, SHOWN_MAX);
        faults.push(format!(
            "changed, but hidden from git (see git update-index --no-assume-unchanged): {names}"
        ));
    }
    Ok(faults)
}

fn files(count: usize) -> String {
    if count == 1 { "1 file".into() } else { format!("{count} files") }
}

/// Files that the index was told not to look at, and that differ from it.
fn hidden(repository: &Repository) -> Result<Vec<String>, Trouble> {
    let listed = repository.told(&["ls-files", "-v", "-z"])?;
    let mut flagged = Vec::new();
    for entry in listed.split(|byte| *byte == 0) {
        let (Some(tag), Some(path)) = (entry.first(), entry.get(2..)) else { continue };
        let there = repository.top.join(OsStr::from_bytes(path)).symlink_metadata().is_ok();
        // What a sparse work tree leaves out is not there.
        if tag.is_ascii_lowercase() || (*tag == b'S' && there) {
            flagged.push(String::from_utf8_lossy(path).into_owned());
        }
    }
    if flagged.len() > FLAGGED_MAX {
        return Ok(flagged);
    }
    let mut hidden = Vec::new();
    for path in flagged {
        let indexed = repository.ask(&["rev-parse", "--verify", "--quiet", &format!(":{path}")])?;
        let actual = repository.ask(&["hash-object", "--", &path])?;
        if indexed.code != 0 || actual.code != 0 || indexed.text != actual.text {
            hidden.push(path);
        }
    }
    Ok(hidden)
}

fn unpushed(repository: &Repository, standing: &Standing) -> Result<Option<String>, Trouble> {
    let branch = match &standing.head {
        Head::Detached => {
            return Ok(Some("HEAD is detached: check out a branch and push it".into()));
        }
        Head::Unborn => return Ok(Some("there is no commit yet: commit and push".into())),
        Head::Branch(branch) => branch,
    };
    let Some(upstream) = &standing.upstream else {
        return Ok(Some(format!("{branch} has no upstream: git push -u origin {branch}")));
    };
    let Some(ahead) = standing.ahead else {
        return Ok(Some(format!("{upstream}, the upstream of {branch}, is gone: push it again")));
    };
    let name = repository.told(&["rev-parse", "--symbolic-full-name", "@{upstream}"])?;
    if !name.starts_with(b"refs/remotes/") {
        return Ok(Some(format!("{upstream}, the upstream of {branch}, is not on a remote")));
    }
    Ok((ahead > 0).then(|| {
        let commits =
            if ahead == 1 { "1 commit is".into() } else { format!("{ahead} commits are") };
        format!("{commits} not on {upstream}: git push")
    }))
}
