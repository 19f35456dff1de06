//! A call that something keeps waiting: its agent may stop, and the call ends by itself.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Stdio};

use serde_json::Value;

use crate::doors;
use crate::hostile::{pipe, within};
use crate::stage::{Stage, begin};

/// Opening a file under a lease waits until its holder gives it back: a disk that hangs.
#[cfg(target_os = "linux")]
struct Lease {
    holder: Child,
}

#[cfg(target_os = "linux")]
impl Lease {
    fn on(path: &Path) -> Self {
        const HOLD: &str = "import fcntl, os, signal, sys\n\
            signal.signal(signal.SIGIO, signal.SIG_IGN)\n\
            file = os.open(sys.argv[1], os.O_RDWR)\n\
            fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_WRLCK)\n\
            print('held', flush=True)\n\
            sys.stdin.read()\n";
        let mut command = doors::program("python3");
        command.args(["-c", HOLD]).arg(path).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut holder = command.spawn().expect("python3 holds the lease");
        let mut said = String::new();
        let mut out = BufReader::new(holder.stdout.take().expect("its output"));
        out.read_line(&mut said).expect("wait for the lease");
        assert_eq!(said, "held\n", "a lease on {}", path.display());
        Self { holder }
    }
}

#[cfg(target_os = "linux")]
impl Drop for Lease {
    fn drop(&mut self) {
        let _ = self.holder.kill();
        let _ = self.holder.wait();
    }
}

/// Nothing but the watchdog can answer: the hook itself waits in the kernel.
#[test]
#[cfg(target_os = "linux")]
fn a_disk_that_hangs_lets_the_agent_stop() {
    let stage = Stage::with_loop("Finish");
    assert!(stage.stop("s1", "one").is_sent_back());
    let before = stage.history("1stage0000");
    let lease = Lease::on(&stage.path("home/journal.db"));
    let call = stage.stop_call("s1", "two");
    let ran = within(&stage, call.command(), &call.bytes(), "a disk that hangs");
    assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (0, "", ""), "{ran}");
    drop(lease);
    let told = stage.complaints().concat();
    assert!(told.contains("no answer in time"), "only the watchdog says that: {told}");
    assert_eq!(stage.history("1stage0000"), before, "nothing was decided");
}

/// A dialect's own way of allowing is used: some clients wait for a word.
#[test]
#[cfg(target_os = "linux")]
fn a_disk_that_hangs_lets_the_agent_of_a_dialect_stop() {
    let stage = Stage::with_loop("Finish");
    stage.write("project/.loop/state.json", "{\"status\":\"in_progress\",\"criteria\":[]}");
    let _lease = Lease::on(&stage.path("home/journal.db"));
    let call = stage.stop_call("s1", "two").arg("--dialect").arg("criteria");
    let ran = within(&stage, call.command(), &call.bytes(), "a disk that hangs");
    assert_eq!(ran.code, 0, "{ran}");
    let said: Value = serde_json::from_str(&ran.out).expect("one JSON value");
    assert_eq!(said["ok"], true, "{ran}");
    let told = stage.complaints().concat();
    assert!(told.contains("no answer in time"), "only the watchdog says that: {told}");
}

/// A client that never closes the pipe is answered by what it sent.
#[test]
fn a_payload_without_an_end_is_answered() {
    let stage = Stage::with_loop("Finish");
    let call = stage.stop_call("s1", "one");
    let (whole, cut) = (call.bytes(), call.bytes()[..20].to_vec());
    for (sent, is_sent_back) in [(whole, true), (cut, false)] {
        let mut child = begin(&mut call.command());
        let mut pipe = child.stdin.take().expect("its input");
        std::io::Write::write_all(&mut pipe, &sent).expect("hand it over");
        let mut said = String::new();
        let mut out = child.stdout.take().expect("its output");
        out.read_to_string(&mut said).expect("its answer");
        let ended = child.wait().expect("its end");
        drop(pipe);
        assert!(ended.success(), "{ended}");
        assert_eq!(said.contains("not finished yet"), is_sent_back, "{said}");
    }
}

/// Files that dialects and the hook's settings have in a project.
const PLACES: [&str; 10] = [
    ".claude/data/ralph-loops/current/feature_list.json",
    ".claude/data/ralph-loops/current/progress.txt",
    ".claude/data/ralph-loops/current/hook.log",
    ".claude/data/ralph-loops/current",
    ".loop/state.json",
    ".claude/idle-loop.local.md",
    ".claude/ralph-loop.local.md",
    ".claude/settings.json",
    ".claude/settings.local.json",
    "task.json",
];

#[test]
fn no_pipe_among_a_dialect_s_files_is_waited_for() {
    for place in PLACES {
        let stage = Stage::new();
        let list = "{\"features\":[{\"id\":\"a\",\"description\":\"b\",\"passes\":false}]}";
        stage.write("project/.claude/data/ralph-loops/current/feature_list.json", list);
        stage.write("project/.claude/data/ralph-loops/current/progress.txt", "Iteration: 1 / 5\n");
        stage.write("project/.loop/state.json", "{}");
        pipe(&stage.path("project").join(place));
        for dialect in ["features", "criteria", "idle", "ralph-loop", "task"] {
            let mut call = stage.stop_call("s1", "Done.").arg("--dialect").arg(dialect);
            if dialect == "task" {
                call = call.arg("--task-file").arg("task.json");
            }
            let about = format!("{place}, {dialect}");
            let ran = within(&stage, call.command(), &call.bytes(), &about);
            assert!([0, 2].contains(&ran.code), "{about}: {ran}");
        }
        for line in ["features check", "doctor", "status --dialect features"] {
            let ran = within(&stage, stage.command(line), b"", &format!("{place}, {line}"));
            assert!(ran.code >= 0, "{place}, {line}: {ran}");
        }
    }
}

/// A log that leads out of the project is not written through.
#[test]
fn a_link_in_place_of_a_dialect_s_log_is_not_written_through() {
    let stage = Stage::new();
    let directory = "project/.claude/data/ralph-loops/current";
    let list = "{\"features\":[{\"id\":\"a\",\"description\":\"b\",\"passes\":false}]}";
    stage.write(&format!("{directory}/feature_list.json"), list);
    stage.write(&format!("{directory}/progress.txt"), "Iteration: 1 / 5\n");
    stage.write("user/.profile", "mine\n");
    let log = stage.path(&format!("{directory}/hook.log"));
    std::os::unix::fs::symlink(stage.path("user/.profile"), &log).expect("plant a link");
    let call = stage.stop_call("s1", "Done.").arg("--dialect").arg("features");
    let ran = call.send_bytes(&call.bytes());
    assert!(ran.out.contains("block"), "{ran}");
    let kept = std::fs::read_to_string(stage.path("user/.profile")).expect("read it");
    assert_eq!(kept, "mine\n");
}

/// An agent can put anything in the place of the journal: every call ends, and names the exits.
#[test]
fn no_pipe_among_our_own_files_is_waited_for() {
    for name in ["journal.db", "journal.db-wal", "journal.lock", "stopgate.log", "keys"] {
        let stage = Stage::with_loop("Finish");
        pipe(&stage.path("home").join(name));
        let call = stage.stop_call("s1", "Done.");
        let ran = within(&stage, call.command(), &call.bytes(), name);
        assert_eq!(ran.code, 0, "{name}: {ran}");
        for line in ["status", "list", "start x --session s2", "cancel 1stage0000"] {
            let ran = within(&stage, stage.command(line), b"", &format!("{name}, {line}"));
            assert!([0, 74].contains(&ran.code), "{name}, {line}: {ran}");
            if line.starts_with("cancel") && ran.code != 0 {
                assert!(ran.err.contains("STOP"), "{name}: {ran}");
            }
        }
    }
}

/// A check that does whatever a program can do to stay, or to flood us.
#[test]
fn no_check_can_hold_a_stop() {
    for (about, line) in [
        ("prints without an end", "yes"),
        ("prints without a line", "cat /dev/zero"),
        ("ignores the polite signal", "trap '' TERM INT HUP; while :; do sleep 1; done"),
        ("leaves its session", "setsid sh -c 'sleep 300' & sleep 300"),
        ("forks twice", "( ( sleep 300 & ) & ); sleep 300"),
        ("closes its output", "exec >&- 2>&-; sleep 300"),
        ("stops itself", "kill -STOP $$"),
        ("prints escape sequences", "printf '\\033]0;x\\007\\033[2J\\342\\200\\256'; exit 1"),
    ] {
        let stage = Stage::new();
        let mut start =
            stage.command("start Finish --session s1 --check-timeout 2s --no-preflight");
        start.arg("--check").arg(format!("a={line}"));
        let ran = stage.finish(start, b"");
        assert_eq!(ran.code, 0, "{about}: {ran}");
        let call = stage.stop_call("s1", "Done.");
        let ran = within(&stage, call.command(), &call.bytes(), about);
        assert_eq!(ran.code, 0, "{about}: {ran}");
        assert!(ran.out.contains("1 of 1 criteria unmet"), "{about}: {ran}");
        assert!(!ran.out.contains("\\u001b") && !ran.out.contains('\u{202e}'), "{about}: {ran}");
    }
}
