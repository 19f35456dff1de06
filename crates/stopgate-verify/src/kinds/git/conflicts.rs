//! Conflicts: under way, in the index, or as markers in a file.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::io::{BufReader, Read};
use std::path::Path;

use stopgate_system::ffi::OsStrExt;

use super::super::places;
use super::status::WorkTreeStanding;
use super::{Answer, Repository, SHOWN_MAX, Trouble, clean, few};

const BLOCK_BYTES: usize = 64 * 1024;
/// Git's markers have seven signs, or more where an attribute says so.
const SIGNS_MIN: usize = 7;

/// What git keeps while it waits for a person, and the word for it.
const UNDER_WAY: [(&str, &str); 5] = [
    ("MERGE_HEAD", "a merge"),
    ("rebase-merge", "a rebase"),
    ("rebase-apply", "a rebase"),
    ("CHERRY_PICK_HEAD", "a cherry-pick"),
    ("REVERT_HEAD", "a revert"),
];

/// Adds what is in conflict, and the places of the markers.
pub(super) fn look(
    repository: &Repository<'_>,
    standing: &WorkTreeStanding,
    answer: &mut Answer,
) -> Result<(), Trouble> {
    for (name, word) in UNDER_WAY {
        if repository.git_dir.join(name).exists() {
            answer.faults.push(format!("{word} is under way: finish or abort it"));
        }
    }
    if !standing.unmerged.is_empty() {
        answer.faults.push(format!("not merged: {}", few(&standing.unmerged, SHOWN_MAX)));
    }
    let marked = marked(repository)?;
    if !marked.is_empty() {
        answer.faults.push(format!("conflict markers: {}", few(&marked, SHOWN_MAX)));
    }
    answer.spots.extend(marked.into_iter().take(SHOWN_MAX));
    Ok(())
}

/// Files with all three markers, in order, as `file:line`.
///
/// Read here and not by `git grep`, which takes the index's word for some files.
fn marked(repository: &Repository<'_>) -> Result<Vec<String>, Trouble> {
    let tracked = repository.names(&["ls-files", "-z", "--cached"])?;
    let untracked = clean::untracked(repository)?;
    let names: BTreeSet<Vec<u8>> = tracked.into_iter().chain(untracked).collect();
    let mut marked = Vec::new();
    for name in names {
        let path = repository.top.join(OsStr::from_bytes(&name));
        // Links are other files, and submodules other repositories.
        if !path.symlink_metadata().is_ok_and(|metadata| metadata.is_file()) {
            continue;
        }
        let found = places::open(&path).and_then(|file| first_conflict(BufReader::new(file)));
        match found {
            Ok(line) => marked.extend(line.map(|line| spot(repository, &path, line))),
            Err(error) => return Err(format!("{}: {error}", path.display()).into()),
        }
    }
    Ok(marked)
}

/// Where the first whole conflict begins, from line 1.
fn first_conflict(mut text: impl Read) -> std::io::Result<Option<usize>> {
    let mut search = Search { line: 1, ..Search::default() };
    let mut block = vec![0; BLOCK_BYTES];
    loop {
        let read = text.read(&mut block)?;
        if read == 0 {
            return Ok(search.end_line());
        }
        for byte in &block[..read] {
            if let Some(line) = search.take(*byte) {
                return Ok(Some(line));
            }
        }
    }
}

/// A look at one line after the other, of which only the first signs are kept.
#[derive(Default)]
struct Search {
    line: usize,
    began: Option<usize>,
    divided: bool,
    /// The sign that the line begins with, and how often.
    sign: Option<u8>,
    signs: usize,
    after: After,
}

/// What follows the first signs of a line.
#[derive(Default, Clone, Copy, PartialEq, Eq)]
enum After {
    #[default]
    Nothing,
    /// Blanks, and perhaps a label behind them.
    Blank,
    Label,
    /// Something else at once: no marker.
    Text,
}

impl Search {
    /// Zeros are what UTF-16 has between letters; marks at a text's beginning are not letters.
    fn take(&mut self, byte: u8) -> Option<usize> {
        match byte {
            0 | 0xff | 0xfe | 0xef | 0xbb | 0xbf if self.signs == 0 || byte == 0 => {}
            b'\n' => return self.end_line(),
            _ if self.after == After::Nothing && self.sign.is_none_or(|sign| sign == byte) => {
                self.sign = Some(byte);
                self.signs += 1;
            }
            b' ' | b'\t' | b'\r' if self.after == After::Nothing => self.after = After::Blank,
            b' ' | b'\t' | b'\r' => {}
            _ if self.after == After::Blank => self.after = After::Label,
            _ if self.after == After::Nothing => self.after = After::Text,
            _ => {}
        }
        None
    }

    fn end_line(&mut self) -> Option<usize> {
        let is_marker = self.signs >= SIGNS_MIN && self.after != After::Text;
        let mut found = None;
        match self.sign.filter(|_| is_marker) {
            Some(b'<') => (self.began, self.divided) = (Some(self.line), false),
            Some(b'=') if self.after != After::Label => self.divided = self.began.is_some(),
            Some(b'>') if self.divided => found = self.began,
            Some(_) | None => {}
        }
        self.line += 1;
        (self.sign, self.signs, self.after) = (None, 0, After::Nothing);
        found
    }
}

fn spot(repository: &Repository<'_>, path: &Path, line: usize) -> String {
    let shown = path.strip_prefix(&repository.root);
    let shown = shown.or_else(|_| path.strip_prefix(&repository.top)).unwrap_or(path);
    format!("{}:{line}", shown.display())
}
