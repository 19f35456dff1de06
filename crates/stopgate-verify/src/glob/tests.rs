use proptest::prelude::*;

use super::{Globs, Part, Reach, first_name, name_matches, parts_of, path_matches, reaches};

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
fn directories_are_entered_only_where_something_may_be() {
    let globs = Globs::new(&["*.toml", "src/**/*.rs", "a/*/c"]).expect("patterns");
    for directory in ["", "src", "src/deep", "a", "a/b", "a/b/c", "x.toml"] {
        assert!(globs.enters(directory.as_bytes()), "enter {directory}");
    }
    for directory in ["target", "b", "a/b/d", "tests/src"] {
        assert!(!globs.enters(directory.as_bytes()), "pass {directory}");
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

#[test]
fn a_pattern_made_to_be_slow_is_not() {
    // Tried one way after another, this would outlast the machine.
    let pattern = ["**/a".repeat(40), "**/b".into()].join("/").replace("a**", "a/**");
    let path = "a/".repeat(400) + "c";
    assert!(!path_matches(&parts_of(pattern.as_bytes()), path.as_bytes()));
    let globs = Globs::new(&[&pattern]).expect("a pattern");
    assert!(!globs.takes(path.as_bytes()) && globs.enters(path.as_bytes()));
    assert!(globs.takes((path + "/b").as_bytes()));
    assert!(!name_matches("*a".repeat(60).as_bytes(), "a".repeat(59).as_bytes()));
}

/// What a pattern means, said as plainly as possible and far too slow for strangers' patterns.
fn slow_reaches(parts: &[Part], path: &[u8]) -> Reach {
    let Some(part) = parts.first() else { return Reach::Here };
    let Some((name, rest)) = first_name(path) else {
        let only_depth = parts.iter().all(|part| *part == Part::AnyDepth);
        return if only_depth { Reach::Here } else { Reach::Below };
    };
    match part {
        Part::Name(pattern) if name_matches(pattern, name) => slow_reaches(&parts[1..], rest),
        Part::Name(_) => Reach::Never,
        Part::AnyDepth if slow_reaches(&parts[1..], path) == Reach::Here => Reach::Here,
        Part::AnyDepth if slow_reaches(parts, rest) == Reach::Here => Reach::Here,
        Part::AnyDepth => Reach::Below,
    }
}

fn slow_path_matches(parts: &[Part], path: &[u8]) -> bool {
    match parts {
        [] => path.is_empty(),
        [Part::AnyDepth] => !path.is_empty(),
        [Part::AnyDepth, rest @ ..] => {
            slow_path_matches(rest, path)
                || first_name(path).is_some_and(|(_, below)| slow_path_matches(parts, below))
        }
        [Part::Name(pattern), rest @ ..] => first_name(path).is_some_and(|(name, below)| {
            name_matches(pattern, name) && slow_path_matches(rest, below)
        }),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn matching_means_what_the_slow_reference_means(
        pattern in prop::collection::vec("\\*\\*|a|b|\\*|[ab]\\*|\\?", 0..9),
        path in prop::collection::vec("a|b|ab|ba", 0..9),
    ) {
        let (parts, path) = (parts_of(pattern.join("/").as_bytes()), path.join("/"));
        prop_assert_eq!(reaches(&parts, path.as_bytes()), slow_reaches(&parts, path.as_bytes()));
        prop_assert_eq!(
            path_matches(&parts, path.as_bytes()),
            slow_path_matches(&parts, path.as_bytes())
        );
    }
}
