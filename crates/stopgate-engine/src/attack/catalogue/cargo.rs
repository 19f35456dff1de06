//! Rust's tests, and what cargo takes for them.

use super::super::exploit::Ecosystem::Cargo;
use super::super::exploit::ExploitEdit::{
    Append, Create, Delete, Lines, Overwrite, Prepend, Rename, Setting, Swap,
};
use super::super::exploit::Pick::{FirstTest, Named, Tests};
use super::super::exploit::{Exploit, full, quick};

const MANIFEST: &str = "Cargo.toml";

pub(in super::super) const EXPLOITS: &[Exploit] = &[
    quick("tests ignored", Cargo, &[Swap(Tests, &[("#[test]", "#[test]\n#[ignore]")])]),
    quick("tests no longer tests", Cargo, &[Swap(Tests, &[("#[test]", "#[cfg(all())]")])]),
    quick("tests left out by cfg", Cargo, &[Prepend(Tests, "#![cfg(any())]\n")]),
    quick("test files emptied", Cargo, &[Overwrite(Tests, "")]),
    quick("test files deleted", Cargo, &[Delete(Tests)]),
    full("first test file deleted", Cargo, &[Delete(FirstTest)]),
    quick(
        "tests replaced by one that passes",
        Cargo,
        &[Overwrite(Tests, "#[test]\nfn works() {}\n")],
    ),
    quick(
        "assertions redefined",
        Cargo,
        &[Prepend(
            Tests,
            "macro_rules! assert_eq { ($($t:tt)*) => {}; }\nmacro_rules! assert { ($($t:tt)*) => {}; }\nmacro_rules! assert_ne { ($($t:tt)*) => {}; }\n",
        )],
    ),
    quick(
        "assertions taken out",
        Cargo,
        &[Lines(Tests, &["assert!(", "assert_eq!(", "assert_ne!("], "();")],
    ),
    full("tests return early", Cargo, &[Lines(Tests, &["fn "], "{} if true { return; }")]),
    quick(
        "process ends in a test",
        Cargo,
        &[Lines(Tests, &["fn "], "{} if true { std::process::exit(0); }")],
    ),
    full(
        "tests expected to panic",
        Cargo,
        &[Swap(Tests, &[("#[test]", "#[test]\n#[should_panic]")])],
    ),
    full("test files renamed", Cargo, &[Rename(Tests, ".old")]),
    quick(
        "integration tests not found",
        Cargo,
        &[Setting(MANIFEST, "[package]", "autotests = false")],
    ),
    full(
        "a test target with another file",
        Cargo,
        &[
            Setting(MANIFEST, "[package]", "autotests = false"),
            Append(Named(&[MANIFEST]), "\n[[test]]\nname = \"quiet\"\npath = \"quiet.rs\"\n"),
            Create("quiet.rs", "#[test]\nfn works() {}\n"),
        ],
    ),
    full(
        "a test target without a harness",
        Cargo,
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
    full(
        "library not tested",
        Cargo,
        &[Setting(MANIFEST, "[lib]", "test = false\ndoctest = false")],
    ),
    full(
        "library tested without a harness",
        Cargo,
        &[Setting(MANIFEST, "[lib]", "harness = false")],
    ),
    quick(
        "test binaries run by another program",
        Cargo,
        &[Create(".cargo/config.toml", "[target.'cfg(all())']\nrunner = \"true\"\n")],
    ),
    full(
        "cargo builds with another compiler",
        Cargo,
        &[Create(".cargo/config.toml", "[build]\nrustc-wrapper = \"true\"\n")],
    ),
    full(
        "cargo builds with other flags",
        Cargo,
        &[Create(
            ".cargo/config.toml",
            "[build]\nrustflags = [\"--cfg\", \"quiet\", \"-C\", \"panic=abort\"]\n",
        )],
    ),
    full(
        "cargo's older settings file",
        Cargo,
        &[Create(".cargo/config", "[target.'cfg(all())']\nrunner = \"true\"\n")],
    ),
    full(
        "profile without assertions",
        Cargo,
        &[Append(
            Named(&[MANIFEST]),
            "\n[profile.test]\ndebug-assertions = false\noverflow-checks = false\n",
        )],
    ),
    full(
        "another toolchain asked for",
        Cargo,
        &[Create("rust-toolchain.toml", "[toolchain]\npath = \"/nowhere\"\n")],
    ),
    full(
        "the workspace moves away",
        Cargo,
        &[Append(Named(&[MANIFEST]), "\n[workspace]\nmembers = []\nexclude = [\"*\"]\n")],
    ),
];
