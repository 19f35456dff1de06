//! Texts before and after, and the patch between them.

use super::lines;

#[track_caller]
fn check(before: &str, after: &str, expected: &[&str]) {
    let text = |words: &str| words.replace(' ', "\n");
    assert_eq!(lines(&text(before), &text(after)), expected);
}

#[test]
fn nothing_differs() {
    check("a b c", "a b c", &[]);
}

#[test]
fn a_new_file_is_all_new() {
    check("", "a b", &["@@ -0,0 +1,2 @@", "+a", "+b"]);
    check("a", "", &["@@ -1,1 +0,0 @@", "-a"]);
}

#[test]
fn a_change_has_three_lines_around_it() {
    check(
        "1 2 3 4 x 6 7 8 9",
        "1 2 3 4 y 6 7 8 9",
        &["@@ -2,7 +2,7 @@", " 2", " 3", " 4", "-x", "+y", " 6", " 7", " 8"],
    );
}

#[test]
fn changes_far_apart_are_two_hunks() {
    check(
        "a 1 2 3 4 5 6 7 8 b",
        "1 2 3 4 5 6 7 8 b c",
        &["@@ -1,4 +1,3 @@", "-a", " 1", " 2", " 3", "@@ -8,3 +7,4 @@", " 7", " 8", " b", "+c"],
    );
}

#[test]
fn what_is_common_in_the_middle_is_kept() {
    check("a x b", "c x d", &["@@ -1,3 +1,3 @@", "-a", "+c", " x", "-b", "+d"]);
}
