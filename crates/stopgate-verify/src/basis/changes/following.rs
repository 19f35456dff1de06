//! Settings of the start that follow what the work moved: they name files, and would look for them
//! where they no longer are.

use std::path::{Path, PathBuf};

use super::super::text::text_path;
use super::{Compare, go_modules, import_paths};
use crate::judges::sections::{with_moved_entries, with_moved_targets};
use crate::judges::{MixedKind, normal};

/// What a file of this kind said at the start, with what it names where that is now.
pub(super) fn original_with_moves(
    compare: &Compare<'_>,
    kind: MixedKind,
    path: &Path,
    original: String,
    today: &str,
) -> String {
    match kind {
        MixedKind::CargoToml => {
            let stays = |target: &str| stays(compare, path, target);
            with_moved_targets(&original, today, &stays).unwrap_or(original)
        }
        MixedKind::PackageJson => {
            let leads = |target: &str| leads(compare, path, target);
            with_moved_entries(&original, today, &leads).unwrap_or(original)
        }
        MixedKind::Pyproject | MixedKind::SetupCfg | MixedKind::ToxIni => {
            import_paths::original_with_places(compare, path, &original, today)
        }
        MixedKind::GoMod | MixedKind::GoWork => {
            go_modules::original_with_work(compare, path, &original, today)
        }
        MixedKind::RustSource => compare.tests.original(path, &original),
        _other => original,
    }
}

/// Whether a manifest's target is still read from where it was at the start.
fn stays(compare: &Compare<'_>, manifest: &Path, target: &str) -> bool {
    let path = manifest.parent().unwrap_or(Path::new("")).join(target);
    let path = normal(&path).unwrap_or(path);
    let was_judge = || compare.basis.text.files.iter().any(|file| text_path(&file.path) == path);
    let has_moved = compare.moved.contains_key(&path) || compare.packages.have(&path);
    compare.now.get(&path).is_some() || (was_judge() && !has_moved)
}

/// Whether a name in a package still finds the file, or the directory, that it found.
fn leads(compare: &Compare<'_>, manifest: &Path, target: &str) -> bool {
    let path = manifest.parent().unwrap_or(Path::new("")).join(target);
    let more = [".js", "/index.js", ".mjs", ".cjs", ".json"];
    let forms = more.map(|end| PathBuf::from(format!("{}{end}", path.display())));
    let is_directory = || compare.now.files().any(|file| file.path.starts_with(&path));
    compare.now.get(&path).is_some()
        || forms.iter().any(|form| compare.now.get(form).is_some())
        || is_directory()
}
