//! Work that a check read and did not accept at the start, and that is now where the check does not
//! look: an original run has it under its old name as well.
//!
//! Only what says to the letter what it said counts, under a name beside the old one or where
//! nothing is left for the check to find. What was deleted is not brought back.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::super::listing::Listing;
use super::super::text::{path_text, text_path};
use super::Compare;
use crate::files::read_regular;
use crate::glob::Globs;
use crate::judges::{JudgeRole, JudgeSet};
use crate::place::{FileContent, RestoredFile};
use crate::tree::{FileKind, TreeFile, hex};

/// How many files a check may read; of one that reads more nothing is noted.
const FILES_MAX: usize = 2_000;
/// Larger files are not brought back.
const BYTES_MAX: u64 = 2 << 20;

/// A file that the check reads.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::basis) struct WatchedFile {
    path: String,
    content: String,
}

/// The work that a check reads, by the patterns and directories that it names.
pub(in crate::basis) fn note(judges: &JudgeSet, found: &Listing) -> Vec<WatchedFile> {
    let globs = globs_of(judges);
    let rules = judges.rules();
    let is_read = |file: &&TreeFile| {
        file.kind != FileKind::Link
            && file.size > 0
            && globs.takes(file.path.as_os_str().as_encoded_bytes())
            && rules.role(&file.path) == JudgeRole::Work
    };
    let noted: Vec<&TreeFile> = found.files().filter(is_read).take(FILES_MAX + 1).collect();
    if noted.len() > FILES_MAX {
        return Vec::new();
    }
    let mut copies: BTreeMap<&[u8], usize> = BTreeMap::new();
    for file in found.files() {
        *copies.entry(&file.content).or_default() += 1;
    }
    // Where another file says the same, it can't be told later which of them is where.
    let is_alone = |file: &&&TreeFile| copies.get(&file.content[..]) == Some(&1);
    let text =
        |file: &&TreeFile| WatchedFile { path: path_text(&file.path), content: hex(&file.content) };
    noted.iter().filter(is_alone).map(text).collect()
}

fn globs_of(judges: &JudgeSet) -> Globs {
    let patterns: Vec<&String> = judges.watched().collect();
    Globs::new(&patterns).unwrap_or_default()
}

/// Has an original run read what is out of the check's sight.
pub(super) fn bring_into_sight(compare: &mut Compare<'_>) {
    let noted = compare.noted;
    if noted.watched.is_empty() {
        return;
    }
    let sight = Sight::of(compare);
    let mut found = Vec::new();
    for watched in &noted.watched {
        let path = text_path(&watched.path);
        // A directory that is a link now still leads to its files.
        let is_blocked = |place: &Path| compare.now.get(place).is_some();
        let is_gone = !path.ancestors().any(is_blocked) && !compare.root.join(&path).exists();
        let hidden = is_gone.then(|| sight.hidden(&path, &watched.content)).flatten();
        found.extend(hidden.map(|now| (path, now.clone())));
    }
    drop(sight);
    for (path, now) in found {
        let Ok(bytes) = read_regular(&compare.root.join(&now.path), BYTES_MAX) else { continue };
        let (was, is) = (path.display(), now.path.display());
        compare.found.texts.push(format!("{was} is {is} now, where the check does not look"));
        compare.bind(&path, &hex(&now.content));
        let executable = now.kind == FileKind::Executable;
        let content = FileContent::File { bytes, executable };
        compare.found.restore.push(RestoredFile { path, content });
    }
}

/// What a check sees by now.
struct Sight<'n> {
    /// Files by what they say.
    said: BTreeMap<String, Vec<&'n TreeFile>>,
    patterns: Vec<Globs>,
    /// Of each pattern, whether it finds nothing any more.
    is_empty: Vec<bool>,
}

impl<'n> Sight<'n> {
    fn of(compare: &'n Compare<'_>) -> Self {
        let read = |pattern: &String| Globs::new(&[pattern]).ok();
        let patterns = compare.noted.judges.watched().filter_map(read).collect();
        Self::new(compare.now.files(), patterns)
    }

    fn new(files: impl Iterator<Item = &'n TreeFile>, patterns: Vec<Globs>) -> Self {
        let mut is_empty = vec![true; patterns.len()];
        let mut said: BTreeMap<String, Vec<&TreeFile>> = BTreeMap::new();
        for file in files {
            said.entry(hex(&file.content)).or_default().push(file);
            for (own, is_empty) in patterns.iter().zip(&mut is_empty) {
                *is_empty &= !takes(own, &file.path);
            }
        }
        Self { said, patterns, is_empty }
    }

    /// The file that says what this one said, where no pattern finds it.
    fn hidden(&self, path: &Path, content: &str) -> Option<&'n TreeFile> {
        let is_all_gone = || {
            let own = self.patterns.iter().zip(&self.is_empty);
            own.filter(|(own, _)| takes(own, path)).all(|(_, is_empty)| *is_empty)
        };
        let is_it = |file: &&&TreeFile| {
            let is_beside = file.path.parent() == path.parent();
            let is_seen = self.patterns.iter().any(|own| takes(own, &file.path));
            (is_beside || is_all_gone()) && (!is_seen || is_put_aside(path, &file.path))
        };
        self.said.get(content)?.iter().find(is_it).copied()
    }
}

fn takes(globs: &Globs, path: &Path) -> bool {
    globs.takes(path.as_os_str().as_encoded_bytes())
}

/// `eu.json.disabled`, `_eu.json`: what tools pass over in the same directory.
fn is_put_aside(was: &Path, now: &Path) -> bool {
    let name = |path: &Path| path.file_name().map(|own| own.to_string_lossy().into_owned());
    let (Some(then), Some(name)) = (name(was), name(now)) else { return false };
    let is_longer =
        name.strip_prefix(&then).is_some_and(|end| end.starts_with(['.', '~', '-', '_']));
    now.parent() == was.parent() && (is_longer || name.strip_prefix(['_', '.']) == Some(&then))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a file with these contents is called now, by the patterns of a check.
    fn hidden(patterns: &[&str], was: &str, now: &[(&str, u8)]) -> Option<String> {
        let file = |(path, content): &(&str, u8)| TreeFile {
            root: 0,
            path: path.into(),
            kind: FileKind::Plain,
            content: [*content; 16],
            size: 1,
            ctime: 0,
        };
        let files: Vec<TreeFile> = now.iter().map(file).collect();
        let patterns = patterns.iter().map(|own| Globs::new(&[own]).expect("a pattern")).collect();
        let sight = Sight::new(files.iter(), patterns);
        sight.hidden(Path::new(was), &hex(&[1; 16])).map(|file| file.path.display().to_string())
    }

    #[test]
    fn files_that_went_out_of_sight_are_found() {
        let scripts = ["scripts/*.sh"];
        let with = |name| [(name, 1), ("scripts/b.sh", 2)];
        for (name, found) in [
            ("scripts/a", true),
            ("scripts/a.sh.off", true),
            ("scripts/_a.sh", true),
            // It is still looked at, says something else, or is somewhere else on purpose.
            ("scripts/c.sh", false),
            ("tools/a.sh", false),
        ] {
            let now = hidden(&scripts, "scripts/a.sh", &with(name));
            assert_eq!(now, found.then(|| name.to_string()), "{name}");
        }
        assert_eq!(hidden(&scripts, "scripts/a.sh", &[("scripts/a", 2)]), None);
        let both = ["scripts/*.sh", "bin/*"];
        assert_eq!(hidden(&both, "scripts/a.sh", &[("bin/a", 1)]), None);
        let whole = hidden(&["src"], "src/a.py", &[("lib/a.py", 1), ("lib/b.py", 2)]);
        assert_eq!(whole.as_deref(), Some("lib/a.py"));
        assert_eq!(hidden(&["src"], "src/a.py", &[("lib/a.py", 1), ("src/b.py", 2)]), None);
    }
}
