//! Programs in `node_modules/.bin`, where package scripts and `npx` look before anywhere else.
//!
//! Installing again is everyday work, so another version of a package is not a change: such a
//! program is a link into its package. One that leads elsewhere than it did is another program.

use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};
use stopgate_system::CanonicalPath;

use super::lasting::LastingChange;
use super::text::{path_text, text_path};
use crate::files::read_regular;
use crate::tree::{hash_of, hex};

/// More programs than this are not called.
const NAMES_MAX: usize = 500;
const BIN: &str = "node_modules/.bin";
/// A longer program is told apart by where it is.
const BYTES_MAX: u64 = 1024 * 1024;

/// One tool of a check, as package scripts found it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct InstalledProgram {
    name: String,
    /// Where it is called.
    path: String,
    /// What that leads to, from the innermost `node_modules` on.
    target: String,
    /// The fingerprint of a program that is not part of a package.
    content: String,
    /// Whether no program of that name was found anywhere.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    is_missing: bool,
}

impl InstalledProgram {
    /// Those among `names` that are installed where a check in `directory` finds them, and those
    /// that it finds on the search path or nowhere, because nothing of that name is installed.
    pub(crate) fn note<'n>(
        root: &Path,
        directory: &Path,
        names: impl IntoIterator<Item = &'n String>,
        is_on_path: impl Fn(&str) -> bool,
    ) -> Vec<Self> {
        let none = |name: &String| {
            let [path, target, content] = [const { String::new() }; 3];
            Self { name: name.clone(), path, target, content, is_missing: !is_on_path(name) }
        };
        let found =
            |name: &String| Self::found(root, directory, name).unwrap_or_else(|| none(name));
        names.into_iter().map(found).take(NAMES_MAX).collect()
    }

    fn found(root: &Path, directory: &Path, name: &str) -> Option<Self> {
        let places = directory.ancestors().map(|place| root.join(place).join(BIN).join(name));
        let path = places.into_iter().find(|path| path.is_file())?;
        let whole = path.canonical().ok()?;
        let target = inner(&whole);
        let content = if target.starts_with(".bin/") { content_of(&whole) } else { String::new() };
        let path = path_text(&path);
        Some(Self { name: name.into(), path, target, content, is_missing: false })
    }

    /// The package that brings it.
    pub(super) fn package(&self) -> Option<String> {
        let mut parts = self.target.split('/');
        let first = parts.next().filter(|part| !part.is_empty() && !part.starts_with('.'))?;
        let second = parts.next()?;
        Some(if first.starts_with('@') { format!("{first}/{second}") } else { first.into() })
    }

    /// What is not as it was.
    pub(super) fn change(&self, root: &Path, directory: &Path) -> Option<LastingChange> {
        if self.path.is_empty() {
            return self.is_added(root, directory);
        }
        let path = text_path(&self.path);
        let Some(now) = Self::found(root, directory, &self.name) else {
            // A check that passes without it did not need it from here.
            return None;
        };
        if now.path != self.path {
            let place = text_path(&now.path);
            let text = format!("{} hides {}", place.display(), path.display());
            return Some(LastingChange::of_file(text, &place));
        }
        let is_same = now.target == self.target && now.content == self.content;
        let text = || format!("{} is another program now", path.display());
        (!is_same).then(|| LastingChange::of_file(text(), &path))
    }
}

impl InstalledProgram {
    /// A program of its own under a name that was found on the path, or nowhere. What a package
    /// brings is another matter: somebody asked for that package.
    fn is_added(&self, root: &Path, directory: &Path) -> Option<LastingChange> {
        let now = Self::found(root, directory, &self.name)?;
        let place = text_path(&now.path);
        let is_written = now.target.starts_with(".bin/");
        let text = if self.is_missing {
            format!("{} was added, and no package brings it", place.display())
        } else {
            format!("{} hides {} of the search path", place.display(), self.name)
        };
        // A tool of the project, linked there, hides none where there was none.
        let is_linked = Path::new(&now.target).is_absolute() && !self.is_missing;
        (is_written || is_linked).then(|| LastingChange::of_file(text, &place))
    }
}

/// The part of a path from its innermost `node_modules` on.
fn inner(path: &Path) -> String {
    let text = path.to_string_lossy();
    text.rsplit_once("node_modules/").map_or(text.to_string(), |(_, inner)| inner.into())
}

fn content_of(path: &Path) -> String {
    let size = fs::metadata(path).map(|found| found.len()).unwrap_or_default();
    match read_regular(path, BYTES_MAX) {
        Ok(bytes) => hex(&hash_of(&bytes)),
        Err(_) => format!("{size} bytes"),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn install(root: &Path, package: &str, version: &str) {
        let place = root.join("node_modules");
        fs::create_dir_all(place.join(".bin")).expect("make it");
        fs::create_dir_all(place.join(package).join("bin")).expect("make it");
        fs::write(place.join(package).join("bin/run.js"), version).expect("write it");
        let link = place.join(".bin").join(package);
        let _ = fs::remove_file(&link);
        symlink(Path::new(&format!("../{package}/bin/run.js")), link).expect("link it");
    }

    fn noted(root: &Path) -> InstalledProgram {
        let names = [String::from("jest"), String::from("mocha")];
        let mut found = InstalledProgram::note(root, Path::new("web"), &names, |_| false);
        assert!(found[1].is_missing, "{found:?}");
        found.remove(0)
    }

    #[test]
    fn another_version_is_no_change_and_another_program_is() {
        let directory = tempfile::tempdir().expect("a directory");
        let root = directory.path();
        install(root, "jest", "one");
        let noted = noted(root);
        install(root, "jest", "two");
        assert_eq!(noted.change(root, Path::new("web")), None);
        let path = root.join("node_modules/.bin/jest");
        fs::remove_file(&path).expect("remove it");
        fs::write(&path, "#!/bin/sh\nexit 0\n").expect("write it");
        let said = noted.change(root, Path::new("web")).expect("a change").text;
        assert!(said.ends_with("node_modules/.bin/jest is another program now"), "{said}");
    }

    #[test]
    fn a_program_of_its_own_hides_one_of_the_search_path_and_a_package_does_not() {
        let directory = tempfile::tempdir().expect("a directory");
        let root = directory.path();
        let names = [String::from("node"), String::from("unknown")];
        let noted = InstalledProgram::note(root, Path::new(""), &names, |name| name == "node");
        let [node, unknown] = noted.as_slice() else { panic!("{noted:?}") };
        assert_eq!(node.change(root, Path::new("")), None);
        install(root, "node", "a package");
        assert_eq!(node.change(root, Path::new("")), None);
        let path = root.join("node_modules/.bin/node");
        fs::remove_file(&path).expect("remove it");
        fs::write(&path, "#!/bin/sh\necho '# pass 4'\n").expect("write it");
        let said = node.change(root, Path::new("")).expect("a change").text;
        assert!(said.ends_with("node_modules/.bin/node hides node of the search path"), "{said}");
        fs::remove_file(&path).expect("remove it");
        fs::write(root.join("fake.sh"), "exit 0\n").expect("write it");
        symlink(Path::new("../../fake.sh"), &path).expect("link it");
        assert!(node.change(root, Path::new("")).is_some());
        // Where there was none, a tool may be linked or come with a package.
        let path = root.join("node_modules/.bin/unknown");
        symlink(Path::new("../../fake.sh"), &path).expect("link it");
        assert_eq!(unknown.change(root, Path::new("")), None);
        fs::remove_file(&path).expect("remove it");
        fs::write(&path, "exit 0\n").expect("write it");
        let said = unknown.change(root, Path::new("")).expect("a change").text;
        assert!(said.ends_with("node_modules/.bin/unknown was added, and no package brings it"));
    }

    #[test]
    fn one_that_is_found_before_it_hides_it() {
        let directory = tempfile::tempdir().expect("a directory");
        let root = directory.path();
        install(root, "jest", "one");
        let noted = noted(root);
        fs::create_dir_all(root.join("web")).expect("make it");
        install(&root.join("web"), "jest", "one");
        let said = noted.change(root, Path::new("web")).expect("a change").text;
        assert!(said.contains("web/node_modules/.bin/jest hides "), "{said}");
    }

    #[test]
    fn a_script_that_starts_the_package_counts_by_what_it_says() {
        let directory = tempfile::tempdir().expect("a directory");
        let root = directory.path();
        let path = root.join("node_modules/.bin/jest");
        fs::create_dir_all(path.parent().expect("a parent")).expect("make it");
        fs::write(&path, "exec node ../jest/bin/jest.js\n").expect("write it");
        let noted = noted(root);
        assert_eq!(noted.change(root, Path::new("web")), None);
        fs::write(&path, "exit 0\n").expect("write it");
        assert!(noted.change(root, Path::new("web")).is_some());
    }
}
