//! Whether a package that has another directory now is still part of its workspace.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use toml_edit::{DocumentMut, Item};

use super::super::text::text_path;
use super::Compare;
use crate::glob::Globs;
use crate::judges::{ProjectFiles, normal};

/// A check that goes through a workspace passes over a package that has left it.
pub(super) fn stays_member(
    compare: &Compare<'_>,
    from: &Path,
    to: &Path,
    manifest: &OsStr,
) -> bool {
    let then = |root: &Path| {
        let path = root.join(manifest);
        let file = compare.basis.text.files.iter().find(|file| text_path(&file.path) == path)?;
        Some(members(manifest, &compare.original(file)?)).filter(|own| !own.is_empty())
    };
    let mut above = from.ancestors().skip(1);
    let Some((root, before)) = above.find_map(|root| Some((root, then(root)?))) else {
        return true;
    };
    let now = compare.files.text(&root.join(manifest)).unwrap_or_default();
    !takes(&before, root, from)
        || takes(&members(manifest, &now), root, to)
        || is_needed(compare, to)
}

/// Whether a crate depends on another one by its path, which makes it a member, too.
fn is_needed(compare: &Compare<'_>, place: &Path) -> bool {
    let needs = |path: &PathBuf| {
        let text = compare.files.text(path).unwrap_or_default();
        let own = path.parent().unwrap_or(Path::new(""));
        let mut paths = text.parse().map(|manifest| dependencies(&manifest)).unwrap_or_default();
        paths.drain(..).any(|path| normal(&own.join(path)).as_deref() == Some(place))
    };
    let manifests = compare.files.paths().iter().filter(|path| path.ends_with("Cargo.toml"));
    manifests.into_iter().any(needs)
}

/// The patterns of a workspace's members.
fn members(manifest: &OsStr, text: &str) -> Vec<String> {
    if manifest == "package.json" {
        let package: serde_json::Value = serde_json::from_str(text).unwrap_or_default();
        let listed = package.get("workspaces").and_then(|own| own.get("packages").or(Some(own)));
        let listed = listed.and_then(|own| own.as_array()).into_iter().flatten();
        return listed.filter_map(|own| own.as_str().map(str::to_string)).collect();
    }
    let Ok(manifest) = text.parse::<DocumentMut>() else { return Vec::new() };
    let listed = manifest.get("workspace").and_then(|own| own.get("members"));
    let listed = listed.and_then(Item::as_array).into_iter().flat_map(|own| own.iter());
    listed.filter_map(|own| own.as_str().map(str::to_string)).collect()
}

fn takes(patterns: &[String], root: &Path, place: &Path) -> bool {
    let plain = |own: &String| own.trim_start_matches("./").trim_end_matches('/').to_string();
    let globs = Globs::new(&patterns.iter().map(plain).collect::<Vec<_>>()).unwrap_or_default();
    let inner = place.strip_prefix(root);
    inner.is_ok_and(|inner| globs.takes(inner.as_os_str().as_encoded_bytes()))
}

/// The paths of a crate's dependencies, from its directory.
fn dependencies(manifest: &DocumentMut) -> Vec<String> {
    let kinds = ["dependencies", "dev-dependencies", "build-dependencies"];
    let shared = manifest.get("workspace").and_then(|own| own.get("dependencies"));
    let tables = kinds.iter().filter_map(|kind| manifest.get(kind)).chain(shared);
    let entries = tables.filter_map(Item::as_table_like).flat_map(|table| table.iter());
    let path = |(_, own): (&str, &Item)| own.get("path")?.as_str().map(str::to_string);
    entries.filter_map(path).collect()
}
