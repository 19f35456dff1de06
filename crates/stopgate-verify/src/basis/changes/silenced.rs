//! Work that has switched a linter or a compiler's warnings off for whole files since the start: an
//! original run reads it without those directives.

use std::path::{Path, PathBuf};

use super::Compare;
use crate::git::{GitFilters, git};
use crate::judges::suppressions::{self, Unsilenced, says_made};
use crate::judges::{JudgeRole, ProjectFiles};
use crate::place::{FileContent, RestoredFile};
use crate::tree::{FileKind, TreeFile, hex};

/// How many changed sources are read.
const SOURCES_MAX: usize = 5_000;
/// How long git may take to tell what the commit of the start has.
const GIT_TIMEOUT: std::time::Duration = std::time::Duration::from_secs(5);

/// Puts sources without new directives among what an original run restores.
pub(super) fn unsilence(compare: &mut Compare<'_>) {
    let judges = &compare.noted.judges;
    let rules = judges.rules();
    let is_work = |path: &Path| !matches!(rules.role(path), JudgeRole::Whole(_));
    let is_source = |file: &&TreeFile| {
        file.kind != FileKind::Link
            && suppressions::may_be_silenced(judges, &file.path)
            && compare.is_younger(file)
            && is_work(&file.path)
            && !compare.found.absent.contains(&file.path)
    };
    let sources = compare.now.files().filter(is_source).take(SOURCES_MAX);
    let found: Vec<(TreeFile, Unsilenced)> =
        sources.filter_map(|file| Some((file.clone(), unsilenced(compare, &file.path)?))).collect();
    drop(rules);
    for (file, Unsilenced { said, text }) in found {
        let path = &file.path;
        let told = format!("{} is silenced as a whole ({})", path.display(), said.join(", "));
        compare.found.texts.push(told);
        compare.bind(path, &hex(&file.content));
        let executable = file.kind == FileKind::Executable;
        let content = FileContent::File { bytes: text.into_bytes(), executable };
        compare.found.restore.retain(|own| own.path != *path);
        compare.found.restore.push(RestoredFile { path: path.clone(), content });
    }
}

fn unsilenced(compare: &Compare<'_>, path: &PathBuf) -> Option<Unsilenced> {
    let judges = &compare.noted.judges;
    let is_gone = |own: &Path| compare.now.get(own).is_none();
    let known = suppressions::known_directives(judges, path, &is_gone)?;
    let restored = compare.found.restore.iter().find(|own| own.path == *path);
    let text = match restored.map(|own| &own.content) {
        Some(FileContent::File { bytes, .. }) => String::from_utf8(bytes.clone()).ok()?,
        Some(FileContent::Link(_)) => return None,
        None => compare.files.text(path)?,
    };
    let found = suppressions::unsilenced(judges, path, &text, &known)?;
    let is_made = says_made(&text) && !was_written(compare, path);
    (!is_made).then_some(found)
}

/// Whether the commit of the start has the file, and it does not say there that a tool made it.
fn was_written(compare: &Compare<'_>, path: &Path) -> bool {
    let (Some(commit), Some(path)) = (compare.basis.commit(), path.to_str()) else { return false };
    let object = format!("{commit}:./{path}");
    let said = git(&["cat-file", "blob", &object], compare.root, GitFilters::OwnOnly, GIT_TIMEOUT);
    said.is_ok_and(|said| said.is_fine() && !says_made(&String::from_utf8_lossy(&said.stdout)))
}
