//! Installed packages in `node_modules` that tests import by name, or that bring a check's runner.
//!
//! Installing another version is everyday work. A package that says something else under the same
//! version, or that is found nearer to the tests than it was, is not; nor is another version of a
//! runner that no package manager put there.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::lasting::LastingChange;
use super::text::{path_text, text_path};
use crate::files::{read_regular, read_text};
use crate::tree::{hash_of, hex};

const MODULES: &str = "node_modules";
/// A package of more files is told apart by its version.
const FILES_MAX: usize = 300;
const BYTES_MAX: u64 = 1024 * 1024;
/// Where package managers note what they installed, from `node_modules` on: npm, Yarn, Bun.
const RECORDS: [&str; 4] =
    [".package-lock.json", ".yarn-state.yml", ".yarn-integrity", "../bun.lock"];
const RECORD_BYTES_MAX: u64 = 64 << 20;
/// How many packages are noted.
const PACKAGES_MAX: usize = 60;

/// A package, as the tests in one directory found it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ImportedPackage {
    name: String,
    /// The directory of the tests that import it.
    from: String,
    /// Where it was found, from the root.
    place: String,
    version: String,
    /// The fingerprint of its files; empty where there are too many.
    content: String,
    /// Whether a program of it runs the check.
    #[serde(default)]
    is_runner: bool,
}

impl ImportedPackage {
    /// The packages that these tests import: their paths from the root, and their texts.
    pub(super) fn note(root: &Path, tests: impl Iterator<Item = (PathBuf, String)>) -> Vec<Self> {
        let mut names = BTreeSet::new();
        for (path, text) in tests {
            let from = path.parent().unwrap_or(Path::new("")).to_path_buf();
            names.extend(bare_imports(&text).map(|name| (name.to_string(), from.clone())));
        }
        let found = names.into_iter().filter_map(|(name, from)| Self::found(root, &from, name));
        found.take(PACKAGES_MAX).collect()
    }

    /// The packages of these names, as a check in `directory` runs their programs.
    pub(super) fn note_runners(
        root: &Path,
        directory: &Path,
        names: impl Iterator<Item = String>,
    ) -> Vec<Self> {
        let names: BTreeSet<String> = names.collect();
        let found = names.into_iter().filter_map(|name| Self::found(root, directory, name));
        found.map(|own| Self { is_runner: true, ..own }).take(PACKAGES_MAX).collect()
    }

    fn found(root: &Path, from: &Path, name: String) -> Option<Self> {
        let places = from.ancestors().map(|place| place.join(MODULES).join(&name));
        let place = places.into_iter().find(|place| root.join(place).is_dir())?;
        // A package of the project itself is work, wherever it is linked.
        let real = root.join(&place).canonicalize().ok()?;
        if !real.iter().any(|part| part == MODULES) {
            return None;
        }
        let manifest = read_regular(&root.join(&place).join("package.json"), BYTES_MAX);
        let manifest: serde_json::Value =
            serde_json::from_slice(&manifest.unwrap_or_default()).unwrap_or_default();
        let version = manifest["version"].as_str().unwrap_or_default().to_string();
        let content = fingerprint(&root.join(&place));
        let (from, place) = (path_text(from), path_text(&place));
        Some(Self { name, from, place, version, content, is_runner: false })
    }

    /// What is not as it was.
    pub(super) fn change(&self, root: &Path) -> Option<LastingChange> {
        let now = Self::found(root, &text_path(&self.from), self.name.clone())?;
        let (place, was) = (text_path(&now.place), text_path(&self.place));
        if now.place != self.place {
            let text = format!("{} hides {}", place.display(), was.display());
            return Some(LastingChange::new(text, &now.content));
        }
        if self.is_runner && now.version != self.version && !now.is_recorded(root) {
            let text = format!("{} is not what a package manager installed", place.display());
            return Some(LastingChange::new(text, &now.content));
        }
        let is_known = !self.content.is_empty() && !now.content.is_empty();
        let is_edited = is_known && now.version == self.version && now.content != self.content;
        let text = || format!("{} was changed, and not its version", place.display());
        is_edited.then(|| LastingChange::new(text(), &now.content))
    }

    /// Whether a package manager noted that it installed this version.
    fn is_recorded(&self, root: &Path) -> bool {
        let Self { name, version, .. } = self;
        let place = root.join(text_path(&self.place));
        let modules = place.ancestors().find(|own| own.ends_with(MODULES));
        let Some(modules) = modules else { return false };
        // pnpm keeps each version in a directory of its own.
        let store = format!("/.pnpm/{}@{version}", name.replace('/', "+"));
        let is_stored = place.canonicalize().is_ok_and(|real| path_text(&real).contains(&store));
        let listed = |record: &&str| {
            let text = read_text(&modules.join(record), RECORD_BYTES_MAX).unwrap_or_default();
            let npm: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
            let of_npm = npm["packages"][format!("{MODULES}/{name}")]["version"].as_str();
            let short = name.rsplit('/').next().unwrap_or(name);
            let forms = [
                format!("{name}@npm:{version}"),
                format!("\"{name}@{version}\""),
                format!("/{short}-{version}.tgz"),
            ];
            of_npm == Some(version) || forms.iter().any(|form| text.contains(form.as_str()))
        };
        is_stored || RECORDS.iter().any(listed)
    }
}

/// Names of packages in the lines that import something.
fn bare_imports(text: &str) -> impl Iterator<Item = &str> {
    let is_import = |line: &&str| {
        ["require(", "import ", "import(", "from "].iter().any(|word| line.contains(word))
    };
    let words = text.lines().filter(is_import).flat_map(|line| {
        let parts: Vec<&str> = line.split(['"', '\'']).collect();
        parts.into_iter().skip(1).step_by(2)
    });
    let is_bare = |word: &&str| {
        let first = word.chars().next();
        let begins = first.is_some_and(|letter| letter.is_ascii_alphanumeric() || letter == '@');
        begins && !word.contains([':', ' ', '\\']) && word.len() < 100
    };
    words.filter(is_bare).map(|word| {
        // `chai/register` is a file of `chai`, `@app/a/b` one of `@app/a`.
        let parts = if word.starts_with('@') { 2 } else { 1 };
        let end = word.match_indices('/').nth(parts - 1).map_or(word.len(), |(at, _)| at);
        &word[..end]
    })
}

/// A fingerprint of the files of a package, without the packages in it.
fn fingerprint(package: &Path) -> String {
    let mut open = vec![package.to_path_buf()];
    let mut files = BTreeSet::new();
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(&directory).into_iter().flatten().flatten() {
            let Ok(kind) = entry.file_type() else { continue };
            if kind.is_dir() && entry.file_name() != MODULES {
                open.push(entry.path());
            } else if kind.is_file() {
                files.insert(entry.path());
            }
            if files.len() > FILES_MAX || open.len() > FILES_MAX {
                return String::new();
            }
        }
    }
    let mut text = String::new();
    for file in files {
        let content = read_regular(&file, BYTES_MAX).map(|bytes| hex(&hash_of(&bytes)));
        let name = file.strip_prefix(package).unwrap_or(&file).display().to_string();
        let _ = writeln!(text, "{name} {}", content.unwrap_or_default());
    }
    hex(&hash_of(text.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_runner_is_one_that_a_package_manager_noted() {
        let directory = tempfile::tempdir().expect("a directory");
        let root = directory.path();
        let place = root.join("node_modules/same");
        install(&place, "1.0.0", "run");
        let names = || ["same", "unknown"].map(String::from).into_iter();
        let noted = ImportedPackage::note_runners(root, Path::new("web"), names());
        let [runner] = noted.as_slice() else { panic!("{noted:?}") };
        assert_eq!(runner.change(root), None);
        install(&place, "1.0.0", "pass");
        assert!(runner.change(root).is_some());
        install(&place, "1.1.0", "pass");
        let said = runner.change(root).expect("a change").text;
        assert_eq!(said, "node_modules/same is not what a package manager installed");
        let records = [
            (".package-lock.json", r#"{"packages": {"node_modules/same": {"version": "1.1.0"}}}"#),
            (".yarn-state.yml", "\"same@npm:1.1.0\":\n  locations:\n"),
            (".yarn-integrity", r#"{"lockfileEntries": {"same@^1": "…/same/-/same-1.1.0.tgz#a"}}"#),
            ("../bun.lock", r#"{"packages": {"same": ["same@1.1.0", {}]}}"#),
        ];
        for (record, text) in records {
            let record = root.join("node_modules").join(record);
            fs::write(&record, text).expect("write it");
            assert_eq!(runner.change(root), None, "{}", record.display());
            fs::write(&record, text.replace("1.1.0", "1.0.0")).expect("write it");
            assert!(runner.change(root).is_some(), "{}", record.display());
        }
    }

    fn install(place: &Path, version: &str, code: &str) {
        fs::create_dir_all(place).expect("make it");
        let manifest = format!("{{\"name\": \"same\", \"version\": \"{version}\"}}");
        fs::write(place.join("package.json"), manifest).expect("write it");
        fs::write(place.join("index.js"), code).expect("write it");
    }

    #[test]
    fn an_edited_or_hidden_package_is_a_change_and_another_version_is_not() {
        let directory = tempfile::tempdir().expect("a directory");
        let root = directory.path();
        let place = root.join("node_modules/same");
        install(&place, "1.0.0", "compare");
        fs::create_dir_all(root.join("web/test")).expect("make it");
        let test = "const same = require('same/strict');\nconst fs = require('node:fs');\n";
        let tests = [(PathBuf::from("web/test/a.test.js"), test.to_string())];
        let noted = ImportedPackage::note(root, tests.into_iter());
        assert_eq!(noted.len(), 1, "{noted:?}");
        assert_eq!(noted[0].change(root), None);
        std::os::unix::fs::symlink("../web", root.join("node_modules/web")).expect("link it");
        let test = "import { page } from 'web';\n".to_string();
        let linked = ImportedPackage::note(root, [(PathBuf::from("a.test.js"), test)].into_iter());
        assert_eq!(linked, Vec::new());
        install(&place, "1.1.0", "compare better");
        assert_eq!(noted[0].change(root), None);
        install(&place, "1.0.0", "agree");
        let said = noted[0].change(root).expect("a change").text;
        assert_eq!(said, "node_modules/same was changed, and not its version");
        install(&place, "1.0.0", "compare");
        install(&root.join("web/test/node_modules/same"), "1.0.0", "agree");
        let said = noted[0].change(root).expect("a change").text;
        assert_eq!(said, "web/test/node_modules/same hides node_modules/same");
    }
}
