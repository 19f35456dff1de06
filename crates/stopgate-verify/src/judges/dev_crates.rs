//! Crates of the project that only tests depend on, and that do their asserting for them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use toml_edit::{DocumentMut, Item};

use super::files::{ProjectFiles, below, directory_of, extension_of, name_of, normal};
use super::helpers::says_test_helper;
use super::names::is_foreign;

/// Source of such crates.
pub(super) fn sources(files: &dyn ProjectFiles) -> BTreeSet<PathBuf> {
    let is_manifest = |path: &&PathBuf| name_of(path) == "Cargo.toml" && !is_foreign(path);
    let (mut for_tests, mut for_work) = (BTreeSet::new(), BTreeSet::new());
    for path in files.paths().iter().filter(is_manifest) {
        let text = files.text(path).unwrap_or_default();
        let Ok(manifest) = text.parse::<DocumentMut>() else { continue };
        let own = directory_of(path);
        let is_product = below(files, &own).any(|file| {
            file.strip_prefix(&own).is_ok_and(|file| {
                file == Path::new("src/lib.rs") || file == Path::new("src/main.rs")
            })
        });
        let dev = paths(&manifest, "dev-dependencies", &own);
        // A package of nothing but tests depends on the work in this way.
        if is_product {
            for_tests.extend(dev);
        } else {
            for_work.extend(dev);
        }
        for key in ["dependencies", "build-dependencies"] {
            for_work.extend(paths(&manifest, key, &own));
        }
    }
    let helpers = for_tests.difference(&for_work).filter(|own| !own.as_os_str().is_empty());
    helpers.filter(|own| is_helper(own, files)).flat_map(|own| rust_below(files, own)).collect()
}

/// Directories of the dependencies with a path.
fn paths(manifest: &DocumentMut, key: &str, own: &Path) -> Vec<PathBuf> {
    let path_of = |item: &Item| item.get("path").and_then(Item::as_str).map(str::to_string);
    let found = manifest.get(key).and_then(Item::as_table_like);
    let found =
        found.into_iter().flat_map(|table| table.iter()).filter_map(|(_, own)| path_of(own));
    found.filter_map(|path| normal(&own.join(path))).collect()
}

fn rust_below(files: &dyn ProjectFiles, directory: &Path) -> Vec<PathBuf> {
    let is_source = |path: &&PathBuf| extension_of(path) == "rs" && path.starts_with(directory);
    below(files, directory).filter(is_source).cloned().collect()
}

/// Whether the crate asserts, or is called as one that helps tests.
fn is_helper(directory: &Path, files: &dyn ProjectFiles) -> bool {
    let asserts = |path: PathBuf| {
        let text = files.text(&path).unwrap_or_default();
        let text = text.split("#[cfg(test)]").next().unwrap_or_default();
        ["assert!(", "assert_eq!(", "assert_ne!(", "panic!("].iter().any(|own| text.contains(own))
    };
    says_test_helper(directory) || rust_below(files, directory).into_iter().any(asserts)
}
