//! Programs of the project that make files which a check has git compare: `sh tools/gen.sh && git diff
//! --exit-code`. They are work; what they said at the start tells which files they make.

use std::path::Path;

use super::super::keep::ContentStore;
use super::super::listing::Listing;
use super::super::note_file;
use super::super::text::{FileText, text_path};
use super::as_found::is_same;
use super::{BasisError, Compare};
use crate::judges::JudgeSet;
use crate::place::{FileContent, RestoredFile};
use crate::tree::{FileKind, TreeFile};

/// How many such programs are kept.
const MAKERS_MAX: usize = 50;

/// What they say at the start.
pub(in crate::basis) fn note(
    root: &Path,
    judges: &JudgeSet,
    found: &Listing,
    keep: &mut ContentStore<'_>,
) -> Result<Vec<FileText>, BasisError> {
    let is_file = |file: &&TreeFile| [FileKind::Plain, FileKind::Executable].contains(&file.kind);
    let own = found.files().filter(|file| judges.is_maker(&file.path)).filter(is_file);
    own.take(MAKERS_MAX).map(|file| note_file(root, file, None, keep)).collect()
}

/// Those that say something else now, and what was written that make would make.
pub(super) fn changed_makers(compare: &mut Compare<'_>) {
    let is_young = |path: &&Path| compare.now.get(path).is_some_and(|own| compare.is_younger(own));
    let made = compare.noted.judges.made().filter(is_young).map(Path::to_path_buf);
    compare.found.made = made.collect();
    for noted in &compare.noted.makers {
        let path = text_path(&noted.path);
        let Some(now) = compare.now.get(&path) else { continue };
        if is_same(noted, now) || !noted.kept {
            continue;
        }
        if let Ok(bytes) = compare.keep.get(&noted.content) {
            let executable = noted.kind == FileKind::Executable;
            let content = FileContent::File { bytes, executable };
            compare.found.makers.push(RestoredFile { path, content });
        }
    }
}
