//! Packages that came into a `node_modules` nearer to the code than the one that leads to a package
//! of the project itself: whatever imports that name there gets the new one.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use stopgate_system::CanonicalPath;

use super::Compare;
use super::undeclared::{is_fresh, leave_out};
use crate::judges::ProjectFiles;

const MODULES: &str = "node_modules";
/// How many directories are looked at.
const PLACES_MAX: usize = 5_000;

/// An original run goes without packages that hide one of the project.
pub(super) fn hidden_packages(compare: &mut Compare<'_>) {
    if compare.noted.linked.is_empty() {
        return;
    }
    let places = places(compare);
    let mut found: BTreeSet<(PathBuf, PathBuf)> = BTreeSet::new();
    for link in &compare.noted.linked {
        let Some((holder, name)) = link.holder_and_name() else { continue };
        let nearer = places.iter().filter(|place| place.starts_with(&holder) && **place != holder);
        let paths = nearer.map(|place| place.join(MODULES).join(&name));
        let hides = |path: &PathBuf| is_fresh(compare, path) && !is_of_project(compare.root, path);
        found.extend(paths.filter(hides).map(|path| (path, link.target())));
    }
    for (path, target) in found {
        compare.found.texts.push(format!("{} hides {}", path.display(), target.display()));
        leave_out(compare, path);
    }
}

/// Directories of the project with packages of their own.
fn places(compare: &Compare<'_>) -> Vec<PathBuf> {
    let above = compare.files.paths().iter().flat_map(|path| path.ancestors().skip(1));
    let all: BTreeSet<&Path> = above.collect();
    let has = |place: &&Path| compare.root.join(place).join(MODULES).is_dir();
    all.into_iter().take(PLACES_MAX).filter(has).map(Path::to_path_buf).collect()
}

/// Whether the name leads to a package of the project, as workspaces are linked.
fn is_of_project(root: &Path, path: &Path) -> bool {
    let inner = root.join(path).canonical().ok();
    let inner = inner.and_then(|path| path.strip_prefix(root).map(Path::to_path_buf).ok());
    inner.is_some_and(|inner| !inner.iter().any(|part| part == MODULES))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[cfg(unix)]
    #[test]
    fn a_link_to_a_package_of_the_project_hides_none() {
        let directory = tempfile::tempdir().expect("a directory");
        let root = directory.path().canonical().expect("it is there");
        for place in ["packages/core", "packages/app/node_modules/copy"] {
            fs::create_dir_all(root.join(place)).expect("make it");
        }
        let link = root.join("packages/app/node_modules/core");
        std::os::unix::fs::symlink("../../core", &link).expect("link it");
        assert!(is_of_project(&root, Path::new("packages/app/node_modules/core")));
        assert!(!is_of_project(&root, Path::new("packages/app/node_modules/copy")));
        assert!(!is_of_project(&root, Path::new("packages/app/node_modules/none")));
    }
}
