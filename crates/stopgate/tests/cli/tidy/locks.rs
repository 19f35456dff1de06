//! The fuzz targets have a lock file of their own, which nobody sees growing old.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use super::{crates, dependencies};

/// `cargo build --locked` in `fuzz/` refuses what this finds, but only when somebody fuzzes.
#[test]
fn the_lock_of_the_fuzz_targets_knows_what_our_crates_use() {
    let lock = fs::read_to_string(crates().join("../fuzz/Cargo.lock")).expect("a lock file");
    let locked = locked(&lock);
    let ours: Vec<_> = locked.iter().filter(|(name, _)| crates().join(name).is_dir()).collect();
    assert!(ours.len() > 8, "the lock file lists our crates: {ours:?}");
    for (name, listed) in ours {
        let used: BTreeSet<String> = dependencies(name).into_iter().collect();
        assert_eq!(
            *listed, used,
            "{name}: run `cargo metadata` in fuzz/ and commit its Cargo.lock"
        );
    }
}

/// Each package of a lock file and the names of what it uses.
fn locked(lock: &str) -> BTreeMap<String, BTreeSet<String>> {
    let package = |text: &str| {
        let name = text.lines().find_map(|line| line.strip_prefix("name = "))?;
        let listed = text.lines().filter_map(|line| line.strip_prefix(" \""));
        // A second version of a crate is told apart by a number behind its name.
        let names = listed.filter_map(|line| line.split(['"', ' ']).next());
        Some((name.trim_matches('"').into(), names.map(Into::into).collect()))
    };
    lock.split("[[package]]").filter_map(package).collect()
}
