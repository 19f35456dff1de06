//! Judges behind symbolic links: a judge is the content that a link leads to.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use stopgate_system::CanonicalPath;

use super::files::name_of;
use super::names::said;
use super::role::{JudgeRole, Why};
use super::rules::JudgeRules;
use super::stored_path::StoredPath;

/// How many files behind one link are looked at.
const FILES_MAX: usize = 2_000;

/// A judge that is a link, and what it leads to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct JudgeLink {
    /// The link, from the project's root.
    pub(crate) link: StoredPath,
    /// Where it leads, absolute and without further links.
    pub(crate) target: StoredPath,
    /// The files there that judge, absolute; the target itself where it is a file.
    pub(crate) files: Vec<StoredPath>,
}

/// The links among files that judge, and above them.
pub(super) fn of<'p>(
    root: &Path,
    whole_root: &Path,
    paths: impl Iterator<Item = &'p PathBuf>,
    rules: &JudgeRules<'_>,
) -> Vec<JudgeLink> {
    let judged = paths.map(|path| (path, rules.role(path)));
    let judged = judged.filter(|(_, role)| *role != JudgeRole::Work);
    let found: BTreeSet<JudgeLink> = judged
        .flat_map(|(path, role)| [follow(root, path, &role), above(root, whole_root, path)])
        .flatten()
        .collect();
    found.into_iter().collect()
}

/// The files of the project that they lead to.
pub(super) fn inner(links: &[JudgeLink], whole_root: &Path) -> BTreeSet<PathBuf> {
    let files = links.iter().flat_map(|link| &link.files);
    let inner = files.filter_map(|file| file.0.strip_prefix(whole_root).ok());
    inner.map(Path::to_path_buf).collect()
}

/// What the link at `path` leads to; `None` where it is not a link or leads nowhere.
fn follow(root: &Path, path: &Path, role: &JudgeRole) -> Option<JudgeLink> {
    let whole = root.join(path);
    if !whole.symlink_metadata().ok()?.is_symlink() {
        return None;
    }
    let target = whole.canonical().ok()?;
    let mut files = Vec::new();
    if target.is_dir() {
        let is_own = root.canonical().is_ok_and(|root| target.starts_with(root));
        // A link in tests to the sources is how tests find what they test.
        if *role == JudgeRole::Whole(Why::Protected) || !is_own || leads_to_tests(path, &target) {
            collect(&target, &mut files);
        }
    } else {
        files.push(target.clone());
    }
    files.sort_unstable();
    let files = files.into_iter().map(StoredPath).collect();
    Some(JudgeLink { link: StoredPath(path.into()), target: StoredPath(target), files })
}

/// What `path` leads to where a directory above it is a link.
fn above(root: &Path, whole_root: &Path, path: &Path) -> Option<JudgeLink> {
    let mut directories = path.ancestors().skip(1).filter(|own| !own.as_os_str().is_empty());
    directories.find(|own| root.join(own).is_symlink())?;
    let target = root.join(path).canonical().ok()?;
    let files = if target.is_file() { vec![StoredPath(target.clone())] } else { Vec::new() };
    (target != whole_root.join(path)).then(|| JudgeLink {
        link: StoredPath(path.into()),
        target: StoredPath(target),
        files,
    })
}

fn leads_to_tests(path: &Path, target: &Path) -> bool {
    let words = [
        "test",
        "tests",
        "spec",
        "specs",
        "fixtures",
        "data",
        "golden",
        "goldens",
        "expected",
        "snapshots",
        "helpers",
        "support",
        "cases",
    ];
    let says = |path: &Path| {
        words.contains(&name_of(path)) || said(path).is_some_and(|_| path.components().count() == 1)
    };
    says(path) || says(target)
}

fn collect(directory: &Path, files: &mut Vec<PathBuf>) {
    let mut open = vec![directory.to_path_buf()];
    while let Some(directory) = open.pop() {
        let Ok(entries) = fs::read_dir(&directory) else { continue };
        for entry in entries.flatten() {
            if files.len() >= FILES_MAX {
                return;
            }
            match entry.file_type() {
                Ok(kind) if kind.is_dir() && !is_skipped(&entry.path()) => open.push(entry.path()),
                Ok(kind) if kind.is_file() => files.push(entry.path()),
                _ => {}
            }
        }
    }
}

fn is_skipped(path: &Path) -> bool {
    [".git", "node_modules", "__pycache__", "target", ".venv"].contains(&name_of(path))
}
