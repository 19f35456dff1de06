//! The fuzzer's corpus, replayed through the fuzzer's own functions.

#![cfg(feature = "mcp")]
#![expect(clippy::expect_used, reason = "a corpus that can't be read is a failed test")]

use std::fs;
use std::path::{Path, PathBuf};

#[path = "../../../fuzz/src/lib.rs"]
#[expect(unreachable_pub, reason = "the fuzzer calls these from another crate")]
mod fuzz;

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus")
}

#[test]
fn what_the_fuzzer_found_once_is_never_wrong_again() {
    for (name, target) in fuzz::targets() {
        let directory = fs::read_dir(corpus().join(name)).expect("every target has a corpus");
        let mut count = 0;
        for entry in directory {
            let path = entry.expect("an entry").path();
            let bytes = fs::read(&path).expect("a sample");
            let ran = std::panic::catch_unwind(|| target(&bytes));
            assert!(ran.is_ok(), "{} breaks {name}", path.display());
            count += 1;
        }
        assert!(count > 3, "{name} has {count} samples");
    }
}

#[test]
fn every_directory_of_the_corpus_has_its_target() {
    for entry in fs::read_dir(corpus()).expect("the corpus") {
        let name = entry.expect("an entry").file_name().to_string_lossy().into_owned();
        assert!(fuzz::targets().any(|(known, _)| known == name), "{name}");
    }
}

/// Half files, doubled files, files with a letter too many: what a crash or an editor leaves.
#[test]
fn damaged_samples_are_no_worse() {
    for (name, target) in fuzz::targets() {
        for entry in fs::read_dir(corpus().join(name)).expect("every target has a corpus") {
            let bytes = fs::read(entry.expect("an entry").path()).expect("a sample");
            for cut in (0..bytes.len()).step_by(1 + bytes.len() / 40) {
                target(&bytes[..cut]);
                target(&bytes[cut..]);
                target(&[&bytes[..cut], b"\"}\n---\n,", &bytes[cut..]].concat());
            }
        }
    }
}
