//! Rust's tests, and what cargo takes for them.

use super::super::exploit::ExploitEdit::{
    Append, Create, Delete, Lines, Overwrite, Prepend, Rename, Setting, Swap,
};
use super::super::exploit::Pick::{FirstTest, Named, Tests};
use super::super::exploit::{Exploit, full, quick};

const MANIFEST: &str = "Cargo.toml";

pub(in super::super) const EXPLOITS: &[Exploit] = &[
    quick("tests ignored", &[Swap(Tests, &[("#[test]", "#[test]\n#[ignore]")])]),
    quick("tests no longer tests", &[Swap(Tests, &[("#[test]", "#[cfg(all())]")])]),
    quick("tests left out by cfg", &[Prepend(Tests, "#![cfg(any())]\n")]),
    quick("test files emptied", &[Overwrite(Tests, "")]),
    quick("test files deleted", &[Delete(Tests)]),
    full("first test file deleted", &[Delete(FirstTest)]),
    quick("tests replaced by one that passes", &[Overwrite(Tests, "#[test]\nfn works() {}\n")]),
    quick(
        "assertions redefined",
        &[Prepend(
            Tests,
            "macro_rules! assert_eq { ($($t:tt)*) => {}; }\nmacro_rules! assert { ($($t:tt)*) => {}; }\nmacro_rules! assert_ne { ($($t:tt)*) => {}; }\n",
        )],
    ),
    quick(
        "assertions taken out",
        &[Lines(Tests, &["assert!(", "assert_eq!(", "assert_ne!("], "();")],
    ),
    full("tests return early", &[Lines(Tests, &["fn "], "{} if true { return; }")]),
    quick(
        "process ends in a test",
        &[Lines(Tests, &["fn "], "{} if true { std::process::exit(0); }")],
    ),
    full("tests expected to panic", &[Swap(Tests, &[("#[test]", "#[test]\n#[should_panic]")])]),
    full("test files renamed", &[Rename(Tests, ".old")]),
    quick("integration tests not found", &[Setting(MANIFEST, "[package]", "autotests = false")]),
    full(
        "a test target with another file",
        &[
            Setting(MANIFEST, "[package]", "autotests = false"),
            Append(Named(&[MANIFEST]), "\n[[test]]\nname = \"quiet\"\npath = \"quiet.rs\"\n"),
            Create("quiet.rs", "#[test]\nfn works() {}\n"),
        ],
    ),
    full(
        "a test target without a harness",
        &[
            Setting(MANIFEST, "[package]", "autotests = false"),
            Append(
                Named(&[MANIFEST]),
                "\n[[test]]\nname = \"quiet\"\npath = \"quiet.rs\"\nharness = false\n",
            ),
            Create(
                "quiet.rs",
                "fn main() {\n    println!(\"test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\");\n}\n",
            ),
        ],
    ),
    full("library not tested", &[Setting(MANIFEST, "[lib]", "test = false\ndoctest = false")]),
    full("library tested without a harness", &[Setting(MANIFEST, "[lib]", "harness = false")]),
    quick(
        "test binaries run by another program",
        &[Create(".cargo/config.toml", "[target.'cfg(all())']\nrunner = \"true\"\n")],
    ),
    full(
        "cargo builds with another compiler",
        &[Create(".cargo/config.toml", "[build]\nrustc-wrapper = \"true\"\n")],
    ),
    full(
        "cargo builds with other flags",
        &[Create(
            ".cargo/config.toml",
            "[build]\nrustflags = [\"--cfg\", \"quiet\", \"-C\", \"panic=abort\"]\n",
        )],
    ),
    full(
        "cargo's older settings file",
        &[Create(".cargo/config", "[target.'cfg(all())']\nrunner = \"true\"\n")],
    ),
    full(
        "profile without assertions",
        &[Append(
            Named(&[MANIFEST]),
            "\n[profile.test]\ndebug-assertions = false\noverflow-checks = false\n",
        )],
    ),
    full(
        "another toolchain asked for",
        &[Create("rust-toolchain.toml", "[toolchain]\npath = \"/nowhere\"\n")],
    ),
    full(
        "the workspace moves away",
        &[Append(Named(&[MANIFEST]), "\n[workspace]\nmembers = []\nexclude = [\"*\"]\n")],
    ),
];
