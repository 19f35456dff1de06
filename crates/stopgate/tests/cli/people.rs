//! What people are told, and what they change while a loop runs.

use std::fs;
use std::time::Duration;

use crate::doors;
use crate::stage::Stage;

/// Waits for a message that a process of its own delivers.
pub(crate) fn told(stage: &Stage, file: &str, lines: usize) -> String {
    let until = doors::now() + Duration::from_secs(20);
    loop {
        let text = fs::read_to_string(stage.path(file)).unwrap_or_default();
        if text.lines().count() >= lines {
            return text;
        }
        assert!(doors::now() < until, "nobody was told: {text:?}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// A command that writes each message into a file of the stage.
fn writer(stage: &Stage) -> String {
    stage.write("tell.sh", format!("echo \"$1\" >> {}\n", stage.path("told").display()));
    format!("sh {}", stage.path("tell.sh").display())
}

#[test]
fn every_loop_that_ends_or_asks_is_told_once() {
    let stage = Stage::new();
    let command = writer(&stage);
    let variable = [("STOPGATE_NOTIFY", command.as_str())];
    stage.start("'Make it green' --session s1 --check t=true");
    stage.stop_call("s1", "one").var(variable[0].0, variable[0].1).send();
    let text = told(&stage, "told", 1);
    assert!(text.contains("(Make it green) ended as done: its check passes"), "{text}");
    stage.start("Other --session s2");
    stage.run_with("ask 'Which one?' --session s2", &variable);
    let text = told(&stage, "told", 2);
    assert!(text.contains("asks you: Which one?"), "{text}");
    stage.run_with("blocked 'no network' --session s2", &variable);
    let text = told(&stage, "told", 3);
    assert!(text.contains("ended as blocked: no network"), "{text}");
    // A stop that changes nothing tells nothing, and neither does the person's own cancel.
    stage.stop_call("s2", "two").var(variable[0].0, variable[0].1).send();
    stage.start("Third --session s3");
    stage.run_with("cancel --session s3", &variable);
    stage.start("Last --session s4");
    stage.run_with("impossible 'the end' --session s4", &variable);
    let text = told(&stage, "told", 4);
    assert_eq!(text.lines().count(), 4, "{text}");
    assert!(text.contains("ended as impossible: the end"), "{text}");
}

#[test]
fn a_persons_own_file_asks_for_it_and_a_repository_can_not() {
    let stage = Stage::new();
    let command = writer(&stage);
    stage.write("project/stopgate.toml", format!("[notify]\ncommand = \"{command}\"\n"));
    assert_eq!(stage.run("start Goal --session s0").code, 2, "a repository can't ask for it");
    fs::remove_file(stage.path("project/stopgate.toml")).expect("take it away");
    let config = "user/.config/stopgate/config.toml";
    stage.write(config, format!("[notify]\ncommand = \"{command}\"\nquiet = \"05:00-07:00\"\n"));
    stage.start("Goal --session s1");
    stage.run("blocked 'at six in the morning' --session s1");
    stage.write(config, format!("[notify]\ncommand = \"{command}\"\nquiet = \"22:00-05:00\"\n"));
    stage.start("Goal --session s2");
    stage.run("blocked 'not quiet' --session s2");
    let text = told(&stage, "told", 1);
    assert!(text.contains("not quiet") && !text.contains("six"), "{text}");
    stage.write(config, "[notify]\nquiet = \"late\"\n");
    assert_eq!(stage.run("list").code, 2);
}

#[test]
fn a_running_loop_is_changed_by_a_person_only() {
    let stage = Stage::with_loop("'Make it green' --max-iterations 2 --max-idle 0");
    stage.stop("s1", "one");
    let ran = stage.run_as("s1", "edit --max-iterations 99");
    assert_eq!(ran.code, 2, "{ran}");
    assert_eq!(stage.run("edit").code, 2);
    assert_eq!(stage.run("edit --max-iterations 1").code, 2, "one is used already");
    let ran = stage.run("edit --goal 'Make it blue' --max-iterations 5 --max-minutes 0");
    let said = "is changed: goal: Make it blue; at most 5 continuations; no time limit";
    assert!(ran.code == 0 && ran.out.contains(said), "{ran}");
    assert!(ran.out.contains("1 of 5 continuations used"), "{ran}");
    let told = stage.stop("s1", "two");
    assert!(told.text.starts_with("Loop 2/5") && told.text.contains("Make it blue"), "{told}");
    assert!(!told.text.contains("green"), "{told}");
    let history = stage.history("1stage0000");
    assert!(history.contains("edited: goal: Make it blue; at most 5 continuations"), "{history}");
}

#[test]
fn the_checks_of_a_running_loop_are_changed_by_a_person_only() {
    let stage = Stage::new();
    stage.write("project/judge.sh", "test -e done\n");
    stage.start(
        "'Make it green' --session s1 --max-idle 0 --protect judge.sh --check 'judge=sh judge.sh' --check old=false",
    );
    stage.stop("s1", "one");
    let ran = stage.run_as("s1", "edit --drop old");
    assert!(ran.code == 2 && ran.err.contains("agent's shell"), "{ran}");
    let ran = stage.run("edit --drop nonsense");
    assert!(ran.code == 2 && ran.err.contains("the loop has: judge, old"), "{ran}");
    let ran = stage.run("edit --drop old --check 'new=test -e new' --check 'judge=sh judge.sh x' --protect judge.sh");
    let said = "is changed: added new: test -e new; replaced judge: sh judge.sh x; dropped old";
    assert!(ran.code == 0 && ran.out.contains(said), "{ran}");
    assert!(ran.out.contains("new: fails now (exit 1)"), "{ran}");
    let history = stage.history("1stage0000");
    assert!(history.contains("edited: added new: test -e new;"), "{history}");
    let told = stage.stop("s1", "two");
    assert!(told.text.contains("2 of 2 criteria unmet"), "{told}");
    assert!(told.text.contains("reproduce: test -e new") && !told.text.contains("old"), "{told}");
    // What judges the kept checks is still what it was: a weaker one is not accepted unseen.
    stage.write("project/judge.sh", "true\n");
    let ran = stage.run("edit --check 'more=true'");
    assert!(ran.code == 2 && ran.err.contains("judge.sh was changed"), "{ran}");
    stage.write("project/judge.sh", "test -e done\n");
    stage.write("project/new", "");
    stage.write("project/done", "");
    stage.stop("s1", "three");
    assert_eq!(stage.standing("1stage0000"), "done 2/20 s1");
}

#[test]
fn a_fallback_file_without_a_time_is_as_old_as_it_is() {
    let stage = Stage::new();
    let file = "project/.claude/idle-loop.local.md";
    stage.write(file, "---\nactive: true\niteration: 1\nmax_iterations: 9\n---\nDo it.\n");
    let touch = |hours: u64| {
        // When a stage begins.
        let now = std::time::UNIX_EPOCH + Duration::from_hours(498_534);
        let opened = fs::File::options().write(true).open(stage.path(file)).expect("the file");
        opened.set_modified(now - Duration::from_hours(hours)).expect("set its time");
    };
    touch(1);
    let call = stage.stop_call("s1", "Working.").arg("--dialect").arg("idle");
    assert_eq!(call.send_bytes(&call.bytes()).code, 2, "it was touched an hour ago");
    touch(72);
    assert_eq!(call.send_bytes(&call.bytes()).code, 0, "nobody touched it for three days");
}

#[test]
fn a_task_knows_its_steps() {
    let stage = Stage::new();
    stage.run("task start --task-file t.json 'Do it' --step a --step b --max-iterations 1");
    let ran = stage.run("task iterate --task-file t.json --step-done typo");
    assert!(ran.code == 2 && ran.err.contains("its open steps are: a, b"), "{ran}");
    let ran = stage.run("task complete --task-file t.json");
    assert!(ran.code == 2 && ran.err.contains("steps are open: a, b"), "{ran}");
    // The command that is printed at a limit is one that works.
    let stop = || {
        let call = stage.stop_call("s1", "Working.").arg("--dialect").arg("task");
        let call = call.arg("--task-file").arg("t.json");
        call.send_bytes(&call.bytes()).out
    };
    assert!(stop().contains("block"));
    let said = stop();
    assert!(said.contains("task resume --task-file t.json --max-iterations 21"), "{said}");
    assert_eq!(stage.run("task resume --task-file t.json --max-iterations 21").code, 0);
    for step in ["a", "b"] {
        stage.run(&format!("task iterate --task-file t.json --step-done {step}"));
    }
    assert_eq!(stage.run("task complete --task-file t.json").code, 0);
}
