//! `wait`: a parked loop holds nobody until something happens; a stop finds out by itself.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::process::Stdio;

use crate::doors;
use crate::stage::Stage;

const ID: &str = "1stage0000";

/// A stage with a real repository and a loop of session `s1`.
fn stage() -> Stage {
    let stage = Stage::new();
    git(&stage, &["init", "-q", "-b", "main"]);
    stage.write("project/a", "1");
    commit(&stage);
    stage.start("Finish --session s1");
    stage
}

fn git(stage: &Stage, words: &[&str]) {
    let who = ["-c", "user.name=t", "-c", "user.email=t@t"];
    let ran = doors::program("git")
        .args(who)
        .args(words)
        .current_dir(stage.path("project"))
        .env("HOME", stage.path("user"))
        .output()
        .expect("git runs");
    assert!(ran.status.success(), "{words:?}: {}", String::from_utf8_lossy(&ran.stderr));
}

fn commit(stage: &Stage) {
    git(stage, &["add", "-A"]);
    git(stage, &["commit", "-q", "--allow-empty", "-m", "work"]);
}

fn park(stage: &Stage, flags: &str) {
    let ran = stage.run_as("s1", &format!("wait {flags}"));
    assert_eq!(ran.code, 0, "wait {flags}: {ran}");
    assert!(ran.out.starts_with("Parked: you may stop now."), "{ran}");
    assert_eq!(stage.standing(ID), "waiting 0/20 s1");
}

/// Parks, sees a stop allowed and not counted, lets it happen, and sees a stop sent back.
#[track_caller]
fn check(stage: &Stage, flags: &str, happen: impl FnOnce(&Stage)) {
    park(stage, flags);
    assert!(!stage.stop("s1", "Waiting.").is_sent_back(), "{flags}: it has not happened");
    assert_eq!(stage.standing(ID), "waiting 0/20 s1", "{flags}: not counted");
    happen(stage);
    assert!(stage.stop("s1", "Still waiting?").is_sent_back(), "{flags}: it has happened");
    assert_eq!(stage.standing(ID), "active 1/20 s1", "{flags}");
    let history = stage.history(ID);
    assert!(history.contains("unparked: what it waited for has happened"), "{history}");
}

#[test]
fn a_time_is_reached() {
    check(&stage(), "--until 90m", |stage| stage.advance_minutes(91));
}

#[test]
fn a_path_comes_goes_and_is_written_to() {
    check(&stage(), "--path made/later", |stage| stage.write("project/made/later", ""));
    check(&stage(), "--path a", |stage| stage.write("project/a", "22"));
    check(&stage(), "--path a", |stage| {
        std::fs::remove_file(stage.path("project/a")).expect("take it away");
    });
}

#[test]
fn a_process_ends() {
    let stage = stage();
    let mut sleeper =
        doors::program("sleep").arg("600").stdin(Stdio::null()).spawn().expect("sleep runs");
    check(&stage, &format!("--pid {}", sleeper.id()), move |_| {
        sleeper.kill().expect("end it");
        sleeper.wait().expect("bury it");
    });
}

#[test]
fn a_command_exits_with_0() {
    check(&stage(), "--cmd 'test -e flag'", |stage| stage.write("project/flag", ""));
}

#[test]
fn a_reference_moves() {
    check(&stage(), "--ref main", commit);
    check(&stage(), "--ref HEAD", commit);
    check(&stage(), "--ref later", |stage| git(stage, &["tag", "later"]));
}

#[test]
fn an_address_answers() {
    let door = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}/health", door.local_addr().expect("its address"));
    let (say, said) = std::sync::mpsc::channel::<&str>();
    let server = std::thread::spawn(move || {
        for status in said {
            let (mut peer, _) = door.accept().expect("a request");
            let _ = peer.read(&mut [0; 4096]);
            let answer =
                format!("HTTP/1.1 {status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
            let _ = peer.write_all(answer.as_bytes());
        }
    });
    say.send("503 Not Yet").expect("the server listens");
    check(&stage(), &format!("--url {url}"), |_| {
        say.send("204 Done").expect("the server listens");
    });
    drop(say);
    server.join().expect("the server ends");
}

/// A command that an agent chose sees what a check sees, and no more.
#[test]
fn a_command_sees_no_key_and_has_an_end() {
    let stage = stage();
    park(&stage, "--cmd 'env > ../seen; false'");
    let call = stage.stop_call("s1", "Waiting.");
    let call = call.var("OPENAI_API_KEY", "sk-1").var("MY_TOKEN", "t").var("LANG", "C.UTF-8");
    assert!(!call.send().is_sent_back());
    let seen = std::fs::read_to_string(stage.path("seen")).expect("what it saw");
    assert!(seen.contains("LANG=C.UTF-8") && seen.contains("STOPGATE_DISABLE=1"), "{seen}");
    assert!(!seen.contains("sk-1") && !seen.contains("MY_TOKEN"), "{seen}");
}

#[test]
fn a_wait_that_did_not_begin_here_runs_nothing_here() {
    let stage = stage();
    let ran = stage.path("ran");
    park(&stage, &format!("--cmd 'touch {}'", ran.display()));
    // As on a machine that shares the journal: it has the record of the wait, and nothing else.
    let notes = stage.path("home/parked");
    std::fs::remove_dir_all(&notes).expect("what this machine keeps of its own waits");
    assert!(!stage.stop("s1", "Waiting.").is_sent_back());
    assert!(!ran.exists(), "a record alone runs no command");
    assert_eq!(stage.standing(ID), "waiting 0/20 s1");
}

#[test]
fn a_wait_in_vain_needs_a_person() {
    let stage = stage();
    park(&stage, "--path never --deadline 1h");
    stage.advance_minutes(59);
    assert!(!stage.stop("s1", "Waiting.").is_sent_back());
    assert_eq!(stage.standing(ID), "waiting 0/20 s1");
    stage.advance_minutes(2);
    let told = stage.stop("s1", "Waiting.").to_string();
    assert!(told.contains("ended as needs_input") && told.contains("deadline"), "{told}");
}

/// Waiting is not work, and not neglect: neither the limit of time nor staleness counts it.
#[test]
fn a_long_wait_costs_nothing() {
    let stage = Stage::new();
    stage.start("Finish --session s1 --max-minutes 30");
    park(&stage, "--until 20h");
    stage.advance_minutes(20 * 60 - 1);
    assert!(!stage.stop("s1", "Waiting.").is_sent_back());
    stage.advance_minutes(2);
    assert!(stage.stop("s1", "Waiting.").is_sent_back());
    assert_eq!(stage.standing(ID), "active 1/20 s1");
}

#[test]
fn a_default_deadline_is_a_day_later_or_after_the_time() {
    let stage = stage();
    park(&stage, "--path never");
    let shown = stage.run("status").to_string();
    assert!(
        shown.contains("a change of $STAGE/project/never (until 2026-11-16 06:00 UTC)"),
        "{shown}"
    );
    park(&stage, "--until 3d");
    stage.advance_minutes(3 * 24 * 60 + 1);
    assert!(stage.stop("s1", "Waiting.").is_sent_back());
}

#[test]
fn what_is_waited_for_is_shown() {
    let stage = stage();
    park(&stage, "--pid 1");
    for line in ["status", "log", "explain", "watch --once"] {
        stage.stop("s1", "Waiting.");
        let shown = stage.run(line).to_string();
        let says = shown.contains("process 1") || shown.contains("parked");
        assert!(says, "{line}: {shown}");
    }
    let shown = stage.json("status");
    assert_eq!(shown["loop"]["state"], "waiting");
    assert!(shown["loop"]["why"].to_string().contains("the end of process 1"), "{shown}");
}

#[test]
fn a_wait_ends_when_a_person_or_the_agent_says_so() {
    for (line, after) in [
        ("resume", "active 0/20 s1"),
        ("done", "completing 0/20 s1"),
        ("cancel", "cancelled 0/20 s1"),
        ("ask 'Which one?'", "waiting 0/20 s1"),
    ] {
        let stage = stage();
        park(&stage, "--path never");
        assert_eq!(stage.run(&format!("{line} --session s1")).code, 0, "{line}");
        assert_eq!(stage.standing(ID), after, "{line}");
    }
    // A later wait takes the place of the earlier one; a pause outlives both.
    let stage = stage();
    park(&stage, "--path never");
    park(&stage, "--until 1h");
    assert_eq!(stage.run("pause").code, 0);
    let ran = stage.run_as("s1", "wait --until 2h");
    assert!(ran.code == 2 && ran.err.contains("is paused by a person"), "{ran}");
    stage.advance_minutes(90);
    assert!(!stage.stop("s1", "Waiting.").is_sent_back());
    assert_eq!(stage.standing(ID), "paused 0/20 s1");
}

#[test]
fn there_must_be_something_to_wait_for() {
    let stage = stage();
    for (flags, says) in [
        ("", "required"),
        ("--until 1h --pid 1", "cannot be used"),
        ("--until yesterday", "is not a time"),
        ("--until 2020-01-01T00:00:00Z", "is over"),
        ("--pid 4194000", "there is no process"),
        ("--pid 0", "0"),
        ("--cmd ''", "--cmd is empty"),
        ("--url ftp://h/x", "is not an address"),
        ("--ref ''", "is not a git reference"),
        ("--until 2h --deadline 1h", "--deadline is before"),
    ] {
        let ran = stage.run_as("s1", &format!("wait {flags}"));
        assert!(ran.code == 2 && ran.err.contains(says), "{flags}: {ran}");
        assert_eq!(stage.standing(ID), "active 0/20 s1", "{flags}");
    }
    let ran = stage.run_in("user", "wait --ref main --session s1");
    assert!(ran.code == 2 && ran.err.contains("is not in a git repository"), "{ran}");
    let loose = Stage::new();
    loose.start("Finish");
    let ran = loose.run("wait --until 1h");
    assert!(ran.code == 2 && ran.err.contains("has no session to wake"), "{ran}");
}
