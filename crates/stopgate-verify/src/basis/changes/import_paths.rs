//! Where pytest finds the modules under test: `pythonpath = ["src"]`.
//!
//! A package that moves takes this setting with it, and the setting of the start would look for
//! it where it no longer is. What was found at the start is still looked for first, in the places
//! of the start; a new place comes behind them, and only where nothing in it has the name of
//! something that is found elsewhere, on the machine or in the project.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::super::text::FileText;
use super::Compare;
use crate::judges::sections::{import_paths, with_import_paths};
use crate::judges::{ProjectFiles, is_known_module, is_test_path, normal};

/// The text of the start, with the places that modules have moved to.
pub(super) fn original_with_places(
    compare: &Compare<'_>,
    manifest: &Path,
    original: &str,
    today: &str,
) -> String {
    let (then, now) = (import_paths(manifest, original), import_paths(manifest, today));
    let own = manifest.parent().unwrap_or(Path::new(""));
    let place = |path: &String| normal(&own.join(path));
    let known: BTreeSet<PathBuf> = then.iter().filter_map(place).collect();
    let taken: BTreeSet<String> =
        known.iter().flat_map(|known| modules_in(compare, known)).collect();
    let is_free = |path: &&String| {
        let Some(place) = place(path) else { return false };
        let names = modules_in(compare, &place);
        !known.contains(&place)
            && !names.is_empty()
            && !names.iter().any(|name| taken.contains(name) || is_known_module(name))
            && !is_elsewhere(compare, &names, &place)
    };
    let moved: Vec<String> = now.iter().filter(is_free).cloned().collect();
    if moved.is_empty() {
        return original.into();
    }
    let all = [then, moved].concat();
    with_import_paths(manifest, original, &all).unwrap_or_else(|| original.into())
}

/// The same for a file that holds nothing but settings of pytest, where it makes a difference.
pub(super) fn followed(compare: &Compare<'_>, file: &FileText, path: &Path) -> Option<String> {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let is_pytests = ["pytest.ini", ".pytest.ini"].contains(&name);
    let original = compare.original(file).filter(|_| is_pytests)?;
    let text = original_with_places(compare, path, &original, &compare.files.text(path)?);
    (text != original).then_some(text)
}

/// Whether another place has a package of one of these names: it may be the one that was moved,
/// and this one a double.
fn is_elsewhere(compare: &Compare<'_>, names: &BTreeSet<String>, place: &Path) -> bool {
    let is_package = |path: &PathBuf| {
        let is_other = path.extension().is_some_and(|end| end == "py") && !path.starts_with(place);
        let mut parts = path.iter().filter_map(|part| part.to_str());
        is_other && !is_test_path(path) && parts.any(|part| names.contains(part))
    };
    compare.files.paths().iter().any(is_package)
}

/// The names of Python's modules and packages right in a directory of today.
fn modules_in(compare: &Compare<'_>, place: &Path) -> BTreeSet<String> {
    let module = |path: &PathBuf| {
        let mut inner = path.strip_prefix(place).ok()?.iter();
        let first = Path::new(inner.next()?);
        let is_package = inner.next().is_some();
        let name = if is_package { first.as_os_str() } else { first.file_stem()? };
        let is_python = path.extension().is_some_and(|end| end == "py");
        Some(name.to_str()?.to_string()).filter(|_| is_python)
    };
    compare.files.paths().iter().filter_map(module).collect()
}
