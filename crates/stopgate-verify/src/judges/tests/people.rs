//! Protected and permitted files, links, helpers, directories.

use std::os::unix::fs::symlink;

use super::{Scene, check, criterion};
use crate::judges::{JudgeOptions, JudgeRole, JudgeSet, JudgeStance, Why};

#[test]
fn helpers_that_only_tests_import_judge() {
    check(
        "
        calc.py = import shared_helpers
        test_calc.py = import calc, testing_tools, shared_helpers\\nfrom asserts import check\\nimport helpers
        testing_tools.py
        shared_helpers.py
        asserts.py = import pytest
        helpers.py
        test_helpers.py = import helpers
        lonely.py = import pytest
        ",
        "pytest => asserts.py test_calc.py test_helpers.py testing_tools.py",
    );
    check(
        "
        package.json
        src/a.ts
        src/a.test.ts = import { a } from './a';\\nimport { fake } from '../support/fakes';
        support/fakes.ts
        ",
        "npx vitest run => ~package.json src/a.test.ts support/fakes.ts",
    );
}

#[test]
fn helpers_of_helpers_judge() {
    check(
        "
        calc.py
        tests/test_calc.py = import calc\\nfrom support.checks import same
        support/checks.py = from support.compare import equal\\nimport calc
        support/compare.py
        support/shown.py
        ",
        "pytest => support/checks.py support/compare.py tests/test_calc.py",
    );
}

#[test]
fn data_that_only_tests_name_judges_by_what_it_says() {
    check(
        "
        calc.py = open('rates.json')
        tests/test_calc.py = import calc\\nopen('data/sums.csv'); open('rates.json'); DIR / 'limits.json'; 'plain.json'
        data/sums.csv = a,b,expected\\n1,2,3
        settings/limits.json = {\"tolerance\": 0}
        rates.json = {\"strict\": 1}
        plain.json = {\"most\": 1}
        other/limits.csv = expected
        ",
        "pytest => data/sums.csv settings/limits.json tests/test_calc.py",
    );
    // The work looks into the directory.
    check(
        "
        calc.py = open(f'data/{name}')
        tests/test_calc.py = import calc\\nopen('data/sums.csv')
        data/sums.csv = a,b,expected\\n1,2,3
        ",
        "pytest => tests/test_calc.py",
    );
}

#[test]
fn settings_of_scripts_that_judge_are_theirs() {
    check(
        "
        app.sh
        tests/run.sh = . ./greeting.conf\\n. ./names.conf\\n. ./greet.sh
        greeting.conf = # x\\nGREETING=hello
        names.conf = A=1
        greet.sh = greet() { echo hi; }
        bin/app = . ./names.conf
        measure.py = open('measure.json')
        measure.json = {}
        ",
        "
        tests :: sh tests/run.sh => greeting.conf tests/run.sh
        tests :: python3 measure.py => measure.json measure.py tests/run.sh
        ",
    );
}

#[test]
fn protected_files_judge_and_permitted_ones_do_not() {
    let scene = Scene::new("calc.py\ntests/test_a.py\ntests/test_b.py\ndocs/x.md\nconftest.py");
    let mut own = criterion("tests", "pytest");
    own.terms.protect = vec!["docs/**".into()];
    assert_eq!(
        scene.judges(&scene.set(&own)),
        "conftest.py docs/x.md tests/test_a.py tests/test_b.py"
    );
    let may_change = ["tests/test_b.py".to_string(), "docs/**".to_string()];
    let find = |options| {
        let set = JudgeSet::find(scene.root(), &own, &scene.files(), options).expect("patterns");
        scene.judges(&set)
    };
    let options = JudgeOptions { may_change: &may_change, stance: JudgeStance::Judges };
    assert_eq!(find(options), "conftest.py docs/x.md tests/test_a.py");
    let options = JudgeOptions { may_change: &[], stance: JudgeStance::Work };
    assert_eq!(find(options), "docs/x.md");
    let closer = ["docs/x*".to_string()];
    let options = JudgeOptions { may_change: &closer, stance: JudgeStance::Judges };
    assert_eq!(find(options), "conftest.py tests/test_a.py tests/test_b.py");
}

#[test]
fn a_judge_behind_a_link_is_what_the_link_leads_to() {
    let outside = Scene::new("test_out.py\ninner/test_deep.py");
    let scene = Scene::new("calc.py\nshared/a.py\nsrc/x.py\nother/test_linked.py");
    let link = |to: &std::path::Path, at: &str| {
        let at = scene.root().join(at);
        std::fs::create_dir_all(at.parent().expect("a parent")).expect("a directory");
        symlink(to, at).expect("a link");
    };
    link(outside.root(), "spec");
    link(&scene.root().join("shared/a.py"), "tests/test_a.py");
    link(&scene.root().join("src"), "tests/src");
    let set = scene.set(&criterion("tests", "pytest"));
    let role = |path: &str| set.role(std::path::Path::new(path));
    assert_eq!(role("shared/a.py"), JudgeRole::Whole(Why::BehindLink));
    assert_eq!(role("src/x.py"), JudgeRole::Work);
    let links: Vec<(String, usize)> = set
        .links()
        .iter()
        .map(|link| (link.link.0.display().to_string(), link.files.len()))
        .collect();
    let expected = [("spec", 2), ("tests/src", 0), ("tests/test_a.py", 1)];
    assert_eq!(links, expected.map(|(link, count)| (link.to_string(), count)));
}

#[test]
fn a_loop_without_tests_at_the_start_judges_itself() {
    let files = "Cargo.toml\nsrc/lib.rs = fn a() {}\nconftest.py";
    let is_self_judged = |scene: &Scene, command: &str| {
        scene.set(&criterion("tests", command)).is_self_judged(&scene.files())
    };
    let scene = Scene::new(files);
    assert!(is_self_judged(&scene, "cargo test"));
    assert!(is_self_judged(&scene, "pytest"));
    assert!(!is_self_judged(&scene, "cargo clippy"));
    scene.add("src/lib.rs = #[test]\\nfn a() {}\ntests/test_a.py");
    assert!(!is_self_judged(&scene, "cargo test"));
    assert!(!is_self_judged(&scene, "pytest"));
}

#[test]
fn a_check_in_a_directory_is_traced_from_there() {
    let scene = Scene::new("sub/check.sh = . ./lib.sh\nsub/lib.sh\ncheck.sh\nlib.sh");
    let mut own = criterion("done", "./check.sh");
    own.terms.cwd = Some("sub".into());
    assert_eq!(scene.judges(&scene.set(&own)), "sub/check.sh sub/lib.sh");
}

#[test]
fn a_specification_that_the_work_reads_is_work() {
    check(
        "
        spec/numbers.toml
        spec/cases.json
        spec/fixtures/numbers.json
        spec/test_app.py = open('spec/cases.json')
        tools/generate.py = open('spec/numbers.toml')\\nopen('numbers.json')
        ",
        "pytest => spec/cases.json spec/fixtures/numbers.json spec/test_app.py",
    );
}

#[test]
fn settings_of_a_script_that_checks_judge() {
    check(
        "
        pyproject.toml = [tool.tidy]\\nmax = 88
        coverage.ini = [gate]\\nfail_under = 60
        tools/tidy.py = open('pyproject.toml')
        tools/cover.py = read('coverage.ini')
        app.py
        ",
        "
        python3 tools/cover.py => coverage.ini ~pyproject.toml tools/cover.py
        python3 tools/tidy.py => ~pyproject.toml tools/tidy.py
        ",
    );
}

#[test]
fn lists_of_cmake_among_tests_are_about_tests() {
    check(
        "
        CMakeLists.txt
        CMakePresets.json
        src/CMakeLists.txt
        tests/CMakeLists.txt
        tests/test_span.c
        ",
        "ctest --preset ci => ~CMakeLists.txt CMakePresets.json ~src/CMakeLists.txt tests/CMakeLists.txt tests/test_span.c",
    );
}
