//! Which commits count.

use super::read;

#[test]
fn a_commit_counts_if_it_changes_code_and_tests() {
    check("src/a.py\ntests/test_a.py", Some("tests/test_a.py"));
    check("a.go\na_test.go", Some("a_test.go"));
    check("test_helpers.go\na_test.go", Some("a_test.go"));
    check("lib/a.js\nlib/a.test.js", Some("lib/a.test.js"));
    check("tests/test_a.py", None);
    check("src/a.py\nREADME.md", None);
    check("setup.py\ntests/test_a.py", None);
}

#[test]
fn a_first_commit_has_no_parent_to_begin_at() {
    assert!(read("c0ffee\n\na.py\ntests/test_a.py\n").is_none());
}

#[track_caller]
fn check(files: &str, tests: Option<&str>) {
    let found = read(&format!("c0ffee decaf\n\n{files}\n"));
    assert_eq!(found.map(|found| found.tests.join(",")).as_deref(), tests, "{files}");
}
