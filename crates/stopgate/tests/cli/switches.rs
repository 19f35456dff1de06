//! Ways out that work whatever state the rest is in.

use std::fs;
use std::io::Write;
use std::time::Duration;

use insta::assert_snapshot;

use crate::call::Call;
use crate::doors;
use crate::stage::{Stage, begin};

/// A hook whose input stays open must still come back: it must not read it.
#[track_caller]
fn returns_without_reading(call: &Call<'_>) {
    let mut child = begin(&mut call.command());
    let kept_open = child.stdin.take();
    let begun = doors::now();
    let status = loop {
        if let Some(status) = child.try_wait().expect("look at the hook") {
            break status;
        }
        if begun.elapsed() > Duration::from_secs(20) {
            child.kill().expect("end the hook");
            panic!("the hook waits for its input although a kill switch is thrown");
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    drop(kept_open);
    let output = child.wait_with_output().expect("read what it printed");
    assert!(status.success() && output.stdout.is_empty() && output.stderr.is_empty());
}

#[test]
fn a_kill_switch_allows_before_the_input_is_read() {
    let stage = Stage::with_loop("Finish");
    let call = stage.stop_call("s1", "one");
    returns_without_reading(&call.clone().var("STOPGATE_DISABLE", "1"));
    returns_without_reading(&call.clone().var("IDLE_LOOP_DISABLE", "1"));
    stage.write("home/STOP", "");
    returns_without_reading(&call);
    std::fs::remove_file(stage.path("home/STOP")).expect("take the switch back");
    assert_eq!(stage.standing("1stage0000"), "active 0/20 s1");
    assert_eq!(stage.complaints(), Vec::<String>::new());
    assert!(call.send().is_sent_back());
}

#[test]
fn a_switch_that_is_off_switches_nothing() {
    let stage = Stage::with_loop("Finish --max-idle 0");
    for value in ["0", ""] {
        let call = stage.stop_call("s1", "one").var("STOPGATE_DISABLE", value);
        assert!(call.var("IDLE_LOOP_DISABLE", value).send().is_sent_back());
    }
}

#[test]
fn an_agent_that_a_check_starts_is_not_held() {
    let stage = Stage::new();
    let inner = stage.stop_call("s1", "Inside a check.");
    stage.write("project/payload", inner.bytes());
    let program = crate::stage::PROGRAM;
    let check = format!("test -z \"$({program} hook claude <payload)\"");
    stage.start(&format!("Finish --check inside='{check}' --session s1"));
    stage.stop("s1", "one");
    assert_eq!(stage.standing("1stage0000"), "done 0/20 s1");
    let history = stage.history("1stage0000");
    let stops = history.lines().filter(|line| line.starts_with("stopped")).count();
    assert_eq!(stops, 1, "the inner stop left no trace: {history}");
}

/// Esc in the client ends the hook's process group while a check runs.
#[test]
fn a_hook_that_is_ended_ends_its_check_and_counts_nothing() {
    use rustix::process::{Pid, Signal, kill_process, test_kill_process};
    let stage = Stage::with_loop(
        "Finish --no-preflight --check slow='echo $$ >begun; mv begun pid; sleep 60'",
    );
    let call = stage.stop_call("s1", "one");
    let mut child = begin(&mut call.command());
    child.stdin.take().expect("its input").write_all(&call.bytes()).expect("the payload");
    let pid = stage.path("project/pid");
    while !pid.exists() && child.try_wait().expect("look at the hook").is_none() {
        std::thread::sleep(Duration::from_millis(5));
    }
    let check: i32 =
        fs::read_to_string(pid).expect("the check runs").trim().parse().expect("a pid");
    let hook = i32::try_from(child.id()).ok().and_then(Pid::from_raw).expect("a pid");
    kill_process(hook, Signal::TERM).expect("end the hook");
    let ran = stage.end(child, b"");
    assert_eq!((ran.code, ran.out.as_str()), (0, ""), "{ran}");
    let check = Pid::from_raw(check).expect("a pid");
    assert!(test_kill_process(check).is_err(), "the check went with its hook");
    assert_eq!(stage.standing("1stage0000"), "active 0/20 s1");
}

#[test]
fn a_shadow_decides_and_records_and_always_allows() {
    let stage = Stage::with_loop("Finish --max-iterations 2 --max-idle 0 --shadow");
    assert_snapshot!(stage.stop("s1", "one"), @"allowed");
    assert_snapshot!(stage.stop("s1", "two"), @"allowed");
    assert_eq!(stage.standing("1stage0000"), "active 2/2 s1");
    assert_snapshot!(stage.history("1stage0000"), @"
    started: Finish
    stopped: sent back: Loop 1/2: not finished yet
    stopped: sent back: Loop 2/2: not finished yet
    ");
    let stage = Stage::with_loop("Finish");
    let call = stage.stop_call("s1", "one").arg("--shadow");
    assert_snapshot!(call.send(), @"allowed");
    assert_eq!(stage.standing("1stage0000"), "active 1/20 s1");
    assert!(stage.stop("s1", "two").is_sent_back());
}

#[test]
fn an_unknown_agent_or_argument_allows_and_complains() {
    let stage = Stage::with_loop("Finish");
    for line in ["hook", "hook nobody", "hook claude --frobnicate"] {
        let mut command = stage.command(line);
        command.env("CLAUDE_CODE_SESSION_ID", "s1");
        let ran = stage.finish(command, &stage.stop_call("s1", "one").bytes());
        assert_eq!((ran.code, ran.out.as_str()), (0, ""), "{line}: {ran}");
        assert!(ran.err.starts_with("stopgate hook: "), "{line}: {ran}");
    }
    assert_eq!(stage.complaints().len(), 3);
    assert_eq!(stage.standing("1stage0000"), "active 0/20 s1");
}

/// Starts a command, waits for `sign` to appear, interrupts it, and says how it ended.
fn interrupted(stage: &Stage, line: &str, sign: &dyn Fn() -> bool) -> (Option<i32>, String) {
    let mut command = stage.command(line);
    command.env("TMPDIR", stage.path("tmp"));
    let child = begin(&mut command);
    let begun = doors::now();
    while !sign() {
        assert!(begun.elapsed() < Duration::from_secs(20), "{line}: it never got going");
        std::thread::sleep(Duration::from_millis(5));
    }
    let pid = i32::try_from(child.id()).expect("a process has a number");
    let pid = rustix::process::Pid::from_raw(pid).expect("a process");
    rustix::process::kill_process(pid, rustix::process::Signal::INT).expect("interrupt it");
    let ended = child.wait_with_output().expect("wait for it");
    (ended.status.code(), String::from_utf8_lossy(&ended.stderr).into_owned())
}

#[test]
fn an_interrupt_is_130_and_leaves_nothing_behind() {
    let stage = Stage::with_loop("Finish --no-preflight --check 'slow=touch began; sleep 60'");
    stage.make_directory("tmp");
    let began = stage.path("project/began");
    let (code, said) = interrupted(&stage, "verify", &|| began.exists());
    assert_eq!(code, Some(130), "{said}");
    let files = || fs::read_dir(stage.path("tmp")).expect("a directory").count();
    for line in ["try", "doctor"] {
        let (code, said) = interrupted(&stage, line, &|| files() > 0);
        // A fast process had ended before.
        assert!(matches!(code, Some(130 | 0 | 1)), "{line}: {code:?}: {said}");
        // What a hook was using when it was ended is removed by its leash, a moment later.
        let since = doors::now();
        while files() > 0 {
            assert!(since.elapsed() < Duration::from_secs(20), "{line} left something behind");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}
