//! Whatever goes wrong lets the agent stop: exit 0, no answer, one line in the log,
//! and the loop stands as it stood.

use std::fmt::Write as _;
use std::fs;
use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

use crate::call::{Answer, Call, Form};
use crate::damage;
use crate::doors;
use crate::stage::{Ran, Stage};

/// One way to go wrong.
pub(crate) struct Case {
    /// What is wrong.
    pub(crate) name: &'static str,
    /// Does it to a loop of session `s1` and lets the hook run.
    pub(crate) act: fn(&Stage) -> Ran,
    /// Part of what the log says about it.
    pub(crate) complaint: &'static str,
}

const fn case(name: &'static str, complaint: &'static str, act: fn(&Stage) -> Ran) -> Case {
    Case { name, act, complaint }
}

/// Everything that is known to go wrong.
const CASES: [Case; 36] = [
    case("empty stdin", "it is empty", |stage| raw(stage, b"")),
    case("blank stdin", "it is empty", |stage| raw(stage, b" \n\n")),
    case("20 MiB stdin", "larger than 16777216 bytes", |stage| raw(stage, &vec![b' '; 20 << 20])),
    case("20 MiB of JSON", "larger than 16777216 bytes", large),
    case("not JSON", "as JSON", |stage| raw(stage, b"stop, please")),
    case("half of the JSON", "as JSON", half),
    case("not UTF-8", "not UTF-8", |stage| raw(stage, b"{\"session_id\":\"\xff\xfe\"}")),
    case("a JSON array", "not an object", |stage| raw(stage, b"[{\"session_id\":\"s1\"}]")),
    case("a JSON string", "not an object", |stage| raw(stage, b"\"s1\"")),
    case("an empty object", "names no session", |stage| raw(stage, b"{}")),
    case("nulls", "names no session", nulls),
    case("wrong types", "names no session", wrong_types),
    case("wrong types but for the session", "names an event", wrong_but_session),
    case("a null message and a null transcript", "names no transcript", |stage| {
        let call = stage.stop_call("s1", "").with("last_assistant_message", Value::Null);
        send(&call.with("transcript_path", Value::Null))
    }),
    case("missing cwd", "names no cwd", |stage| send(&stage.stop_call("s1", "x").without("cwd"))),
    case("empty cwd", "names no cwd", |stage| {
        send(&stage.stop_call("s1", "x").with("cwd", json!("")))
    }),
    case("cwd gone", "is not a directory", |stage| {
        send(&stage.stop_call("s1", "x").with("cwd", json!(stage.path("gone"))))
    }),
    case("transcript missing", "can't be opened", mute),
    case("transcript a directory", "it is a directory", |stage| {
        stage.make_directory(TRANSCRIPT);
        mute(stage)
    }),
    case("transcript a pipe that nobody writes to", "it is a named pipe", |stage| {
        stage.make_directory("user/.claude/projects/-project");
        let made = doors::program("mkfifo").arg(stage.path(TRANSCRIPT)).status();
        assert!(made.is_ok_and(|status| status.success()), "make a pipe");
        mute(stage)
    }),
    case("transcript unreadable", "can't be opened", damage::unreadable_transcript),
    case("transcript binary", "no record that can be read", |stage| {
        let noise: Vec<u8> = (0..=255).rev().cycle().step_by(7).take(200_000).collect();
        stage.write(TRANSCRIPT, noise);
        mute(stage)
    }),
    case("transcript of one line of 50 MB", "no record that can be read", |stage| {
        stage.write(TRANSCRIPT, vec![b'x'; 50_000_000]);
        mute(stage)
    }),
    case("home read-only", "lock", damage::read_only_home),
    case("disk full", "journal", damage::full_disk),
    case("database locked for 10 s", "another process holds it", damage::locked_database),
    case("journal's lock held for 10 s", "another process holds it", damage::locked_lock),
    case("database of garbage", "damaged", damage::garbage),
    case("database truncated", "damaged", damage::truncated),
    case("database cut within its header", "empty or cut short", damage::cut_header),
    case("database emptied", "empty or cut short", damage::emptied),
    case("database gone", "open the journal", damage::gone),
    case("database of a newer format", "its format is 99", damage::newer),
    case("one corrupt field in the record", "its record is damaged", damage::corrupt_field),
    case("clock in 1970", "the clock is wrong", |stage| {
        send(&stage.stop_call("s1", "x").var("STOPGATE_TEST_CLOCK", "0"))
    }),
    case("no home at all", "HOME is not set", |stage| {
        let call = stage.stop_call("s1", "x").no_var("HOME").no_var("STOPGATE_HOME");
        send(&call)
    }),
];

const TRANSCRIPT: &str = "user/.claude/projects/-project/s1.jsonl";

#[test]
fn every_fault_lets_the_agent_stop_and_leaves_the_loop_alone() {
    let next = AtomicUsize::new(0);
    let mut trouble = String::new();
    let found: Vec<(&str, String)> = std::thread::scope(|scope| {
        // Two cases only wait: more hands than cores.
        let hands: Vec<_> = (0..4).map(|_| scope.spawn(|| work_through(&next))).collect();
        hands.into_iter().flat_map(|hand| hand.join().expect("a hand")).collect()
    });
    for (name, what) in found {
        let _ = writeln!(trouble, "{name}: {what}");
    }
    assert!(trouble.is_empty(), "\n{trouble}");
}

fn work_through(next: &AtomicUsize) -> Vec<(&'static str, String)> {
    let mut trouble = Vec::new();
    while let Some(case) = CASES.get(next.fetch_add(1, Ordering::SeqCst)) {
        if let Err(error) = panic::catch_unwind(AssertUnwindSafe(|| check(case))) {
            let text = error.downcast_ref::<String>().cloned();
            let text = text.or_else(|| error.downcast_ref::<&str>().map(ToString::to_string));
            trouble.push((case.name, text.unwrap_or_default()));
        }
    }
    trouble
}

/// The agent may stop: nothing is said, or the person is told that the journal can't be used.
#[track_caller]
pub(crate) fn lets_go(answer: &str) {
    if !answer.is_empty() {
        let told = Answer::read("Stop", answer);
        assert!(told.form == Form::Tell && told.text.contains("the gate is open"), "{told}");
    }
}

fn check(case: &Case) {
    let stage = Stage::with_loop("Finish");
    assert!(stage.stop("s1", "zero").is_sent_back());
    let ran = (case.act)(&stage);
    assert_eq!(ran.code, 0, "{ran}");
    lets_go(&ran.out);
    let mut complaints = stage.complaints();
    complaints.extend(ran.err.lines().map(String::from));
    assert_eq!(complaints.len(), 1, "one line each: {complaints:#?}");
    assert!(complaints[0].contains(case.complaint), "{complaints:?}");
    let _ = fs::remove_file(stage.path("home/stopgate.log"));
    assert_eq!(stage.standing("1stage0000"), "active 1/20 s1");
    let next = stage.stop("s1", "The world is well again.");
    assert_eq!(next.brief(), "Loop 2/20: not finished yet");
}

fn send(call: &Call<'_>) -> Ran {
    call.send_bytes(&call.bytes())
}

fn raw(stage: &Stage, bytes: &[u8]) -> Ran {
    stage.stop_call("s1", "").send_bytes(bytes)
}

/// A stop whose payload has no last message.
pub(crate) fn mute_call(stage: &Stage) -> Call<'_> {
    stage.stop_call("s1", "").without("last_assistant_message")
}

fn mute(stage: &Stage) -> Ran {
    send(&mute_call(stage))
}

fn large(stage: &Stage) -> Ran {
    send(&stage.stop_call("s1", &"x".repeat(20 << 20)))
}

fn half(stage: &Stage) -> Ran {
    let bytes = stage.stop_call("s1", "a message").bytes();
    raw(stage, &bytes[..bytes.len() / 2])
}

/// The payload with every field put in the place of its value.
fn all_fields(value: impl Fn(&str) -> Value) -> Vec<u8> {
    let names = [
        "session_id",
        "transcript_path",
        "cwd",
        "prompt_id",
        "permission_mode",
        "hook_event_name",
        "stop_hook_active",
        "last_assistant_message",
        "background_tasks",
        "session_crons",
    ];
    let fields = names.map(|name| (name.to_string(), value(name)));
    Value::Object(fields.into_iter().collect()).to_string().into_bytes()
}

fn nulls(stage: &Stage) -> Ran {
    raw(stage, &all_fields(|_| Value::Null))
}

fn wrong_types(stage: &Stage) -> Ran {
    raw(stage, &all_fields(|name| json!([{ "name": name }, 5, true])))
}

fn wrong_but_session(stage: &Stage) -> Ran {
    let field = |name: &str| if name == "session_id" { json!("s1") } else { json!({"a": 5}) };
    raw(stage, &all_fields(field))
}

#[test]
fn a_fault_is_logged_as_one_line_of_json() {
    let stage = Stage::with_loop("Finish");
    mute(&stage);
    let line = stage.complaints().pop().expect("one line");
    let line: Value = serde_json::from_str(&line).expect("JSON");
    insta::assert_snapshot!(serde_json::to_string_pretty(&line).expect("JSON"), @r#"
    {
      "at": "2026-11-15T06:00:00Z",
      "level": "warn",
      "message": "could not tell what the agent said: the payload has no last message, and the transcript $STAGE/user/.claude/projects/-project/s1.jsonl can't be opened: No such file or directory (os error 2)",
      "session": "s1"
    }
    "#);
}

#[test]
fn the_log_may_be_put_elsewhere_and_does_not_grow_for_ever() {
    let stage = Stage::with_loop("Finish");
    let log = stage.path("user/own.log");
    fs::write(&log, "x".repeat(1_100_000)).expect("a long log");
    let call = mute_call(&stage).var("STOPGATE_LOG", &log.display().to_string());
    assert_eq!(send(&call).code, 0);
    assert_eq!(stage.complaints(), Vec::<String>::new());
    assert_eq!(fs::read_to_string(&log).expect("the log").lines().count(), 1);
    assert!(stage.path("user/own.log.1").exists(), "the old one is kept once");
}

#[test]
fn a_fault_of_a_session_without_a_loop_lets_it_stop_too() {
    let stage = Stage::with_loop("Finish");
    let call = stage.stop_call("s9", "").without("last_assistant_message");
    let ran = send(&call);
    assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (0, "", ""));
}
