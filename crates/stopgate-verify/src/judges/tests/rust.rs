//! Rust that judges, outside of test directories; options of Java.

use std::path::Path;

use super::{Scene, check, criterion};
use crate::judges::{JudgeRole, MixedKind};

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
fn what_a_build_script_tells_tests_only_judges() {
    let names = |tests: &str, source: &str| {
        let cargo = "Cargo.toml = [package]\\nname = 'a'";
        let script = "build.rs = fn main() { println!(\"cargo:rustc-cfg=offline\"); }";
        let scene = format!("{cargo}\n{script}\ntests/api.rs = {tests}\nsrc/lib.rs = {source}");
        let scene = Scene::new(&scene);
        let set = scene.set(&criterion("tests", "cargo test"));
        let role = set.role(Path::new("build.rs"));
        assert_eq!(role, JudgeRole::Sections(MixedKind::BuildScript));
        let names = set.reach_of(Path::new("build.rs")).names;
        names.into_iter().collect::<Vec<_>>().join(" ")
    };
    let plain = "pub struct Lease;";
    let switched = r"#[test]\n#[cfg_attr(offline, ignore)]\nfn left() {}";
    assert_eq!(names(switched, plain), "ignore offline");
    assert_eq!(names(switched, r"#[cfg(offline)]\npub struct Lease;"), "ignore");
    let asked = r#"const A: &str = env!("GOLDEN");\nconst B: &str = env!("CARGO_MANIFEST_DIR");"#;
    assert_eq!(names(asked, plain), "CARGO_MANIFEST_DIR GOLDEN");
    assert_eq!(names(asked, r#"const A: &str = env!("GOLDEN");"#), "CARGO_MANIFEST_DIR");
    let both = r"#[cfg(unix)]\npub struct A;\n#[cfg(test)]\nmod tests { fn a() { cfg!(slow) } }";
    assert_eq!(names(switched, both), "ignore offline slow test");
}

#[test]
fn data_that_only_a_generator_of_tests_reads_judges() {
    let script = r#"build.rs = fn main() { write("OUT_DIR", read("spec/titles.txt")); }"#;
    let tests = r#"tests/api.rs = include!(concat!(env!("OUT_DIR"), "/cases.rs"));"#;
    let more = "Cargo.toml = [package]\nspec/titles.txt\nsrc/lib.rs = pub struct A;";
    check(
        &format!("{script}\n{tests}\n{more}"),
        "cargo test => ~Cargo.toml build.rs spec/titles.txt ~src/lib.rs tests/api.rs",
    );
    let read = r#" const T: &str = include_str!("../spec/titles.txt");"#;
    check(
        &format!("{script}\n{tests}\n{more}{read}"),
        "cargo test => ~Cargo.toml build.rs ~src/lib.rs tests/api.rs",
    );
}

#[test]
fn examples_on_a_page_that_is_documentation_judge() {
    let scene = r#"
        Cargo.toml = [package]\nname = 'a'
        README.md = ```\na();\n```
        docs/guide.md = ```\na();\n```
        src/lib.rs = #![doc = include_str!("../README.md")]
        "#;
    check(scene, "cargo test => ~Cargo.toml ~README.md ~src/lib.rs\ncargo clippy => ~Cargo.toml");
}

#[test]
fn benches_that_assert_judge_where_the_check_runs_them() {
    let scene = r#"
        Cargo.toml = [package]\nname = 'a'
        benches/leases.rs = fn main() { assert!(read("budget.conf") > 1); }
        benches/speed.rs = fn main() { a::go(); }
        budget.conf = late = 10
        src/lib.rs = pub fn go() {}
        "#;
    let some = "~Cargo.toml ~benches/leases.rs ~benches/speed.rs ~src/lib.rs";
    let all = "~Cargo.toml benches/leases.rs ~benches/speed.rs budget.conf ~src/lib.rs";
    check(
        scene,
        &format!(
            "cargo test => {some}
            cargo test --all-targets => {all}
            cargo test --bench=leases => {all}
            cargo bench => {all}
            cargo test -- --bench => {some}
            cargo clippy --all-targets => ~Cargo.toml"
        ),
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
