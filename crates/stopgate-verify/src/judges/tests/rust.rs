//! Rust that judges, outside of test directories; options of Java.

use super::check;

#[test]
fn a_module_that_asserts_for_tests_is_a_helper() {
    let scene = "
        Cargo.toml = [package]\\nname = 'a'
        src/lib.rs = pub mod testing;\\npub mod claims;\\npub struct Lease;
        src/testing.rs = use crate::Lease;\\npub fn expect(l: &Lease) { assert_eq!(l.left(), 0); }
        src/claims.rs = pub fn none() {}
        tests/api.rs = use a::testing::expect;
        ";
    check(
        scene,
        "cargo test => ~Cargo.toml ~src/claims.rs ~src/lib.rs src/testing.rs tests/api.rs",
    );
}

#[test]
fn a_module_that_the_work_uses_or_that_only_makes_things_is_work() {
    check(
        "
        Cargo.toml = [package]\\nname = 'a'
        src/lib.rs = pub mod testing;\\npub mod assertions;\\npub mod samples;\\npub struct Lease;
        src/testing.rs = use crate::Lease;\\npub fn ten() -> Lease { Lease }
        src/assertions.rs = use crate::Lease;\\npub fn expect(l: &Lease) { assert!(l.is_fine()); }
        src/samples.rs = use crate::assertions::expect;
        tests/api.rs = use a::testing::ten;\\nuse a::assertions::expect;
        ",
        "cargo test => ~Cargo.toml ~src/assertions.rs ~src/lib.rs ~src/samples.rs ~src/testing.rs tests/api.rs",
    );
}

#[test]
fn a_build_script_whose_files_only_tests_include_judges() {
    let script = "build.rs = fn main() { write(\"OUT_DIR\"); }";
    let tests = "tests/api.rs = include!(concat!(env!(\"OUT_DIR\"), \"/cases.rs\"));";
    let cargo = "Cargo.toml = [package]\\nname = 'a'";
    let plain = "src/lib.rs = pub struct Lease;";
    let both = "src/lib.rs = include!(concat!(env!(\"OUT_DIR\"), \"/table.rs\"));";
    check(
        &format!("{cargo}\n{script}\n{tests}\n{plain}"),
        "cargo test => ~Cargo.toml build.rs ~src/lib.rs tests/api.rs",
    );
    check(
        &format!("{cargo}\n{script}\n{tests}\n{both}"),
        "cargo test => ~Cargo.toml ~build.rs ~src/lib.rs tests/api.rs",
    );
}

#[test]
fn a_build_script_that_only_switches_tests_judges() {
    let script = "build.rs = fn main() { println!(\"cargo:rustc-cfg=offline\"); }";
    let tests = "tests/api.rs = #[test]\\n#[cfg_attr(offline, ignore)]\\nfn left() {}";
    let cargo = "Cargo.toml = [package]\\nname = 'a'";
    let plain = "src/lib.rs = pub struct Lease;";
    let both = "src/lib.rs = #[cfg(offline)]\\npub struct Lease;";
    check(
        &format!("{cargo}\n{script}\n{tests}\n{plain}"),
        "cargo test => ~Cargo.toml build.rs ~src/lib.rs tests/api.rs",
    );
    check(
        &format!("{cargo}\n{script}\n{tests}\n{both}"),
        "cargo test => ~Cargo.toml ~build.rs ~src/lib.rs tests/api.rs",
    );
}

#[test]
fn options_of_java_in_a_file_judge() {
    check(
        "
        run.args = -ea
        sources.txt = src/pace/Pace.java
        src/pace/Pace.java
        test/pace/PaceTest.java
        ",
        "javac -d out @sources.txt && java @run.args pace.PaceTest => run.args test/pace/PaceTest.java",
    );
}
