//! `Cargo.toml`: test targets and switches, lints, profiles, patches; members that were removed.

use std::collections::BTreeSet;

use toml_edit::{Array, DocumentMut, Item, TableLike, Value};

use super::Judging;
use super::toml_tree::{Keys, canonical, document, item, keys, put, take};

const WHOLE: [&[&str]; 13] = [
    &["test"],
    &["lints"],
    &["profile"],
    &["patch"],
    &["replace"],
    &["package", "autotests"],
    &["lib", "test"],
    &["lib", "doctest"],
    &["lib", "harness"],
    &["workspace", "lints"],
    &["workspace", "default-members"],
    &["workspace", "exclude"],
    &["target", "test"],
];

const SWITCHES: [&str; 3] = ["test", "harness", "doctest"];

pub(super) fn judging(text: &str) -> Result<Judging, String> {
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
    judging.sections.sort_unstable();
    judging.members = members(&document).into_iter().collect();
    Ok(judging)
}

pub(super) fn restore(original: &str, today: &str) -> Option<String> {
    let original = document(original).ok()?;
    let mut today = document(today).ok()?;
    for path in WHOLE.map(keys) {
        take(&mut today, &path);
        if let Some(item) = item(&original, &path) {
            put(&mut today, &path, item.clone())?;
        }
    }
    restore_bins(&original, &mut today)?;
    restore_members(&original, &mut today)?;
    Some(today.to_string())
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
    match today.get_mut("bin") {
        Some(Item::ArrayOfTables(bins)) => bins.iter_mut().for_each(|bin| set(bin)),
        Some(Item::Value(Value::Array(bins))) => {
            for bin in bins.iter_mut().filter_map(Value::as_inline_table_mut) {
                set(bin);
            }
        }
        _ => {}
    }
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
