//! Taskfiles: the tasks that test, the variables that they expand, and what steers every task.
//!
//! Enough of YAML to tell entries apart by their indentation. Tasks that build are work.

use super::Judging;
use super::blocks::{TextBlock, replaced, sections};
use crate::judges::names::{name_says_judge, said};
use crate::judges::tools::mentioned;

/// The names that `task` looks for, the first one that it finds first.
const NAMES: [&str; 8] = [
    "Taskfile.yml",
    "taskfile.yml",
    "Taskfile.yaml",
    "taskfile.yaml",
    "Taskfile.dist.yml",
    "taskfile.dist.yml",
    "Taskfile.dist.yaml",
    "taskfile.dist.yaml",
];

/// Keys of the whole file that change how every task is run.
const STEERING: [&str; 5] = ["dotenv", "env", "includes", "set", "shopt"];

/// Lines of one entry.
struct TaskLines {
    /// The key of the file that the entry is below.
    section: String,
    name: String,
    text: String,
}

/// Where `task` looks for a file of this name before others; nothing where it doesn't.
pub(crate) fn taskfile_rank(name: &str) -> Option<usize> {
    NAMES.iter().position(|own| *own == name)
}

pub(super) fn judging(text: &str) -> Judging {
    let mut sections = sections(&blocks(text));
    sections.sort_unstable();
    Judging { sections, ..Judging::default() }
}

pub(super) fn restore(original: &str, today: &str) -> String {
    replaced(&blocks(original), &blocks(today))
}

fn blocks(text: &str) -> Vec<TextBlock> {
    let all = parse(text);
    let tests = |lines: &&TaskLines| lines.section == "tasks" && is_test(lines);
    let judging: String = all.iter().filter(tests).map(|lines| lines.text.as_str()).collect();
    let is_used = |name: &str| judging.contains(&format!(".{name}"));
    let key = |lines: &TaskLines| match lines.section.as_str() {
        "tasks" if !lines.name.is_empty() => is_test(lines).then(|| format!("task {}", lines.name)),
        "vars" if !lines.name.is_empty() => {
            is_used(&lines.name).then(|| format!("variable {}", lines.name))
        }
        section if STEERING.contains(&section) => Some(format!("{section} {}", lines.name)),
        _ => None,
    };
    let block = |lines: TaskLines| {
        let plain = lines.text.lines().map(|line| line.split(" #").next().unwrap_or(line).trim());
        let plain = plain.filter(|line| !line.is_empty() && !line.starts_with('#'));
        TextBlock { key: key(&lines), says: plain.collect::<Vec<_>>().join("\n"), text: lines.text }
    };
    all.into_iter().map(block).collect()
}

/// Whether a task tests: its name says so, or it starts a runner or something named like a test.
fn is_test(lines: &TaskLines) -> bool {
    let is_end = |letter: char| letter.is_whitespace() || "\"'[]{},;".contains(letter);
    let names_test =
        || lines.text.split(is_end).any(|word| word.contains('/') && said(word.as_ref()).is_some());
    name_says_judge(&lines.name)
        || lines.name == "default"
        || names_test()
        || !mentioned(&lines.text).is_empty()
}

/// The entries of a text, in order; each with the lines that follow it.
fn parse(text: &str) -> Vec<TaskLines> {
    let mut found: Vec<TaskLines> = Vec::new();
    let (mut section, mut depth) = (String::new(), None);
    for line in text.split_inclusive('\n') {
        let indent = line.len() - line.trim_start_matches(' ').len();
        let plain = line.trim();
        let is_entry = !plain.is_empty() && !plain.starts_with(['#', '-']) && plain.contains(':');
        let name = plain.split(':').next().unwrap_or_default().trim_matches(['"', '\'']);
        if is_entry && indent == 0 {
            (section, depth) = (name.to_string(), None);
            let text = line.into();
            found.push(TaskLines { section: name.into(), name: String::new(), text });
        } else if is_entry && indent == *depth.get_or_insert(indent) {
            found.push(TaskLines {
                section: section.clone(),
                name: name.into(),
                text: line.into(),
            });
        } else if let Some(last) = found.last_mut() {
            last.text.push_str(line);
        } else {
            let (section, name) = (String::new(), String::new());
            found.push(TaskLines { section, name, text: line.into() });
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const ORIGINAL: &str = "version: '3'\n\nvars:\n  OUT: out\n  NAME: x\n\ntasks:\n  build:\n    \
        cmds:\n      - cc -o {{.OUT}}/a a.c\n\n  # Runs the tests.\n  test:\n    deps: [build]\n    \
        cmds:\n      - sh tests/run.sh {{.OUT}}/a\n";

    #[test]
    fn tasks_that_test_judge_and_tasks_that_build_are_work() {
        let rows = [
            (true, "a.c\n", "a.c b.c\n"),
            (true, "tasks:\n", "tasks:\n  install:\n    cmds: [echo]\n"),
            (true, "NAME: x", "NAME: y"),
            (false, "      - sh tests/run.sh", "      - true || sh tests/run.sh"),
            (false, "  test:\n", "  test:\n    status: [true]\n"),
            (false, "OUT: out", "OUT: fake"),
            (false, "vars:\n", "env:\n  BASH_ENV: x\n\nvars:\n"),
        ];
        for (kept, from, to) in rows {
            let today = ORIGINAL.replace(from, to);
            assert_ne!(today, ORIGINAL, "{from}");
            assert_eq!(judging(ORIGINAL).is_kept_by(&judging(&today)), kept, "{from} => {to}");
            let restored = restore(ORIGINAL, &today);
            assert!(judging(ORIGINAL).is_kept_by(&judging(&restored)), "{restored}");
        }
    }

    #[test]
    fn what_builds_stays_as_it_is_today() {
        let today = ORIGINAL.replace("a.c\n", "a.c b.c\n").replace("sh tests/run.sh", "true");
        let restored = restore(ORIGINAL, &today);
        assert!(
            restored.contains("a.c b.c\n") && restored.contains("sh tests/run.sh"),
            "{restored}"
        );
    }
}
