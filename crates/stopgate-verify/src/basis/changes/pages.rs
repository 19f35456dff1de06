//! Pages that are gone with the examples that a script tried out.

use std::path::Path;

use super::super::text::FileText;
use super::Compare;
use crate::judges::MixedKind;
use crate::judges::sections::restore;
use crate::place::{FileContent, RestoredFile};

/// An original run has a page with the examples of one that is gone, under its title: its text may
/// lead to what is gone as well.
pub(super) fn bring_back_examples(compare: &mut Compare<'_>, file: &FileText, path: &Path) -> bool {
    let Some(original) = compare.original(file) else { return false };
    let reach = compare.noted.judges.reach_of(&compare.packages.origin(path));
    let is_title = |line: &&str| line.starts_with("# ");
    let title = original.lines().find(is_title).map(|line| format!("{line}\n"));
    let title = title.unwrap_or_default();
    let Ok(text) = restore(MixedKind::Page, &original, &title, &reach) else { return false };
    compare.found.texts.push(format!("{} was deleted", path.display()));
    compare.bind(path, "");
    let content = FileContent::File { bytes: text.into_bytes(), executable: false };
    compare.found.restore.push(RestoredFile { path: path.into(), content });
    true
}
