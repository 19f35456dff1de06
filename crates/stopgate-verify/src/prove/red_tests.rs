//! Whether a run on the base commit shows a new or changed test failing.

use std::path::Path;

use stopgate_core::{Receipt, Status, Tests};

/// Words that a line has which tells of a failure.
const FAILURE_WORDS: [&str; 12] = [
    "fail",
    "error",
    "not ok",
    "assert",
    "expected",
    "mismatch",
    "panic",
    "missing",
    "wrong",
    "differ",
    "unexpected",
    "not found",
];

/// What a run on the base commit showed.
pub(super) struct BaseRun {
    pub(super) receipt: Receipt,
    /// The tests that failed, where the output names them.
    pub(super) failing: Vec<String>,
    /// Whether a runner that is known counted the tests.
    pub(super) is_reported: bool,
}

/// A test file, as it was in the base commit and as it is.
pub(super) struct TestTexts {
    pub(super) then: Option<String>,
    pub(super) now: String,
}

/// What today's tests say of the base commit's work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RedFinding {
    /// A new or changed test fails there.
    Red,
    /// They can't be built or loaded there.
    Unbuilt,
    /// Not all of them ran there, because tests of the base commit itself fail.
    Unreached,
    /// None of the new or changed tests fails there.
    Pale,
}

/// Compares a run of today's tests on the base commit (`new`) with one of its own (`old`);
/// `today` is how many of them ran on today's work.
pub(super) fn finding(
    new: &BaseRun,
    old: &BaseRun,
    texts: &[TestTexts],
    today: Option<Tests>,
) -> RedFinding {
    if new.receipt.status == Status::Pass {
        return RedFinding::Pale;
    }
    // Lines of a project's own script are counted too roughly to be compared.
    let counted = |run: &BaseRun| {
        run.receipt.evidence.tests.filter(|tests| run.is_reported && tests.ran() > 0)
    };
    let (now, then) = (counted(new), counted(old));
    let fresh: Vec<&String> =
        new.failing.iter().filter(|name| is_new_or_changed(name, old, texts)).collect();
    if !fresh.is_empty() {
        let unloaded = fresh.iter().all(|name| is_load_failure(name));
        return if unloaded { RedFinding::Unbuilt } else { RedFinding::Red };
    }
    match (now, then) {
        (Some(now), _) if today.is_some_and(|today| now.ran() < today.ran()) => {
            RedFinding::Unreached
        }
        (Some(_), _) if !new.failing.is_empty() => RedFinding::Pale,
        (Some(now), Some(then)) if now.failed <= then.failed => RedFinding::Pale,
        (Some(_), _) => RedFinding::Red,
        (None, Some(_)) => RedFinding::Unbuilt,
        (None, None) if old.receipt.status == Status::Pass => RedFinding::Red,
        (None, None) if has_new_failure_line(&new.receipt.tail, &old.receipt.tail) => {
            RedFinding::Red
        }
        (None, None) => RedFinding::Pale,
    }
}

/// Whether a failing test was not failing before, or says something else now.
fn is_new_or_changed(name: &str, old: &BaseRun, texts: &[TestTexts]) -> bool {
    if !old.failing.iter().any(|own| own == name) {
        return true;
    }
    let title = title_of(name);
    texts.iter().any(|text| {
        let now = block_of(&text.now, title);
        now.is_some() && now != text.then.as_deref().and_then(|then| block_of(then, title))
    })
}

/// What a test is called in its file.
fn title_of(name: &str) -> &str {
    let name = name.split(" (").next().unwrap_or(name);
    let name = name.split('[').next().unwrap_or(name).trim();
    let name = name.rsplit("::").next().unwrap_or(name);
    let name = name.rsplit(" > ").next().unwrap_or(name);
    if name.contains(' ') { name } else { name.rsplit(['.', '/']).next().unwrap_or(name) }
}

/// Whether it is a file that could not be loaded, not a test.
fn is_load_failure(name: &str) -> bool {
    name.contains("_FailedTest")
        || name.contains("[build failed]")
        || name.contains("[setup failed]")
        || (Path::new(name).extension().is_some_and(|end| end == "py") && !name.contains("::"))
}

/// The lines of a test: from the one that names it to the end of its indented body.
fn block_of(text: &str, title: &str) -> Option<String> {
    let lines: Vec<&str> = text.lines().collect();
    let names = |line: &&str| !title.is_empty() && has_word(line, title);
    let start = lines.iter().position(names)?;
    let depth = indent(lines[start]);
    let body = lines[start + 1..]
        .iter()
        .take_while(|line| line.trim().is_empty() || indent(line) > depth)
        .map(|line| line.trim_end());
    let block: Vec<&str> = std::iter::once(lines[start]).chain(body).collect();
    Some(block.join("\n").trim_end().into())
}

fn has_word(line: &str, word: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(word).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let after = line[at + word.len()..].chars().next();
        !before.is_some_and(is_part) && !after.is_some_and(is_part)
    })
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// Whether `new` tells of a failure that `old` does not, numbers aside.
fn has_new_failure_line(new: &str, old: &str) -> bool {
    let calm = |line: &str| line.replace(|c: char| c.is_ascii_digit(), "").trim().to_lowercase();
    let known: Vec<String> = old.lines().map(calm).collect();
    let tells = |line: &String| FAILURE_WORDS.iter().any(|word| line.contains(word));
    new.lines().map(calm).any(|line| tells(&line) && !known.contains(&line))
}

#[cfg(test)]
mod tests {
    use stopgate_core::{Evidence, Receipt, Status, Tests, Timestamp};

    use super::{
        BaseRun, RedFinding, block_of, finding, has_new_failure_line, is_load_failure, title_of,
    };

    fn failed(failing: &[&str], passed: u32) -> BaseRun {
        let failed = u32::try_from(failing.len()).expect("a number");
        let tests = Some(Tests { collected: passed + failed, failed, skipped: 0 });
        let evidence = Evidence { tests, ..Evidence::default() };
        let receipt = Receipt::new("tests", Status::Fail, Timestamp::from_unix_millis(0));
        let receipt = Receipt { evidence, ..receipt };
        let failing = failing.iter().map(ToString::to_string).collect();
        BaseRun { receipt, failing, is_reported: true }
    }

    #[test]
    fn tests_that_did_not_run_there_are_not_said_to_pass_there() {
        let (early, whole) = (failed(&["old"], 1), failed(&["old"], 4));
        let today = |collected| Some(Tests { collected, ..Tests::default() });
        assert_eq!(finding(&early, &early, &[], today(5)), RedFinding::Unreached);
        assert_eq!(finding(&whole, &early, &[], today(5)), RedFinding::Pale);
        assert_eq!(finding(&failed(&["old", "new"], 1), &early, &[], today(9)), RedFinding::Red);
    }

    #[test]
    fn titles_are_found_in_every_runner_s_names() {
        for (name, title) in [
            ("tests/test_a.py::test_days[1-2]", "test_days"),
            ("tests::days_work", "days_work"),
            ("test_days (tests.test_a.Days.test_days)", "test_days"),
            ("TestDays/leap", "leap"),
            ("slug > drops signs", "drops signs"),
            ("drops signs", "drops signs"),
        ] {
            assert_eq!(title_of(name), title, "{name}");
        }
    }

    #[test]
    fn a_block_ends_with_its_body() {
        let text = "def test_a():\n    one\n\n    two\n\ndef test_ab():\n    three\n";
        assert_eq!(block_of(text, "test_a").as_deref(), Some("def test_a():\n    one\n\n    two"));
        assert_eq!(block_of(text, "test_b"), None);
    }

    #[test]
    fn only_new_lines_that_tell_of_a_failure_count() {
        assert!(has_new_failure_line("FAIL days\nFAIL weeks", "FAIL days"));
        assert!(!has_new_failure_line("FAIL days 2\nok weeks", "FAIL days 1"));
    }

    #[test]
    fn failures_without_names_are_compared_by_their_number() {
        let unnamed =
            |count: usize| BaseRun { failing: Vec::new(), ..failed(&vec!["a"; count], 3) };
        let none = BaseRun { failing: Vec::new(), ..failed(&[], 3) };
        assert_eq!(finding(&unnamed(2), &none, &[], None), RedFinding::Red);
        assert_eq!(finding(&unnamed(1), &unnamed(1), &[], None), RedFinding::Pale);
        // Names that all failed before say more than a larger number.
        let (once, often) = (failed(&["old"], 3), failed(&["old", "old"], 3));
        assert_eq!(finding(&often, &once, &[], None), RedFinding::Pale);
    }

    #[test]
    fn failures_that_nobody_counted_are_compared_by_what_was_printed() {
        let printed = |status, tail: &str| {
            let mut run = failed(&[], 0);
            run.receipt.evidence.tests = None;
            (run.receipt.status, run.receipt.tail) = (status, tail.into());
            run
        };
        let days = printed(Status::Fail, "FAIL days");
        let weeks = printed(Status::Fail, "FAIL days\nFAIL weeks");
        assert_eq!(finding(&days, &days, &[], None), RedFinding::Pale);
        assert_eq!(finding(&weeks, &days, &[], None), RedFinding::Red);
        let fine = printed(Status::Pass, "");
        assert_eq!(finding(&days, &fine, &[], None), RedFinding::Red);
    }

    #[test]
    fn what_could_not_be_loaded_is_no_test() {
        for name in [
            "unittest.loader._FailedTest.test_days",
            "example.org/days [build failed]",
            "example.org/days [setup failed]",
            "tests/test_days.py",
        ] {
            assert!(is_load_failure(name), "{name}");
        }
        for name in ["tests/test_days.py::test_leap", "TestDays/leap", "drops signs"] {
            assert!(!is_load_failure(name), "{name}");
        }
    }
}
