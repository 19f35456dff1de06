//! Looks at a recipe before anything is made, and at the words of a command.

use std::ffi::{OsStr, OsString};
use std::path::{Component, Path, PathBuf};

use stopgate_system::CanonicalPath;
use stopgate_system::ffi::{OsStrExt, OsStringExt};

use super::{Isolation, PlaceError, PlaceKind, PlaceRecipe, failed};

/// The root without links in it.
pub(super) fn usable_root(recipe: &PlaceRecipe<'_>) -> Result<PathBuf, PlaceError> {
    let root = recipe.root.canonical().map_err(failed(recipe.root))?;
    if !root.is_dir() {
        return Err(unusable(&root, "it is not a directory"));
    }
    if root.parent().is_none() {
        return Err(unusable(&root, "it is the whole file system"));
    }
    let scratch = nearest(recipe.scratch);
    if scratch.starts_with(&root) {
        return Err(unusable(recipe.scratch, "it is inside the tree"));
    }
    Ok(root)
}

/// Refuses what could not be done as asked, rather than do less.
pub(super) fn check(recipe: &PlaceRecipe<'_>, kind: PlaceKind) -> Result<(), PlaceError> {
    let restored = recipe.restore.iter().map(|file| &file.path);
    if let Some(path) =
        restored.chain(recipe.absent).chain(recipe.unmade).find(|path| !is_inner(path))
    {
        return Err(unusable(path, "it is not a path below the root"));
    }
    for mount in recipe.mounts {
        if !mount.at.is_absolute() && !is_inner(&mount.at) {
            return Err(unusable(&mount.at, "it is not a path below the root"));
        }
    }
    for mask in recipe.masks {
        check_mask(&mask.path, recipe.root)?;
    }
    match kind {
        PlaceKind::Copy => check_copy(recipe),
        PlaceKind::Overlay | PlaceKind::BoundCopy => Ok(()),
    }
}

fn check_mask(path: &Path, root: &Path) -> Result<(), PlaceError> {
    let real = path.canonical().map_err(failed(path))?;
    if !path.is_absolute() || real.starts_with(root) || root.starts_with(&real) {
        return Err(unusable(path, "only a path outside the tree can be masked"));
    }
    Ok(())
}

fn check_copy(recipe: &PlaceRecipe<'_>) -> Result<(), PlaceError> {
    let missing = if !recipe.mounts.is_empty() {
        "no directory can be mounted over another"
    } else if !recipe.masks.is_empty() {
        "no file outside the tree can be masked"
    } else if recipe.isolation != Isolation::None {
        "a run can't be hermetic"
    } else {
        return Ok(());
    };
    Err(PlaceError::Unsupported(format!("{missing} in a copy elsewhere")))
}

/// Replaces every mention of the tree's path by the place's.
pub(super) fn translate(text: &OsStr, tree: &Path, place: &Path) -> OsString {
    let (tree, place) = (tree.as_os_str().as_bytes(), place.as_os_str().as_bytes());
    let text = text.as_bytes();
    if tree == place {
        return OsString::from_vec(text.to_vec());
    }
    let mut out = Vec::with_capacity(text.len());
    let mut at = 0;
    while at < text.len() {
        let (before, rest) = text.split_at(at);
        if begins_path(before) && is_path(rest, tree) {
            out.extend_from_slice(place);
            at += tree.len();
        } else {
            out.push(text[at]);
            at += 1;
        }
    }
    OsString::from_vec(out)
}

/// Whether a path can begin after this: `-I` and `file://` lead to one, `/backup` is part of one.
fn begins_path(before: &[u8]) -> bool {
    let is_part = |byte: &&u8| is_of_name(**byte) || **byte == b'/';
    let slashes = before.iter().rev().take_while(is_part).filter(|byte| **byte == b'/').count();
    let only = before.iter().rev().take_while(|byte| **byte == b'/').count();
    slashes == 0 || (slashes == only && !is_name_before(before, only))
}

fn is_name_before(before: &[u8], slashes: usize) -> bool {
    before.len().checked_sub(slashes + 1).is_some_and(|index| is_of_name(before[index]))
}

/// Whether the text begins with a path, and not with one of a longer name.
fn is_path(text: &[u8], path: &[u8]) -> bool {
    text.starts_with(path) && !text.get(path.len()).copied().is_some_and(is_of_name)
}

const fn is_of_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_') || byte >= 0x80
}

fn is_inner(path: &Path) -> bool {
    let mut parts = path.components();
    path.file_name().is_some() && parts.all(|part| matches!(part, Component::Normal(_)))
}

/// A path without links, as far as it exists.
pub(super) fn nearest(path: &Path) -> PathBuf {
    let found = path.ancestors().find_map(|above| Some((above, above.canonical().ok()?)));
    let Some((above, real)) = found else { return path.into() };
    path.strip_prefix(above).map_or_else(|_| real.clone(), |rest| real.join(rest))
}

fn unusable(path: &Path, why: &'static str) -> PlaceError {
    PlaceError::Unusable { path: path.into(), why }
}
