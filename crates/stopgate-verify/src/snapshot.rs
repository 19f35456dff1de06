//! Keeps a work tree as a commit that no branch knows, and puts it back elsewhere.
//!
//! The tree is read into an index of its own: neither the branch nor the person's index is touched.
//! What git ignores is left out, unless it is tracked. Contents are kept as they are, byte for
//! byte: no filter, no other line ends.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use stopgate_system::ffi::OsStringExt;

use crate::files::make_private_directory;
use crate::git::{GitError, GitFilters, git_with};
use crate::tool::ToolOutput;

/// How long git may take for one step.
const GIT_TIME: Duration = Duration::from_mins(5);
/// How many bytes of names one call gets.
const NAMES_BYTES_MAX: usize = 64 * 1024;
/// How many snapshots of a loop are kept.
pub const SNAPSHOTS_MAX: usize = 20;

/// Keeps bytes, modes and links as they are, whatever the repository's settings say.
const EXACT: [&str; 14] = [
    "-c",
    "core.autocrlf=false",
    "-c",
    "core.safecrlf=false",
    "-c",
    "core.fileMode=true",
    "-c",
    "core.symlinks=true",
    "-c",
    "core.attributesFile=/dev/null",
    "-c",
    "core.protectNTFS=false",
    "-c",
    "core.sparseCheckout=false",
];

/// A tree that was kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeSnapshot {
    /// Its number, from 1 on.
    pub number: u32,
    /// The commit that has it.
    pub commit: String,
}

/// The repository and the loop that snapshots are about.
#[derive(Clone, Copy, Debug)]
pub struct SnapshotStore<'a> {
    /// A directory of the repository: the root of the work tree.
    pub root: &'a Path,
    /// The loop.
    pub name: &'a str,
    /// Where an index may be for a while, outside the work tree.
    pub scratch: &'a Path,
}

impl SnapshotStore<'_> {
    /// Keeps the tree as it is now, and forgets the oldest where there are too many.
    pub fn keep(&self, message: &str) -> Result<TreeSnapshot, GitError> {
        let index = TemporaryIndex::new(self.scratch)?;
        let tree = self.write_tree(&index.path)?;
        let mut words: Vec<OsString> = ["commit-tree", &tree, "-m", message].map(Into::into).into();
        if let Some(head) = self.commit_of("HEAD") {
            words.extend(["-p".into(), head.into()]);
        }
        let commit = self.git("commit the tree", &words, &identity())?.line();
        let kept = self.list()?;
        let number = kept.last().map_or(1, |last| last.number.saturating_add(1));
        // Nothing where another process was faster: its snapshot stays.
        let words = ["update-ref", &self.reference(number), &commit, ""];
        self.git("name the snapshot", &words, &[])?;
        for old in kept.iter().rev().skip(SNAPSHOTS_MAX - 1) {
            let words = ["update-ref", "-d", &self.reference(old.number), &old.commit];
            self.git("forget an old snapshot", &words, &[])?;
        }
        Ok(TreeSnapshot { number, commit })
    }

    /// The snapshots that are kept, the oldest first.
    pub fn list(&self) -> Result<Vec<TreeSnapshot>, GitError> {
        let pattern = format!("refs/stopgate/{}/", self.name);
        let words = ["for-each-ref", "--format=%(objectname) %(refname)", &pattern];
        let said = self.git("list the snapshots", &words, &[])?;
        let text = String::from_utf8_lossy(&said.stdout).into_owned();
        let mut all: Vec<TreeSnapshot> = text
            .lines()
            .filter_map(|line| {
                let (commit, name) = line.split_once(' ')?;
                let number = name.strip_prefix(&pattern)?.parse().ok()?;
                Some(TreeSnapshot { number, commit: commit.into() })
            })
            .collect();
        all.sort_by_key(|snapshot| snapshot.number);
        Ok(all)
    }

    /// Puts a snapshot into a new work tree at `to`.
    pub fn restore(&self, snapshot: &TreeSnapshot, to: &Path) -> Result<(), GitError> {
        let mut words: Vec<OsString> = self.exactly()?;
        words.extend(["worktree", "add", "--detach", "--quiet"].map(OsString::from));
        words.extend([to.into(), OsString::from(&snapshot.commit)]);
        self.git("make a work tree", &words, &[]).map(drop)
    }

    /// Reads all that git does not ignore, and all that it tracks, into a tree.
    fn write_tree(&self, index: &Path) -> Result<String, GitError> {
        let own = [("GIT_INDEX_FILE".into(), index.into())];
        let exact = self.exactly()?;
        let mut all = exact.clone();
        all.extend(["add", "--all", "--", "."].map(OsString::from));
        self.git("read the tree", &all, &own)?;
        for names in batches(self.tracked_ignored()?) {
            let mut some = exact.clone();
            some.extend(["add", "--force", "--"].map(OsString::from));
            some.extend(names);
            self.git("read what is tracked", &some, &own)?;
        }
        Ok(self.git("write the tree", &["write-tree"], &own)?.line())
    }

    /// Files that git ignores by their names and tracks all the same.
    fn tracked_ignored(&self) -> Result<Vec<OsString>, GitError> {
        let words = ["ls-files", "-z", "--cached", "--ignored", "--exclude-standard"];
        let said = self.git("list what is tracked", &words, &[])?;
        let names = said.stdout.split(|byte| *byte == 0).filter(|name| !name.is_empty());
        let names = names.map(|name| OsString::from_vec(name.to_vec()));
        Ok(names.filter(|name| self.root.join(name).symlink_metadata().is_ok()).collect())
    }

    /// Words before a command that keep contents as they are.
    fn exactly(&self) -> Result<Vec<OsString>, GitError> {
        let mut words: Vec<OsString> = EXACT.map(OsString::from).into();
        // Attributes of the tree would change line ends; an empty tree has none.
        let empty =
            self.git("name the empty tree", &["hash-object", "-t", "tree", "/dev/null"], &[])?;
        let source = format!("--attr-source={}", empty.line());
        // Git before 2.41 does not know it; there, line ends follow the attributes.
        let known = self.git("ask git", &[source.as_str(), "rev-parse", "--git-dir"], &[]);
        words.extend(known.is_ok().then(|| OsString::from(source)));
        Ok(words)
    }

    fn commit_of(&self, name: &str) -> Option<String> {
        let words = ["rev-parse", "--verify", "--quiet", "--end-of-options", name];
        self.git("find a commit", &words, &[]).ok().map(|said| said.line())
    }

    fn reference(&self, number: u32) -> String {
        format!("refs/stopgate/{}/{number}", self.name)
    }

    fn git<S: AsRef<OsStr>>(
        &self,
        what: &'static str,
        words: &[S],
        own: &[(OsString, OsString)],
    ) -> Result<ToolOutput, GitError> {
        let said = git_with(words, self.root, GitFilters::OwnOnly, GIT_TIME, own)
            .map_err(|source| GitError::Io { what, source })?;
        if said.is_fine() {
            return Ok(said);
        }
        let text = String::from_utf8_lossy(&said.stderr);
        let last = text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("nothing");
        Err(GitError::Git { what, said: last.trim().to_string() })
    }
}

/// An index that is gone when it is dropped.
struct TemporaryIndex {
    path: PathBuf,
}

impl TemporaryIndex {
    fn new(scratch: &Path) -> Result<Self, GitError> {
        let trouble = |source| GitError::Io { what: "make a directory for an index", source };
        make_private_directory(scratch).map_err(trouble)?;
        let own = crate::process_mark::ProcessMark::own().pid;
        let path = scratch.join(format!("index-{own}-{:?}", std::thread::current().id()));
        let index = Self { path };
        index.remove();
        Ok(index)
    }

    fn remove(&self) {
        let _ = fs::remove_file(&self.path);
        let _ = fs::remove_file(self.path.with_extension("lock"));
    }
}

impl Drop for TemporaryIndex {
    fn drop(&mut self) {
        self.remove();
    }
}

/// Who keeps snapshots: nobody's own name.
pub(crate) fn identity() -> [(OsString, OsString); 4] {
    let who = |kind: &str, value: &str| (format!("GIT_{kind}").into(), value.into());
    [
        who("AUTHOR_NAME", "stopgate"),
        who("AUTHOR_EMAIL", "stopgate@localhost"),
        who("COMMITTER_NAME", "stopgate"),
        who("COMMITTER_EMAIL", "stopgate@localhost"),
    ]
}

/// Names in groups that fit on a command line.
fn batches(names: Vec<OsString>) -> Vec<Vec<OsString>> {
    let mut batches: Vec<Vec<OsString>> = Vec::new();
    let mut bytes = NAMES_BYTES_MAX;
    for name in names {
        bytes += name.len() + 1;
        if bytes > NAMES_BYTES_MAX {
            batches.push(Vec::new());
            bytes = name.len() + 1;
        }
        batches.last_mut().into_iter().for_each(|batch| batch.push(name.clone()));
    }
    batches
}

#[cfg(test)]
mod tests;
