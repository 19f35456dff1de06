//! Which part of a command judges, and which only prepare for it.

use std::path::Path;

use super::super::names::words as name_words;
use super::super::shell::{OutputFate, ShellScript, ShellStep};
use super::super::tools::{Trade, is_interpreter, is_shell, plain_name, trade_of};

/// Whether a command does one thing that can judge: alone, or behind what prepares for it.
pub(super) fn has_sole_judge(script: &ShellScript) -> bool {
    let is_shell_work = |step: &&ShellStep| {
        let program = step.words.first().map_or("", String::as_str);
        ["cd", "export", "set", ".", "source", ""].contains(&program)
    };
    let steps: Vec<&ShellStep> = script.steps().collect();
    let before = steps.split_last().map(|(_, before)| before).unwrap_or_default();
    steps.iter().filter(|step| !is_shell_work(step)).count() == 1
        || before.iter().all(|step| is_shell_work(step) || prepares(step))
}

/// `make`, `npm ci`, `sh setup.sh`, `mkdir -p out`: what builds, installs or tidies up.
fn prepares(step: &ShellStep) -> bool {
    const TIDYING: [&str; 7] = ["mkdir", "rm", "cp", "mv", "touch", "echo", "sleep"];
    let mut words = step.words.iter().map(String::as_str);
    let Some(program) = words.next() else { return true };
    let name = plain_name(program);
    // `sh -c "$(cat check.sh)"`
    if step.fate == OutputFate::Taken && name == "cat" {
        return true;
    }
    let is_runner = is_shell(name) || is_interpreter(name) || name == "node";
    let script = if is_runner { words.find(|word| !word.starts_with('-')) } else { Some(program) };
    TIDYING.contains(&name)
        || ["make", "gmake", "just"].contains(&name)
        || trade_of(name) == Trade::Builder
        || script.is_some_and(|script| says_preparing(Path::new(script)))
}

/// Whether a script's name says that it only prepares.
pub(super) fn says_preparing(path: &Path) -> bool {
    const WORDS: [&str; 9] = [
        "setup",
        "install",
        "prepare",
        "bootstrap",
        "build",
        "compile",
        "generate",
        "clean",
        "migrate",
    ];
    let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    name_words(stem).iter().any(|word| WORDS.contains(&word.as_str()))
}
