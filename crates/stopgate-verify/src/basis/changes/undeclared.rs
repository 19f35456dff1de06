//! Packages that came into `node_modules` without a manifest that names them, and work that is not
//! in the project any more: what passes with these here fails everywhere else.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::super::keep::content_below;
use super::super::text::text_path;
use super::Compare;
use crate::files::read_text;
use crate::git::{GitFilters, git};
use crate::judges::{JudgeRole, ProjectFiles};
use crate::tree::{FileKind, Stat, TreeFile};

const MODULES: &str = "node_modules";
/// Files that say which packages a project has.
const MANIFESTS: [&str; 6] = [
    "package.json",
    "package-lock.json",
    "npm-shrinkwrap.json",
    "yarn.lock",
    "pnpm-lock.yaml",
    "bun.lock",
];
/// Longer ones are not read.
const MANIFEST_BYTES_MAX: u64 = 64 << 20;
/// How many packages are looked at.
const PACKAGES_MAX: usize = 20_000;
/// How many new links are followed.
const LINKS_MAX: usize = 1_000;
/// So many names of packages are kept.
const NAMES_MAX: usize = 5_000;
/// How long git may take to tell what the commit of the start has.
const GIT_TIMEOUT: std::time::Duration = std::time::Duration::from_secs(5);

/// An original run goes without packages that no manifest names.
pub(super) fn undeclared_packages(compare: &mut Compare<'_>) {
    if !compare.noted.judges.uses_node() {
        return;
    }
    let directory = compare.noted.judges.directory().to_path_buf();
    let places = directory.ancestors().map(|place| place.join(MODULES));
    let is_new =
        |own: &PathBuf| is_fresh(compare, own) && !compare.basis.had_package(&package_name(own));
    let fresh: Vec<PathBuf> =
        places.flat_map(|place| packages_in(compare.root, &place)).filter(is_new).collect();
    if fresh.is_empty() {
        return;
    }
    let texts = manifests(compare);
    for path in fresh {
        let name = package_name(&path);
        let forms = [format!("\"{name}\""), format!("/{name}\""), format!("{name}@")];
        let is_named = |text: &String| forms.iter().any(|form| text.contains(form.as_str()));
        if !texts.iter().any(is_named) {
            compare
                .found
                .texts
                .push(format!("{} was added, and no manifest names it", path.display()));
            leave_out(compare, path);
        }
    }
}

/// The names of the packages that a check in `directory` finds: to install them again is everyday
/// work, also without a lock.
pub(in crate::basis) fn package_names(root: &Path, directory: &Path) -> Vec<String> {
    let places = directory.ancestors().map(|place| place.join(MODULES));
    let found = places.flat_map(|place| packages_in(root, &place));
    found.map(|path| package_name(&path)).take(NAMES_MAX).collect()
}

/// What a person accepts is what is there now, and no other content.
pub(super) fn leave_out(compare: &mut Compare<'_>, path: PathBuf) {
    let content = content_below(&compare.root.join(&path));
    compare.bind(&path, &content);
    compare.found.steering.push(path.clone());
    compare.found.absent.push(path);
}

/// The packages in a directory of packages and in its scopes, without links.
fn packages_in(root: &Path, modules: &Path) -> Vec<PathBuf> {
    let entries = |place: &Path| -> Vec<PathBuf> {
        let found = fs::read_dir(root.join(place)).into_iter().flatten().flatten();
        let is_own = |entry: &fs::DirEntry| {
            let is_hidden = entry.file_name().to_string_lossy().starts_with('.');
            !is_hidden && entry.file_type().is_ok_and(|sort| sort.is_dir())
        };
        let found = found.filter(is_own).map(|entry| place.join(entry.file_name()));
        found.take(PACKAGES_MAX).collect()
    };
    let is_scope =
        |path: &Path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('@'));
    let (scopes, mut found): (Vec<_>, Vec<_>) =
        entries(modules).into_iter().partition(|path| is_scope(path));
    found.extend(scopes.iter().flat_map(|scope| entries(scope)));
    found
}

pub(super) fn is_fresh(compare: &Compare<'_>, path: &Path) -> bool {
    let found = fs::symlink_metadata(compare.root.join(path)).ok();
    let written = found.map(|found| Stat::of_metadata(&found).ctime);
    written.is_some_and(|written| compare.since.is_some_and(|since| written > since))
}

/// What the project's manifests and locks say; one that can't be read names nothing.
fn manifests(compare: &Compare<'_>) -> Vec<String> {
    let is_manifest = |path: &&PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        MANIFESTS.contains(&name)
    };
    let paths = compare.files.paths().iter().filter(is_manifest);
    let read = |path| read_text(&compare.root.join(path), MANIFEST_BYTES_MAX);
    paths.filter_map(|path| read(path).ok()).collect()
}

/// JavaScript that git ignores and that is found before the TypeScript beside it.
pub(super) fn hiding_scripts(compare: &mut Compare<'_>) {
    const TYPED: [(&str, &[&str]); 3] =
        [("ts", &["js", "mjs", "cjs"]), ("tsx", &["js", "jsx"]), ("mts", &["mjs"])];
    let beside = |path: &PathBuf| {
        let end = path.extension().and_then(|end| end.to_str()).unwrap_or_default();
        let others = TYPED.iter().filter(|(own, _)| *own == end).flat_map(|(_, others)| *others);
        others.map(|other| path.with_extension(other)).collect::<Vec<_>>()
    };
    let typed = compare.files.paths().iter().flat_map(beside);
    let hides = |path: &PathBuf| !compare.files.paths().contains(path) && is_fresh(compare, path);
    let found: Vec<PathBuf> = typed.filter(hides).collect();
    for path in found {
        compare.found.texts.push(format!("{} hides the source beside it", path.display()));
        leave_out(compare, path);
    }
}

/// Work of the start that is a link now to what is not part of the project: a file outside, or
/// what git ignores, such as the output that it is compared with.
pub(super) fn links_out(compare: &mut Compare<'_>) {
    let target = |file: &TreeFile| fs::canonicalize(compare.root.join(&file.path)).ok();
    let is_lost = |target: &PathBuf| match target.strip_prefix(compare.root) {
        Ok(inner) => !compare.now.has_below(inner),
        Err(_) => target.is_file(),
    };
    let links = compare.now.files().filter(|file| file.kind == FileKind::Link);
    let links = links.filter(|file| compare.is_younger(file));
    let lost = links.filter_map(|file| Some((file.path.clone(), target(file).filter(is_lost)?)));
    let lost: Vec<_> = lost.filter(|(path, _)| was_there(compare, path)).collect();
    for (path, target) in lost {
        compare.bind(&path, &content_below(&target));
        let place = match target.strip_prefix(compare.root) {
            Ok(inner) => format!("to {}, which git ignores", inner.display()),
            Err(_) => "out of the project".into(),
        };
        compare.found.lasting.push(format!("{} is now a link {place}", path.display()));
    }
}

/// Work that is a link to judges now: `out -> expected` is compared with itself.
pub(super) fn links_to_judges(compare: &mut Compare<'_>) {
    let rules = compare.noted.judges.rules();
    let judges: BTreeSet<PathBuf> =
        compare.basis.text.files.iter().map(|file| text_path(&file.path)).collect();
    let is_judge = |path: &PathBuf| rules.role(path) != JudgeRole::Work;
    let leads = |link: &PathBuf| {
        let whole = fs::canonicalize(compare.root.join(link)).ok()?;
        let target = whole.strip_prefix(compare.root).ok()?.to_path_buf();
        // A link above itself is not a place for judges.
        let is_place = !target.as_os_str().is_empty() && !link.starts_with(&target);
        let mut below = judges.range(target.clone()..).take_while(|path| path.starts_with(&target));
        (is_place && below.any(is_judge)).then_some(target)
    };
    let links = compare.now.files().filter(|file| file.kind == FileKind::Link);
    let links = links.filter(|file| compare.is_younger(file)).map(|file| &file.path);
    let links = links.filter(|path| !judges.contains(*path)).take(LINKS_MAX);
    let found: Vec<_> = links.filter_map(|path| Some((path.clone(), leads(path)?))).collect();
    for (path, target) in found {
        let text = format!("{} is a link to {} now", path.display(), target.display());
        compare.bind(&path, &target.to_string_lossy());
        compare.found.texts.push(text);
        compare.found.steering.push(path.clone());
        compare.found.absent.push(path);
    }
}

/// Whether the commit of the start has a file or a directory there.
fn was_there(compare: &Compare<'_>, path: &Path) -> bool {
    let Some(commit) = compare.basis.commit() else { return false };
    let Some(path) = path.to_str() else { return false };
    let words = ["ls-tree", commit, "--", path];
    let said = git(&words, compare.root, GitFilters::OwnOnly, GIT_TIMEOUT);
    let is_known = |kind: &[u8]| kind.starts_with(b"100") || kind.starts_with(b"040");
    said.is_ok_and(|said| said.is_fine() && is_known(&said.stdout))
}

/// The name by which a package is imported: with its scope, if it has one.
fn package_name(path: &Path) -> String {
    let mut parts = path.iter().rev().filter_map(|part| part.to_str());
    let name = parts.next().unwrap_or_default();
    match parts.next().filter(|scope| scope.starts_with('@')) {
        Some(scope) => format!("{scope}/{name}"),
        None => name.into(),
    }
}
