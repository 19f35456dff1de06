use super::{Globs, name_matches};

#[track_caller]
fn check(pattern: &str, meant: &[&str], not: &[&str]) {
    let globs = Globs::new(&[pattern]).expect("a pattern");
    for path in meant {
        assert!(globs.takes(path.as_bytes()), "{pattern} means {path}");
    }
    for path in not {
        assert!(!globs.takes(path.as_bytes()), "{pattern} does not mean {path}");
    }
}

#[test]
fn patterns_are_read_as_people_mean_them() {
    check("*.toml", &["a.toml", ".toml"], &["b/a.toml", "a.tom"]);
    check("**/*.py", &["a.py", "b/a.py", "c/b/a.py"], &["a.pyc"]);
    check("tests/**", &["tests/a", "tests/b/c"], &["test/a", "a/tests/b"]);
    check("./tests", &["tests/a", "tests/b/c", "tests"], &["testsuite"]);
    check("a/**/z", &["a/z", "a/b/z", "a/b/c/z", "a/z/y"], &["a/y", "z"]);
    check("src/*.{ts,tsx}", &["src/a.ts", "src/a.tsx"], &["src/a.js", "src/b/a.ts"]);
    check("{a,b{c,d}}", &["a", "bc", "bd"], &["b", "c"]);
    check("a{b", &["a{b"], &["ab"]);
    check("[a-c]?[!x]", &["b1y", "azz"], &["b1x", "d1y", "b1"]);
    check("**", &["a", "a/b"], &[]);
}

#[test]
fn folders_are_entered_only_where_something_may_be() {
    let globs = Globs::new(&["*.toml", "src/**/*.rs", "a/*/c"]).expect("patterns");
    for folder in ["", "src", "src/deep", "a", "a/b", "a/b/c", "x.toml"] {
        assert!(globs.enters(folder.as_bytes()), "enter {folder}");
    }
    for folder in ["target", "b", "a/b/d", "tests/src"] {
        assert!(!globs.enters(folder.as_bytes()), "pass {folder}");
    }
}

#[test]
fn patterns_that_leave_the_root_are_none() {
    for pattern in ["../x", "/etc/passwd", "a/../b", "", "."] {
        assert_eq!(Globs::new(&[pattern]), Err(pattern.to_string()));
    }
}

#[test]
fn too_many_alternatives_are_refused() {
    let pattern = "{a,b}".repeat(12);
    assert_eq!(Globs::new(&[&pattern]), Err(pattern));
}

#[test]
fn single_names() {
    let fits = |pattern: &str, name: &str| name_matches(pattern.as_bytes(), name.as_bytes());
    assert!(fits("a*b*c", "aXbYbZc") && !fits("a*b*c", "aXbY"));
    assert!(fits("**", "anything") && fits("*", "") && !fits("?", ""));
    assert!(fits(r"\*", "*") && !fits(r"\*", "a"));
    assert!(fits("[]a]", "]") && fits("[a-]", "-") && fits("[^a]", "b"));
    assert!(fits("[[:digit:]x]", "7") && !fits("[[:digit:]x]", "y"));
    assert!(!fits("[a", "a") && !fits("[a", "[a"), "an open bracket matches nothing");
}
