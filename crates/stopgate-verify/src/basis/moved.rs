//! Source files with tests of their own that have another name now.
//!
//! A module that was renamed takes its tests along. The tests of the start are then put into the
//! file that it is now, instead of a file that nothing reads any more.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// A file that shares fewer of its lines with another is not the same one.
const SHARED_MIN_PERCENT: usize = 50;
/// Braces and blank lines say nothing.
const TELLING_BYTES_MIN: usize = 4;

/// A file that is gone, or one that is new, with what it says.
pub(super) struct NamedSource {
    pub(super) path: PathBuf,
    pub(super) text: String,
}

/// Where each file that is gone is now, if it is anywhere.
pub(super) fn moves(gone: &[NamedSource], new: &[NamedSource]) -> BTreeMap<PathBuf, PathBuf> {
    let mut pairs: Vec<(usize, bool, &Path, &Path)> = Vec::new();
    for was in gone {
        let lines = telling_lines(&was.text);
        for now in new {
            let shared = shared_percent(&lines, &telling_lines(&now.text));
            if shared >= SHARED_MIN_PERCENT {
                let same_name = was.path.file_name() == now.path.file_name();
                pairs.push((shared, same_name, &was.path, &now.path));
            }
        }
    }
    pairs.sort_by(|one, other| other.cmp(one));
    let mut found: BTreeMap<PathBuf, PathBuf> = BTreeMap::new();
    let mut taken: BTreeSet<&Path> = BTreeSet::new();
    for (_, _, was, now) in pairs {
        if !found.contains_key(was) && taken.insert(now) {
            found.insert(was.into(), now.into());
        }
    }
    found
}

fn telling_lines(text: &str) -> BTreeSet<&str> {
    text.lines().map(str::trim).filter(|line| line.len() >= TELLING_BYTES_MIN).collect()
}

/// How much of the shorter text is in the other: tests may have been left out or added.
fn shared_percent(one: &BTreeSet<&str>, other: &BTreeSet<&str>) -> usize {
    let shorter = one.len().min(other.len());
    let shared = one.intersection(other).count() * 100;
    shared.checked_div(shorter).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(path: &str, text: &str) -> NamedSource {
        NamedSource { path: path.into(), text: text.into() }
    }

    #[test]
    fn a_renamed_file_is_found_by_what_it_says() {
        let clock = "pub fn ticks(seconds: u64) -> u64 {\n    seconds * 10\n}\nmod tests;\n";
        let lease = "pub struct Lease {\n    from: u64,\n}\nimpl Lease {\n    fn left() {}\n}\n";
        let gone = [source("src/clock.rs", clock), source("src/lease.rs", lease)];
        let edited = clock.replace("seconds * 10", "seconds * 100");
        let new = [
            source("src/time.rs", &edited),
            source("src/lease/mod.rs", lease),
            source("src/other.rs", "fn unrelated_to_all_that() {}\n"),
        ];
        let expected = BTreeMap::from([
            (PathBuf::from("src/clock.rs"), PathBuf::from("src/time.rs")),
            (PathBuf::from("src/lease.rs"), PathBuf::from("src/lease/mod.rs")),
        ]);
        assert_eq!(moves(&gone, &new), expected);
    }

    #[test]
    fn files_that_have_little_in_common_are_not_the_same() {
        let gone = [source("a.rs", "fn one_of_them() {}\nfn two_of_them() {}\nfn three() {}\n")];
        let new = [source("b.rs", "fn one_of_them() {}\nfn another() {}\nfn others() {}\n")];
        assert_eq!(moves(&gone, &new), BTreeMap::new());
        assert_eq!(moves(&gone, &[source("c.rs", "}\n")]), BTreeMap::new());
    }
}
