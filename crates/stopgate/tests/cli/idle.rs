//! The `idle` dialect: its file, its message store, its commands, and what never changes them.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::thread;

use serde_json::{Value, json};

use crate::stage::{Ran, Stage};

const FILE: &str = "project/.claude/idle-loop.local.md";
const TOPIC: &str = "project/.jwz/loop:current.log";

/// A `jwz` that chatters on both outputs; one body a line in its log, the oldest first. With
/// `--json` it lists envelopes, the newest first, unless `OLD` is set: then it knows no options.
const JWZ: &str = r#"#!/bin/sh
echo "jwz: a warning" >&2
log=".jwz/$2.log"
case $1 in
  read)
    [ -f "$log" ] || exit 1
    if [ "$OLD" = 1 ]; then [ $# = 2 ] || exit 2; cat "$log"; exit; fi
    case $* in *--json*) ;; *) exit 2 ;; esac
    awk '{ gsub(/\\/, "\\\\"); gsub(/"/, "\\\""); line[NR] = $0 }
      END { printf "["; for (n = NR; n > 0; n--)
        printf "%s{\"id\":\"%04d\",\"created_at\":%d,\"body\":\"%s\"}", n < NR ? "," : "", n, n, line[n]
      print "]" }' "$log" ;;
  post) printf '%s\n' "$4" >>"$log"; echo "Posted: 01TEST" ;;
  *) exit 2 ;;
esac
"#;

fn reason(count: &str) -> String {
    format!(
        "[ITERATION {count}] Continue working on the task. Check your progress and either \
         complete the task or keep iterating."
    )
}

fn stop(stage: &Stage, message: &str) -> Ran {
    stop_with(stage, message, &[])
}

fn stop_with(stage: &Stage, message: &str, variables: &[(&str, &str)]) -> Ran {
    let mut call = stage.stop_call("s1", message).arg("--dialect").arg("idle");
    call = call.var("PATH", &path(stage));
    for (name, value) in variables {
        call = call.var(name, value);
    }
    call.send_bytes(&call.bytes())
}

fn path(stage: &Stage) -> String {
    format!("{}:{}", stage.path("bin").display(), crate::doors::search_path().display())
}

fn run(stage: &Stage, line: &str) -> Ran {
    stage.run_with(line, &[("PATH", &path(stage))])
}

fn with_store() -> Stage {
    let stage = Stage::new();
    stage.make_directory("project/.jwz");
    stage.write("bin/jwz", JWZ);
    let mode = fs::Permissions::from_mode(0o755);
    fs::set_permissions(stage.path("bin/jwz"), mode).expect("make it a program");
    stage
}

fn last(stage: &Stage) -> Value {
    let log = fs::read_to_string(stage.path(TOPIC)).expect("the topic");
    serde_json::from_str(log.lines().last().expect("a message")).expect("a message is JSON")
}

#[track_caller]
fn sends_back(ran: &Ran, count: &str) {
    let words = reason(count);
    assert_eq!(ran.out, format!("{{\"decision\": \"block\", \"reason\": \"{words}\"}}\n"), "{ran}");
    assert_eq!((ran.code, ran.err.trim_end()), (2, words.as_str()), "{ran}");
}

#[track_caller]
fn lets_go(ran: &Ran) {
    assert_eq!((ran.code, ran.out.as_str()), (0, ""), "{ran}");
}

#[test]
fn a_loop_in_the_file_runs_from_start_to_end_and_leaves_a_trail() {
    let stage = Stage::new();
    let begun = run(&stage, "start --dialect idle 'Do the thing' --max-iterations 2");
    assert_eq!(begun.out, "Idle loop 1stage0000 has begun: Do the thing\n", "{begun}");
    let text = fs::read_to_string(stage.path(FILE)).expect("the file");
    assert!(text.contains("iteration: 0\nmax_iterations: 2\n") && text.ends_with("Do the thing\n"));
    sends_back(&stop(&stage, "Working."), "1/2");
    let found = &stage.json("status --dialect idle")["loop"];
    assert_eq!((&found["state"], &found["iteration"]), (&json!("active"), &json!(1)));
    lets_go(&stop(&stage, "Done.\n<loop-done>COMPLETE</loop-done>"));
    assert!(!stage.path(FILE).exists(), "the loop is over");
    assert_eq!(run(&stage, "status --dialect idle").code, 66);
    assert_eq!(run(&stage, "cancel --dialect idle").code, 66);
    let found = &stage.json("status")["loop"];
    assert_eq!((&found["outcome"], &found["session"]), (&json!("attested"), &Value::Null));
    let id = found["id"].as_str().expect("a name");
    let said = "the agent said <loop-done>COMPLETE</loop-done>; no check proved it";
    assert_eq!(
        stage.history(id),
        format!(
            "started: Do the thing\nstopped: sent back: {}\nstopped: ended as attested: {said}\n",
            reason("1/2")
        )
    );
    let told = run(&stage, "explain");
    assert!(told.out.contains("said") && told.code == 0, "{told}");
    assert_eq!(stage.complaints(), Vec::<String>::new());
}

#[test]
fn a_loop_in_the_store_nests_frames_and_is_cancelled() {
    for old in ["0", "1"] {
        let stage = with_store();
        let run = |line: &str| stage.run_with(line, &[("PATH", &path(&stage)), ("OLD", old)]);
        let stop = |message: &str| stop_with(&stage, message, &[("OLD", old)]);
        assert_eq!(run("start --dialect idle 'All of them' --mode grind").code, 0);
        assert_eq!(run("start --dialect idle Another").code, 2, "one runs already");
        sends_back(&stop("Working."), "1/20");
        let pushed = run("push --dialect idle 'One of them' --mode issue --max-iterations 3");
        assert_eq!(pushed.out, "Frame 1: One of them\n", "{pushed}");
        sends_back(&stop("<grind-done>NO_MORE_ISSUES</grind-done>"), "1/3");
        sends_back(&stop("Working."), "2/3");
        lets_go(&stop("<issue-complete>DONE</issue-complete>"));
        assert_eq!(last(&stage)["event"], "STATE");
        sends_back(&stop("Working."), "2/20");
        assert_eq!(run("cancel --dialect idle").code, 0);
        let end = last(&stage);
        assert_eq!((&end["event"], &end["reason"]), (&json!("ABORT"), &json!("USER_CANCELLED")));
        assert_eq!(end["stack"], json!([]));
        lets_go(&stop("Working."));
        let shown = run("status --dialect idle --json");
        let shown: Value = serde_json::from_str(&shown.out).expect("JSON");
        assert_eq!(shown["loop"]["state"], "aborted");
        assert_eq!(stage.json("status")["loop"]["outcome"], "cancelled", "the trail says so");
    }
}

#[test]
fn a_stale_loop_is_let_go_once_and_can_be_revived() {
    for stage in [Stage::new(), with_store()] {
        run(&stage, "start --dialect idle Goal");
        stage.advance_minutes(121);
        let ran = stop(&stage, "Working.");
        lets_go(&ran);
        assert!(ran.err.contains("stale"), "{ran}");
        let again = stop(&stage, "Working.");
        lets_go(&again);
        assert_eq!(again.err, "", "the next stop is idle");
        let shown = run(&stage, "status --dialect idle");
        assert!(shown.out.contains("STALE"), "{shown}");
        assert_eq!(run(&stage, "resume --dialect idle").code, 0);
        sends_back(&stop(&stage, "Working."), "1/20");
    }
}

#[test]
fn what_is_not_a_stop_of_the_agent_is_not_counted() {
    let stage = Stage::new();
    run(&stage, "start --dialect idle Goal");
    let before = fs::read_to_string(stage.path(FILE)).expect("the file");
    for agent in ["general-purpose", ""] {
        let call = stage.subagent_stop("s1", agent, "Hi.").arg("--dialect").arg("idle");
        lets_go(&call.send_bytes(&call.bytes()));
    }
    let task = json!([{"id": "b1", "type": "shell", "status": "running", "description": "dev"}]);
    let parked = stage.stop_call("s1", "Waiting.").with("background_tasks", task);
    let parked = parked.arg("--dialect").arg("idle");
    lets_go(&parked.send_bytes(&parked.bytes()));
    assert_eq!(fs::read_to_string(stage.path(FILE)).expect("the file"), before);
    sends_back(&parked.send_bytes(&parked.bytes()), "1/20");
}

#[test]
fn a_trail_holds_nobody_and_leaves_no_sign() {
    let stage = Stage::new();
    run(&stage, "start --dialect idle Goal");
    sends_back(&stop(&stage, "Working."), "1/20");
    assert_eq!(stage.stop("s1", "Done.").brief(), "allowed");
    stage.session_start("s2", "startup").send();
    assert_eq!(stage.stop("s2", "Done.").brief(), "allowed");
    let loops = stage.json("list");
    assert_eq!(loops["loops"].as_array().map(Vec::len), Some(1), "{loops}");
    assert_eq!(loops["loops"][0]["session"], Value::Null);
    let begun = stage.start("'A native goal' --session s1");
    assert!(stage.stop("s1", "Working.").is_sent_back());
    sends_back(&stop(&stage, "Working."), "2/20");
    assert_eq!(stage.standing(&begun), "active 1/20 s1");
}

#[test]
fn a_trail_is_looked_at_and_never_acted_upon() {
    let stage = Stage::new();
    run(&stage, "start --dialect idle Goal");
    sends_back(&stop(&stage, "Working."), "1/20");
    let trail = stage.json("status")["loop"]["id"].as_str().expect("a name").to_string();
    let named = format!("cancel {trail}");
    for line in [named.as_str(), "pause", "resume", "push x", "done", "blocked why"] {
        let ran = run(&stage, line);
        assert!(ran.code == 2 && ran.err.contains("cancel --dialect idle"), "{line}: {ran}");
    }
    sends_back(&stop(&stage, "Working."), "2/20");
    let native = stage.start("'A native goal' --session s7");
    stage.advance_minutes(1);
    sends_back(&stop(&stage, "Working."), "3/20");
    assert_eq!(stage.json("status")["loop"]["id"], json!(native), "our own loop comes first");
    assert_eq!(run(&stage, "cancel --all").out, "2 loops cancelled.\n");
    lets_go(&stop(&stage, "Working."));
}

#[test]
fn cancel_without_a_name_ends_the_only_loop_there_is() {
    let stage = Stage::new();
    run(&stage, "start --dialect idle Goal");
    let ran = run(&stage, "cancel");
    assert!(ran.code == 0 && ran.out.starts_with("Idle loop "), "{ran}");
    lets_go(&stop(&stage, "Working."));
}

#[test]
fn a_pause_lets_the_agent_stop_until_it_is_resumed() {
    for stage in [Stage::new(), with_store()] {
        run(&stage, "start --dialect idle Goal");
        sends_back(&stop(&stage, "Working."), "1/20");
        let ran = run(&stage, "pause --dialect idle");
        assert!(ran.code == 0 && ran.out.contains("is paused"), "{ran}");
        assert!(run(&stage, "status --dialect idle").out.contains("PAUSED"));
        lets_go(&stop(&stage, "Working."));
        assert_eq!(run(&stage, "resume --dialect idle").code, 0);
        sends_back(&stop(&stage, "Working."), "2/20");
    }
}

#[test]
fn a_nested_frame_is_taken_off_by_command() {
    let stage = with_store();
    run(&stage, "start --dialect idle Goal");
    assert_eq!(run(&stage, "pop --dialect idle").code, 2, "only the loop itself is left");
    run(&stage, "push --dialect idle 'A part of it' --max-iterations 3");
    sends_back(&stop(&stage, "Working."), "1/3");
    let ran = run(&stage, "pop --dialect idle");
    assert!(ran.code == 0 && ran.out.contains("Back to: "), "{ran}");
    sends_back(&stop(&stage, "Working."), "1/20");
}

#[test]
fn the_loop_is_found_after_the_agent_changed_its_directory() {
    let stage = Stage::new();
    run(&stage, "start --dialect idle Goal");
    stage.make_directory("project/deep/er");
    let call = stage.stop_call("s1", "Working.").arg("--dialect").arg("idle");
    let below = call.clone().with("cwd", json!(stage.path("project/deep/er")));
    sends_back(&below.send_bytes(&below.bytes()), "1/20");
    // Elsewhere, the client's own directory is looked at.
    let outside = call.with("cwd", json!(stage.path("user")));
    sends_back(&outside.send_bytes(&outside.bytes()), "2/20");
    assert_eq!(stage.run_in("project/deep", "status --dialect idle").code, 0);
}

#[test]
fn counts_that_make_no_sense_abort_the_loop() {
    let stage = with_store();
    let message = r#"{"schema":1,"event":"STATE","run_id":"r","mine":1,"stack":[{"iter":"abc"}]}"#;
    stage.write(TOPIC, format!("{message}\n"));
    let ran = stop(&stage, "Working.");
    lets_go(&ran);
    assert!(ran.err.contains("counters are invalid"), "{ran}");
    let end = last(&stage);
    assert_eq!(
        (&end["event"], &end["stack"], &end["mine"]),
        (&json!("ABORT"), &json!([]), &json!(1))
    );
    assert_eq!(stage.json("status")["loop"]["outcome"], "aborted");
    lets_go(&stop(&stage, "Working."));
}

#[test]
fn a_fault_lets_the_agent_go_and_leaves_the_file_alone() {
    for text in ["no fields at all", "---\niteration: 1\n", "---\nactive: perhaps\n---\nx\n"] {
        let stage = Stage::new();
        stage.write(FILE, text);
        lets_go(&stop(&stage, "Working."));
        assert_eq!(fs::read_to_string(stage.path(FILE)).expect("the file"), text);
        assert!(stage.complaints()[0].contains("idle-loop.local.md"), "{:?}", stage.complaints());
    }
    let stage = Stage::new();
    stage.make_directory(FILE);
    lets_go(&stop(&stage, "Working."));
    assert!(stage.complaints()[0].contains("it is a directory"), "{:?}", stage.complaints());
    let stage = Stage::new();
    run(&stage, "start --dialect idle Goal");
    fs::remove_dir_all(stage.path("home")).expect("no home");
    stage.write("home", "a file in its place");
    lets_go(&stop(&stage, "Working."));
    assert!(fs::read_to_string(stage.path(FILE)).expect("the file").contains("iteration: 0"));
}

#[test]
fn a_journal_that_is_broken_costs_the_trail_and_nothing_else() {
    let stage = Stage::new();
    run(&stage, "start --dialect idle Goal");
    stage.write("home/journal.db", "this is not a database, and never was one");
    sends_back(&stop(&stage, "Working."), "1/20");
    sends_back(&stop(&stage, "Working."), "2/20");
    assert!(stage.complaints()[0].contains("no audit trail"), "{:?}", stage.complaints());
}

#[test]
fn a_store_that_hangs_or_refuses_lets_the_agent_go() {
    let stage = with_store();
    run(&stage, "start --dialect idle Goal");
    let before = fs::read_to_string(stage.path(TOPIC)).expect("the topic");
    stage.write("bin/jwz", JWZ.replace("post) ", "post) exit 1; "));
    lets_go(&stop(&stage, "Working."));
    assert!(stage.complaints()[0].contains("jwz refused it"), "{:?}", stage.complaints());
    assert_eq!(fs::read_to_string(stage.path(TOPIC)).expect("the topic"), before);
}

#[test]
fn a_store_that_says_too_much_lets_the_agent_go() {
    let stage = with_store();
    run(&stage, "start --dialect idle Goal");
    stage.write("bin/jwz", "#!/bin/sh\nhead -c 9000000 /dev/zero | tr '\\0' '['\n");
    lets_go(&stop(&stage, "Working."));
    assert!(stage.complaints()[0].contains("more than 8 MiB"), "{:?}", stage.complaints());
}

#[test]
fn the_file_is_kept_before_its_first_change_and_stays_what_it_was() {
    let stage = Stage::new();
    let text = "---\r\nactive: true\r\niteration: 1 # mine\r\nmax_iterations: 9\r\nx: [1, 2]\r\n---\r\nGoal\r\n";
    stage.write("other/real.md", text);
    let mode = fs::Permissions::from_mode(0o640);
    fs::set_permissions(stage.path("other/real.md"), mode).expect("set its mode");
    stage.make_directory("project/.claude");
    std::os::unix::fs::symlink(stage.path("other/real.md"), stage.path(FILE)).expect("link");
    sends_back(&stop(&stage, "Working."), "2/9");
    sends_back(&stop(&stage, "Working."), "3/9");
    assert!(stage.path(FILE).is_symlink(), "it stays a link");
    let found = fs::metadata(stage.path("other/real.md")).expect("the file");
    assert_eq!(found.permissions().mode() & 0o777, 0o640);
    let now = fs::read_to_string(stage.path(FILE)).expect("the file");
    assert_eq!(now, text.replace("iteration: 1", "iteration: 3"));
    assert_eq!(backups(&stage), [text], "one, as it was");
}

fn backups(stage: &Stage) -> Vec<String> {
    let directories = fs::read_dir(stage.path("home/backups")).expect("backups");
    let files = directories
        .flat_map(|directory| fs::read_dir(directory.expect("a directory").path()).expect("files"));
    files.map(|file| fs::read_to_string(file.expect("a file").path()).expect("a text")).collect()
}

#[test]
fn an_anchor_is_left_before_a_compaction_and_told_after_it() {
    let anchored = |stage: &Stage| {
        let call = stage.call("PreCompact", "s1").with("trigger", json!("auto"));
        let call = call.arg("--dialect").arg("idle").var("PATH", &path(stage));
        lets_go(&call.send_bytes(&call.bytes()));
    };
    let stage = Stage::new();
    anchored(&stage);
    assert!(!stage.path("project/.claude").exists(), "no loop, no anchor");
    run(&stage, "start --dialect idle 'Do the thing'");
    let before = fs::read_to_string(stage.path(FILE)).expect("the file");
    anchored(&stage);
    assert_eq!(fs::read_to_string(stage.path(FILE)).expect("the file"), before);
    let anchor = stage.path("project/.claude/idle-loop.anchor.local.md");
    let text = fs::read_to_string(&anchor).expect("the anchor");
    assert!(text.starts_with("Loop: Do the thing\n- loop 0/20: Do the thing"), "{text}");
    let told = stage.session_start("s1", "compact").arg("--dialect").arg("idle").send();
    assert!(told.text.contains("Loop: Do the thing"), "{told}");
    let quiet = stage.session_start("s1", "startup").arg("--dialect").arg("idle").send();
    assert_eq!(quiet.brief(), "allowed");
    lets_go(&stop(&stage, "<loop-done>COMPLETE</loop-done>"));
    assert!(!anchor.exists(), "it goes with its loop");
    let stage = with_store();
    run(&stage, "start --dialect idle 'Do the thing'");
    anchored(&stage);
    let posted = fs::read_to_string(stage.path("project/.jwz/loop:anchor.log")).expect("a post");
    assert!(posted.contains("Do the thing") && posted.contains("ANCHOR"), "{posted}");
}

#[test]
fn switches_arguments_and_other_ways_to_name_the_directory() {
    let stage = Stage::new();
    run(&stage, "start --dialect idle Goal");
    let call = stage.stop_call("s1", "Working.").arg("--dialect");
    let wrong = call.clone().arg("klingon");
    let ran = wrong.send_bytes(&wrong.bytes());
    assert_eq!((ran.code, ran.out.as_str()), (0, ""), "{ran}");
    assert!(ran.err.contains("unknown dialect klingon"), "{ran}");
    let call = call.arg("idle");
    lets_go(&call.clone().var("IDLE_LOOP_DISABLE", "1").send_bytes(b"not json"));
    lets_go(&call.clone().arg("--shadow").send_bytes(&call.bytes()));
    sends_back(&call.send_bytes(&call.bytes()), "2/20");
    let lost = call.clone().without("cwd");
    sends_back(&lost.send_bytes(&lost.bytes()), "3/20");
    let other = stage.path("other").display().to_string();
    lets_go(&lost.clone().var("ARGUMENTS", &other).send_bytes(&lost.bytes()));
    let handed = json!({"cwd": other}).to_string();
    lets_go(&lost.clone().var("ARGUMENTS", &handed).send_bytes(&lost.bytes()));
    let payload = String::from_utf8(call.bytes()).expect("text");
    sends_back(&call.var("ARGUMENTS", &payload).send_bytes(b""), "4/20");
}

#[test]
fn commands_say_what_they_can_not_do() {
    let stage = Stage::new();
    assert_eq!(run(&stage, "start --dialect idle ''").code, 2);
    assert_eq!(run(&stage, "start --dialect idle Goal --max-iterations 0").code, 2);
    assert_eq!(run(&stage, "push --dialect idle Goal").code, 66);
    assert_eq!(run(&stage, "resume --dialect idle").code, 66);
    run(&stage, "start --dialect idle Goal");
    let ran = run(&stage, "push --dialect idle Nested");
    assert!(ran.code == 2 && ran.err.contains("holds one frame"), "{ran}");
    assert_eq!(run(&stage, "resume --dialect idle --max-iterations 9").code, 2);
    let replaced = run(&stage, "start --dialect idle Other --replace");
    assert_eq!(replaced.code, 0, "{replaced}");
    assert!(fs::read_to_string(stage.path(FILE)).expect("the file").ends_with("Other\n"));
    assert!(backups(&stage).iter().any(|kept| kept.ends_with("Goal\n")), "nothing is lost");
}

#[test]
fn thirty_two_stops_at_once_on_one_topic_are_all_counted() {
    let stage = with_store();
    run(&stage, "start --dialect idle Goal --max-iterations 100");
    thread::scope(|scope| {
        for _ in 0..32 {
            scope.spawn(|| assert_eq!(stop(&stage, "Working.").code, 2));
        }
    });
    assert_eq!(last(&stage)["stack"][0]["iter"], 32);
    assert_eq!(stage.json("status")["loop"]["iteration"], 32, "and all are in the trail");
}

#[test]
fn a_lock_that_can_not_be_had_lets_the_agent_go() {
    let stage = Stage::new();
    run(&stage, "start --dialect idle Goal");
    let directory = fs::read_dir(stage.path("home/dialects")).expect("what is kept aside");
    let mut names = directory.map(|entry| entry.expect("an entry").path());
    let lock = names.find(|name| name.extension().is_some_and(|end| end == "lock"));
    let held = fs::File::open(lock.expect("a lock")).expect("open it");
    held.lock().expect("hold it");
    let before = fs::read_to_string(stage.path(FILE)).expect("the file");
    lets_go(&stop(&stage, "Working."));
    assert!(stage.complaints()[0].contains("could not take the lock"), "{:?}", stage.complaints());
    assert_eq!(fs::read_to_string(stage.path(FILE)).expect("the file"), before);
    drop(held);
    sends_back(&stop(&stage, "Working."), "1/20");
}

#[test]
fn a_control_message_of_the_store_is_heard_once_and_only_by_its_run() {
    let stage = with_store();
    let begun = run(&stage, "start --dialect idle 'All of them' --json");
    let begun: Value = serde_json::from_str(&begun.out).expect("JSON");
    let own = begun["loop"]["id"].as_str().expect("a name");
    let tell = |run: &str, command: &str| {
        let told = json!({"command": command, "run_id": run});
        stage.write("project/.jwz/loop:control.log", format!("{told}\n"));
    };
    tell("another", "cancel");
    sends_back(&stop(&stage, "Working."), "1/20");
    tell(own, "pause");
    lets_go(&stop(&stage, "Working."));
    assert_eq!(run(&stage, "resume --dialect idle").code, 0);
    sends_back(&stop(&stage, "Working."), "2/20");
    tell(own, "cancel");
    assert_eq!(stop(&stage, "Working.").code, 0);
    assert_eq!(last(&stage)["reason"], "USER_CANCELLED");
}
