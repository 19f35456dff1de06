//! First runs of checks that take longer than `start` waits: they go on in the background, on the
//! tree as it was at the start.

use std::fs;

use crate::background::{ID, is_gone, runs, say, until};
use crate::doors;
use crate::hostile::pipe;
use crate::stage::{Ran, Stage};

/// Three tests that pass, as their runner tells it.
const THREE: &str = "TAP version 13\n1..3\nok 1 - a\nok 2 - b\nok 3 - c\n";
const TWO: &str = "TAP version 13\n1..2\nok 1 - a\nok 2 - b\n";
const RED: &str = "TAP version 13\n1..3\nok 1 - a\nnot ok 2 - b\nok 3 - c\n";

/// A stage whose `start` waits for first runs only for a moment.
fn stage() -> Stage {
    let stage = Stage::new();
    stage.write("user/.config/stopgate/config.toml", "[proof]\npreflight_time = \"300ms\"\n");
    pipe(&stage.path("gate"));
    stage.write("slow", "");
    stage.write("project/work", THREE);
    stage
}

/// A check that waits for the test's word as long as there is a file called `slow`, and tells what
/// the tree says.
fn check(stage: &Stage) -> String {
    let at = stage.path("").display().to_string();
    format!(
        "tests=echo run >> {at}/begun; if test -e {at}/slow; then echo $$ > {at}/check; \
         read word < {at}/gate; fi; cat work; ! grep -q ^not work"
    )
}

#[track_caller]
fn start(stage: &Stage, variables: &[(&str, &str)]) -> Ran {
    start_with(stage, "5m", variables)
}

#[track_caller]
fn start_with(stage: &Stage, timeout: &str, variables: &[(&str, &str)]) -> Ran {
    let check = check(stage);
    let line = format!("start Finish --session s1 --check-timeout {timeout} --check '{check}'");
    let ran = stage.run_with(&line, variables);
    assert_eq!(ran.code, 0, "{ran}");
    ran
}

/// A loop whose first run has begun in the background; the process that runs it.
#[track_caller]
fn begun(stage: &Stage, variables: &[(&str, &str)]) -> i64 {
    let ran = start(stage, variables);
    assert!(
        ran.to_string().contains(
            "tests: still running after 0 ms; it goes on in the background on a copy of the tree"
        ),
        "{ran}"
    );
    until("a run in the background", || is_running(stage));
    runner(stage)
}

/// Whether the check runs; the run that `start` waited for has ended by then.
fn is_running(stage: &Stage) -> bool {
    let text = fs::read_to_string(stage.path("check")).unwrap_or_default();
    text.trim().parse().is_ok_and(|pid| !is_gone(pid))
}

/// The process that makes the first run.
#[track_caller]
fn runner(stage: &Stage) -> i64 {
    let notes = fs::read_dir(stage.path(&format!("home/running/{ID}"))).expect("a note");
    let note = notes.flatten().next().expect("a note").path();
    let name = note.file_stem().and_then(|name| name.to_str()).map(str::parse);
    name.and_then(Result::ok).expect("a process")
}

/// What the check's shell is called.
fn shell(stage: &Stage) -> i64 {
    let text = fs::read_to_string(stage.path("check")).expect("its number");
    text.trim().parse().expect("a number")
}

/// The first run comes to its end.
fn finish(stage: &Stage, pid: i64) {
    say(stage, "go");
    until("the end of the first run", || is_gone(pid));
    fs::remove_file(stage.path("slow")).expect("it was there");
}

/// Whether nothing is left of the copies.
fn is_tidy(stage: &Stage) -> bool {
    fs::read_dir(stage.path("home/copies")).is_ok_and(|left| left.count() == 0)
}

#[test]
fn a_first_run_that_takes_longer_goes_on_and_is_seen() {
    let stage = stage();
    let pid = begun(&stage, &[]);
    let shown = stage.run("status").to_string();
    assert!(shown.contains("first run of tests on a copy of the tree"), "{shown}");
    assert!(shown.contains("before the work began: still running when the loop began"), "{shown}");
    finish(&stage, pid);
    let shown = stage.run("status").to_string();
    let told = "first run of tests, before the work began: passed already, 3 tests ran, took";
    assert!(shown.contains(told), "{shown}");
    let first = &stage.json("status")["loop"]["criteria"][0]["first_run"];
    assert_eq!((first["status"].as_str(), first["tests_ran"].as_u64()), (Some("pass"), Some(3)));
    assert!(stage.history(ID).contains("preflighted: on the tree as it was"), "{shown}");
    assert!(is_tidy(&stage));
    let answer = stage.stop("s1", "Finished.");
    assert!(answer.to_string().contains("ended as done"), "{answer}");
    let explained = stage.run("explain").to_string();
    assert!(explained.contains(told), "{explained}");
}

/// In a copy at the tree's own path, and in one elsewhere.
#[test]
fn what_the_agent_does_meanwhile_is_not_seen_by_it() {
    for variables in [&[][..], &[("STOPGATE_TEST_PLACE", "copy")][..]] {
        let stage = stage();
        let pid = begun(&stage, variables);
        stage.write("project/work", RED);
        stage.write("project/new", "");
        finish(&stage, pid);
        let first = &stage.json("status")["loop"]["criteria"][0]["first_run"];
        assert_eq!(first["status"].as_str(), Some("pass"), "{variables:?}: {first}");
        assert_eq!(first["tests_ran"].as_u64(), Some(3), "{variables:?}: {first}");
        assert!(stage.stop("s1", "Finished.").is_sent_back(), "{variables:?}");
    }
}

#[test]
fn the_tests_of_the_start_are_the_floor() {
    let stage = stage();
    let pid = begun(&stage, &[]);
    stage.write("project/work", TWO);
    finish(&stage, pid);
    let answer = stage.stop("s1", "Finished.");
    assert!(!answer.to_string().contains("ended as done"), "{answer}");
    let standing = stage.standing(ID);
    assert!(!standing.starts_with("done"), "{standing}");
    stage.write("project/work", THREE);
    let answer = stage.stop("s1", "Finished.");
    assert!(answer.to_string().contains("ended as done"), "{answer}");
}

#[test]
fn a_stop_that_fails_meanwhile_is_answered_at_once() {
    let stage = stage();
    let pid = begun(&stage, &[]);
    fs::remove_file(stage.path("slow")).expect("it was there");
    stage.write("project/work", RED);
    assert!(stage.stop("s1", "Finished.").is_sent_back());
    assert!(!is_gone(pid), "it goes on");
    say(&stage, "go");
    until("the end of the first run", || is_gone(pid));
}

/// As long as the floor is not known, a stop does not end the loop.
#[test]
fn a_stop_that_passes_meanwhile_waits_for_it() {
    let stage = stage();
    let pid = begun(&stage, &[]);
    fs::remove_file(stage.path("slow")).expect("it was there");
    stage.write("project/work", TWO);
    let answer = stage.stop("s1", "Finished.");
    let told = answer.to_string();
    assert!(!answer.is_sent_back() && told.contains("the first run of check tests"), "{told}");
    assert_eq!(stage.standing(ID), "waiting 0/20 s1", "{told}");
    assert_eq!(stage.stop("s1", "Finished.").to_string(), told, "it still runs");
    say(&stage, "go");
    until("the end of the first run", || is_gone(pid));
    let answer = stage.stop("s1", "Finished.");
    assert!(!answer.to_string().contains("ended as done"), "{answer}");
    stage.write("project/work", THREE);
    let answer = stage.stop("s1", "Finished.");
    assert!(answer.to_string().contains("ended as done"), "{answer}");
}

/// Nobody knows yet whether it fits into the time of a stop, so it is not begun a second time.
#[test]
fn a_check_that_may_take_too_long_waits_for_its_first_run() {
    let stage = stage();
    start_with(&stage, "10m", &[]);
    until("a run in the background", || is_running(&stage));
    let (pid, before) = (runner(&stage), runs(&stage));
    let answer = stage.stop("s1", "Finished.");
    assert!(answer.to_string().contains("the first run of check tests"), "{answer}");
    assert_eq!((stage.standing(ID).as_str(), runs(&stage)), ("waiting 0/20 s1", before));
    finish(&stage, pid);
    let answer = stage.stop("s1", "Finished.");
    assert!(answer.to_string().contains("ended as done"), "{answer}");
    assert_eq!(runs(&stage), before + 1, "it is known to fit by now");
}

#[test]
fn a_first_run_that_is_killed_leaves_nothing_and_says_nothing() {
    let stage = stage();
    let pid = begun(&stage, &[]);
    let check = shell(&stage);
    let killed = doors::program("kill").args(["-9", &pid.to_string()]).status().expect("kill runs");
    assert!(killed.success());
    until("the leash", || is_gone(check) && is_tidy(&stage));
    fs::remove_file(stage.path("slow")).expect("it was there");
    assert!(!stage.history(ID).contains("preflighted"));
    let first = &stage.json("status")["loop"]["criteria"][0]["first_run"];
    assert!(first.is_object() && first["status"].is_null(), "{first}");
    stage.write("project/work", RED);
    assert!(stage.stop("s1", "Finished.").is_sent_back());
}

/// A process that begins late, or that anybody starts by hand, finds another tree and leaves it.
#[test]
fn it_is_never_made_on_another_tree() {
    let stage = stage();
    let pid = begun(&stage, &[]);
    let killed = doors::program("kill").args(["-9", &pid.to_string()]).status().expect("kill runs");
    assert!(killed.success());
    until("its end", || is_gone(pid));
    fs::remove_file(stage.path("slow")).expect("it was there");
    stage.write("project/work", TWO);
    let late = stage.run(&format!("__checks {ID} first"));
    assert!(late.out.contains("files changed while they were copied"), "{late}");
    assert!(is_tidy(&stage) && !stage.history(ID).contains("preflighted"));
    // On the tree of the start it counts, once.
    stage.write("project/work", THREE);
    assert!(stage.run(&format!("__checks {ID} first")).out.contains("copied"));
    stage.run(&format!("__checks {ID} first"));
    assert_eq!(stage.history(ID).matches("preflighted").count(), 1);
}

/// Before the loop begins where `start` waited for its end, and afterwards where it did not.
#[test]
fn a_check_that_takes_longer_than_a_stop_waits_is_named() {
    let settings = "[proof]\npreflight_time = \"300ms\"\nhook_time = \"1ms\"\n";
    let stage = stage();
    stage.write("user/.config/stopgate/config.toml", settings);
    let pid = begun(&stage, &[]);
    finish(&stage, pid);
    let shown = stage.run("status").to_string();
    assert!(shown.contains("longer than the hook's time, so it runs in the background"), "{shown}");
    let quick = Stage::new();
    quick.write("user/.config/stopgate/config.toml", "[proof]\nhook_time = \"1ms\"\n");
    let said = quick.run("start Finish --session s1 --check 'tests=sleep 0.1'").to_string();
    assert!(
        said.contains("longer than the hook's time, so it goes on in the background"),
        "{said}"
    );
}

/// A person adds a check and drops it again: what the others wait for is not touched by that.
#[test]
fn an_edit_lets_the_first_run_of_other_checks_go_on() {
    let stage = stage();
    let pid = begun(&stage, &[]);
    for edit in ["edit --check lint=true", "edit --drop lint --goal 'Finish it'"] {
        let ran = stage.run(edit);
        assert_eq!(ran.code, 0, "{ran}");
        assert!(!is_gone(pid), "{edit}: it goes on");
    }
    finish(&stage, pid);
    let first = &stage.json("status")["loop"]["criteria"][0]["first_run"];
    assert_eq!((first["status"].as_str(), first["tests_ran"].as_u64()), (Some("pass"), Some(3)));
    let answer = stage.stop("s1", "Finished.");
    assert!(answer.to_string().contains("ended as done"), "{answer}");
}

#[test]
fn cancel_ends_it() {
    let stage = stage();
    let pid = begun(&stage, &[]);
    let check = shell(&stage);
    assert_eq!(stage.run("cancel").code, 0);
    until("its end", || is_gone(pid) && is_gone(check) && is_tidy(&stage));
    assert_eq!(stage.standing(ID), "cancelled 0/20 s1");
    assert!(!stage.history(ID).contains("preflighted"));
}

#[test]
fn without_a_copy_it_is_ended_and_start_says_what_is_not_known() {
    let stage = stage();
    stage.write("home/copies", "not a directory");
    let said = start(&stage, &[]).to_string();
    assert!(said.contains("tests: still running after 0 ms"), "{said}");
    assert!(said.contains("tests: ended after 0 ms, because no copy of the tree can be"), "{said}");
    assert!(said.contains("how many tests it runs is not known"), "{said}");
    assert!(!stage.path(&format!("home/running/{ID}")).exists());
    fs::remove_file(stage.path("slow")).expect("it was there");
    let answer = stage.stop("s1", "Finished.");
    assert!(answer.to_string().contains("ended as done"), "{answer}");
}

/// A check whose own time was over would not come to its end later.
#[test]
fn a_check_that_used_up_its_own_time_does_not_go_on() {
    let stage = stage();
    let line = "start Finish --session s1 --check-timeout 100ms --check 'tests=sleep 60'";
    let ran = stage.run(line);
    assert!(ran.to_string().contains("not finished (killed after 0.0 s)"), "{ran}");
    assert!(stage.json("status")["loop"]["criteria"][0]["first_run"].is_null());
}

/// Files beside the note of a first run: each call is answered.
#[test]
fn notes_that_can_t_be_read_keep_nobody_waiting() {
    let stage = stage();
    let pid = begun(&stage, &[]);
    let notes = stage.path(&format!("home/running/{ID}"));
    fs::write(notes.join("1.json"), "").expect("an empty note");
    fs::write(notes.join("2.json"), "{\"pid\":1,\"sin").expect("half a note");
    pipe(&notes.join("3.json"));
    assert_eq!(stage.run("status").code, 0);
    fs::remove_file(stage.path("slow")).expect("it was there");
    assert!(!stage.stop("s1", "Finished.").is_sent_back());
    assert_eq!(stage.standing(ID), "waiting 0/20 s1");
    say(&stage, "go");
    until("the end of the first run", || is_gone(pid));
    let answer = stage.stop("s1", "Finished.");
    assert!(answer.to_string().contains("ended as done"), "{answer}");
}

#[test]
fn python_that_the_first_run_compiled_is_found_again_unless_it_is_the_project_s() {
    let stage = Stage::new();
    let library = "\"$PYTHONPYCACHEPREFIX/usr/lib/python3.11\"";
    let own = "\"$PYTHONPYCACHEPREFIX$PWD\"";
    let check = format!(
        "if [ -f green ]; then [ \"$(cat {library}/re.pyc)\" = first ] && [ ! -e {own} ]; \
         else mkdir -p {library} {own}; echo first > {library}/re.pyc; echo x > {own}/a.pyc; false; fi"
    );
    stage.write("project/check.sh", &check);
    let id = stage.start("'Do it' --session s1 --check 'built=sh check.sh'");
    stage.write("project/green", "");
    let answer = stage.stop("s1", "Done.");
    assert!(stage.standing(&id).starts_with("done"), "{answer}");
}
