//! `attack`: known exploits against real suites, and the advice for what gets through.

use std::path::Path;

use serde_json::Value;

use crate::doors;
use crate::stage::{Ran, Stage};

/// A stage whose project is a copy of one of the projects under `tests/fixtures`, trusted.
fn fixture(name: &str) -> Stage {
    let stage = Stage::new();
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name);
    copy(&from, &stage.path("project"));
    trusted(stage)
}

fn trusted(stage: Stage) -> Stage {
    let ran = stage.run_with("trust --yes", &doors::toolchain());
    assert_eq!(ran.code, 0, "{ran}");
    stage
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("make a directory");
    for entry in std::fs::read_dir(from).expect("list").map(|entry| entry.expect("an entry")) {
        let to = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &to);
        } else {
            std::fs::copy(entry.path(), to).expect("copy a file");
        }
    }
}

fn attack(stage: &Stage, more: &str) -> (Ran, Value) {
    let ran = stage.run_with(&format!("attack --json {more}"), &doors::toolchain());
    let report = serde_json::from_str(&ran.out).unwrap_or_default();
    (ran, report)
}

/// All files of a directory with their contents.
fn state(directory: &Path) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    let mut left = vec![directory.to_path_buf()];
    while let Some(directory) = left.pop() {
        for entry in std::fs::read_dir(directory).expect("list").map(|e| e.expect("an entry")) {
            if entry.path().is_dir() {
                left.push(entry.path());
            } else {
                let name = entry.path().display().to_string();
                found.push((name, std::fs::read(entry.path()).expect("read")));
            }
        }
    }
    found.sort();
    found
}

fn catches_all(name: &str) {
    let stage = fixture(name);
    let before = state(&stage.path("project"));
    let (ran, report) = attack(&stage, "--quick");
    assert_eq!(ran.code, 0, "{ran}");
    let count = |key: &str| report[key].as_u64().unwrap_or_default();
    assert!(count("applicable") >= 8, "{ran}");
    assert_eq!(count("applicable"), count("caught"), "{ran}");
    assert_eq!(state(&stage.path("project")), before, "the project was touched");
    let left = std::fs::read_dir(stage.path("home/copies")).map_or(0, Iterator::count);
    assert_eq!(left, 0, "copies were left behind");
}

#[test]
fn a_python_suite_withstands_a_quick_attack() {
    catches_all("pytest");
}

#[test]
fn a_node_suite_withstands_a_quick_attack() {
    catches_all("node");
}

#[test]
fn a_rust_suite_withstands_a_quick_attack() {
    catches_all("cargo");
}

/// A check whose name says nothing, so that its script is work.
fn weak(protect: &str) -> Stage {
    let stage = Stage::new();
    stage.write("project/app.sh", "echo hello\n");
    stage.write("project/go.sh", "test \"$(sh app.sh)\" = hello\n");
    let file = format!("[[criterion]]\nname = \"works\"\nshell = \"sh go.sh\"\n{protect}\n");
    stage.write("project/stopgate.toml", file);
    trusted(stage)
}

#[test]
fn a_weak_criterion_has_holes_and_the_advice_closes_them() {
    let stage = weak("");
    let (ran, report) = attack(&stage, "--quick");
    assert_eq!(ran.code, 1, "{ran}");
    assert!(report["applicable"].as_u64() > report["caught"].as_u64(), "{ran}");
    let advice = &report["advice"][0];
    assert_eq!(advice["still_pass"], Value::Array(Vec::new()), "{ran}");
    let line = advice["line"].as_str().expect("a line");
    assert_eq!(line, "protect = [\"go.sh\"]");
    let shown = stage.run("attack --quick");
    assert!(shown.out.contains("add to stopgate.toml:") && shown.out.contains(line), "{shown}");

    let stage = weak(line);
    let (ran, report) = attack(&stage, "--quick");
    assert_eq!(ran.code, 0, "{ran}");
    assert!(report["applicable"].as_u64() >= Some(5), "{ran}");
    assert_eq!(report["applicable"], report["caught"], "{ran}");
}

#[test]
fn what_nobody_trusted_is_not_run() {
    let stage = Stage::new();
    stage.write(
        "project/stopgate.toml",
        "[[criterion]]\nname = \"t\"\nshell = \"touch ../ran; false\"\n",
    );
    let ran = stage.run("attack --quick");
    assert!(ran.code == 2 && ran.err.contains("is not trusted"), "{ran}");
    assert!(!stage.path("ran").exists());
}

#[test]
fn nothing_to_attack_is_an_error() {
    let stage = Stage::new();
    let ran = stage.run("attack");
    assert!(ran.code == 2 && ran.err.contains("there is nothing to attack"), "{ran}");
    let ran = stage.run("attack --check t=true");
    assert!(ran.code == 2 && ran.err.contains("could not be attacked"), "{ran}");
}

#[test]
fn a_check_can_be_named_and_time_is_bounded() {
    let stage = Stage::new();
    stage.write("project/tests/run.sh", "test \"$(sh app.sh)\" = hello\n");
    stage.write("project/app.sh", "echo hello\n");
    let line = "--quick --check 'works=sh tests/run.sh'";
    let (ran, report) = attack(&stage, line);
    assert_eq!(ran.code, 0, "{ran}");
    assert_eq!(report["criteria"][0]["broken"], "app.sh", "{ran}");
    let (ran, _) = attack(&stage, &format!("{line} --minutes 0"));
    assert_eq!(ran.code, 2, "{ran}");
}

#[test]
fn an_interrupted_attack_leaves_nothing_behind() {
    let stage = Stage::new();
    stage.write("project/app.sh", "echo hello\n");
    // The check interrupts the program that runs it, once there is a copy.
    stage.write(
        "project/tests/run.sh",
        "until test -s \"$1\"; do sleep 0.05; done\nkill -INT \"$(cat \"$1\")\"\nsleep 60\n",
    );
    let pid = stage.path("user/pid");
    let line = format!("attack --check 't=sh tests/run.sh {}'", pid.display());
    let mut command = stage.command(&line);
    let child = crate::stage::begin(&mut command);
    std::fs::write(&pid, child.id().to_string()).expect("write the number");
    let ran = stage.end(child, b"");
    assert_eq!(ran.code, 130, "{ran}");
    let left = std::fs::read_dir(stage.path("home/copies")).map_or(0, Iterator::count);
    assert_eq!(left, 0, "copies were left behind");
}
