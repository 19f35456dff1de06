use std::fs;
use std::path::Path;

use stopgate_core::{Criterion, Proof};

use super::shell::commands;
use super::{command_fingerprint, definition, uses};

#[track_caller]
fn check(command: &str, expected: &str) {
    let directory = tempfile::tempdir().expect("a directory");
    for file in [
        "run.sh",
        "tests/a.py",
        "src/main.py",
        "Makefile",
        "ruff.toml",
        "Cargo.toml",
        "sub/x.sh",
        "target/debug/app",
        "node_modules/.bin/jest",
    ] {
        let path = directory.path().join(file);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
        fs::write(path, "x").expect("a file");
    }
    let package =
        r#"{"scripts":{"test":"jest --ci","pretest":"true","unit":"npm test","build":"tsc"}}"#;
    fs::write(directory.path().join("package.json"), package).expect("a file");
    let found = uses(directory.path(), &shell(command));
    let files: Vec<String> = found.files.iter().map(|file| file.display().to_string()).collect();
    let programs: Vec<String> = found.programs.into_iter().collect();
    let scripts: Vec<String> = found.scripts.into_keys().collect();
    let mut text = programs.join(" ");
    if !files.is_empty() {
        text = format!("{text} | {}", files.join(" "));
    }
    if !scripts.is_empty() {
        text = format!("{text} | scripts {}", scripts.join(" "));
    }
    assert_eq!(text, expected, "{command}");
}

fn shell(command: &str) -> Criterion {
    Criterion::new("tests", Proof::Check { command: command.into(), timeout_ms: 1_000 })
}

#[test]
fn programs_and_files_are_found() {
    check("pytest -q tests/a.py::test_x", "pytest | tests/a.py");
    check("./run.sh && make test", "make | Makefile run.sh");
    check("python3 -m pytest tests/a.py", "python3 | tests/a.py");
    check("python src/main.py", "python | src/main.py");
    check("bash -euo pipefail -c 'pytest tests/a.py; ./run.sh'", "bash pytest | run.sh tests/a.py");
    check("cd sub; sh run.sh", "cd sh | run.sh");
    check("FOO=1 env BAR=2 timeout 10 cargo nextest run", "cargo cargo-nextest env timeout");
    check("uv run pytest tests/a.py", "pytest uv | tests/a.py");
    check("npx jest src/main.py", "jest npx | node_modules/.bin/jest src/main.py");
    check("npm test", "jest npm true | node_modules/.bin/jest | scripts pretest test");
    check(
        "yarn run unit --ci",
        "jest npm true yarn | node_modules/.bin/jest | scripts pretest test unit",
    );
}

#[test]
fn what_the_work_itself_changes_is_not_taken() {
    check("ruff check --config=ruff.toml src/main.py", "ruff | ruff.toml");
    check("cargo test --manifest-path Cargo.toml", "cargo cargo-test");
    check("./target/debug/app --selftest", "");
    check("test -f run.sh && echo $HOME", "echo test");
}

#[test]
fn shell_commands_are_taken_apart() {
    let words = |text: &str| {
        let found: Vec<String> = commands(text).iter().map(|words| words.join(",")).collect();
        found.join(" / ")
    };
    assert_eq!(words("a 'b c' \"d \\\"e\" f\\ g"), "a,b c,d \"e,f g");
    assert_eq!(words("a|b && c;d # no\n e"), "a / b / c / d / e");
    assert_eq!(words("a >out.txt 2>&1 <in b"), "a,b");
    assert_eq!(words("if ! a; then B=1 b $C `x`; fi"), "a / b");
    assert_eq!(words("(a) || { b; }"), "a / b");
    assert_eq!(words("a 'open"), "a,open");
}

#[test]
fn a_definition_is_what_was_asked() {
    let plain = shell("true");
    let mut same = plain.clone();
    same.approved_at = Some(stopgate_core::Timestamp::from_unix_millis(1));
    same.tests = Some(stopgate_core::Tests::default());
    assert_eq!(definition(&plain), definition(&same));
    let mut retried = plain.clone();
    retried.terms.retries = 3;
    let mut weak = plain.clone();
    weak.weight = stopgate_core::Weight::Advisory;
    for other in [shell("false"), retried, weak] {
        assert_ne!(definition(&plain), definition(&other));
    }
}

#[test]
fn another_program_is_another_check() {
    let directory = tempfile::tempdir().expect("a directory");
    let program = directory.path().join("tool");
    fs::write(&program, "one").expect("a program");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(&program, mode).expect("a mode");
    let mut criterion = shell("tool --all");
    criterion.terms.set.push(("PATH".into(), directory.path().display().to_string()));
    let before = command_fingerprint(Path::new("/"), &criterion);
    assert_eq!(command_fingerprint(Path::new("/"), &criterion), before);
    fs::write(&program, "another").expect("a program");
    assert_ne!(command_fingerprint(Path::new("/"), &criterion), before);
}
