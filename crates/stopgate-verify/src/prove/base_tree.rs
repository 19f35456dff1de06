//! What the base commit has that today's tree has not, and the other way round.
//!
//! Only what differs is read from git: files that git ignores (installed packages, build
//! outputs) stay as they are, so that the check finds them where it expects them.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::Duration;

use stopgate_system::ffi::{OsStrExt, OsStringExt};

use crate::git::{GitFilters, git};
use crate::place::FileContent;

/// How long git may take for one answer.
const GIT_TIMEOUT: Duration = Duration::from_secs(30);
/// More files than this are not brought back one by one.
const FILES_MAX: usize = 5_000;

/// A file that differs between the base commit and today.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct BaseFile {
    /// Its path from the project's root.
    pub(super) path: PathBuf,
    /// What it was in the base commit; nothing where it was not there.
    pub(super) then: Option<FileContent>,
    /// Whether it is there today.
    pub(super) is_there: bool,
}

impl BaseFile {
    /// Its text in the base commit.
    pub(super) fn text(&self) -> Option<&str> {
        match &self.then {
            Some(FileContent::File { bytes, .. }) => std::str::from_utf8(bytes).ok(),
            Some(FileContent::Link(_)) | None => None,
        }
    }
}

/// The files below `root` that are not as `commit` has them.
pub(super) fn differing(root: &Path, commit: &str) -> Result<Vec<BaseFile>, String> {
    let words = [
        "diff",
        "--raw",
        "-z",
        "--no-abbrev",
        "--no-renames",
        "--no-ext-diff",
        "--ignore-submodules=all",
        "--relative",
        commit,
        "--",
    ];
    let changed = asked(root, &words)?;
    let untracked = asked(root, &["ls-files", "--others", "--exclude-standard", "-z"])?;
    let mut files = Vec::new();
    let mut fields = changed.split(|byte| *byte == 0).filter(|field| !field.is_empty());
    while let (Some(about), Some(path)) = (fields.next(), fields.next()) {
        files.extend(differing_file(root, about, path)?);
        if files.len() > FILES_MAX {
            return Err(format!("more than {FILES_MAX} files differ from it"));
        }
    }
    for path in untracked.split(|byte| *byte == 0).filter(|path| !path.is_empty()) {
        let path = path_of(path);
        // A file that was only taken out of the index is told already.
        match files.iter_mut().find(|file: &&mut BaseFile| file.path == path) {
            Some(known) => known.is_there = true,
            None => files.push(BaseFile { path, then: None, is_there: true }),
        }
    }
    Ok(files)
}

/// Reads one line of `git diff --raw`; nothing for what is not a file.
fn differing_file(root: &Path, about: &[u8], path: &[u8]) -> Result<Option<BaseFile>, String> {
    let about = String::from_utf8_lossy(about);
    let mut words = about.trim_start_matches(':').split(' ');
    let (then, now, object) = (words.next(), words.next(), words.next());
    let (Some(then), Some(now), Some(object)) = (then, now, object) else {
        return Err("git's answer can't be read".into());
    };
    let path = path_of(path);
    let is_there = now != "000000";
    let content = match then {
        "000000" => None,
        "160000" => return Ok(None),
        "120000" => {
            let target = asked(root, &["cat-file", "blob", object])?;
            Some(FileContent::Link(path_of(&target)))
        }
        mode => {
            let mut at = OsString::from("--path=");
            at.push(&path);
            let words = [OsStr::new("cat-file"), OsStr::new("--filters"), &at, OsStr::new(object)];
            Some(FileContent::File { bytes: asked(root, &words)?, executable: mode == "100755" })
        }
    };
    Ok(Some(BaseFile { path, then: content, is_there }))
}

fn asked<S: AsRef<OsStr>>(root: &Path, words: &[S]) -> Result<Vec<u8>, String> {
    let said = git(words, root, GitFilters::OwnOnly, GIT_TIMEOUT);
    let said = said.map_err(|error| format!("git could not be asked: {error}"))?;
    if said.is_fine() {
        return Ok(said.stdout);
    }
    let complaint = String::from_utf8_lossy(&said.stderr);
    Err(format!("git said: {}", complaint.lines().next().unwrap_or("nothing")))
}

fn path_of(bytes: &[u8]) -> PathBuf {
    PathBuf::from(OsString::from_vec(OsStr::from_bytes(bytes).as_bytes().to_vec()))
}
