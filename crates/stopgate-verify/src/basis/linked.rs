//! Packages of the project that are linked into `node_modules`, as workspaces are.
//!
//! A test that imports one by its name gets what the link leads to. A link that leads elsewhere
//! while the package of the start is still there gives the tests something else to judge.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use stopgate_system::CanonicalPath;

use super::keep::content_below;
use super::lasting::LastingChange;
use super::text::{path_text, text_path};

/// How many links are noted.
const LINKS_MAX: usize = 1_000;
const MODULES: &str = "node_modules";

/// A link to a package of the project, by paths from the root.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LinkedPackage {
    path: String,
    target: String,
}

impl LinkedPackage {
    /// The links that a check in `directory` finds.
    pub(crate) fn note(root: &Path, directory: &Path) -> Vec<Self> {
        let places = directory.ancestors().map(|place| place.join(MODULES));
        let found = places.flat_map(|place| links(root, &place));
        let noted = found.filter_map(|path| {
            let target = target_of(root, &path)?;
            Some(Self { path: path_text(&path), target: path_text(&target) })
        });
        noted.take(LINKS_MAX).collect()
    }

    /// The directory in whose `node_modules` it is, and the name by which it is imported.
    pub(super) fn holder_and_name(&self) -> Option<(PathBuf, PathBuf)> {
        let path = text_path(&self.path);
        let parts: Vec<_> = path.iter().collect();
        let at = parts.iter().rposition(|part| *part == MODULES)?;
        Some((parts[..at].iter().collect(), parts[at + 1..].iter().collect()))
    }

    /// The package of the project that it leads to.
    pub(super) fn target(&self) -> PathBuf {
        text_path(&self.target)
    }

    /// What is not as it was.
    pub(super) fn change(&self, root: &Path) -> Option<LastingChange> {
        let (path, was) = (text_path(&self.path), text_path(&self.target));
        let whole = root.join(&path).canonical().ok()?;
        let now = target_of(root, &path);
        let is_other = now.as_ref() != Some(&was) && root.join(&was).exists();
        is_other.then(|| {
            let is_own = !root.join(&path).is_symlink();
            let now = now.unwrap_or(whole);
            let content = content_below(&root.join(&now));
            let (path, was, now) = (path.display(), was.display(), now.display());
            let text = if is_own {
                format!("{path} is a copy now; it led to {was}")
            } else {
                format!("{path} leads to {now} now; it led to {was}")
            };
            LastingChange::new(text, &content)
        })
    }
}

/// The links in a directory of packages, and in its scopes.
fn links(root: &Path, modules: &Path) -> Vec<PathBuf> {
    let names = |place: &Path| {
        let entries = fs::read_dir(root.join(place)).into_iter().flatten().flatten();
        entries.map(|entry| place.join(entry.file_name())).collect::<Vec<_>>()
    };
    let is_scope = |path: &&PathBuf| {
        let name = path.file_name().unwrap_or_default();
        name.as_encoded_bytes().starts_with(b"@")
    };
    let own = names(modules);
    let scoped: Vec<PathBuf> = own.iter().filter(is_scope).flat_map(|scope| names(scope)).collect();
    let mut found: Vec<PathBuf> =
        own.into_iter().chain(scoped).filter(|path| root.join(path).is_symlink()).collect();
    found.sort();
    found
}

/// Where a link leads in the project, outside of what was installed.
fn target_of(root: &Path, path: &Path) -> Option<PathBuf> {
    let whole = root.join(path).canonical().ok()?;
    let inner = whole.strip_prefix(root.canonical().ok()?).ok()?.to_path_buf();
    (!inner.iter().any(|part| part == MODULES)).then_some(inner)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_link_that_leads_elsewhere_is_a_change_while_the_package_is_there() {
        let directory = tempfile::tempdir().expect("a directory");
        let root = directory.path();
        for place in ["packages/a", "packages/b", "node_modules/@app"] {
            fs::create_dir_all(root.join(place)).expect("make it");
        }
        let link = root.join("node_modules/@app/a");
        symlink("../../packages/a", &link).expect("link it");
        let noted = LinkedPackage::note(root, Path::new("web"));
        assert_eq!(noted.len(), 1, "{noted:?}");
        assert_eq!(noted[0].holder_and_name(), Some((PathBuf::new(), "@app/a".into())));
        assert_eq!(noted[0].target(), Path::new("packages/a"));
        assert_eq!(noted[0].change(root), None);
        fs::remove_file(&link).expect("remove it");
        assert_eq!(noted[0].change(root), None);
        symlink("../../packages/b", &link).expect("link it");
        let said = noted[0].change(root).expect("a change").text;
        assert_eq!(said, "node_modules/@app/a leads to packages/b now; it led to packages/a");
        fs::remove_dir(root.join("packages/a")).expect("remove it");
        assert_eq!(noted[0].change(root), None);
    }

    #[test]
    fn a_package_from_outside_or_a_copy_takes_the_place_of_a_link() {
        let (directory, outside) = (tempfile::tempdir(), tempfile::tempdir());
        let (directory, outside) = (directory.expect("a directory"), outside.expect("another"));
        let root = directory.path();
        for place in ["packages/a", "node_modules"] {
            fs::create_dir_all(root.join(place)).expect("make it");
        }
        let link = root.join("node_modules/a");
        symlink("../packages/a", &link).expect("link it");
        let noted = LinkedPackage::note(root, Path::new(""));
        fs::remove_file(&link).expect("remove it");
        symlink(outside.path(), &link).expect("link it");
        let said = noted[0].change(root).expect("a change").text;
        assert!(said.ends_with("now; it led to packages/a"), "{said}");
        fs::remove_file(&link).expect("remove it");
        fs::create_dir(&link).expect("make it");
        let said = noted[0].change(root).expect("a change").text;
        assert_eq!(said, "node_modules/a is a copy now; it led to packages/a");
    }
}
