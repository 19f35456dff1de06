//! `Cargo.toml`: test targets and switches, lints, profiles, patches; members and features that were
//! removed.

use std::collections::BTreeSet;

use toml_edit::{Array, DocumentMut, Item, TableLike, Value};

use super::toml_tree::{Keys, canonical, document, item, keys, put, take};
use super::{Judging, cargo_features};

const WHOLE: [&[&str]; 14] = [
    &["test"],
    &["lints"],
    &["profile"],
    &["patch"],
    &["replace"],
    &["package", "autotests"],
    &["lib", "path"],
    &["lib", "test"],
    &["lib", "doctest"],
    &["lib", "harness"],
    &["workspace", "lints"],
    &["workspace", "default-members"],
    &["workspace", "exclude"],
    &["target", "test"],
];

const SWITCHES: [&str; 4] = ["path", "test", "harness", "doctest"];

const DEV: &str = "dev-dependencies";
const PLAIN: &str = "dependencies";

/// Where a library is read from if nothing is said.
const LIBRARY: &str = "src/lib.rs";

/// Its judging sections, where tests name these features.
pub(super) fn judging(text: &str, features: &BTreeSet<String>) -> Result<Judging, String> {
    let document = document(text)?;
    let mut judging = Judging::default();
    for path in WHOLE.map(keys) {
        let text = item(&document, &path).map(canonical).unwrap_or_default();
        if !text.is_empty() {
            judging.sections.push(format!("[{}] {text}", path.join(".")));
        }
    }
    for (name, switches) in bins(&document) {
        let text: Vec<String> =
            switches.iter().map(|(key, item)| format!("{key}={}", canonical(item))).collect();
        if !text.is_empty() {
            judging.sections.push(format!("[[bin]] {name:?} {}", text.join(",")));
        }
    }
    if let Some(name) = double(&document) {
        judging.sections.push(format!("[lib] beside the dependency {name}"));
    }
    judging.sections.sort_unstable();
    judging.members = members(&document).into_iter().collect();
    let name = |path: &Keys| path.last().cloned().unwrap_or_default();
    let sources =
        sources(&document).map(|(path, own)| format!("{} of {}", name(&path), source_of(own)));
    judging.members.extend(sources);
    judging.members.extend(cargo_features::members(&document, features));
    Ok(judging)
}

pub(super) fn restore(original: &str, today: &str, features: &BTreeSet<String>) -> Option<String> {
    let original = document(original).ok()?;
    let mut today = document(today).ok()?;
    for path in WHOLE.map(keys) {
        take(&mut today, &path);
        if let Some(item) = item(&original, &path) {
            put(&mut today, &path, item.clone())?;
        }
    }
    for (path, own) in sources(&original) {
        let now = item(&today, &path).map(source_of);
        if now.is_some_and(|now| now != source_of(own)) {
            put(&mut today, &path, own.clone())?;
        }
    }
    if let Some(name) = double(&today).filter(|_| double(&original).is_none()) {
        take(&mut today, &keys(&["lib", "name"]));
        take(&mut today, &keys(&[PLAIN, &name]));
        take(&mut today, &keys(&[DEV, &name]));
    }
    restore_bins(&original, &mut today)?;
    restore_members(&original, &mut today)?;
    cargo_features::restore(&original, &mut today, features)?;
    Some(today.to_string())
}

/// The original text in which each target that was moved is where today's text says it is.
///
/// A target's path decides which file's tests run, so it judges, as long as the file of the start
/// is there: `stays` says of which. Where the file itself has moved, its path has to follow.
pub(crate) fn with_moved_targets(
    original: &str,
    today: &str,
    stays: &dyn Fn(&str) -> bool,
) -> Option<String> {
    let (mut original, today) = (document(original).ok()?, document(today).ok()?);
    let path = keys(&["lib", "path"]);
    let was = item(&original, &path).and_then(Item::as_str).unwrap_or(LIBRARY).to_string();
    if !stays(&was) {
        follow(&mut original, &path, item(&today, &path).cloned())?;
    }
    let is_moved = |own: &Item| {
        own.get("path")
            .and_then(Item::as_str)
            .is_some_and(|path| !stays(&format!("{path}/Cargo.toml")))
    };
    let free = sources(&original).filter(|(path, own)| {
        // One that is not used any more is not missed.
        is_moved(own) || item(&today, path).is_none()
    });
    let free: Vec<Keys> = free.map(|(path, _)| path).collect();
    for path in free {
        follow(&mut original, &path, item(&today, &path).cloned())?;
    }
    follow_members(&mut original, stays)?;
    let paths: Vec<(String, Option<Item>)> = bin_paths(&today);
    each_bin_mut(&mut original, &mut |bin| {
        let name = bin.get("name").and_then(Item::as_str).unwrap_or_default().to_string();
        let said = bin.get("path").and_then(Item::as_str).map(str::to_string);
        let usual = ["src/main.rs".to_string(), format!("src/bin/{name}.rs")];
        let is_there = said.map_or_else(|| usual.iter().any(|own| stays(own)), |own| stays(&own));
        if is_there {
            return;
        }
        bin.remove("path");
        if let Some((_, Some(item))) = paths.iter().find(|(own, _)| *own == name) {
            bin.insert("path", item.clone());
        }
    });
    Some(original.to_string())
}

/// Where tests get their crates from: what only they depend on, and crates of the project.
fn sources(document: &DocumentMut) -> impl Iterator<Item = (Keys, &Item)> {
    let of = |place: &'static [&'static str]| {
        let table = item(document, &keys(place)).and_then(Item::as_table_like);
        let all = table.into_iter().flat_map(|table| table.iter());
        all.map(move |(name, own)| (keys(&[place, &[name]].concat()), own))
    };
    let inner = of(&[PLAIN]).chain(of(&["workspace", PLAIN]));
    of(&[DEV]).chain(inner.filter(|(_, own)| own.get("path").is_some()))
}

/// The dependency that has the package's own name, where its library has another one: a test that
/// imports the package by its name gets the dependency instead.
fn double(document: &DocumentMut) -> Option<String> {
    let plain = |name: &str| name.replace('-', "_");
    let package = document.get("package")?.get("name")?.as_str().map(plain)?;
    let library = document.get("lib")?.get("name")?.as_str()?;
    let tables = [PLAIN, DEV].into_iter().filter_map(|key| document.get(key)?.as_table_like());
    let mut names = tables.flat_map(|table| table.iter()).map(|(name, _)| name);
    let found = names.find(|name| plain(name) == package).map(str::to_string);
    found.filter(|_| library != package)
}

/// Where a dependency comes from, whatever its version.
fn source_of(dependency: &Item) -> String {
    let said = |key: &str| dependency.get(key).and_then(Item::as_str).unwrap_or_default();
    let place = |own: &str| own.trim_start_matches("./").trim_end_matches('/').to_string();
    match (said("path"), said("git")) {
        ("", "") => format!("the registry {}{}", said("registry"), said("package")),
        ("", url) => format!("{url} {}", said("package")),
        (path, _) => format!("{} {}", place(path), said("package")),
    }
}

fn follow(document: &mut DocumentMut, path: &[String], now: Option<Item>) -> Option<()> {
    take(document, path);
    now.map_or(Some(()), |item| put(document, path, item))
}

fn bin_paths(document: &DocumentMut) -> Vec<(String, Option<Item>)> {
    let mut found = Vec::new();
    each_bin(document.get("bin"), &mut |bin| {
        let name = bin.get("name").and_then(Item::as_str).unwrap_or_default().to_string();
        found.push((name, bin.get("path").cloned()));
    });
    found
}

/// Each program's name and its switches.
fn bins(document: &DocumentMut) -> Vec<(String, Vec<(&'static str, Item)>)> {
    let mut found = Vec::new();
    each_bin(document.get("bin"), &mut |bin| {
        let name = bin.get("name").and_then(Item::as_str).unwrap_or_default().to_string();
        let own = |key: &&'static str| bin.get(key).map(|item| (*key, item.clone()));
        found.push((name, SWITCHES.iter().filter_map(own).collect()));
    });
    found
}

fn each_bin(item: Option<&Item>, see: &mut dyn FnMut(&dyn TableLike)) {
    match item {
        Some(Item::ArrayOfTables(bins)) => bins.iter().for_each(|bin| see(bin)),
        Some(Item::Value(Value::Array(bins))) => {
            bins.iter().filter_map(Value::as_inline_table).for_each(|bin| see(bin));
        }
        _ => {}
    }
}

fn each_bin_mut(document: &mut DocumentMut, see: &mut dyn FnMut(&mut dyn TableLike)) {
    match document.get_mut("bin") {
        Some(Item::ArrayOfTables(bins)) => bins.iter_mut().for_each(|bin| see(bin)),
        Some(Item::Value(Value::Array(bins))) => {
            bins.iter_mut().filter_map(Value::as_inline_table_mut).for_each(|bin| see(bin));
        }
        _ => {}
    }
}

fn restore_bins(original: &DocumentMut, today: &mut DocumentMut) -> Option<()> {
    let switches = bins(original);
    let set = |bin: &mut dyn TableLike| {
        let name = bin.get("name").and_then(Item::as_str).unwrap_or_default().to_string();
        for key in SWITCHES {
            bin.remove(key);
        }
        for (key, item) in switches.iter().filter(|(own, _)| *own == name).flat_map(|(_, own)| own)
        {
            bin.insert(key, item.clone());
        }
    };
    each_bin_mut(today, &mut |bin| set(bin));
    // A program with switches that is gone comes back as it was.
    let here: BTreeSet<String> = bins(today).into_iter().map(|(name, _)| name).collect();
    let gone = |name: &str| !here.contains(name);
    if !switches.iter().any(|(name, own)| !own.is_empty() && gone(name)) {
        return Some(());
    }
    let Some(Item::ArrayOfTables(originals)) = original.get("bin") else { return None };
    let bins = today.entry("bin").or_insert(Item::ArrayOfTables(toml_edit::ArrayOfTables::new()));
    let bins = bins.as_array_of_tables_mut()?;
    for bin in originals {
        let has_switch = SWITCHES.iter().any(|key| bin.contains_key(key));
        let name = bin.get("name").and_then(Item::as_str).unwrap_or_default();
        if has_switch && gone(name) {
            bins.push(bin.clone());
        }
    }
    Some(())
}

fn members_path() -> Keys {
    keys(&["workspace", "members"])
}

fn members(document: &DocumentMut) -> Vec<String> {
    let members = item(document, &members_path()).and_then(Item::as_array);
    let texts = members.into_iter().flat_map(Array::iter).filter_map(Value::as_str);
    texts.map(str::to_string).collect()
}

/// Members whose package has another directory now are not missed where they were.
fn follow_members(original: &mut DocumentMut, stays: &dyn Fn(&str) -> bool) -> Option<()> {
    let all = members(original);
    let is_there =
        |member: &&String| member.contains('*') || stays(&format!("{member}/Cargo.toml"));
    let left: Vec<String> = all.iter().filter(is_there).cloned().collect();
    if left.len() == all.len() {
        return Some(());
    }
    let array: Array = left.into_iter().collect();
    put(original, &members_path(), Item::Value(Value::Array(array)))
}

/// Members that were removed come back; those that were added stay.
fn restore_members(original: &DocumentMut, today: &mut DocumentMut) -> Option<()> {
    let mut all = members(today);
    let gone: Vec<String> =
        members(original).into_iter().filter(|member| !all.contains(member)).collect();
    if gone.is_empty() {
        return Some(());
    }
    all.extend(gone);
    let array: Array = all.into_iter().collect();
    put(today, &members_path(), Item::Value(Value::Array(array)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn restore(original: &str, today: &str) -> Option<String> {
        super::restore(original, today, &BTreeSet::new())
    }

    fn judging(text: &str) -> Result<Judging, String> {
        super::judging(text, &BTreeSet::new())
    }

    const PACKAGE: &str = "[package]\nname = \"a\"\n";

    #[test]
    fn the_path_of_a_library_judges_while_its_file_is_there() {
        let today = format!("{PACKAGE}\n[lib]\npath = \"src/other.rs\"\n");
        let restored = |stays: &dyn Fn(&str) -> bool| {
            let original = with_moved_targets(PACKAGE, &today, stays).expect("readable");
            restore(&original, &today).expect("restored")
        };
        assert!(!restored(&|_| true).contains("other.rs"));
        assert!(restored(&|_| false).contains("other.rs"));
    }

    #[test]
    fn the_path_of_a_program_judges_while_its_file_is_there() {
        let original = format!("{PACKAGE}\n[[bin]]\nname = \"b\"\n");
        let today = format!("{PACKAGE}\n[[bin]]\nname = \"b\"\npath = \"src/decoy.rs\"\n");
        let restored = |stays: bool| {
            let original = with_moved_targets(&original, &today, &|_| stays).expect("readable");
            restore(&original, &today).expect("restored")
        };
        assert!(!restored(true).contains("decoy.rs"));
        assert!(restored(false).contains("decoy.rs"));
    }

    #[test]
    fn a_member_comes_back_unless_its_package_is_elsewhere_now() {
        let original = "[workspace]\nmembers = [\"crates/a\", \"crates/b\", \"tools/*\"]\n";
        let today = "[workspace]\nmembers = [\"crates/a\", \"crates/c\"]\n";
        let restored = |stays: bool| {
            let stays = |path: &str| stays || path != "crates/b/Cargo.toml";
            let original = with_moved_targets(original, today, &stays).expect("readable");
            restore(&original, today).expect("restored")
        };
        assert!(restored(true).contains("crates/b") && restored(true).contains("tools/*"));
        assert!(!restored(false).contains("crates/b") && restored(false).contains("tools/*"));
    }

    #[test]
    fn where_tests_get_their_crates_from_judges_while_it_is_there() {
        let original = format!(
            "{PACKAGE}\n[dev-dependencies]\na = {{ path = \"a\" }}\nb = \"1\"\nc = \"1\"\n"
        );
        let today = format!(
            "{PACKAGE}\n[dev-dependencies]\na = {{ path = \"x\" }}\nb = \"2\"\nd = {{ path = \"d\" }}\n"
        );
        let restored = |stays: bool| {
            let original = with_moved_targets(&original, &today, &|_| stays).expect("readable");
            restore(&original, &today).expect("restored")
        };
        assert!(restored(true).contains("path = \"a\""), "{}", restored(true));
        assert!(restored(false).contains("path = \"x\""), "{}", restored(false));
        for text in [restored(true), restored(false)] {
            assert!(text.contains("b = \"2\"") && text.contains("d = {"), "{text}");
            assert!(!text.contains("c = "), "{text}");
        }
    }

    #[test]
    fn which_crate_of_the_project_tests_get_judges_while_it_is_there() {
        let original = format!("{PACKAGE}\n[dependencies]\nb = {{ path = \"..\" }}\nc = \"1\"\n");
        let today = format!(
            "{PACKAGE}\n[dependencies]\nb = {{ package = \"x\", path = \"../x\" }}\nc = \"2\"\n"
        );
        let restored = |stays: bool| {
            let original = with_moved_targets(&original, &today, &|_| stays).expect("readable");
            restore(&original, &today).expect("restored")
        };
        assert!(restored(true).contains("b = { path = \"..\" }"), "{}", restored(true));
        assert!(restored(true).contains("c = \"2\""), "{}", restored(true));
        assert!(restored(false).contains("../x"), "{}", restored(false));
    }

    #[test]
    fn a_dependency_does_not_take_the_place_of_the_library() {
        let today = format!(
            "{PACKAGE}\n[dependencies]\na = {{ package = \"x\", path = \"x\" }}\n\n[lib]\nname = \"b\"\n"
        );
        assert!(!judging(PACKAGE).expect("read").is_kept_by(&judging(&today).expect("read")));
        let restored = restore(PACKAGE, &today).expect("restored");
        assert!(!restored.contains("path = \"x\"") && !restored.contains("\"b\""), "{restored}");
        let renamed = format!("{PACKAGE}\n[lib]\nname = \"b\"\n");
        assert!(judging(PACKAGE).expect("read").is_kept_by(&judging(&renamed).expect("read")));
    }
}
