//! References that a check itself wrote in its first run: `sh golden.sh && git diff --exit-code
//! golden`. What they said at the start is what git has, not what the tree says after that run.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::ToolOutput;
use crate::git::{GitFilters, git};
use crate::judges::by_path::is_reference;

/// How many files git is asked for, one at a time.
const FILES_MAX: usize = 200;
/// How long each of them may take.
const WITHIN: Duration = Duration::from_secs(5);

/// What `commit` has of the references among `outputs`.
pub(super) fn references<'p>(
    root: &Path,
    commit: Option<&str>,
    outputs: impl Iterator<Item = &'p PathBuf>,
) -> BTreeMap<PathBuf, Vec<u8>> {
    let Some(commit) = commit else { return BTreeMap::new() };
    let said = |path: &'p PathBuf| {
        let object = format!("{commit}:./{}", path.to_str()?);
        let said = git(&["cat-file", "blob", &object], root, GitFilters::OwnOnly, WITHIN);
        Some((path.clone(), said.ok().filter(ToolOutput::is_fine)?.stdout))
    };
    outputs.filter(|path| is_reference(path)).take(FILES_MAX).filter_map(said).collect()
}
