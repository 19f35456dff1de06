//! The part of an output that tells what went wrong.
//!
//! Lines that name a failure come first, each with its neighbours, then the end, where most
//! runners sum up. Only ever a part of the output, in its own order, with a mark where
//! something was left out.

use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use crate::clean::{clip, clip_end};

/// A longer line is cut.
const LINE_BYTES_MAX: usize = 300;
const BEFORE: usize = 1;
const AFTER: usize = 3;
/// What failing lines may take of the room, in quarters; the rest is the end's.
const QUARTERS: usize = 3;
const GAP: &str = "…\n";

/// Words that name a failure, as runners, compilers and languages print them.
const TELLING: [&str; 22] = [
    "FAIL",
    "Fail",
    "failed",
    "failure",
    "ERROR",
    "Error",
    "error:",
    "error[",
    "error ",
    "panicked",
    "PANIC",
    "assert",
    "Assert",
    "Traceback",
    "Exception",
    "fatal:",
    "not ok",
    "undefined",
    "cannot find",
    "No such file",
    "✗",
    "✕",
];

/// Words that make a telling line harmless.
const HARMLESS: [&str; 8] = [
    "0 failed",
    "0 failures",
    "0 errors",
    "failures=0",
    "failed=0",
    "0 FAILED",
    "no errors",
    "failed: 0",
];

/// The most telling part of `output`, at most `bytes_max` long.
pub fn excerpt(output: &str, bytes_max: usize) -> String {
    let output = output.trim_end();
    if output.len() <= bytes_max {
        return output.into();
    }
    let lines: Vec<&str> = output.lines().collect();
    let mut shown = vec![false; lines.len()];
    let mut left = bytes_max.saturating_sub(GAP.len()) / 4 * QUARTERS;
    let telling: Vec<usize> = (0..lines.len()).filter(|at| is_telling(lines[*at])).collect();
    if telling.is_empty() {
        return clip_end(output, bytes_max).into();
    }
    // The line itself before any neighbour: with many failures, each is named.
    let itself = telling.iter().copied();
    let around = telling.iter().flat_map(|at| at.saturating_sub(BEFORE)..=at + AFTER);
    for at in itself.chain(around) {
        let Some(line) = lines.get(at).filter(|_| !shown[at]) else { continue };
        let cost = line.len().min(LINE_BYTES_MAX) + 1 + GAP.len();
        if cost > left {
            break;
        }
        left -= cost;
        shown[at] = true;
    }
    show_end(&lines, &mut shown, bytes_max);
    join(&lines, &shown)
}

/// Shows as much of the end as there is room for.
fn show_end(lines: &[&str], shown: &mut [bool], bytes_max: usize) {
    // The end is one piece: at most one more mark.
    let mut used = join(lines, shown).len() + GAP.len();
    for at in (0..lines.len()).rev() {
        if shown[at] {
            continue;
        }
        used += lines[at].len().min(LINE_BYTES_MAX) + 1;
        if used > bytes_max {
            return;
        }
        shown[at] = true;
    }
}

fn join(lines: &[&str], shown: &[bool]) -> String {
    let mut text = String::new();
    let mut gap = false;
    for (line, shown) in lines.iter().zip(shown) {
        if !shown {
            gap = true;
            continue;
        }
        if gap {
            text.push_str(GAP);
            gap = false;
        }
        text.push_str(&clip(line, LINE_BYTES_MAX));
        text.push('\n');
    }
    text
}

fn is_telling(line: &str) -> bool {
    // What pytest prints before the lines of an exception.
    let marked = line.starts_with("E   ") || line.starts_with("not ok");
    let named = TELLING.iter().any(|word| line.contains(word));
    (marked || named) && !HARMLESS.iter().any(|word| line.contains(word))
}

#[cfg(test)]
mod tests {
    use alloc::format;
    use alloc::string::String;
    use alloc::vec::Vec;

    use proptest::prelude::*;

    use super::excerpt;

    fn noise(lines: usize) -> String {
        let lines: Vec<String> =
            (0..lines).map(|at| format!("note: trailing noise line {at}\n")).collect();
        lines.concat()
    }

    #[test]
    fn the_failing_line_is_shown_however_much_noise_follows() {
        let output = format!(
            "running 2 tests\ntest lexer ... ok\ntest parser ... FAILED\n  left: 1\n right: 2\n{}",
            noise(200)
        );
        let told = excerpt(&output, 400);
        assert!(told.contains("test parser ... FAILED\n  left: 1\n right: 2\n"), "{told}");
        assert!(told.ends_with("noise line 199\n"), "{told}");
        assert!(told.len() <= 400, "{}", told.len());
    }

    #[test]
    fn every_failure_is_named_before_any_is_told_in_full() {
        let failures: Vec<String> =
            (0..6).map(|at| format!("{}FAIL case {at}\n", noise(20))).collect();
        let told = excerpt(&failures.concat(), 420);
        for at in 0..6 {
            assert!(told.contains(&format!("FAIL case {at}")), "{told}");
        }
    }

    #[test]
    fn a_short_output_is_told_whole_and_a_silent_one_by_its_end() {
        assert_eq!(excerpt("FAIL a\nb\n", 100), "FAIL a\nb");
        let told = excerpt(&noise(100), 100);
        assert!(told.ends_with("noise line 99") && told.len() <= 100, "{told}");
    }

    #[test]
    fn a_summary_without_failures_tells_nothing() {
        let output = format!("test result: ok. 3 passed; 0 failed\n{}boom: exit 1\n", noise(50));
        let told = excerpt(&output, 120);
        assert!(!told.contains("0 failed") && told.ends_with("boom: exit 1"), "{told}");
    }

    proptest! {
        #[test]
        fn it_is_never_too_long_and_never_invents_a_line(
            lines in prop::collection::vec("[ -~]{0,60}|FAILED: [a-z]{1,20}|é+", 0..120),
            bytes_max in 0_usize..600,
        ) {
            let output = lines.join("\n");
            let told = excerpt(&output, bytes_max);
            prop_assert!(told.len() <= bytes_max.max(4), "{} > {bytes_max}", told.len());
            for line in told.lines().filter(|line| !line.contains('…')) {
                prop_assert!(output.contains(line), "{line}");
            }
        }
    }
}
