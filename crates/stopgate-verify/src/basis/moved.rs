//! Source files with tests of their own, and packages, that have another name now.
//!
//! A module that was renamed takes its tests along. The tests of the start are then put into the
//! file that it is now, instead of a file that nothing reads any more. So does a package whose
//! directory was renamed: its judges are asked where it is now.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
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

/// Packages whose directory has another name now, by the path from the root that it had.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct MovedPackages {
    moves: BTreeMap<PathBuf, PathBuf>,
}

impl MovedPackages {
    /// Manifests that are gone, those that are new, whether anything is left in a directory, and
    /// whether a package is part of its workspace in another one.
    ///
    /// A package is known by its name: the others of the project depend on it by that.
    pub(super) fn of(
        gone: &[NamedSource],
        new: &[NamedSource],
        has_files: &dyn Fn(&Path) -> bool,
        stays_member: &dyn Fn(&Path, &Path, &OsStr) -> bool,
    ) -> Self {
        let mut moves = BTreeMap::new();
        for was in gone {
            let Some(name) = package_name(was) else { continue };
            let is_it = |own: &&NamedSource| {
                own.path.file_name() == was.path.file_name()
                    && package_name(own).as_ref() == Some(&name)
            };
            let (from, mut found) = (directory(&was.path), new.iter().filter(is_it));
            let manifest = was.path.file_name().unwrap_or_default();
            let alone = gone.iter().filter(is_it).count() == 1;
            if let (Some(now), None) = (found.next(), found.next())
                && alone
                && !from.as_os_str().is_empty()
                && !has_files(&from)
                && stays_member(&from, &directory(&now.path), manifest)
            {
                moves.insert(from, directory(&now.path));
            }
        }
        Self { moves }
    }

    /// Directories of tests beside their code that have another name now, too: tests that are
    /// gone, those that are new, and whether a directory may be what another one was.
    pub(super) fn with_directories(
        mut self,
        gone: &[NamedSource],
        new: &[NamedSource],
        fits: &dyn Fn(&Path, &Path) -> bool,
    ) -> Self {
        let (gone, new) = (by_directory(gone), by_directory(new));
        let goes = |from: &Path, to: &Path| {
            let has_all = gone[from].iter().all(|test| new[to].contains(test));
            has_all && fits(from, to)
        };
        for from in gone.keys().filter(|from| !from.as_os_str().is_empty()) {
            if self.have(from) {
                continue;
            }
            let mut places = new.keys().filter(|to| goes(from, to));
            let (Some(to), None) = (places.next(), places.next()) else { continue };
            // Two that look the same are nobody's new name.
            if gone.keys().filter(|other| goes(other, to)).count() == 1 {
                self.moves.insert(from.clone(), to.clone());
            }
        }
        self
    }

    /// Where a file of the start is looked for today.
    pub(super) fn today(&self, path: PathBuf) -> PathBuf {
        let of = |from: &Path| Some(self.moves.get(from)?.join(path.strip_prefix(from).ok()?));
        path.ancestors().skip(1).find_map(of).unwrap_or(path)
    }

    /// What a file of today was called at the start.
    pub(super) fn origin(&self, path: &Path) -> PathBuf {
        let of = |(from, to): (&PathBuf, &PathBuf)| Some(from.join(path.strip_prefix(to).ok()?));
        self.moves.iter().rev().find_map(of).unwrap_or_else(|| path.into())
    }

    /// Whether a path of the start is in a package that has moved.
    pub(super) fn have(&self, path: &Path) -> bool {
        path.ancestors().any(|place| self.moves.contains_key(place))
    }
}

/// Whether a file says what a package is called.
pub(super) fn is_manifest(path: &Path) -> bool {
    path.ends_with("Cargo.toml") || path.ends_with("package.json")
}

fn directory(path: &Path) -> PathBuf {
    path.parent().unwrap_or(Path::new("")).into()
}

fn package_name(manifest: &NamedSource) -> Option<String> {
    let name = if manifest.path.ends_with("package.json") {
        let package: serde_json::Value = serde_json::from_str(&manifest.text).ok()?;
        package.get("name")?.as_str().map(str::to_string)
    } else {
        let package: toml_edit::DocumentMut = manifest.text.parse().ok()?;
        package.get("package")?.get("name")?.as_str().map(str::to_string)
    };
    name.filter(|name| !name.is_empty())
}

/// The names of tests in each directory, in Go with their package.
fn by_directory(tests: &[NamedSource]) -> BTreeMap<PathBuf, BTreeSet<(String, String)>> {
    let mut found: BTreeMap<PathBuf, BTreeSet<(String, String)>> = BTreeMap::new();
    for test in tests {
        let name = test.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let is_go = test.path.extension().is_some_and(|end| end == "go");
        let package = test.text.lines().find(|line| is_go && line.starts_with("package "));
        let package = package.unwrap_or_default().trim_end().to_string();
        found.entry(directory(&test.path)).or_default().insert((name, package));
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

    fn of(
        gone: &[NamedSource],
        new: &[NamedSource],
        has_files: &dyn Fn(&Path) -> bool,
    ) -> MovedPackages {
        MovedPackages::of(gone, new, has_files, &|_, _, _| true)
    }

    #[test]
    fn a_directory_of_tests_beside_their_code_has_another_name() {
        let gone = [
            source("pace/a_test.go", "package pace\n"),
            source("pace/b_test.go", "package pace\n"),
        ];
        let moved = |new: &[&str], package: &str| {
            let new: Vec<_> =
                new.iter().map(|path| source(path, &format!("package {package}\n"))).collect();
            MovedPackages::default().with_directories(&gone, &new, &|_, _| true)
        };
        let here = ["x/pace/a_test.go", "x/pace/b_test.go"];
        let found = moved(&here, "pace");
        assert_eq!(found.today("pace/a_test.go".into()), Path::new("x/pace/a_test.go"));
        assert_eq!(found.origin(Path::new("x/pace/b_test.go")), Path::new("pace/b_test.go"));
        assert_eq!(moved(&here[..1], "pace"), MovedPackages::default(), "one was left out");
        assert_eq!(moved(&here, "other"), MovedPackages::default(), "another package");
        let two = ["x/a_test.go", "x/b_test.go", "y/a_test.go", "y/b_test.go"];
        assert_eq!(moved(&two, "pace"), MovedPackages::default(), "it may be either");
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
    fn a_package_is_found_by_its_name_where_nothing_is_left_of_it() {
        let manifest = |path: &str, name: &str| {
            source(path, &format!("[package]\nname = \"{name}\"\nversion = \"1.0.0\"\n"))
        };
        let gone = [manifest("crates/use/Cargo.toml", "user")];
        let new = [manifest("crates/user/Cargo.toml", "user"), manifest("x/Cargo.toml", "x")];
        let found = of(&gone, &new, &|_| false);
        let (was, now) = ("crates/use/tests/over.rs", "crates/user/tests/over.rs");
        assert_eq!(found.today(was.into()), Path::new(now));
        assert_eq!(found.origin(Path::new(now)), Path::new(was));
        assert_eq!(
            found.today("crates/lease/Cargo.toml".into()),
            Path::new("crates/lease/Cargo.toml")
        );
        assert!(found.have(Path::new(was)) && !found.have(Path::new(now)));
        let none = MovedPackages::default();
        assert_eq!(of(&gone, &new, &|_| true), none);
        let twice = [manifest("a/Cargo.toml", "user"), manifest("b/Cargo.toml", "user")];
        assert_eq!(of(&gone, &twice, &|_| false), none);
        assert_eq!(of(&gone, &[manifest("a/Cargo.toml", "us")], &|_| false), none);
        let text = "{\"name\": \"a\"}";
        let (gone, new) = ([source("p/package.json", text)], [source("q/package.json", text)]);
        let found = of(&gone, &new, &|_| false);
        assert_eq!(found.today("p/test/a.js".into()), Path::new("q/test/a.js"));
    }

    #[test]
    fn files_that_have_little_in_common_are_not_the_same() {
        let gone = [source("a.rs", "fn one_of_them() {}\nfn two_of_them() {}\nfn three() {}\n")];
        let new = [source("b.rs", "fn one_of_them() {}\nfn another() {}\nfn others() {}\n")];
        assert_eq!(moves(&gone, &new), BTreeMap::new());
        assert_eq!(moves(&gone, &[source("c.rs", "}\n")]), BTreeMap::new());
    }
}
