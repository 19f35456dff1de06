//! What `go test -v` prints, as it would be without `-v`: checks name every test so that they can
//! be counted, but a reader needs those that fail.

use std::borrow::Cow;
use std::collections::BTreeMap;

/// The text without what passing and skipped tests of go printed; any other text as it is.
pub(crate) fn without_passing_go_tests(text: &str) -> Cow<'_, str> {
    if !text.lines().any(|line| line.starts_with("=== RUN ")) {
        return Cow::Borrowed(text);
    }
    let lines: Vec<&str> = text.lines().collect();
    let mut kept = Vec::new();
    // Names are those of one package, and its output ends with its result.
    for package in lines.split_inclusive(|line| is_package_result(line)) {
        keep_failures(package, &mut kept);
    }
    Cow::Owned(kept.join("\n") + "\n")
}

fn is_package_result(line: &str) -> bool {
    ["ok  \t", "FAIL\t", "?   \t"].iter().any(|start| line.starts_with(start))
}

fn keep_failures(package: &[&str], kept: &mut Vec<String>) {
    let verdicts: BTreeMap<&str, &str> = package.iter().filter_map(|line| verdict(line)).collect();
    let mut current = None;
    let mut logs: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for line in package {
        if let Some(begun) = marker(line) {
            current = Some(begun).filter(|name| !name.is_empty());
        } else if let Some((name, result)) = verdict(line) {
            if result == "FAIL" {
                kept.push((*line).to_string());
                let indent = " ".repeat(line.len() - line.trim_start().len());
                let own = logs.remove(name).unwrap_or_default();
                kept.extend(own.into_iter().map(|log| format!("{indent}{log}")));
            }
            current = None;
        } else if let Some(name) = current.filter(|_| line.starts_with("    ")) {
            match verdicts.get(name) {
                Some(&"FAIL") => logs.entry(name).or_default().push(line),
                Some(_) => {}
                // It never ended: what it said last is what is wanted.
                None => kept.push((*line).to_string()),
            }
        } else {
            kept.push((*line).to_string());
        }
    }
}

/// The test that goes on from here, where a line says so: `=== RUN   TestAdd`; an empty name where
/// one rests.
fn marker(line: &str) -> Option<&str> {
    let (word, name) = line.strip_prefix("=== ")?.split_once(' ')?;
    match word {
        "RUN" | "CONT" | "NAME" => Some(name.trim()),
        "PAUSE" => Some(""),
        _other => None,
    }
}

/// A test's name and result: `--- FAIL: TestAdd (0.00s)`.
fn verdict(line: &str) -> Option<(&str, &str)> {
    let (result, rest) = line.trim_start().strip_prefix("--- ")?.split_once(": ")?;
    let name = rest.rsplit_once(" (").map_or(rest, |(name, _)| name);
    matches!(result, "PASS" | "FAIL" | "SKIP" | "BENCH").then_some((name, result))
}

#[cfg(test)]
mod tests {
    use super::without_passing_go_tests;

    #[test]
    fn only_what_failing_tests_say_is_kept() {
        let verbose = "\
=== RUN   TestOk
    a_test.go:3: note
--- PASS: TestOk (0.00s)
=== RUN   TestAdd
    a_test.go:63: Add(1,2)=-1, want 3
--- FAIL: TestAdd (0.00s)
=== RUN   TestSub
=== RUN   TestSub/a
printed a
=== RUN   TestSub/b
    s_test.go:3: before
    s_test.go:3: bad b
--- FAIL: TestSub (0.00s)
    --- PASS: TestSub/a (0.00s)
    --- FAIL: TestSub/b (0.00s)
=== RUN   TestParallel
=== RUN   TestParallel/x
=== PAUSE TestParallel/x
=== RUN   TestParallel/y
=== PAUSE TestParallel/y
=== CONT  TestParallel/x
    s_test.go:4: ex
=== CONT  TestParallel/y
    s_test.go:4: ly
--- FAIL: TestParallel (0.00s)
    --- FAIL: TestParallel/x (0.00s)
    --- PASS: TestParallel/y (0.00s)
=== RUN   TestSkip
    s_test.go:5: why
--- SKIP: TestSkip (0.00s)
FAIL
FAIL\tx\t0.016s
=== RUN   TestAdd
    other_test.go:1: said by one that passes
--- PASS: TestAdd (0.00s)
PASS
ok  \tx/other\t0.001s
FAIL
";
        let plain = "\
--- FAIL: TestAdd (0.00s)
    a_test.go:63: Add(1,2)=-1, want 3
printed a
--- FAIL: TestSub (0.00s)
    --- FAIL: TestSub/b (0.00s)
        s_test.go:3: before
        s_test.go:3: bad b
--- FAIL: TestParallel (0.00s)
    --- FAIL: TestParallel/x (0.00s)
        s_test.go:4: ex
FAIL
FAIL\tx\t0.016s
PASS
ok  \tx/other\t0.001s
FAIL
";
        assert_eq!(without_passing_go_tests(verbose), plain);
    }

    #[test]
    fn a_test_that_never_ended_keeps_its_words() {
        let text = "=== RUN   TestOk\n--- PASS: TestOk (0.00s)\n=== RUN   TestPanics\n    \
                    a_test.go:9: so far\npanic: no [recovered]\n\tgoroutine 7\nFAIL\tx\t0.01s\n";
        let kept =
            "    a_test.go:9: so far\npanic: no [recovered]\n\tgoroutine 7\nFAIL\tx\t0.01s\n";
        assert_eq!(without_passing_go_tests(text), kept);
    }

    #[test]
    fn other_output_stays_as_it_is() {
        for text in ["", "--- PASS: what a person wrote\n    indented\n", "=== test session ===\n"]
        {
            assert_eq!(without_passing_go_tests(text), text);
        }
    }
}
