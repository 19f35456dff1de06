//! Where a symbolic link leads when its tree is copied to another path.
//!
//! A link that would lead back into the tree leads to the copy instead, however many links are
//! in between; one that leads out of the tree by a relative path still leads there.

use std::path::{Component, Path, PathBuf};

use stopgate_system::CanonicalPath;

/// The target of the copy of the link at `path` below the root.
pub(super) fn relink(tree: &Path, copy: &Path, path: &Path, target: &Path) -> PathBuf {
    let parent = path.parent().unwrap_or(Path::new(""));
    let from = tree.join(parent).join(target);
    // By its text, where that says enough: what the work did on the way does not matter to the link.
    if let (true, Ok(inner)) = (target.is_absolute(), normal(target).strip_prefix(tree)) {
        return copy.join(inner);
    }
    // A broken link has no real target; it is judged by its text.
    let real = from.canonical().unwrap_or_else(|_| normal(&from));
    let inner = real.strip_prefix(tree).ok();
    if target.is_relative() && stays_inside(parent, target) && inner.is_some() {
        return target.into();
    }
    match inner {
        Some(inner) => copy.join(inner),
        None if target.is_relative() && !stays_inside(parent, target) => normal(&from),
        None => target.into(),
    }
}

/// Whether a relative target, taken by its text, never leaves the tree.
fn stays_inside(parent: &Path, target: &Path) -> bool {
    let mut depth = parent.components().count();
    for part in target.components() {
        match part {
            Component::ParentDir => match depth.checked_sub(1) {
                Some(less) => depth = less,
                None => return false,
            },
            Component::Normal(_) => depth += 1,
            Component::CurDir | Component::RootDir | Component::Prefix(_) => {}
        }
    }
    true
}

/// A path without `.` and `..`, by its text.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                normal.pop();
            }
            Component::Normal(_) | Component::RootDir | Component::Prefix(_) => normal.push(part),
        }
    }
    normal
}
