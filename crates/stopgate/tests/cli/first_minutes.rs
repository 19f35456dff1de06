//! The first five minutes: `init`, `lint`, and what they lead to.

use std::fs;

use crate::stage::Stage;

#[test]
fn init_finds_the_checks_and_writes_a_file_that_works() {
    let stage = Stage::new();
    stage.write("project/Makefile", "test:\n\ttest -f green\nlint:\n\ttrue\n");
    let ran = stage.run("init");
    assert_eq!(ran.code, 0, "{ran}");
    assert!(
        ran.out.contains("tests pass: make test") && ran.out.contains("stopgate trust"),
        "{ran}"
    );
    let text = fs::read_to_string(stage.path("project/stopgate.toml")).expect("the file");
    assert!(text.contains("run = [\"make\", \"test\"]"), "{text}");
    assert_eq!(stage.run("trust --yes").code, 0);
    assert_eq!(stage.run("verify").code, 1, "the test does not pass yet");
    stage.write("project/green", "");
    let ran = stage.run("verify");
    assert_eq!(ran.code, 0, "{ran}");
}

#[test]
fn init_run_twice_changes_nothing_and_never_overwrites() {
    let stage = Stage::new();
    stage.write("project/Cargo.toml", "[package]\n");
    let before = stage.run("init --dry-run");
    assert!(before.out.contains("cargo") && !stage.path("project/stopgate.toml").exists());
    stage.run("init");
    let first = fs::read_to_string(stage.path("project/stopgate.toml")).expect("the file");
    let ran = stage.run("init");
    assert!(ran.code == 0 && ran.out.contains("stays as it is"), "{ran}");
    let again = fs::read_to_string(stage.path("project/stopgate.toml")).expect("the file");
    assert_eq!(first, again);
    assert_eq!(stage.json("init")["written"], false);
}

#[test]
fn init_without_any_check_leaves_an_example() {
    let stage = Stage::new();
    let ran = stage.run("init");
    assert!(ran.out.contains("No check was found"), "{ran}");
    assert_eq!(stage.run("start Goal --session s1").code, 0, "the file is sound");
}

#[test]
fn lint_scores_a_goal_and_proposes_checks() {
    let stage = Stage::new();
    stage.write("project/go.mod", "module x\n");
    let ran = stage.run("lint 'make it better'");
    assert_eq!(ran.code, 1, "{ran}");
    assert!(ran.out.contains("clarify") && ran.out.contains("\"better\""), "{ran}");
    assert!(ran.out.contains("--check \"tests pass=go test ./...\""), "{ran}");
    let clear = "lint 'Every test in src/parser passes without new dependencies' --check t=true";
    let ran = stage.run(clear);
    assert!(ran.code == 0 && ran.out.contains("tool"), "{ran}");
    assert_eq!(stage.json(clear)["shape"], "tool");
}

#[test]
fn doctor_sees_a_hook_for_another_tools_files() {
    let stage = Stage::new();
    let program = crate::stage::program_path().display();
    stage.write(
        "project/.claude/settings.json",
        format!(
            r#"{{"hooks": {{"Stop": [{{"hooks": [{{"type": "command",
            "command": "{program} hook claude --dialect features", "timeout": 60}}]}}]}}}}"#
        ),
    );
    let found = stage.run("doctor").out;
    assert!(found.contains("holds loops of --dialect features"), "{found}");
    assert!(!found.contains("nothing holds an agent"), "{found}");
}

#[test]
fn config_says_where_a_persons_own_file_is() {
    let stage = Stage::new();
    assert_eq!(stage.run("config path").out, "$STAGE/user/.config/stopgate/config.toml\n");
    assert_eq!(stage.json("config path")["exists"], false);
}
