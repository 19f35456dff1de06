//! Lines of the work that are newly left out of coverage.

use std::path::PathBuf;

use super::Compare;
use crate::judges::coverage_marks::{LINES_MAX, without_new_marks};
use crate::judges::{JudgeRole, ProjectFiles, is_code};
use crate::tree::TreeFile;

/// An original run counts them, where they are more than a few.
pub(super) fn uncounted(compare: &mut Compare<'_>) {
    let Some(known) = compare.noted.judges.coverage_marks() else { return };
    let rules = compare.noted.judges.rules();
    let is_source = |file: &&TreeFile| {
        let end = file.path.extension().and_then(|end| end.to_str()).unwrap_or_default();
        is_code(end) && compare.is_younger(file) && rules.role(&file.path) == JudgeRole::Work
    };
    let mut found: Vec<(&TreeFile, String)> = Vec::new();
    let mut left_out = 0;
    for file in compare.now.files().filter(is_source) {
        let Some(text) = compare.files.text(&file.path) else { continue };
        let (plain, lines) = without_new_marks(&text, known);
        left_out += lines;
        found.extend((plain != text).then_some((file, plain)));
    }
    if left_out <= LINES_MAX {
        return;
    }
    let paths: Vec<PathBuf> = found.iter().map(|(file, _)| file.path.clone()).collect();
    for (file, plain) in found {
        let told = format!("{}: lines were left out of coverage", file.path.display());
        compare.restored(&file.path, told, plain, file);
    }
    compare.found.uncounted = paths;
}
