//! What the text of a script shows that it does: look, write, make tests.

use std::path::Path;

use super::super::files::extension_of;
use super::super::imports::quoted_paths;
use super::super::names::{NameSays, is_code, said};

/// Whether a program writes the source of tests.
pub(super) fn makes_tests(text: &str) -> bool {
    let writes =
        ["writeFile", "WriteFile", "write_text", "fs::write", "File::create", "\"w\"", "'w'"];
    let is_test = |line: &str| {
        quoted_paths(line).any(|word| {
            let path = Path::new(word);
            said(path) == Some(NameSays::Test) && is_code(extension_of(path))
        })
    };
    text.lines().any(|line| writes.iter().any(|sign| line.contains(sign)) && is_test(line))
}

/// Whether a script of the shell ends by what it found, and writes nothing but a mark that it ran.
pub(super) fn only_looks(text: &str) -> bool {
    const ENDS: [&str; 8] = ["exit $", "exit \"$", "exit 1", "[ ", "test ", "! ", "grep ", "diff "];
    const WRITES: [&str; 8] = ["tee ", "cp ", "mv ", "rm ", "mkdir ", "install ", "sed -i", "ln "];
    // What comes after the verdict: that all is well.
    const AFTER: [&str; 7] = ["echo ", "printf ", "touch ", "exit 0", "fi", "done", "}"];
    let lines = || text.lines().map(str::trim).filter(|line| !line.starts_with('#'));
    let ends = |line: &str| {
        let fails = line.starts_with("if ") && (line.contains("exit 1") || line.contains("exit $"));
        fails || ENDS.iter().any(|own| line.starts_with(own))
    };
    let redirects = |line: &str| {
        let line = line.replace(">/dev/null", "").replace("> /dev/null", "");
        let line = line.replace(">&2", "").replace("2>&1", "");
        line.contains('>') && !line.contains("->") && !line.contains("=>")
    };
    let writes = |line: &str| WRITES.iter().any(|own| line.starts_with(own)) || redirects(line);
    let is_after = |line: &&str| !line.is_empty() && !AFTER.iter().any(|own| line.starts_with(own));
    let last = lines().rfind(|line| !line.is_empty());
    let decides = last.is_some_and(ends)
        // `test` says something only where the script ends by it.
        || lines().rfind(is_after).is_some_and(|line| {
            ends(line) && (line.contains("exit ") || text.contains("set -e"))
        });
    decides && !lines().any(writes)
}

/// Whether a script can write anew what it compares with.
pub(super) fn renews(text: &str) -> bool {
    ["--write", "--update", "--bless", "--regen", "--record", "UPDATE"]
        .iter()
        .any(|word| text.contains(word))
}
