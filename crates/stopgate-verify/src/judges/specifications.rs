//! `spec/numbers.toml`: what the work is made from, in a directory where others keep tests.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::JudgeSet;
use super::files::{ProjectFiles, extension_of, file_names, name_of};
use super::names::{is_code, is_foreign, said};
use super::stored_path::StoredPath;

/// How many files of the work are read.
const FILES_MAX: usize = 6_000;

/// Leaves such data to the work.
pub(super) fn leave_specifications(set: &mut JudgeSet, files: &dyn ProjectFiles) {
    let judges = set.whole(files);
    let judges: BTreeSet<&Path> = judges.iter().map(PathBuf::as_path).collect();
    let found = read_by_work(files, &judges);
    set.work.extend(found.into_iter().map(StoredPath));
}

/// Data that nothing but such a directory calls a test, and that the work names.
fn read_by_work(files: &dyn ProjectFiles, judges: &BTreeSet<&Path>) -> BTreeSet<PathBuf> {
    let mut open: BTreeMap<&str, Vec<&PathBuf>> = BTreeMap::new();
    for path in files.paths().iter().filter(|path| is_specification(path)) {
        open.entry(name_of(path)).or_default().push(path);
    }
    let mut found = BTreeSet::new();
    let is_work = |path: &&PathBuf| {
        is_code(extension_of(path)) && !judges.contains(path.as_path()) && !is_foreign(path)
    };
    for path in files.paths().iter().filter(is_work).take(FILES_MAX) {
        if open.is_empty() {
            break;
        }
        let text = files.text(path).unwrap_or_default();
        let named = file_names(&text).filter_map(|name| open.remove(name));
        found.extend(named.flatten().cloned());
    }
    found
}

fn is_specification(path: &Path) -> bool {
    let is_spec = |part: &Path| part == Path::new("spec") || part == Path::new("specs");
    let parts = path.iter().map(Path::new);
    let rest: PathBuf = parts.filter(|part| !is_spec(part)).collect();
    !is_code(extension_of(path))
        && path.iter().map(Path::new).any(is_spec)
        && !is_foreign(path)
        && said(&rest).is_none()
}
