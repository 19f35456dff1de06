//! Conflicts: under way, in the index, or as markers in a file.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::super::few;
use super::super::places::{self, Content};
use super::status::Standing;
use super::{Repository, SHOWN_MAX, Trouble};

const FILE_BYTES_MAX: u64 = 8 * 1024 * 1024;

/// What git keeps while it waits for a person, and the word for it.
const UNDER_WAY: [(&str, &str); 5] = [
    ("MERGE_HEAD", "a merge"),
    ("rebase-merge", "a rebase"),
    ("rebase-apply", "a rebase"),
    ("CHERRY_PICK_HEAD", "a cherry-pick"),
    ("REVERT_HEAD", "a revert"),
];

/// What is in conflict, in words; `spots` gets the places of the markers.
pub(super) fn find(
    repository: &Repository,
    standing: &Standing,
    spots: &mut Vec<String>,
) -> Result<Vec<String>, Trouble> {
    let mut faults = Vec::new();
    for (name, word) in UNDER_WAY {
        if repository.git_dir.join(name).exists() {
            faults.push(format!("{word} is under way: finish or abort it"));
        }
    }
    if !standing.unmerged.is_empty() {
        faults.push(format!("not merged: {}", few(&standing.unmerged, SHOWN_MAX)));
    }
    let marked = marked(repository)?;
    if !marked.is_empty() {
        faults.push(format!("conflict markers: {}", few(&marked, SHOWN_MAX)));
    }
    spots.extend(marked.into_iter().take(SHOWN_MAX));
    Ok(faults)
}

/// Files with all three markers, in order, as `file:line`.
fn marked(repository: &Repository) -> Result<Vec<String>, Trouble> {
    let said = repository.ask(&[
        "grep",
        "--files-with-matches",
        "-z",
        // Attributes could call a source binary, and settings change what a pattern is.
        "--text",
        "--basic-regexp",
        "--untracked",
        "--no-recurse-submodules",
        "--full-name",
        "--all-match",
        "-e",
        "^<<<<<<< ",
        "-e",
        "^=======",
        "-e",
        "^>>>>>>> ",
    ])?;
    if said.code > 1 || said.code < 0 {
        return Err(format!("git grep ended with {}: {}", said.code, said.complaint).into());
    }
    let mut marked = Vec::new();
    for name in said.text.split(|byte| *byte == 0).filter(|name| !name.is_empty()) {
        let path = repository.top.join(OsStr::from_bytes(name));
        let line = match places::read(&path, FILE_BYTES_MAX) {
            Content::Whole(text) => first_conflict(&text),
            // All three are in it; in which order can't be said.
            Content::TooLarge => Some(1),
            Content::Missing => None,
            Content::Unreadable(why) => return Err(format!("{}: {why}", path.display()).into()),
        };
        marked.extend(line.map(|line| spot(repository, &path, line)));
    }
    Ok(marked)
}

/// Where the first whole conflict begins, from line 1.
fn first_conflict(text: &[u8]) -> Option<usize> {
    let mut began = None;
    let mut divided = false;
    for (at, line) in text.split(|byte| *byte == b'\n').enumerate() {
        if line.starts_with(b"<<<<<<< ") {
            (began, divided) = (Some(at + 1), false);
        } else if line.trim_ascii_end() == b"=======" {
            divided = began.is_some();
        } else if divided && line.starts_with(b">>>>>>> ") {
            return began;
        }
    }
    None
}

fn spot(repository: &Repository, path: &Path, line: usize) -> String {
    let shown = path.strip_prefix(&repository.root);
    let shown = shown.or_else(|_| path.strip_prefix(&repository.top)).unwrap_or(path);
    format!("{}:{line}", shown.display())
}
