//! What an output of findings says about things that are well.
//!
//! A script that names every file it looks at says `ok: lib/say.sh` about a new one: that is not a new
//! failure. Nor is it one that a linter looked at more files than before.

use crate::report::tells_pass;

/// Words beside which nothing is well.
const BAD: [&str; 4] = ["not", "no", "but", "except"];
/// How words begin that speak of something wrong.
const WRONG: [&str; 8] =
    ["fail", "error", "warn", "issue", "problem", "offense", "finding", "violation"];
/// What is said of files that nothing is wrong with, or that were merely looked at.
const LOOKED: [&str; 10] = [
    "checked",
    "inspected",
    "scanned",
    "linted",
    "examined",
    "analyzed",
    "analysed",
    "processed",
    "unchanged",
    "formatted",
];
/// What a line ends with that says of something that it passes.
const ENDS: [&str; 6] = ["ok", "OK", "passed", "PASSED", "✓", "✔"];

/// Whether the line says of one thing that it passes: `ok: a.sh`, `a.sh: ok`.
pub(super) fn is_pass(line: &str) -> bool {
    let line = line.trim();
    let ends = || {
        let (name, end) = line.rsplit_once(char::is_whitespace).unwrap_or(("", ""));
        ENDS.contains(&end) && name.trim_end().ends_with([':', '.'])
    };
    !says_bad(line) && (tells_pass(line) || ends())
}

/// The line with `#` for how many files were looked at: `(checked 4 source files)`.
pub(super) fn without_counts(line: &str) -> String {
    let clauses = line.split_inclusive([',', '(', ')', ';']);
    let one = |clause: &str| {
        let looked = words(clause).any(|word| LOOKED.contains(&word)) && !says_bad(clause);
        if !looked {
            return clause.to_string();
        }
        let told = clause.split(' ').map(|word| if is_number(word) { "#" } else { word });
        told.collect::<Vec<_>>().join(" ").replace("files", "file")
    };
    clauses.map(one).collect()
}

fn is_number(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|letter| letter.is_ascii_digit())
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty())
}

/// Whether one of the words speaks of something that is wrong; a name with such a part may, too.
fn says_bad(text: &str) -> bool {
    let lower = text.to_lowercase();
    words(&lower)
        .any(|word| BAD.contains(&word) || WRONG.iter().any(|wrong| word.starts_with(wrong)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_about_what_is_well_are_known() {
        for line in ["ok: lib/say.sh", "  ✓ a", "[PASS] a", "lib/say.sh: ok", "calc.add ... ok"] {
            assert!(is_pass(line), "{line}");
        }
        for line in [
            "not ok: a.sh",
            "a.sh: not ok",
            "ok: a.sh, but slow",
            "ok 3 of 4, 1 failed",
            "a.sh is never ok",
            "okay",
            "x.sh has tabs",
            "PASS: a (2 errors)",
        ] {
            assert!(!is_pass(line), "{line}");
        }
    }

    #[test]
    fn how_many_files_were_looked_at_says_nothing() {
        let rows = [
            (
                "Found 1 error in 1 file (checked 4 source files)",
                "Found 1 error in 1 file (checked # source file)",
            ),
            ("3 files inspected, 1 offense detected", "# file inspected, 1 offense detected"),
            (
                "1 file would be reformatted, 1 file would be left unchanged.",
                "1 file would be reformatted, # file would be left unchanged.",
            ),
            ("checked 3 files with 2 errors", "checked 3 files with 2 errors"),
            ("2 files would be reformatted", "2 files would be reformatted"),
            ("2 files not formatted", "2 files not formatted"),
        ];
        for (line, expected) in rows {
            assert_eq!(without_counts(line), expected);
        }
    }
}
