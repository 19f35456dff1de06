//! Python's unittest: a sign for each test, and at the end `Ran 6 tests in 0.001s`.

use super::session::{Block, RunnerSession, by_results};
use super::{Report, count_after};

const RULE: &str = "----------------------------------------------------------------------";

/// The sessions of unittest.
pub(super) fn read(lines: &[&str]) -> Vec<RunnerSession> {
    let mut blocks = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let Some(ran) = ran(line) else { continue };
        let below = lines.iter().enumerate().skip(at + 1).find(|(_, line)| !line.is_empty());
        let (end, result) = below.map_or((at, ""), |(end, line)| (end, *line));
        let is_result =
            ["OK", "FAILED", "NO TESTS RAN"].iter().any(|word| result.starts_with(word));
        let is_drawn = at > 0 && lines[at - 1].ends_with(RULE);
        let report = counts(ran, result);
        // What is not drawn as unittest draws it is believed only where nothing else is.
        let results = if is_drawn && is_result { ran } else { u32::MAX };
        blocks.push(Block { span: (at, end), results, report });
    }
    let mut sessions = by_results("unittest", lines, blocks, results);
    for session in &mut sessions {
        let first = if session.span.0 == session.span.1 { 0 } else { session.span.0 };
        let region = lines.get(first..=session.span.1).unwrap_or_default();
        session.report.failures = failures(region);
        session.report.skipped = skipped(region);
        if session.report.tests.failed == 0 {
            session.report.add_broken(overlooked(region));
        }
    }
    if let [only] = sessions.as_mut_slice() {
        only.report.failures = failures(lines);
    }
    sessions
}

fn ran(line: &str) -> Option<u32> {
    let (number, rest) = line.strip_prefix("Ran ")?.split_once(' ')?;
    let time = rest.strip_prefix("tests in ").or_else(|| rest.strip_prefix("test in "))?;
    time.ends_with('s').then(|| number.parse().ok())?
}

/// `OK (skipped=1)`, `FAILED (failures=3, errors=1, skipped=1, expected failures=1)`.
fn counts(ran: u32, line: &str) -> Report {
    let counts = line.split_once('(').map_or("", |(_, counts)| counts.trim_end_matches(')'));
    let of = |word: &str| {
        let part = counts.split(", ").find(|part| part.starts_with(word));
        part.and_then(|part| count_after(part, word)).unwrap_or(0)
    };
    let failed =
        of("failures").saturating_add(of("errors")).saturating_add(of("unexpected successes"));
    let skipped = of("skipped").saturating_add(of("expected failures"));
    let failed = failed.max(u32::from(line.starts_with("FAILED")));
    Report::totalled(ran.max(u32::from(failed > 0)), failed, skipped)
}

/// How many results a line may hold: what tests print stands among the signs, so this is generous.
fn results(line: &str) -> u32 {
    // Where a failure is told there are dots, too; with `-q` there is nothing else.
    let told = ["FAIL: ", "ERROR: ", "Traceback (", "  File \"", "    ", "AssertionError"];
    if told.iter().any(|begin| line.starts_with(begin)) {
        return 0;
    }
    let words = ["... ok", "... FAIL", "... ERROR", "... skipped", "... expected failure"];
    if words.iter().any(|word| line.contains(word)) || ["ok", "FAIL", "ERROR"].contains(&line) {
        return 1;
    }
    let is_sign = |byte: &u8| b".FEsxu".contains(byte);
    let lead = line.bytes().take_while(|byte| is_sign(byte)).count();
    let end = line.bytes().rev().take_while(|byte| is_sign(byte)).count();
    let dots = line.bytes().filter(|byte| *byte == b'.').count();
    u32::try_from(lead.max(end).max(dots)).unwrap_or(u32::MAX)
}

fn failures(lines: &[&str]) -> Vec<String> {
    let pairs = lines.iter().zip(lines.iter().skip(1));
    pairs
        .filter(|(_, below)| below.starts_with("--------------------"))
        .filter_map(|(line, _)| failure(line))
        .collect()
}

/// How many failures are told of although the summary says `OK`, as a result class of the project's
/// own may make it say. Signs and details have to agree: a test may print the one or the other.
fn overlooked(region: &[&str]) -> u32 {
    let is_sign = |byte: u8| b".FEsxu".contains(&byte);
    let is_failed = |byte: &u8| b"FE".contains(byte);
    let told = |line: &&str| {
        if line.ends_with(" ... FAIL") || line.ends_with(" ... ERROR") {
            1
        } else if line.bytes().all(is_sign) {
            line.bytes().filter(is_failed).count()
        } else {
            0
        }
    };
    let signs: usize = region.iter().map(told).sum();
    let details = failures(region).len();
    if signs == details { u32::try_from(details).unwrap_or(u32::MAX) } else { 0 }
}

fn failure(line: &str) -> Option<String> {
    let name = line
        .strip_prefix("FAIL: ")
        .or_else(|| line.strip_prefix("ERROR: "))
        .or_else(|| line.strip_prefix("UNEXPECTED SUCCESS: "))?;
    Some(name.into())
}

/// `test_c (__main__.T.test_c) ... skipped 'slow'`
fn skipped(lines: &[&str]) -> Vec<String> {
    let name = |line: &&str| line.split_once(" ... skipped ").map(|(name, _)| name.to_owned());
    lines.iter().filter_map(name).collect()
}

#[cfg(test)]
mod tests {
    use crate::report::read;

    #[test]
    fn a_quiet_run_beside_another_runner_counts_the_same_whether_it_passes_or_fails() {
        let tap = "TAP version 13\nok 1 - a\nok 2 - b\n1..2\n# tests 2\n# pass 2\n# fail 0\n";
        let rule = "-".repeat(70);
        let fine = format!("{rule}\nRan 2 tests in 0.000s\n\nOK\n{tap}");
        let failing = format!(
            "{}\nFAIL: test_up (tests.test_tax.TaxTest.test_up)\n{rule}\nTraceback (most recent call \
             last):\n  File \"api/tests/test_tax.py\", line 11, in test_up\n    \
             self.assertEqual(tax(101, 7), 8)\nAssertionError: 7.07 != 8\n\n{rule}\nRan 2 tests in \
             0.000s\n\nFAILED (failures=1)\n{tap}",
            "=".repeat(70)
        );
        let ran = |text: &str| read(text).map(|report| report.tests.ran());
        assert_eq!(ran(&fine), ran(&failing));
    }

    #[test]
    fn a_summary_that_overlooks_failures_is_not_believed() {
        let rule = "-".repeat(70);
        let detail = format!(
            "{}\nFAIL: test_up (test_tax.TaxTest.test_up)\n{rule}\nTraceback (most recent call \
             last):\n  File \"test_tax.py\", line 11, in test_up\nAssertionError: 7 != 8\n\n",
            "=".repeat(70)
        );
        let end = format!("{rule}\nRan 3 tests in 0.000s\n\nOK\n");
        let failed = |text: &str| read(text).map(|report| report.tests.failed);
        assert_eq!(failed(&format!(".F.\n{detail}{end}")), Some(1));
        let verbose = "test_up (test_tax.TaxTest.test_up) ... FAIL\na ... ok\nb ... ok\n\n";
        assert_eq!(failed(&format!("{verbose}{detail}{end}")), Some(1));
        assert_eq!(failed(&format!("...\n{end}")), Some(0));
        // A test printed what another runner said.
        assert_eq!(failed(&format!("...\n{detail}{end}")), Some(0));
    }
}
