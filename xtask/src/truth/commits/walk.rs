//! Finds the commits of a clone that change code and tests.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};

use super::CodeAndTests;

#[cfg(test)]
mod tests;

const CODE: [&str; 9] = ["py", "js", "mjs", "cjs", "ts", "rs", "go", "c", "sh"];
const TEST_DIRECTORIES: [&str; 5] = ["test", "tests", "__tests__", "spec", "testdata"];

/// The newest commits with one parent that change code and tests, at most `limit`.
pub(super) fn commits(directory: &Path, limit: usize) -> Result<Vec<CodeAndTests>> {
    let mut git = Command::new("git");
    git.arg("-C").arg(directory);
    git.args(["log", "--no-merges", "--no-renames", "--name-only", "--format=%x00%H %P"]);
    let said = git.output().context("start git")?;
    if !said.status.success() {
        bail!("read the history of {}", directory.display());
    }
    let text = String::from_utf8_lossy(&said.stdout).into_owned();
    Ok(text.split('\0').filter_map(read).take(limit).collect())
}

/// One record of the log: the commit and its parents, then the files.
fn read(record: &str) -> Option<CodeAndTests> {
    let (head, files) = record.split_once('\n')?;
    let mut names = head.split_whitespace();
    let (commit, parent) = (names.next()?.to_string(), names.next()?.to_string());
    let files: Vec<&str> = files.lines().filter(|line| !line.is_empty()).collect();
    let tests: Vec<String> =
        files.iter().filter(|path| is_test(path)).map(ToString::to_string).collect();
    let has_code = files.iter().any(|path| is_code(path));
    (has_code && !tests.is_empty()).then_some(CodeAndTests { commit, parent, tests })
}

fn is_code(path: &str) -> bool {
    let end = path.rsplit_once('.').map_or("", |(_, end)| end);
    CODE.contains(&end) && !is_test(path) && !path.ends_with("setup.py")
}

fn is_test(path: &str) -> bool {
    let (directories, name) = path.rsplit_once('/').unwrap_or(("", path));
    // `test_helpers.go` is code like any other.
    let is_go = name.rsplit_once('.').is_some_and(|(_, end)| end == "go");
    let named = name.starts_with("test_") && !is_go || name == "conftest.py" || name == "tests.py";
    let marked = ["_test.", ".test.", ".spec.", "_spec."].iter().any(|mark| name.contains(mark));
    named || marked || directories.split('/').any(|part| TEST_DIRECTORIES.contains(&part))
}
