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

/// Runs a command with what a person types.
fn typed(stage: &Stage, line: &str, answers: &str) -> crate::stage::Ran {
    let command = stage.command(line);
    stage.finish(command, answers.as_bytes())
}

#[test]
fn an_interview_asks_for_what_is_missing() {
    let stage = Stage::new();
    stage.write("project/Makefile", "test:\n\ttest -e done\n");
    let ran = typed(
        &stage,
        "start --interview --session s1",
        "make it better\n\nextra=test -e extra\n\nEvery page in site/ loads without errors\n\
         tests/** docs/*\n7\n",
    );
    assert_eq!(ran.code, 0, "{ran}");
    assert!(ran.out.contains("Prove it with make test (Makefile)? [Y/n]"), "{ran}");
    assert!(ran.out.contains("No check can judge \"better\""), "{ran}");
    assert!(ran.out.contains("at most 7 continuations; 2 checks prove it"), "{ran}");
    let found = &stage.json("status")["loop"];
    assert_eq!(found["goal"], "Every page in site/ loads without errors");
    assert_eq!((&found["shape"], &found["score"]), (&"tool".into(), &10.into()), "{found}");
    // A goal that stays unclear begins no loop, and neither does a person who is not there.
    let ran = typed(&stage, "start --interview better --session s2", "n\n\n\n");
    assert!(ran.code == 2 && ran.err.contains("the goal is not clear enough"), "{ran}");
    let ran = typed(&stage, "start --interview", "");
    assert!(ran.code == 2 && ran.err.contains("nobody answered"), "{ran}");
    assert_eq!(stage.json("list")["loops"].as_array().map(Vec::len), Some(1));
}

#[test]
fn the_shape_of_a_goal_has_an_effect() {
    let stage = Stage::new();
    for unclear in ["--shape clarify", "--score 1 1 1 1 0"] {
        let ran = stage.run(&format!("start 'Make it' --session s1 {unclear}"));
        assert!(ran.code == 2 && ran.err.contains("stopgate lint GOAL"), "{unclear}: {ran}");
    }
    let id = stage.start("'Port it' --session s1 --max-idle 0 --score 2 2 1 1 1");
    let told = stage.stop("s1", "one");
    assert!(told.text.contains("after each step say what you did and ask"), "{told}");
    stage.run_as("s1", "push 'the parser' --mode issue");
    stage.stop("s1", "<issue-complete>DONE</issue-complete>");
    assert_eq!(stage.standing(&id), "waiting 1/20 s1");
    let status = stage.run("status").out;
    assert!(status.contains("The step \"the parser\" is finished. Go on with the next one?"));
    assert_eq!(stage.run("answer 'yes, go on'").code, 0);
    let told = stage.stop("s1", "two");
    assert!(told.text.contains("yes, go on") && told.text.starts_with("Loop 2/20:"), "{told}");
    // A tool goes on by itself, and so does a loop of which nobody said anything.
    for shape in ["--shape tool", ""] {
        let id = stage.start(&format!("'Port it' --session t{} {shape}", shape.len()));
        let session = format!("t{}", shape.len());
        stage.run_as(&session, "push 'the parser' --mode issue");
        let told = stage.stop(&session, "<issue-complete>DONE</issue-complete>");
        assert!(told.text.contains("go on with the outer one"), "{shape}: {told}");
        assert!(!told.text.contains("after each step"), "{shape}: {told}");
        stage.run(&format!("cancel {id}"));
    }
}

#[test]
fn start_notes_how_clear_the_goal_is() {
    let stage = Stage::new();
    let ran = stage.run("start better --session s1");
    assert!(ran.code == 0 && ran.err.contains("the goal scores 0 of 10"), "{ran}");
    assert_eq!(stage.json("status")["loop"]["score"], 0);
    let ran = stage.run("start 'All tests in src/ pass' --session s2 --check t=false");
    assert!(!ran.err.contains("scores"), "{ran}");
}

#[test]
fn a_first_file_says_where_its_keys_are_explained() {
    let stage = Stage::new();
    stage.run("init");
    let text = std::fs::read_to_string(stage.path("project/stopgate.toml")).expect("the file");
    assert!(text.starts_with("#:schema stopgate.schema.json\n"), "{text}");
    assert!(text.contains("stopgate help toml"), "{text}");
}

#[test]
fn from_an_empty_home_to_done_in_few_commands() {
    let stage = Stage::new();
    stage.write("project/Makefile", "test:\n\ttest -e done\n");
    let commands =
        ["install claude", "init", "trust --yes", "start 'The file is there' --session s1"];
    for line in commands {
        let ran = stage.run(line);
        assert_eq!(ran.code, 0, "{line}: {ran}");
        assert!(!ran.err.contains("no hook is installed"), "{line}: {ran}");
    }
    let told = stage.stop("s1", "All done.");
    assert!(told.text.starts_with("Loop 1/20: 1 of 1 criteria unmet"), "{told}");
    stage.write("project/done", "");
    stage.stop("s1", "Now it is.");
    assert_eq!(stage.standing("1stage0000"), "done 1/20 s1");
}

#[test]
fn a_check_that_can_not_be_run_is_told_in_the_shells_own_words() {
    let stage = Stage::new();
    let ran = stage.run("start Finish --check tests=no-such-program");
    assert_eq!(ran.code, 0, "{ran}");
    let said = "tests: the command was not found (/bin/sh: 1: no-such-program: not found): it can't \
                pass before this is corrected";
    assert!(ran.err.contains(said), "{ran}");
}
