//! `run`: session after session of scripted agents, to every end there is.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Child;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::doors;
use crate::stage::{PROGRAM, Ran, Stage, begin};

/// Long enough for a machine that does other things, too.
const PATIENCE: Duration = Duration::from_mins(1);
const FEATURES: &str = "project/.claude/data/ralph-loops/current";

/// Puts a script on the stage that is an agent.
pub(crate) fn agent(stage: &Stage, name: &str, body: &str) -> String {
    let file = format!("bin/{name}");
    let own = stage.path("").display().to_string();
    stage.write(&file, format!("#!/bin/sh\nSTAGE='{own}'\nSTOPGATE='{PROGRAM}'\n{body}"));
    let path = stage.path(&file);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("make it a program");
    path.display().to_string()
}

/// An agent that notes its prompt, and on its n-th session does the work.
fn works_at(stage: &Stage, n: u32) -> String {
    let body = format!(
        "cat >>$STAGE/prompts; echo ======== >>$STAGE/prompts\n\
         n=$(grep -c ======== $STAGE/prompts)\n\
         if [ $n -ge {n} ]; then touch done.txt; fi\n\
         echo \"round $n is over.\"\n"
    );
    agent(stage, "worker", &body)
}

pub(crate) fn text(stage: &Stage, name: &str) -> String {
    fs::read_to_string(stage.path(name)).unwrap_or_default()
}

pub(crate) fn count(stage: &Stage, name: &str, what: &str) -> usize {
    text(stage, name).matches(what).count()
}

/// A loop that is done when done.txt is there.
pub(crate) fn begun(stage: &Stage, more: &str) -> String {
    stage.start(&format!("--check 'made=test -f done.txt' {more} 'make the file'"))
}

pub(crate) fn outcome(stage: &Stage, id: &str) -> Value {
    stage.json(&format!("status {id}"))["loop"]["outcome"].clone()
}

/// Waits until something holds.
pub(crate) fn until(what: &str, holds: impl Fn() -> bool) {
    let begun = doors::now();
    while !holds() {
        assert!(begun.elapsed() < PATIENCE, "{what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

pub(crate) fn in_background(stage: &Stage, line: &str) -> Child {
    begin(&mut stage.command(line))
}

fn send(child: &Child, signal: Signal) {
    let pid = Pid::from_raw(i32::try_from(child.id()).expect("a number")).expect("a process");
    kill_process(pid, signal).expect("send a signal");
}

pub(crate) fn is_alive(pid: &str) -> bool {
    let stat = fs::read_to_string(Path::new("/proc").join(pid.trim()).join("stat"));
    // One that nobody has buried yet does nothing any more.
    stat.is_ok_and(|stat| !stat.rsplit_once(')').is_some_and(|(_, rest)| rest.starts_with(" Z")))
}

pub(crate) fn ended_well(ran: &Ran, code: i32) {
    assert_eq!(ran.code, code, "{ran}");
}

#[test]
fn a_fresh_session_per_iteration_until_the_check_passes() {
    let stage = Stage::new();
    let id = begun(&stage, "--max-iterations 9");
    let worker = works_at(&stage, 3);
    let ran = stage.run(&format!("run --log logs -- {worker}"));
    ended_well(&ran, 0);
    assert!(ran.out.contains("done after 3 sessions"), "{ran}");
    assert!(ran.out.contains("# stopgate report"), "{ran}");
    assert_eq!(stage.json(&format!("status {id}"))["loop"]["iteration"], json!(2), "{ran}");
    let prompts = text(&stage, "prompts");
    let parts: Vec<&str> = prompts.split("========").collect();
    for part in &parts[..3] {
        assert!(part.len() <= 4096 && part.contains("make the file"), "{part}");
    }
    assert!(!parts[0].contains("Earlier sessions"), "{prompts}");
    assert!(parts[2].contains("round 2 is over."), "{prompts}");
    for session in 1..=3 {
        let log = text(&stage, &format!("project/logs/session-00{session}.log"));
        assert_eq!(log, format!("round {session} is over.\n"));
    }
}

#[test]
fn a_limit_ends_it_with_3() {
    let stage = Stage::new();
    let id = begun(&stage, "--max-iterations 2");
    let worker = works_at(&stage, 99);
    ended_well(&stage.run(&format!("run {id} -- {worker}")), 3);
    assert_eq!(outcome(&stage, &id), json!("max_iterations"));
    assert_eq!(count(&stage, "prompts", "========"), 3, "two continuations, three sessions");
}

#[test]
fn an_agent_that_is_blocked_ends_it_with_4() {
    let stage = Stage::new();
    let id = begun(&stage, "");
    let worker = agent(&stage, "worker", "echo '<promise>BLOCKED: no key</promise>'\n");
    let ran = stage.run(&format!("run -- {worker}"));
    ended_well(&ran, 4);
    assert_eq!(outcome(&stage, &id), json!("blocked"));
    assert!(ran.out.contains("no key"), "{ran}");
}

#[test]
fn a_cancelled_loop_ends_its_session_with_6() {
    let stage = Stage::new();
    let id = begun(&stage, "");
    let worker = agent(&stage, "worker", "echo $$ >$STAGE/pid; exec sleep 600\n");
    let child = in_background(&stage, &format!("run -- {worker}"));
    until("the session begins", || !text(&stage, "pid").is_empty());
    assert_eq!(stage.run(&format!("cancel {id}")).code, 0);
    ended_well(&stage.end(child, b""), 6);
    assert!(!is_alive(&text(&stage, "pid")));
}

#[test]
fn a_question_parks_the_loop_and_an_answer_goes_on() {
    let stage = Stage::new();
    let id = begun(&stage, "");
    let body = "cat >$STAGE/prompt\n\
                if grep -q Blue $STAGE/prompt; then touch done.txt; echo Done.; exit; fi\n\
                echo 'I can begin.'; echo; echo 'Which colour should it have?'\n";
    let worker = agent(&stage, "worker", body);
    let ran = stage.run(&format!("run -- {worker}"));
    ended_well(&ran, 4);
    assert!(ran.out.contains("needs_input after 1 session"), "{ran}");
    assert_eq!(stage.json(&format!("status {id}"))["loop"]["state"], json!("waiting"), "{ran}");
    assert!(ran.out.contains("Which colour should it have?"), "{ran}");
    assert_eq!(stage.run(&format!("answer {id} 'Blue, please.'")).code, 0);
    ended_well(&stage.run(&format!("run {id} --continue -- {worker}")), 0);
    assert!(text(&stage, "prompt").contains("Blue, please."));
}

#[test]
fn a_question_is_answered_by_default_when_nobody_does() {
    let stage = Stage::new();
    begun(&stage, "");
    let body = "cat >$STAGE/prompt\n\
                if grep -q 'your own' $STAGE/prompt; then touch done.txt; echo Done.; exit; fi\n\
                echo 'Which colour should it have?'\n";
    let worker = agent(&stage, "worker", body);
    let flags = "--answer-within 1s --default-answer 'Choose on your own.'";
    ended_well(&stage.run(&format!("run {flags} -- {worker}")), 0);
    let refused = stage.run(&format!("run --default-answer x -- {worker}"));
    ended_well(&refused, 2);
}

#[test]
fn an_answer_wakes_the_driver_that_waits() {
    let stage = Stage::new();
    let id = begun(&stage, "");
    let body = "cat >$STAGE/prompt\n\
                if grep -q Green $STAGE/prompt; then touch done.txt; echo Done.; exit; fi\n\
                echo 'Which colour should it have?'\n";
    let worker = agent(&stage, "worker", body);
    let child = in_background(&stage, &format!("run --answer-within 2h -- {worker}"));
    let waits = || stage.json(&format!("status {id}"))["loop"]["state"] == json!("waiting");
    until("the loop waits", waits);
    assert_eq!(stage.run(&format!("answer {id} Green")).code, 0);
    ended_well(&stage.end(child, b""), 0);
}

#[test]
fn a_driver_waits_with_a_parked_loop_and_goes_on_when_it_happened() {
    let stage = Stage::new();
    let id = begun(&stage, "");
    let body = format!(
        "cat >>$STAGE/prompts; echo ======== >>$STAGE/prompts\n\
         if [ -f $STAGE/project/go.txt ]; then touch done.txt; echo Done.; exit; fi\n\
         $STOPGATE wait {id} --path go.txt; echo 'Waiting for CI.'\n"
    );
    let worker = agent(&stage, "worker", &body);
    let child = in_background(&stage, &format!("run -- {worker}"));
    let waits = || stage.json(&format!("status {id}"))["loop"]["state"] == json!("waiting");
    until("the loop is parked", waits);
    stage.write("project/go.txt", "");
    ended_well(&stage.end(child, b""), 0);
    assert_eq!(outcome(&stage, &id), json!("done"));
    assert_eq!(count(&stage, "prompts", "========"), 2, "one session before, one after");
}

#[test]
fn a_rate_limit_is_left_alone_with_75_and_does_not_count() {
    let stage = Stage::new();
    let id = begun(&stage, "");
    let busy = agent(&stage, "busy", "echo 'slow down' >&2; exit 75\n");
    let ran = stage.run(&format!("run --no-wait -- {busy}"));
    ended_well(&ran, 75);
    assert_eq!(outcome(&stage, &id), json!("rate_limited"), "{ran}");
    assert_eq!(stage.json(&format!("status {id}"))["loop"]["iteration"], json!(0));
    let worker = works_at(&stage, 1);
    let over = stage.run(&format!("run {id} -- {worker}"));
    ended_well(&over, 2);
    assert!(over.err.contains("--continue"), "{over}");
    ended_well(&stage.run(&format!("run {id} --continue -- {worker}")), 0);
}

#[test]
fn a_wait_that_was_broken_off_goes_on_unless_a_person_paused_it() {
    let stage = Stage::new();
    let id = begun(&stage, "");
    let busy = agent(&stage, "busy", "exit 75\n");
    let mut child = in_background(&stage, &format!("run -- {busy}"));
    let rests = || stage.json(&format!("status {id}"))["loop"]["state"] == json!("paused");
    until("the loop rests", rests);
    child.kill().expect("kill the driver");
    child.wait().expect("bury the driver");
    stage.advance_minutes(5);
    let worker = works_at(&stage, 1);
    assert_eq!(stage.run(&format!("pause {id}")).code, 0);
    let paused = stage.run(&format!("run {id} --continue -- {worker}"));
    ended_well(&paused, 1);
    assert!(paused.out.contains("stopgate resume"), "a person's pause counts: {paused}");
    assert_eq!(stage.run(&format!("resume {id}")).code, 0);
    ended_well(&stage.run(&format!("run {id} --continue -- {worker}")), 0);
}

#[test]
fn a_crash_is_tried_again_until_the_limit() {
    let stage = Stage::new();
    let id = begun(&stage, "");
    let body = "echo x >>$STAGE/tries; echo 'out of cheese' >&2; exit 1\n";
    let worker = agent(&stage, "worker", body);
    let ran = stage.run(&format!("run --max-failures 2 --retry-after 1s -- {worker}"));
    ended_well(&ran, 4);
    assert_eq!(outcome(&stage, &id), json!("infra_error"));
    assert_eq!(text(&stage, "tries"), "x\nx\n");
    assert!(ran.out.contains("out of cheese"), "{ran}");
}

#[test]
fn a_session_that_hangs_is_ended_and_tried_once_more() {
    let stage = Stage::new();
    let id = begun(&stage, "");
    let body = "echo $$ >>$STAGE/pids; sleep 600 & echo $! >>$STAGE/pids; wait\n";
    let worker = agent(&stage, "worker", body);
    ended_well(&stage.run(&format!("run --hang-after 1s -- {worker}")), 4);
    assert_eq!(outcome(&stage, &id), json!("infra_error"));
    let pids = text(&stage, "pids");
    assert_eq!(pids.lines().count(), 4, "two sessions");
    assert!(pids.lines().all(|pid| !is_alive(pid)), "nobody is left: {pids}");
}

#[test]
fn what_a_session_left_running_elsewhere_is_ended_with_it() {
    let stage = Stage::new();
    begun(&stage, "");
    let body = "setsid sh -c 'echo $$ >$STAGE/server; exec sleep 600' & \n\
                while [ ! -s $STAGE/server ]; do sleep 0.02; done\n\
                touch done.txt; echo Done.\n";
    let body = format!("export STAGE\n{body}");
    let worker = agent(&stage, "worker", &body);
    ended_well(&stage.run(&format!("run -- {worker}")), 0);
    let server = text(&stage, "server");
    until("it is gone", || !is_alive(&server));
}

#[test]
fn the_first_interrupt_ends_the_run_after_the_session() {
    let stage = Stage::new();
    let id = begun(&stage, "");
    let body = "echo x >>$STAGE/begun\n\
                while [ ! -e $STAGE/go ]; do sleep 0.02; done; echo one more round.\n";
    let worker = agent(&stage, "worker", body);
    let child = in_background(&stage, &format!("run -- {worker}"));
    until("the session begins", || !text(&stage, "begun").is_empty());
    send(&child, Signal::INT);
    std::thread::sleep(Duration::from_millis(300));
    stage.write("go", "");
    let ran = stage.end(child, b"");
    ended_well(&ran, 130);
    assert_eq!(text(&stage, "begun"), "x\n", "no other session began");
    assert_eq!(stage.json(&format!("status {id}"))["loop"]["iteration"], json!(1), "{ran}");
    let worker = works_at(&stage, 1);
    ended_well(&stage.run(&format!("run {id} --continue -- {worker}")), 0);
}

#[test]
fn the_second_interrupt_ends_the_session_too() {
    let stage = Stage::new();
    let id = begun(&stage, "");
    let worker = agent(&stage, "worker", "echo $$ >$STAGE/pid; exec sleep 600\n");
    let child = in_background(&stage, &format!("run -- {worker}"));
    until("the session begins", || !text(&stage, "pid").is_empty());
    send(&child, Signal::INT);
    send(&child, Signal::TERM);
    ended_well(&stage.end(child, b""), 130);
    assert!(!is_alive(&text(&stage, "pid")));
    assert_eq!(outcome(&stage, &id), Value::Null, "the loop is kept");
}

#[test]
fn a_loop_has_one_driver() {
    let stage = Stage::new();
    let id = begun(&stage, "");
    let worker = agent(&stage, "worker", "echo x >$STAGE/begun; exec sleep 600\n");
    let first = in_background(&stage, &format!("run -- {worker}"));
    until("the session begins", || !text(&stage, "begun").is_empty());
    let second = stage.run(&format!("run {id} -- {worker}"));
    ended_well(&second, 2);
    assert!(second.err.contains("already driven"), "{second}");
    send(&first, Signal::TERM);
    ended_well(&stage.end(first, b""), 130);
}

#[test]
fn what_makes_no_sense_is_refused() {
    let stage = Stage::new();
    ended_well(&stage.run("run -- true"), 66);
    begun(&stage, "");
    ended_well(&stage.run("run"), 2);
    ended_well(&stage.run("run --tmux -- true"), 2);
    ended_well(&stage.run("run --fresh 0 -- true"), 2);
    ended_well(&stage.run("run --dialect idle -- true"), 2);
    ended_well(&stage.run("run -- /no/such/program"), 2);
    ended_well(&stage.run("run -- sh -c 'exit 0' {model}"), 2);
}

/// A list of features, a model each.
pub(crate) fn features(stage: &Stage, models: &[&str]) {
    let feature = |(at, model): (usize, &&str)| {
        let (id, description) = (at + 1, format!("Thing {}", at + 1));
        json!({"id": id, "description": description, "passes": false, "model": model})
    };
    let features: Vec<Value> = models.iter().enumerate().map(feature).collect();
    stage
        .write(&format!("{FEATURES}/feature_list.json"), json!({"features": features}).to_string());
    stage.write(
        &format!("{FEATURES}/progress.txt"),
        "Iteration: 1\nMax Iterations: 15\nStatus: IN_PROGRESS\n",
    );
}

/// An agent that builds the feature that it is told, and notes it with the model; the third one
/// takes for ever until it may go on.
fn builder(stage: &Stage) -> String {
    let body = format!(
        "id=$(printf '%s' \"$2\" | sed -n 's/.*in this session: \\([0-9]*\\) - .*/\\1/p')\n\
         echo $$ >$STAGE/pid\n\
         if [ \"$id\" = 3 ] && [ ! -e $STAGE/go ]; then exec sleep 600; fi\n\
         echo \"$id $1\" >>$STAGE/built\n\
         sed \"s/\\(\\\"id\\\":$id,[^}}]*\\)\\\"passes\\\":false/\\1\\\"passes\\\":true/\" \
         $STAGE/{FEATURES}/feature_list.json >$STAGE/new\n\
         mv $STAGE/new $STAGE/{FEATURES}/feature_list.json\n"
    );
    agent(stage, "builder", &body)
}

#[test]
fn features_are_built_once_each_by_their_models_although_the_driver_is_killed() {
    let stage = Stage::new();
    features(&stage, &["large", "small", "large", "small", "large"]);
    let builder = builder(&stage);
    let line = format!("run --dialect features -- {builder} {{model}} {{prompt}}");
    let mut child = in_background(&stage, &line);
    until("two are built", || count(&stage, "built", "\n") == 2);
    until("the third begins", || {
        is_alive(&text(&stage, "pid")) && {
            let pid = text(&stage, "pid");
            let name = fs::read_to_string(Path::new("/proc").join(pid.trim()).join("comm"));
            name.is_ok_and(|name| name.starts_with("sleep"))
        }
    });
    let pid = text(&stage, "pid");
    child.kill().expect("kill the driver");
    child.wait().expect("bury the driver");
    until("the guard ends the session", || !is_alive(&pid));
    stage.write("go", "");
    let ran = stage.run(&line.replace("run ", "run --continue "));
    ended_well(&ran, 0);
    assert_eq!(text(&stage, "built"), "1 large\n2 small\n3 large\n4 small\n5 large\n", "{ran}");
    assert!(text(&stage, &format!("{FEATURES}/progress.txt")).contains("Status: COMPLETE"));
}

#[test]
fn a_list_of_features_names_models_and_no_options() {
    for model in ["--yolo", "$(touch $STAGE/built)", "a\u{1b}[2Jb"] {
        let stage = Stage::new();
        features(&stage, &[model]);
        let builder = builder(&stage);
        let ran = stage.run(&format!("run --dialect features -- {builder} {{model}} {{prompt}}"));
        ended_well(&ran, 2);
        assert!(ran.err.contains("the list names an invalid model"), "{ran}");
        assert!(!ran.err.contains('\u{1b}'), "{ran}");
        assert!(!stage.path("built").exists(), "{model}: nothing was started");
    }
}

#[test]
fn a_list_of_features_has_a_limit_too() {
    let stage = Stage::new();
    features(&stage, &["large", "small"]);
    stage
        .write(&format!("{FEATURES}/progress.txt"), "Iteration: 1\nMax Iterations: 3\nStatus: x\n");
    let worker = works_at(&stage, 99);
    let ran = stage.run(&format!("run --dialect features -- {worker}"));
    ended_well(&ran, 3);
    assert_eq!(count(&stage, "prompts", "========"), 3, "{ran}");
    assert!(text(&stage, "prompts").contains("Your feature in this session: 1 - Thing 1"));
}

#[test]
fn a_task_is_driven_to_its_end_or_to_its_limit() {
    let stage = Stage::new();
    let task = "task --task-file task.json";
    let start = task.replacen("task", "task start", 1);
    let ran = stage.run(&format!("{start} --step one --max-iterations 3 'Do it'"));
    ended_well(&ran, 0);
    let lazy = works_at(&stage, 99);
    let ran = stage.run(&format!("run --dialect task --task-file task.json -- {lazy}"));
    ended_well(&ran, 3);
    assert!(text(&stage, "prompts").contains("Do it"), "{ran}");

    let stage = Stage::new();
    ended_well(&stage.run(&format!("{start} --step one 'Do it'")), 0);
    let body = "$STOPGATE task iterate --task-file task.json --step-done one >/dev/null\n\
                echo '<loop-complete>'\n";
    let worker = agent(&stage, "worker", body);
    let ran = stage.run(&format!("run --dialect task --task-file task.json -- {worker}"));
    ended_well(&ran, 0);
    let record: Value = serde_json::from_str(&text(&stage, "project/task.json")).expect("a record");
    assert_eq!(record["status"], json!("completed"), "{ran}");
}

#[test]
fn a_program_that_only_bears_a_clients_name_is_any_program() {
    let stage = Stage::new();
    begun(&stage, "");
    let claude = agent(&stage, "claude", "touch done.txt; echo 'All done.'\n");
    ended_well(&stage.run(&format!("run -- {claude} -p {{prompt}}")), 0);
}

#[test]
fn programs_are_answered_in_json() {
    let stage = Stage::new();
    let id = begun(&stage, "");
    let worker = works_at(&stage, 1);
    let ran = stage.run(&format!("run --json -- {worker}"));
    ended_well(&ran, 0);
    let answer: Value = serde_json::from_str(&ran.out).expect("one object");
    assert_eq!(answer["loop"]["id"], json!(id), "{ran}");
    assert_eq!(answer["loop"]["outcome"], json!("done"), "{ran}");
    assert_eq!(ran.err, "", "{ran}");
}

/// Runs the program on a terminal of its own, and gives all that it showed.
fn on_terminal(stage: &Stage, line: &str, typed: &str) -> Ran {
    let line = format!("(sleep 1; printf '{typed}') | script -qefc \"{PROGRAM} {line}\" /dev/null");
    let mut shell = doors::program("sh");
    stage.furnish(&mut shell);
    shell.args(["-c", &line]);
    stage.finish(shell, b"")
}

#[test]
fn in_a_terminal_the_persons_keys_go_to_the_agent() {
    let stage = Stage::new();
    begun(&stage, "");
    let body = "[ -t 0 ] && [ -t 1 ] || exit 9\n\
                read word; echo \"heard $word\"; echo \"$1\" >$STAGE/prompt\n\
                [ \"$word\" = hello ] && touch done.txt\n";
    let worker = agent(&stage, "worker", body);
    let ran = on_terminal(&stage, &format!("run -- {worker} '{{prompt}}'"), "hello\\n");
    ended_well(&ran, 0);
    assert!(ran.out.contains("heard hello"), "{ran}");
    assert!(text(&stage, "prompt").contains("Nobody is at the keyboard"));
}
