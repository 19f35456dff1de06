//! Marks in the work by which lines are left out of coverage: `# pragma: no cover`.
//!
//! A few lines that nothing can reach are left out in every project. Where coverage is measured,
//! and many lines are newly left out, the judges of the start have to count them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use regex::Regex;

use super::JudgeSet;
use super::files::{ProjectFiles, extension_of};
use super::names::{is_code, is_foreign};
use super::role::CheckConduct;

/// How many files are read.
const FILES_MAX: usize = 6_000;
/// More marks than these are not told apart.
const MARKS_MAX: usize = 20_000;
/// So many lines may be left out without a word.
pub(crate) const LINES_MAX: usize = 5;
/// Where it says that coverage is measured, beside the command and judging scripts.
const SETTINGS: [&str; 6] =
    ["package.json", "pyproject.toml", "setup.cfg", "tox.ini", ".coveragerc", "Makefile"];

/// The marks of the usual tools, in a comment.
static MARK: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let marks = r"(?i)(pragma[:\s]?\s*no\s*(cover|branch)\w*|(istanbul|c8|v8) ignore( \w+)*|node:coverage (disable|ignore next( \d+)?)|l?g?covr?_excl_(line|br_line|start)|:nocov:|@codecoverageignore\w*|deno-coverage-ignore\w*)";
    Regex::new(marks).ok()
});
/// What says that coverage is measured.
static MEASURED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)--cov|coverage|fail.under|\b(c8|nyc|gcov|lcov|tarpaulin|llvm-cov)\b").ok()
});

/// The marked lines of the work, where the check measures coverage.
pub(super) fn note(
    set: &JudgeSet,
    command: &str,
    files: &dyn ProjectFiles,
) -> Option<BTreeSet<String>> {
    if set.reach.conduct == CheckConduct::Looks || !is_measured(set, command, files) {
        return None;
    }
    let is_source = |path: &&PathBuf| is_code(extension_of(path)) && !is_foreign(path);
    let mut found = BTreeSet::new();
    for path in files.paths().iter().filter(is_source).take(FILES_MAX) {
        let Some(text) = files.text(path) else { continue };
        found.extend(marks_of(&text).into_iter().map(|mark| mark.says));
        if found.len() > MARKS_MAX {
            return None;
        }
    }
    Some(found)
}

fn is_measured(set: &JudgeSet, command: &str, files: &dyn ProjectFiles) -> bool {
    let Some(measured) = MEASURED.as_ref() else { return false };
    let settings = SETTINGS.iter().map(Path::new).filter_map(|path| files.text(path));
    let scripts = set.scripts().filter_map(|path| files.text(path));
    measured.is_match(command) || settings.chain(scripts).any(|text| measured.is_match(&text))
}

/// A mark in a text.
struct CoverageMark {
    /// The number of its line.
    line: usize,
    /// The line, and of a comment alone also what it is about.
    says: String,
    /// How many lines it leaves out, without those that are usually left out.
    leaves_out: usize,
}

/// The text without the marks that are not among those of the start, and how many lines they leave
/// out.
pub(crate) fn without_new_marks(text: &str, known: &BTreeSet<String>) -> (String, usize) {
    let fresh = marks_of(text).into_iter().filter(|mark| !known.contains(&mark.says));
    let fresh: Vec<CoverageMark> = fresh.collect();
    let lines: BTreeSet<usize> = fresh.iter().map(|mark| mark.line).collect();
    let leaves_out = fresh.iter().map(|mark| mark.leaves_out).sum();
    let plain = |(number, line): (usize, &str)| match MARK.as_ref() {
        Some(mark) if lines.contains(&number) => mark.replace_all(line, "counts").into_owned(),
        Some(_) | None => line.to_string(),
    };
    (text.split_inclusive('\n').enumerate().map(plain).collect(), leaves_out)
}

fn marks_of(text: &str) -> Vec<CoverageMark> {
    let Some(mark) = MARK.as_ref() else { return Vec::new() };
    if !mark.is_match(text) {
        return Vec::new();
    }
    let lines: Vec<&str> = text.lines().collect();
    let is_marked = |line: &str| {
        let found = mark.find(line);
        found.is_some_and(|found| {
            ["#", "//", "/*", "*"].iter().any(|own| line[..found.start()].contains(own))
        })
    };
    let marked = lines.iter().enumerate().filter(|(_, line)| is_marked(line));
    let told = |(at, line): (usize, &&str)| {
        let rest = &lines[at + 1..];
        let is_alone = ["#", "//", "/*", "*"].iter().any(|own| line.trim_start().starts_with(own));
        // What the mark is about: its own line, or the next one.
        let (head, below) = match rest.split_first() {
            Some((next, below)) if is_alone => (*next, below),
            Some(_) | None => (*line, rest),
        };
        let about = if is_alone { head.trim() } else { "" };
        let says = format!("{} {about}", line.trim()).trim_end().to_string();
        let leaves_out = match () {
            () if is_usual(&says) => 0,
            () if begins_a_part(line) => rest.iter().take_while(|line| !ends_a_part(line)).count(),
            () => 1 + block_below(head, below),
        };
        CoverageMark { line: at, says, leaves_out }
    };
    marked.map(told).collect()
}

/// Lines that no test is expected to reach.
fn is_usual(line: &str) -> bool {
    const WORDS: [&str; 9] = [
        "__main__",
        "TYPE_CHECKING",
        "NotImplemented",
        "abstractmethod",
        "assert_never",
        "unreachable",
        "platform",
        "version_info",
        "ImportError",
    ];
    WORDS.iter().any(|word| line.contains(word))
}

/// Whether a mark leaves out all up to the one that ends it, or to the end.
fn begins_a_part(line: &str) -> bool {
    let line = line.to_lowercase();
    ["ignore file", "ignore start", "coverage disable", "excl_start", ":nocov:"]
        .iter()
        .any(|begin| line.contains(begin))
}

fn ends_a_part(line: &str) -> bool {
    let line = line.to_lowercase();
    ["ignore stop", "ignore end", "coverage enable", "excl_stop", ":nocov:"]
        .iter()
        .any(|end| line.contains(end))
}

/// How many lines belong to a line that begins a block.
fn block_below(head: &str, below: &[&str]) -> usize {
    let indent = |line: &str| line.len() - line.trim_start().len();
    let code = head.split('#').next().unwrap_or_default().trim();
    let begins = code.ends_with([':', '{', '(']) || code.starts_with('@');
    let is_inside = |line: &&&str| line.trim().is_empty() || indent(line) > indent(head);
    if begins { below.iter().take_while(is_inside).count() } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, known: &str, leaves_out: usize) {
        let known = marks_of(known).into_iter().map(|mark| mark.says).collect();
        let (plain, found) = without_new_marks(text, &known);
        assert_eq!(found, leaves_out, "{text}");
        assert_eq!(plain.lines().count(), text.lines().count());
    }

    #[test]
    fn new_marks_leave_lines_out() {
        let block =
            "def a(x):  # pragma: no cover\n    if x:\n        return 1\n    return 2\n\nb = 1\n";
        check(block, "", 5);
        check(block, block, 0);
        check("if x:\n    y()  # pragma: no cover\n", "", 1);
        check("if __name__ == '__main__':  # pragma: no cover\n    main()\n", "", 0);
        check("/* c8 ignore next */\nfunction a() {\n  b();\n  c();\n}\n", "", 3);
        check("/* node:coverage disable */\na();\nb();\n/* node:coverage enable */\nc();\n", "", 2);
        check("/* istanbul ignore file */\na();\nb();\n", "", 2);
        check("text = 'pragma: no cover'\n", "", 0);
        // One that is about something else is another one.
        let one = "/* c8 ignore next */\na();\n";
        check(&format!("{one}/* c8 ignore next */\nb();\n"), one, 1);
    }

    #[test]
    fn a_line_without_its_mark_is_what_it_was() {
        let (plain, _) = without_new_marks("a = 1  # pragma: no cover\nb = 2\n", &BTreeSet::new());
        assert_eq!(plain, "a = 1  # counts\nb = 2\n");
        let (plain, _) = without_new_marks("/* node:coverage disable */\na();\n", &BTreeSet::new());
        assert_eq!(plain, "/* counts */\na();\n");
    }
}
