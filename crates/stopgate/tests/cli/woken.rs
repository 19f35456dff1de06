//! The background process: who is woken, by whom, and how often.
//!
//! These tests run in real time, with a client that is a script.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;

use crate::doors;
use crate::stage::PROGRAM;

/// How long something that must happen may take on a busy machine.
const PATIENCE: Duration = Duration::from_mins(1);

/// A person's machine with a client that notes how it is called, and then stops once.
struct Machine {
    directory: PathBuf,
    _kept: TempDir,
}

impl Machine {
    fn new() -> Self {
        let kept = TempDir::with_prefix("woken-").expect("a directory");
        let directory = kept.path().canonicalize().expect("its path");
        for name in ["user", "home", "project/.git", "bin"] {
            fs::create_dir_all(directory.join(name)).expect("furnish it");
        }
        fs::set_permissions(directory.join("home"), fs::Permissions::from_mode(0o700))
            .expect("a private home");
        let machine = Self { directory, _kept: kept };
        machine.client("stop");
        machine
    }

    /// The client does this after it noted its call.
    fn client(&self, then: &str) {
        let calls = self.at("calls");
        let script = format!(
            "#!/bin/sh\n\
             stop() {{ printf '{{\"hook_event_name\":\"Stop\",\"session_id\":\"%s\",\"cwd\":\"%s\",\
             \"last_assistant_message\":\"Hm.\",\"stop_hook_active\":false}}' \"$session\" \"$PWD\" \
             | {PROGRAM} hook claude >/dev/null; }}\n\
             while [ \"$1\" != --resume ]; do shift; done\n\
             session=$2\n\
             echo \"$session ${{CLAUDECODE-no}} ${{FROM_SHELL-no}}\" >> {}\n{then}\n",
            calls.display()
        );
        let path = self.at("bin/claude");
        fs::write(&path, script).expect("a client");
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("make it a program");
    }

    fn at(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }

    fn furnish(&self, command: &mut Command) {
        let path = format!("{}:{}", self.at("bin").display(), doors::search_path().display());
        command.env_clear().current_dir(self.at("project")).env("PATH", path);
        command.env("HOME", self.at("user")).env("STOPGATE_HOME", self.at("home"));
        command.env("STOPGATE_TEST_QUIET", "1000").stdin(Stdio::null());
    }

    fn run(&self, words: &[&str]) -> String {
        let mut command = doors::program(PROGRAM);
        self.furnish(&mut command);
        let ran = command.args(words).output().expect("it runs");
        let text = String::from_utf8_lossy(&ran.stdout).into_owned();
        assert!(ran.status.success(), "{words:?}: {text}{}", String::from_utf8_lossy(&ran.stderr));
        text
    }

    fn start(&self, session: &str) -> String {
        let text = self.run(&["start", "Finish", "--session", session, "--json"]);
        let view: Value = serde_json::from_str(&text).expect("JSON");
        view["loop"]["id"].as_str().expect("an id").into()
    }

    /// Parks a loop from a shell whose client is gone afterwards.
    fn park(&self, session: &str, flags: &str) {
        let line = format!("{PROGRAM} wait {flags} > {} 2>&1", self.at("parked.out").display());
        let mut command = doors::program("setsid");
        self.furnish(&mut command);
        command.env("CLAUDECODE", "1").env("CLAUDE_CODE_SESSION_ID", session);
        command.env("FROM_SHELL", "yes").env("MY_API_KEY", "never-on-disk");
        let ran = command.args(["-w", "sh", "-c", &line]).status().expect("it runs");
        let told = fs::read_to_string(self.at("parked.out")).unwrap_or_default();
        assert!(ran.success(), "wait {flags}: {told}");
        // The test itself stands above the shell: as far as the note says, it is the client.
        self.forget_client();
    }

    /// As after the end of the client that parked the loop.
    fn forget_client(&self) {
        let _ = fs::remove_dir_all(self.at("home/sessions"));
    }

    fn calls(&self) -> Vec<String> {
        let text = fs::read_to_string(self.at("calls")).unwrap_or_default();
        let mut calls: Vec<String> = text.lines().map(String::from).collect();
        calls.sort();
        calls
    }

    fn state(&self, id: &str) -> String {
        let text = self.run(&["status", id, "--json"]);
        let view: Value = serde_json::from_str(&text).expect("JSON");
        let view = &view["loop"];
        view["outcome"].as_str().or(view["state"].as_str()).unwrap_or("?").to_string()
    }

    #[track_caller]
    fn until(&self, what: &str, is_so: impl Fn() -> bool) {
        let begun = doors::now();
        while !is_so() {
            assert!(begun.elapsed() < PATIENCE, "{what}: {:?}", self.calls());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn daemon(&self) -> Option<i32> {
        self.asked()["pid"].as_i64().and_then(|pid| i32::try_from(pid).ok())
    }

    /// For how many loops the background process watches.
    fn watched(&self) -> Option<u64> {
        self.asked()["waiting"].as_u64()
    }

    fn asked(&self) -> Value {
        let mut command = doors::program(PROGRAM);
        self.furnish(&mut command);
        let ran = command.args(["daemon", "--status", "--json"]).output().expect("it runs");
        serde_json::from_slice(&ran.stdout).expect("JSON")
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        let mut command = doors::program(PROGRAM);
        self.furnish(&mut command);
        let _ = command.args(["daemon", "--stop"]).output();
    }
}

#[test]
fn each_kind_of_condition_wakes_once() {
    let machine = Machine::new();
    let git = |words: &[&str]| {
        let mut command = doors::program("git");
        machine.furnish(&mut command);
        command.args(["-c", "user.name=t", "-c", "user.email=t@t"]).args(words);
        assert!(command.status().expect("git runs").success(), "{words:?}");
    };
    git(&["init", "-q", "-b", "main"]);
    git(&["commit", "-q", "--allow-empty", "-m", "one"]);
    let mut sleeper = doors::program("sleep").arg("600").spawn().expect("sleep runs");
    let ids: Vec<String> = ["t", "p", "f", "r", "c"].map(|session| machine.start(session)).into();
    machine.park("t", "--until 2s");
    machine.park("p", &format!("--pid {}", sleeper.id()));
    machine.park("f", "--path made/here");
    machine.park("r", "--ref main");
    machine.park("c", "--cmd 'test -e ready'");
    sleeper.kill().expect("end it");
    sleeper.wait().expect("bury it");
    fs::create_dir(machine.at("project/made")).expect("a directory");
    fs::write(machine.at("project/made/here"), "").expect("a file");
    git(&["commit", "-q", "--allow-empty", "-m", "two"]);
    fs::write(machine.at("project/ready"), "").expect("a file");
    machine.until("all are woken", || machine.calls().len() >= 5);
    let told = ["c", "f", "p", "r", "t"].map(|session| format!("{session} no yes"));
    assert_eq!(machine.calls(), told, "once each, as the shell was and not as its child");
    machine.until("each came to a stop", || ids.iter().all(|id| machine.state(id) == "active"));
    machine.until("nothing waits, so it leaves", || machine.daemon().is_none());
    assert_eq!(machine.calls().len(), 5);
    let left = fs::read_dir(machine.at("home/parked")).map_or(0, Iterator::count);
    assert_eq!(left, 0, "no environment is left on disk");
}

/// A client that runs is never doubled: it is told at its next stop, and resumed once it is gone.
#[test]
fn a_living_client_is_left_alone() {
    let machine = Machine::new();
    let mut client = doors::program("sleep").arg("600").spawn().expect("sleep runs");
    let id = machine.start("s1");
    let payload = format!(
        "{{\"hook_event_name\":\"SessionStart\",\"session_id\":\"s1\",\"source\":\"startup\",\
         \"cwd\":\"{}\"}}",
        machine.at("project").display()
    );
    machine.park("s1", "--path made");
    let hook = |text: &str| {
        let mut command = doors::program("sh");
        machine.furnish(&mut command);
        command.env("CLAUDE_PID", client.id().to_string());
        fs::write(machine.at("payload"), text).expect("a payload");
        let line = format!("{PROGRAM} hook claude < {}", machine.at("payload").display());
        command.args(["-c", &line]);
        assert!(command.status().expect("it runs").success());
    };
    hook(&payload);
    fs::write(machine.at("project/made"), "").expect("a file");
    let noted = || machine.run(&["log", &id]).contains("condition_held");
    machine.until("it is noted that it happened", noted);
    assert_eq!(machine.state(&id), "waiting");
    assert_eq!(machine.calls(), Vec::<String>::new(), "nobody is started beside it");
    client.kill().expect("end it");
    client.wait().expect("bury it");
    // The process above the hook in this test still runs, so it is taken out of the note.
    machine.forget_client();
    machine.run(&["list"]);
    machine.until("it is resumed", || machine.calls().len() == 1);
}

#[test]
fn a_client_that_comes_to_nothing_is_told_and_not_tried_again() {
    let machine = Machine::new();
    machine.client("exit 1");
    let id = machine.start("s1");
    machine.park("s1", "--until 1s");
    machine.until("a person is needed", || machine.state(&id) == "needs_input");
    assert_eq!(machine.calls().len(), 1);
    assert!(machine.run(&["status", &id]).contains("ended before it came to a stop"));
    fs::remove_file(machine.at("bin/claude")).expect("take it away");
    let other = machine.start("s2");
    machine.park("s2", "--until 1s");
    machine.until("a person is needed", || machine.state(&other) == "needs_input");
    assert!(machine.run(&["status", &other]).contains("is not on the PATH"));
}

#[test]
fn the_process_is_one_and_killed_at_any_moment_nothing_is_lost_or_done_twice() {
    let machine = Machine::new();
    let ids: Vec<String> = (0..8).map(|number| machine.start(&format!("s{number}"))).collect();
    for number in 0..8 {
        machine.park(&format!("s{number}"), &format!("--path made/{number}"));
    }
    fs::create_dir(machine.at("project/made")).expect("a directory");
    for number in 0..8 {
        let first = machine.daemon();
        if let Some(pid) = first.and_then(rustix::process::Pid::from_raw) {
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
        }
        fs::write(machine.at(&format!("project/made/{number}")), "").expect("a file");
        machine.run(&["list"]);
    }
    machine.until("all are woken", || machine.calls().len() >= 8);
    machine.until("each came to a stop", || ids.iter().all(|id| machine.state(id) == "active"));
    let told: Vec<String> = (0..8).map(|number| format!("s{number} no yes")).collect();
    assert_eq!(machine.calls(), told);
}

#[test]
fn it_ends_when_asked_and_only_one_runs() {
    let machine = Machine::new();
    let id = machine.start("s1");
    machine.park("s1", "--path never");
    let pid = machine.daemon().expect("it runs");
    assert!(machine.run(&["daemon"]).contains("Another one is running"));
    machine.run(&["list"]);
    assert_eq!(machine.daemon(), Some(pid));
    let socket = fs::metadata(machine.at("home/daemon.sock")).expect("its socket");
    assert_eq!(socket.permissions().mode() & 0o777, 0o600);
    let kept = fs::read_dir(machine.at("home/parked")).expect("what is kept").flatten();
    for note in kept {
        let text = fs::read_to_string(note.path()).expect("a note");
        assert!(text.contains("FROM_SHELL") && !text.contains("never-on-disk"), "{text}");
    }
    let term = rustix::process::Pid::from_raw(pid).expect("a number");
    rustix::process::kill_process(term, rustix::process::Signal::TERM).expect("ask it to end");
    machine.until("it ends", || machine.daemon().is_none());
    assert_eq!(machine.state(&id), "waiting", "the journal still has it");
    machine.until("somebody who looks brings it back", || machine.daemon().is_some());
    assert!(machine.run(&["daemon", "--stop"]).contains("ended"));
    assert!(machine.run(&["daemon", "--unit"]).contains("ExecStart="));
}

/// A deadline is kept without any stop.
#[test]
fn a_wait_in_vain_is_ended_by_nobody_s_stop() {
    let machine = Machine::new();
    let id = machine.start("s1");
    machine.park("s1", "--path never --deadline 1s");
    machine.until("a person is needed", || machine.state(&id) == "needs_input");
    assert_eq!(machine.calls(), Vec::<String>::new());
}

/// A person's word is heard at once: nothing is watched for that nobody waits for.
#[test]
fn a_loop_that_is_cancelled_or_resumed_is_watched_no_more() {
    let machine = Machine::new();
    let ids = ["s1", "s2"].map(|session| machine.start(session));
    machine.park("s1", "--path never");
    machine.park("s2", "--path never");
    machine.until("both are watched", || machine.watched() == Some(2));
    machine.run(&["cancel", &ids[0]]);
    machine.until("one is watched", || machine.watched() == Some(1));
    machine.run(&["resume", &ids[1]]);
    machine.until("none is watched", || matches!(machine.watched(), Some(0) | None));
    assert_eq!(machine.calls(), Vec::<String>::new());
}

/// The end of checks that run in the background wakes the session like anything else, once; and
/// what they said counts at the stop that it comes to.
#[test]
fn the_end_of_a_check_in_the_background_wakes_once() {
    let machine = Machine::new();
    let config = machine.at("user/.config/stopgate");
    fs::create_dir_all(&config).expect("a directory");
    fs::write(config.join("config.toml"), "[proof]\nhook_time = \"300ms\"\n").expect("a file");
    crate::hostile::pipe(&machine.at("gate"));
    let check = "tests=read word < ../gate; test $word = pass";
    let words = ["start", "Finish", "--session", "s1", "--no-preflight", "--check-timeout", "10m"];
    let text = machine.run(&[&words[..], &["--check", check, "--json"]].concat());
    let view: Value = serde_json::from_str(&text).expect("JSON");
    let id = view["loop"]["id"].as_str().expect("an id");
    let payload = format!(
        "{{\"hook_event_name\":\"Stop\",\"session_id\":\"s1\",\"cwd\":\"{}\",\
         \"last_assistant_message\":\"Finished.\",\"stop_hook_active\":false}}",
        machine.at("project").display()
    );
    let mut command = doors::program("sh");
    machine.furnish(&mut command);
    let line = format!("printf '%s' '{payload}' | {PROGRAM} hook claude");
    assert!(command.args(["-c", &line]).status().expect("it runs").success());
    assert_eq!(machine.state(id), "waiting");
    machine.forget_client();
    machine.until("somebody watches", || machine.watched() == Some(1));
    fs::write(machine.at("gate"), "pass\n").expect("the check reads it");
    machine.until("it is done", || machine.state(id) == "done");
    machine.until("nothing waits, so it leaves", || machine.daemon().is_none());
    assert_eq!(machine.calls(), ["s1 no no"]);
}
