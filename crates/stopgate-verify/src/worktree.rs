//! A git worktree with a branch of its own, and the way back into the branch it came from.
//!
//! Everything is committed before anything is checked out, a branch is moved only from the commit
//! that was looked at, and nothing is ever forced: what can't be done is said, and stays.

mod merge;

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

pub use self::merge::{MergeTry, PublishTry};
use crate::git::{GitError, GitFilters, foreign_merge_drivers, git_with};
use crate::snapshot::identity;
use crate::tool::ToolOutput;

/// How long git may take for one step.
const GIT_TIME: Duration = Duration::from_mins(5);
/// How long git may take to say how things are.
const LOOK_TIME: Duration = Duration::from_secs(30);
/// How often, and with which pauses, a lock that another git holds is waited for: five seconds.
const LOCK_TRIES_MAX: u32 = 50;
const LOCK_PAUSE: Duration = Duration::from_millis(100);
const ATTRIBUTES_BYTES_MAX: u64 = 1 << 20;

/// What is checked out in a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HeadState {
    /// A branch with at least one commit.
    Branch {
        /// Its name, without `refs/heads/`.
        name: String,
        /// Its commit.
        commit: String,
    },
    /// A commit without a branch.
    Detached,
    /// A branch without a commit.
    Unborn,
    /// It is not a git work tree, or git can't be asked.
    Nothing,
}

/// Files of the tree that are not part of the work: they stay as the target has them.
#[derive(Clone, Debug, Default)]
pub struct KeptApart {
    /// Their paths from the root of the work tree.
    pub paths: Vec<PathBuf>,
    /// Files that the merge brings along, written by stopgate itself.
    pub written: Vec<(PathBuf, String)>,
}

/// A loop's own branch and worktree.
#[derive(Clone, Copy, Debug)]
pub struct LoopBranch<'a> {
    /// The work tree of the person who began.
    pub main: &'a Path,
    /// The loop's own work tree.
    pub directory: &'a Path,
    /// The loop's own branch.
    pub branch: &'a str,
    /// The branch that it is merged into.
    pub target: &'a str,
}

/// What is checked out in `directory`.
pub fn head_state(directory: &Path) -> HeadState {
    let ask = |words: &[&str]| {
        let said = git_with(words, directory, GitFilters::OwnOnly, LOOK_TIME, &[]).ok()?;
        said.is_fine().then(|| said.line()).filter(|line| !line.is_empty())
    };
    if ask(&["rev-parse", "--is-inside-work-tree"]).as_deref() != Some("true") {
        return HeadState::Nothing;
    }
    let commit = ask(&["rev-parse", "--verify", "--quiet", "HEAD"]);
    match (ask(&["symbolic-ref", "--quiet", "--short", "HEAD"]), commit) {
        (Some(name), Some(commit)) => HeadState::Branch { name, commit },
        (Some(_), None) => HeadState::Unborn,
        (None, _) => HeadState::Detached,
    }
}

/// What a person should know before the work goes on in a worktree, a sentence each.
pub fn worktree_warnings(main: &Path) -> Vec<String> {
    let mut warnings = Vec::new();
    let words = ["status", "--porcelain", "--untracked-files=normal", "--ignore-submodules=dirty"];
    let status = git_with(&words, main, GitFilters::OwnOnly, GIT_TIME, &[]);
    if status.is_ok_and(|said| said.is_fine() && !said.stdout.is_empty()) {
        warnings.push(format!(
            "uncommitted changes in {} stay there: the worktree begins with the last commit",
            main.display()
        ));
    }
    if main.join(".gitmodules").exists() {
        warnings.push(
            "submodules are not checked out in the worktree; a check that needs them runs \
             `git submodule update --init` there"
                .into(),
        );
    }
    let attributes = crate::files::read_text(&main.join(".gitattributes"), ATTRIBUTES_BYTES_MAX);
    if attributes.is_ok_and(|text| text.contains("filter=lfs")) {
        warnings.push(
            "this repository uses Git LFS: its files are in the worktree only where git-lfs is \
             set up for your user (`git lfs install`)"
                .into(),
        );
    }
    warnings
}

impl LoopBranch<'_> {
    /// Makes the branch at `commit`, and the worktree.
    pub fn create(&self, commit: &str) -> Result<(), GitError> {
        let words = ["worktree", "add", "--quiet", "-b", self.branch];
        let mut words: Vec<OsString> = words.map(OsString::from).into();
        words.extend([self.directory.into(), commit.into()]);
        self.at(self.main, "make the worktree", &words).map(drop)
    }

    /// Makes the worktree of a branch that exists.
    pub fn attach(&self) -> Result<(), GitError> {
        self.at(self.main, "forget worktrees that are gone", &["worktree", "prune"])?;
        let mut words: Vec<OsString> = ["worktree", "add", "--quiet"].map(OsString::from).into();
        words.extend([self.directory.into(), self.branch.into()]);
        self.at(self.main, "make the worktree", &words).map(drop)
    }

    /// The commit of the loop's own branch, if it exists.
    pub fn tip(&self) -> Option<String> {
        self.commit_of(self.branch)
    }

    /// The commit of the branch that is merged into, if it exists.
    pub fn target_tip(&self) -> Option<String> {
        self.commit_of(self.target)
    }

    fn commit_of(&self, branch: &str) -> Option<String> {
        let name = format!("refs/heads/{branch}^{{commit}}");
        let words = ["rev-parse", "--verify", "--quiet", "--end-of-options", &name];
        self.at(self.main, "find a commit", &words).ok().map(|said| said.line())
    }

    /// The text of a file as the target has it; nothing where it has none.
    pub fn text_at_target(&self, path: &Path) -> Option<String> {
        let name = format!("refs/heads/{}:{}", self.target, path.display());
        let words = ["cat-file", "blob", &name];
        let said = self.at(self.main, "read a file", &words).ok()?;
        String::from_utf8(said.stdout).ok()
    }

    /// Whether the worktree is there.
    pub fn is_there(&self) -> bool {
        self.directory.join(".git").symlink_metadata().is_ok()
    }

    /// Commits all that is in the worktree and not ignored, except what is kept apart.
    pub fn commit_all(&self, message: &str, apart: &KeptApart) -> Result<(), GitError> {
        let open = self.unmerged()?;
        if !open.is_empty() {
            return Err(GitError::Git {
                what: "commit the work",
                said: format!("a merge is under way with conflicts in {}", open.join(", ")),
            });
        }
        self.here("read the worktree", &["add", "--all", "--", "."])?;
        for path in &apart.paths {
            let words: [&OsStr; 4] =
                ["reset".as_ref(), "--quiet".as_ref(), "--".as_ref(), path.as_ref()];
            // It fails where there is nothing to take back.
            let _ = self.here("keep a file apart", &words);
        }
        let staged = self.ask(&["diff", "--cached", "--quiet", "--no-ext-diff"])?;
        if staged.is_fine() {
            return Ok(());
        }
        let words = ["commit", "--quiet", "--no-verify", "--no-gpg-sign", "-m", message];
        self.here("commit the work", &words).map(drop)
    }

    /// Takes the worktree and the branch away; says why where they must stay.
    pub fn remove(&self, merged: &str, apart: &KeptApart) -> Result<(), GitError> {
        for path in &apart.paths {
            let words: [&OsStr; 4] =
                ["ls-files".as_ref(), "--error-unmatch".as_ref(), "--".as_ref(), path.as_ref()];
            if !self.ask(&words)?.is_fine() {
                // Not the work's own; where it can't be removed, git says so.
                let _ = fs::remove_file(self.directory.join(path));
            }
        }
        let words: [&OsStr; 3] =
            ["worktree".as_ref(), "remove".as_ref(), self.directory.as_os_str()];
        self.at(self.main, "remove the worktree", &words)?;
        if let Some(tip) = self.tip()
            && self.at(self.main, "compare", &["merge-base", "--is-ancestor", &tip, merged]).is_ok()
        {
            let name = format!("refs/heads/{}", self.branch);
            self.at(self.main, "remove the branch", &["update-ref", "-d", &name, &tip])?;
        }
        Ok(())
    }

    /// Asks git in the worktree; a failure is an answer, too.
    fn ask<S: AsRef<OsStr>>(&self, words: &[S]) -> Result<ToolOutput, GitError> {
        self.run(self.directory, words, "ask git")
    }

    fn run<S: AsRef<OsStr>>(
        &self,
        directory: &Path,
        words: &[S],
        what: &'static str,
    ) -> Result<ToolOutput, GitError> {
        let words = self.quietly(words)?;
        let said = patiently(
            || git_with(&words, directory, GitFilters::OwnOnly, GIT_TIME, &identity()),
            || thread::sleep(LOCK_PAUSE),
        );
        said.map_err(|source| GitError::Io { what, source })
    }

    fn here<S: AsRef<OsStr>>(
        &self,
        what: &'static str,
        words: &[S],
    ) -> Result<ToolOutput, GitError> {
        self.at(self.directory, what, words)
    }

    fn at<S: AsRef<OsStr>>(
        &self,
        directory: &Path,
        what: &'static str,
        words: &[S],
    ) -> Result<ToolOutput, GitError> {
        let said = self.run(directory, words, what)?;
        if said.is_fine() { Ok(said) } else { Err(refused(what, &said)) }
    }

    /// The words after settings that keep programs of the repository's own from running.
    fn quietly<S: AsRef<OsStr>>(&self, words: &[S]) -> Result<Vec<OsString>, GitError> {
        let drivers = foreign_merge_drivers(self.main, LOOK_TIME)
            .map_err(|source| GitError::Io { what: "read git's settings", source })?;
        let mut all: Vec<OsString> = Vec::new();
        for name in drivers {
            // A driver that fails leaves a conflict, which a person sees.
            all.extend(["-c".into(), format!("{name}.driver=false").into()]);
        }
        all.extend(words.iter().map(|word| word.as_ref().to_os_string()));
        Ok(all)
    }
}

/// Asks again while another git, an editor's perhaps, holds one of the repository's locks.
fn patiently(
    mut attempt: impl FnMut() -> io::Result<ToolOutput>,
    mut pause: impl FnMut(),
) -> io::Result<ToolOutput> {
    for _ in 1..LOCK_TRIES_MAX {
        let said = attempt()?;
        let text = String::from_utf8_lossy(&said.stderr);
        if said.is_fine() || !text.contains(".lock': File exists") {
            return Ok(said);
        }
        pause();
    }
    attempt()
}

fn refused(what: &'static str, said: &ToolOutput) -> GitError {
    GitError::Git { what, said: complaint(&String::from_utf8_lossy(&said.stderr)) }
}

/// What git complains about: the line that says so with the files it names, else its last words.
fn complaint(text: &str) -> String {
    let says = |line: &&str| line.starts_with("error: ") || line.starts_with("fatal: ");
    let mut lines = text.lines().skip_while(|line| !says(line));
    let Some(first) = lines.next() else {
        let last = text.lines().rev().find(|line| !line.trim().is_empty());
        return last.unwrap_or("nothing").trim().to_string();
    };
    let files: Vec<&str> = lines.take_while(|line| line.starts_with('\t')).map(str::trim).collect();
    format!("{first} {}", files.join(", ")).trim().to_string()
}

/// Writes a file of the work tree.
fn write(path: &Path, text: &str) -> Result<(), GitError> {
    let written = path.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| {
        // A link could lead out of the work tree.
        if path.is_symlink() {
            fs::remove_file(path)?;
        }
        fs::write(path, text)
    });
    written.map_err(|source| GitError::Io { what: "write a file of the merge", source })
}

#[cfg(test)]
mod tests;
