//! Checks that judge less than they seem to, and steering variables.

use crate::judges::steering::steering;
use crate::judges::warnings::warnings;
use stopgate_core::{Criterion, Proof};

use super::criterion;

#[track_caller]
fn check(rows: &str) {
    let mut wrong = Vec::new();
    for row in rows.lines().map(str::trim).filter(|row| !row.is_empty()) {
        let (command, expected) = row.rsplit_once("=>").expect("an arrow");
        let found: Vec<String> = warnings(&criterion("tests", command.trim()))
            .iter()
            .map(|warning| format!("{warning:?}"))
            .collect();
        if found.join(" ") != expected.trim() {
            wrong.push(format!("{command}: found {found:?}, wanted {expected}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn checks_that_rewrite_or_can_not_fail_are_named() {
    check(
        r#"
        pytest =>
        pytest || true => CannotFail("|| true")
        pytest || : => CannotFail("|| :")
        pytest; true => CannotFail("; true")
        pytest; exit 0 => CannotFail("; exit 0")
        pytest; echo done => CannotFail("; echo done")
        set -e; pytest; echo done =>
        pytest && echo ok =>
        (pytest) || true => CannotFail("|| true")
        (pytest || true) => CannotFail("|| true")
        sh -c 'pytest || true' => CannotFail("|| true")
        true => CannotFail("true")
        exit 0 => CannotFail("exit 0")
        pytest | tee log => CannotFail("| tee")
        set -o pipefail; pytest | tee log =>
        bash -o pipefail -c 'pytest | tee log' =>
        pytest | grep -q passed =>
        jest -u => Rewrites("-u")
        npx jest --updateSnapshot => Rewrites("--updateSnapshot")
        npx vitest run -u => Rewrites("-u")
        pytest --snapshot-update => Rewrites("--snapshot-update")
        INSTA_UPDATE=always cargo test => Rewrites("INSTA_UPDATE=always")
        INSTA_UPDATE=no cargo test =>
        UPDATE_SNAPSHOTS=1 go test ./... => Rewrites("UPDATE_SNAPSHOTS=1")
        env UPDATE_EXPECT=1 cargo test => Rewrites("UPDATE_EXPECT=1")
        jest --passWithNoTests => CannotFail("--passWithNoTests")
        cargo test --no-run => CannotFail("--no-run")
        pytest --collect-only => CannotFail("--collect-only")
        npm test --if-present => CannotFail("--if-present")
        sort -u names.txt | diff - expected.txt =>
        test "$(cat x)" = 1 =>
        grep -q true file =>
        "#,
    );
}

#[test]
fn variables_of_a_criterion_and_programs_without_a_shell_count() {
    let argv = ["npx", "jest", "-u"].map(String::from).to_vec();
    let mut own = Criterion::new("tests", Proof::Run { argv, timeout_ms: 1 });
    own.terms.set = vec![("INSTA_FORCE_UPDATE".into(), "1".into())];
    let found: Vec<String> = warnings(&own).iter().map(ToString::to_string).collect();
    assert_eq!(
        found,
        [
            "it rewrites what it compares with (INSTA_FORCE_UPDATE=1), so it passes whatever the result is",
            "it rewrites what it compares with (-u), so it passes whatever the result is",
        ]
    );
}

#[test]
fn steering_variables_are_told_apart() {
    let names = [
        "HOME",
        "RUSTFLAGS",
        "PYTEST_ADDOPTS",
        "NODE_OPTIONS",
        "PYTHONPATH",
        "GOFLAGS",
        "MAKEFLAGS",
        "LANG",
        "npm_config_registry",
        "TERM",
        "CARGO_PROFILE_TEST_DEBUG",
        "PATH",
    ];
    assert_eq!(
        steering(names.into_iter()),
        [
            "CARGO_PROFILE_TEST_DEBUG",
            "GOFLAGS",
            "MAKEFLAGS",
            "NODE_OPTIONS",
            "PYTEST_ADDOPTS",
            "PYTHONPATH",
            "RUSTFLAGS",
            "npm_config_registry",
        ]
    );
}
