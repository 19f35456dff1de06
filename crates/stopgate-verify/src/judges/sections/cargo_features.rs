//! Features of a package that switch tests: one behind `#[cfg(feature = "…")]` runs only where the
//! feature is on, and a plain `cargo test` has those on that `default` leads to.

use std::collections::BTreeSet;

use toml_edit::{Array, DocumentMut, Item, Value};

use super::toml_tree::{item, keys, put};

const FEATURES: &str = "features";
const DEFAULT: &str = "default";

/// What a manifest says about the features that tests name: those that are on by default.
pub(super) fn members(document: &DocumentMut, tests: &BTreeSet<String>) -> Vec<String> {
    on(document, tests).into_iter().map(|name| format!("the feature {name} by default")).collect()
}

/// Features that were on by default are on again, also where nothing is left of them.
pub(super) fn restore(
    original: &DocumentMut,
    today: &mut DocumentMut,
    tests: &BTreeSet<String>,
) -> Option<()> {
    let here = on(today, tests);
    let off: Vec<String> =
        on(original, tests).into_iter().filter(|name| !here.contains(name)).collect();
    if off.is_empty() {
        return Some(());
    }
    for name in &off {
        let path = keys(&[FEATURES, name]);
        if item(today, &path).is_none() {
            put(today, &path, Item::Value(Value::Array(Array::new())))?;
        }
    }
    let all = named_by(today, DEFAULT).into_iter().chain(off);
    let array: Array = all.collect();
    put(today, &keys(&[FEATURES, DEFAULT]), Item::Value(Value::Array(array)))
}

/// The features among `tests` that `default` leads to.
fn on(document: &DocumentMut, tests: &BTreeSet<String>) -> BTreeSet<String> {
    let mut found: BTreeSet<String> = BTreeSet::new();
    let mut open = vec![DEFAULT.to_string()];
    while let Some(name) = open.pop() {
        if found.insert(name.clone()) {
            open.extend(named_by(document, &name));
        }
    }
    // What a dependency gives its name to comes and goes with it.
    let is_own = |name: &String| item(document, &keys(&[FEATURES, name])).is_some();
    found.retain(|name| tests.contains(name) && is_own(name));
    found
}

/// What a feature turns on.
fn named_by(document: &DocumentMut, feature: &str) -> Vec<String> {
    let list = item(document, &keys(&[FEATURES, feature])).and_then(Item::as_array);
    let names = list.into_iter().flat_map(Array::iter).filter_map(Value::as_str);
    names.map(str::to_string).collect()
}

#[cfg(test)]
mod tests {
    use super::super::cargo::{judging, restore};
    use super::*;

    const ORIGINAL: &str = "[features]\ndefault = [\"full\"]\nfull = [\"expiry\", \"text\"]\nexpiry = []\ntext = [\"dep:serde\"]\n";

    fn tests() -> BTreeSet<String> {
        ["expiry", "slow"].map(String::from).into()
    }

    fn is_kept(today: &str) -> bool {
        let read = |text| judging(text, &tests()).expect("read");
        read(ORIGINAL).is_kept_by(&read(today))
    }

    #[test]
    fn a_feature_that_tests_name_is_on_again() {
        for today in [
            "[features]\ndefault = []\nfull = [\"expiry\", \"text\"]\nexpiry = []\ntext = []\n",
            "[features]\ndefault = [\"full\"]\nfull = [\"text\"]\nexpiry = []\ntext = []\n",
            "[features]\ndefault = [\"full\"]\nfull = [\"text\"]\ntext = []\n",
            "[package]\nname = \"a\"\n",
        ] {
            assert!(!is_kept(today), "{today}");
            let restored = restore(ORIGINAL, today, &tests()).expect("restored");
            assert!(is_kept(&restored), "{restored}");
        }
    }

    #[test]
    fn features_that_no_test_names_come_and_go() {
        for today in [
            "[features]\ndefault = [\"expiry\"]\nexpiry = []\n",
            "[features]\ndefault = [\"full\", \"more\"]\nfull = [\"expiry\"]\nexpiry = []\nmore = []\nslow = []\n",
        ] {
            assert!(is_kept(today), "{today}");
        }
    }
}
