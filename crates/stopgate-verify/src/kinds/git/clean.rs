//! Everything is committed: nothing changed, nothing untracked.
//!
//! The index remembers what it knew of each file, and can be told what to remember. So the
//! files are compared once more, with an index that remembers nothing.

use std::collections::BTreeSet;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::path::PathBuf;

use super::status::{Head, WorkTreeStanding};
use super::{Answer, Repository, SHOWN_MAX, Trouble, few};
use crate::proc::RunName;
use crate::scratch::Scratch;

/// Adds what is not committed.
pub(super) fn look(
    repository: &Repository<'_>,
    standing: &WorkTreeStanding,
    answer: &mut Answer,
) -> Result<(), Trouble> {
    let changed: Vec<&String> = standing.changed.iter().chain(&standing.unmerged).collect();
    if !changed.is_empty() {
        let names = few(&changed, SHOWN_MAX);
        answer.faults.push(format!("{} not committed: {names}", files(changed.len())));
    }
    let untracked = untracked(repository)?;
    let untracked: Vec<_> = untracked.iter().map(|name| String::from_utf8_lossy(name)).collect();
    if !untracked.is_empty() {
        let names = few(&untracked, SHOWN_MAX);
        let count = files(untracked.len());
        answer.faults.push(format!("{count} untracked (commit or ignore): {names}"));
    }
    let known: BTreeSet<&String> = changed.into_iter().collect();
    let mut hidden = hidden(repository, standing)?;
    hidden.retain(|name| !known.contains(name) && !repository.was_unwatched(name));
    if !hidden.is_empty() {
        let names = few(&hidden, SHOWN_MAX);
        answer.faults.push(format!(
            "{} changed, although git status does not show it: {names}",
            files(hidden.len())
        ));
    }
    Ok(())
}

fn files(count: usize) -> String {
    if count == 1 { "1 file".into() } else { format!("{count} files") }
}

/// Files that are neither tracked nor ignored by the project, or by a list of the start.
pub(super) fn untracked(repository: &Repository<'_>) -> Result<Vec<Vec<u8>>, Trouble> {
    let lists = repository.known_exclude_files();
    let lists: Vec<String> =
        lists.iter().map(|path| format!("--exclude-from={}", path.display())).collect();
    let mut words = vec!["ls-files", "-z", "--others", "--exclude-per-directory=.gitignore"];
    words.extend(lists.iter().map(String::as_str));
    repository.names(&words)
}

/// Files that differ from the commit when they are looked at without the index.
fn hidden(
    repository: &Repository<'_>,
    standing: &WorkTreeStanding,
) -> Result<Vec<String>, Trouble> {
    if standing.head == Head::Unborn {
        return Ok(Vec::new());
    }
    let index = OwnIndex::new()?;
    let path = index.directory.path().join("index");
    repository.told_with_index(&path, &["read-tree", "HEAD"])?;
    let words = [
        "status",
        "--porcelain=v2",
        "-z",
        "--untracked-files=no",
        "--ignore-submodules=dirty",
        "--no-renames",
    ];
    let text = repository.told_with_index(&path, &words)?;
    let left_out = left_out(repository)?;
    let mut hidden = Vec::new();
    for entry in text.split(|byte| *byte == 0).map(String::from_utf8_lossy) {
        let mut fields = entry.splitn(9, ' ');
        let (Some("1"), Some(state), Some(name)) = (fields.next(), fields.next(), fields.nth(6))
        else {
            continue;
        };
        let is_sparse = state == ".D" && left_out.contains(name);
        if !is_sparse {
            hidden.push(name.to_owned());
        }
    }
    Ok(hidden)
}

/// What a sparse work tree leaves out, where it is one.
fn left_out(repository: &Repository<'_>) -> Result<BTreeSet<String>, Trouble> {
    let sparse = repository.settings.steering(repository.basis, "core.sparsecheckout");
    if sparse.is_none_or(|value| value != "true") {
        return Ok(BTreeSet::new());
    }
    let listed = repository.names(&["ls-files", "-t", "-z"])?;
    let skipped = listed.iter().filter_map(|entry| entry.strip_prefix(b"S "));
    Ok(skipped.map(|name| String::from_utf8_lossy(name).into_owned()).collect())
}

/// An index that remembers nothing, in a directory of its own.
struct OwnIndex {
    directory: Scratch,
}

impl OwnIndex {
    fn new() -> Result<Self, Trouble> {
        // A name as runs have it: what a killed process leaves goes when the next one checks.
        let name = RunName::new(RandomState::new().build_hasher().finish()).to_string();
        let directory = Scratch::new(&name);
        let directory = directory.ok_or_else(|| {
            "could not make a temporary directory to compare the files".to_owned()
        })?;
        Ok(Self { directory })
    }
}

impl Drop for OwnIndex {
    fn drop(&mut self) {
        // What can't be removed is litter, not a fault.
        let path = PathBuf::from(self.directory.path());
        let _ = std::fs::remove_dir_all(path);
    }
}
