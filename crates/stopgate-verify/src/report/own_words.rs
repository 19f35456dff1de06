//! Results that a test program of the project's own prints, a line for each.
//!
//! Such a program has no summary that could be read. How many results it prints is all that is
//! known of it, and a program that ends early prints fewer.

use std::collections::BTreeSet;

use stopgate_core::Tests;

use super::{own_lines, without_ansi};

/// Fewer lines than this may be what a program under test says.
const LINES_MIN: u32 = 2;

/// What one line says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Word {
    Passed,
    /// `not ok`: who says this says `ok`, too.
    NotOk,
    Failed,
}

/// How many results the lines of an output tell, where no runner is recognised in it.
///
/// Many programs print failures only. `FAIL` counts where there is a line of a pass as well; and all
/// such lines count as one, because a failure is often told twice, or in several lines, or in a last
/// line that nobody prints when all is well. What is said twice counts once: a check that tries again
/// says everything again.
pub(crate) fn told_by_lines(output: &str) -> Option<Tests> {
    let output = without_ansi(output);
    let (mut told, mut not_ok, mut fails) = (BTreeSet::new(), BTreeSet::new(), 0);
    for (word, name) in own_lines(&output).into_iter().filter_map(|line| result(line.trim())) {
        match word {
            Word::Passed => {
                told.insert(name);
            }
            Word::NotOk => {
                told.insert(name);
                not_ok.insert(name);
            }
            Word::Failed => fails = 1,
        }
    }
    let number = |names: BTreeSet<&str>| u32::try_from(names.len()).unwrap_or(u32::MAX);
    let is_both = !told.is_empty();
    let collected = number(told).saturating_add(fails);
    let failed = number(not_ok).saturating_add(fails);
    let by_line =
        (is_both && collected >= LINES_MIN).then_some(Tests { collected, failed, skipped: 0 });
    by_line.or_else(|| own_lines(&output).into_iter().rev().find_map(|line| totals(line.trim())))
}

/// A last line such as `3 run, 1 failed`, `12 tests, 0 failures` or `5 passed, 1 failed`.
fn totals(line: &str) -> Option<Tests> {
    // Checks and assertions may be as many as the work has files.
    const ALL: [&str; 6] = ["run", "ran", "test", "tests", "case", "cases"];
    const FAILED: [&str; 4] = ["failed", "failure", "failures", "failing"];
    let counted = |part: &str| {
        let (number, word) = part.trim().split_once(' ')?;
        Some((number.parse::<u32>().ok()?, word.trim_end_matches(['.', '!']).to_string()))
    };
    let mut parts = line.split([',', ';']);
    let (first, word) = counted(parts.next()?)?;
    let (failed, what) = counted(parts.next()?)?;
    let is_failed = FAILED.contains(&what.split(' ').next_back()?);
    let words: Vec<&str> = word.split(' ').collect();
    let is_total = words.iter().all(|word| ALL.contains(word));
    let is_plain = parts.next().is_none() && is_failed && words.len() <= 2;
    let collected = match word.as_str() {
        "passed" | "ok" | "good" => first.saturating_add(failed),
        _ if is_total => first,
        _ => return None,
    };
    (is_plain && collected >= failed && collected > 0).then_some(Tests {
        collected,
        failed,
        skipped: 0,
    })
}

/// Whether the line says of something with a name that it passes.
pub(crate) fn tells_pass(line: &str) -> bool {
    matches!(result(line), Some((Word::Passed, _)))
}

/// The result, and the name of what was tried.
fn result(line: &str) -> Option<(Word, &str)> {
    const WORDS: [(&str, Word); 10] = [
        ("not ok", Word::NotOk),
        ("ok", Word::Passed),
        ("PASSED", Word::Passed),
        ("FAILED", Word::Failed),
        ("PASS", Word::Passed),
        ("FAIL", Word::Failed),
        ("✓", Word::Passed),
        ("✔", Word::Passed),
        ("✗", Word::Failed),
        ("✘", Word::Failed),
    ];
    let line = line.strip_prefix('[').unwrap_or(line);
    WORDS.iter().find_map(|(begin, word)| {
        let rest = line.strip_prefix(begin)?;
        // A result has the name of what was tried: `ok` alone may be anybody's.
        let name = rest.trim_start_matches([']', ':', '-', ' ', '\t']);
        (name.len() < rest.len() && !name.is_empty()).then_some((*word, name))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_counted_line_by_line() {
        let rows = [
            ("ok ten in fifty\nnot ok half\n", Some((2, 1))),
            ("cc -o x x.c\nnot ok: a (got 'x')\nnot ok: b\n1 of 2\n", Some((2, 2))),
            ("ok a\nFAIL: b\n  FAIL: want 1, got 2\nFAILED: 1 of 2\n", Some((2, 1))),
            ("[PASS] a\n[FAIL] b\n", Some((2, 1))),
            ("PASS: a\nPASS: b\n", Some((2, 0))),
            ("  ✓ a\n  ✗ b\n", Some((2, 1))),
            ("ok a\nnot ok b\nok a\nnot ok b\nok a\nok b\n", Some((2, 1))),
            ("FAIL: a\nFAIL: b\n2 failed\n", None),
            ("FAIL four: roman(4)\n3 run, 1 failed\n", Some((3, 1))),
            ("12 tests, 0 failures\n", Some((12, 0))),
            ("a: fine\n5 passed, 1 failed.\n", Some((6, 1))),
            ("3 cases run; 3 failed\n", Some((3, 3))),
            ("3 checks, 0 failed\n", None),
            ("3 files, 1 failed\n", None),
            ("0 tests, 0 failures\n", None),
            ("1 run, 2 failed\n", None),
            ("ok\nok\n", None),
            ("ok a\n", None),
            ("okay then\nokay now\n", None),
            ("PASSWORD: a\nPASSWORD: b\n", None),
        ];
        for (output, expected) in rows {
            let found = told_by_lines(output).map(|tests| (tests.collected, tests.failed));
            assert_eq!(found, expected, "{output}");
        }
    }
}
