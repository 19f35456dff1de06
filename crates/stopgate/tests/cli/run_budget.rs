//! `run` counts what its sessions use, with no hook to do so, and holds the loop's limits.

use std::fs;

use serde_json::{Value, json};

use crate::doors;
use crate::run::{agent, begun, count, ended_well, in_background, outcome, text, until};
use crate::run_clients::claude;
use crate::stage::{PROGRAM, Stage};

/// A stand-in for Claude Code whose n-th turn writes `$1` tokens to its transcript.
const USES: &str = r#"
uses() {
  mkdir -p "$HOME/.claude/projects/-project"
  printf '{"type":"assistant","timestamp":"2026-11-15T06:00:01.000Z","message":{"id":"%s-%s","model":"%s","content":[],"usage":{"input_tokens":%s,"output_tokens":0}}}\n' "$session" "$n" "${model:-opus}" "$1" >>"$HOME/.claude/projects/-project/$session.jsonl"
}
"#;

fn spender(stage: &Stage, body: &str) -> String {
    claude(stage, &format!("{USES}{body}"))
}

fn budget(stage: &Stage, id: &str) -> Value {
    stage.json(&format!("status {id}"))["loop"]["budget"].clone()
}

#[test]
fn a_limit_holds_without_a_hook_and_is_passed_by_one_turn_at_most() {
    let stage = Stage::new();
    let id = begun(&stage, "--max-iterations 20 --max-tokens 1000");
    let claude = spender(&stage, "uses 400\nwell 'round over.'\n");
    let ran = stage.run(&format!("run -- {claude}"));
    ended_well(&ran, 3);
    assert_eq!(outcome(&stage, &id), json!("budget"), "{ran}");
    assert_eq!(count(&stage, "turns", "new "), 3, "{ran}");
    let budget = budget(&stage, &id);
    assert_eq!((&budget["tokens"], &budget["measured"]), (&json!(1200), &json!(true)));
    assert!(ran.err.contains("800 of 1.0 k tokens"), "the spend is on screen: {ran}");
}

#[test]
fn turns_that_were_killed_are_counted_and_no_other_follows_beyond_the_limit() {
    let stage = Stage::new();
    let id = begun(&stage, "--max-tokens 1000");
    let claude = spender(&stage, "uses 600\nkill -9 $$\n");
    let ran = stage.run(&format!("run --max-failures 9 --retry-after 1ms -- {claude}"));
    ended_well(&ran, 3);
    assert_eq!(outcome(&stage, &id), json!("budget"), "{ran}");
    assert_eq!(count(&stage, "turns", "\n"), 2, "{ran}");
    assert_eq!(budget(&stage, &id)["tokens"], json!(1200), "{ran}");
}

#[test]
fn what_a_session_used_whose_driver_was_killed_counts_when_it_goes_on() {
    let stage = Stage::new();
    let id = begun(&stage, "--max-tokens 1000");
    let claude = spender(&stage, "uses 1500\necho x >$STAGE/used; exec sleep 600\n");
    let mut child = in_background(&stage, &format!("run -- {claude}"));
    until("the session has used something", || !text(&stage, "used").is_empty());
    until("the driver knows", || {
        let runs = fs::read_dir(stage.path("home/runs")).into_iter().flatten().flatten();
        let records =
            runs.filter_map(|run| fs::read_to_string(run.path().join("driver.json")).ok());
        records.into_iter().any(|record| record.contains("\"running\""))
    });
    child.kill().expect("kill the driver");
    child.wait().expect("bury the driver");
    let ran = stage.run(&format!("run {id} --continue -- {claude}"));
    ended_well(&ran, 3);
    assert_eq!(count(&stage, "turns", "\n"), 1, "no other turn begins: {ran}");
    assert_eq!(outcome(&stage, &id), json!("budget"), "{ran}");
    assert_eq!(budget(&stage, &id)["tokens"], json!(1500), "{ran}");
}

#[test]
fn a_loop_without_limits_is_counted_over_all_its_sessions() {
    let stage = Stage::new();
    let id = begun(&stage, "");
    let claude =
        spender(&stage, "uses 100\nif [ $n -ge 3 ]; then touch done.txt; fi\nwell 'round over.'\n");
    ended_well(&stage.run(&format!("run -- {claude}")), 0);
    let budget = budget(&stage, &id);
    assert_eq!((&budget["tokens"], &budget["measured"]), (&json!(300), &json!(true)));
}

#[test]
fn the_hook_and_the_driver_count_a_turn_once() {
    let stage = Stage::new();
    let id = begun(&stage, "--max-tokens 1000");
    let claude = spender(&stage, "uses 400\nhook 'round over.'\nwell 'round over.'\n");
    ended_well(&stage.run(&format!("run -- {claude}")), 3);
    assert_eq!(budget(&stage, &id)["tokens"], json!(1200));
}

/// How many bytes a stop reads of a transcript that is so long, at the first stop and at the next.
fn bytes_read(before: usize) -> [u64; 2] {
    let stage = Stage::with_loop("Finish --max-tokens 1000000");
    let transcript = "user/.claude/projects/-project/s1.jsonl";
    let answer = |at: &str, id: &str, text: &str| {
        json!({
            "type": "assistant", "timestamp": at,
            "message": {
                "id": id, "model": "opus", "content": [{"type": "text", "text": text}],
                "usage": {"input_tokens": 1, "output_tokens": 1},
            },
        })
        .to_string()
            + "\n"
    };
    let old = answer("2026-11-14T06:00:00.000Z", "old", &"x".repeat(4000));
    let mut text = old.repeat(before / old.len());
    [1, 2].map(|stop| {
        text += &answer("2026-11-15T06:00:01.000Z", &format!("new-{stop}"), "Still at it.");
        stage.write(transcript, &text);
        let call = json!({
            "session_id": "s1", "transcript_path": stage.path(transcript),
            "cwd": stage.path("project"), "hook_event_name": "Stop", "stop_hook_active": false,
            "last_assistant_message": "Still at it.",
        });
        let mut shell = doors::program("sh");
        stage.furnish(&mut shell);
        shell.args(["-c", &format!("{PROGRAM} hook claude >/dev/null; cat /proc/$$/io")]);
        let told = stage.finish(shell, call.to_string().as_bytes());
        let read = told.out.lines().find_map(|line| line.strip_prefix("rchar: "));
        read.and_then(|read| read.trim().parse().ok()).expect("a count of bytes")
    })
}

#[test]
#[cfg(target_os = "linux")]
fn a_long_transcript_is_not_read_again_at_each_stop() {
    let (short, long) = (bytes_read(1 << 20), bytes_read(48 << 20));
    assert!(long[0] < 4 << 20, "the first stop seeks the loop's beginning: {long:?}");
    assert!(long[1] < short[1] + 64 * 1024, "{long:?} instead of {short:?}");
}

/// A stand-in for `OpenCode`, which keeps no record that can be read.
const OPENCODE: &str = r#"
echo x >>$STAGE/turns
say() { printf '{"sessionID":"ses_1","type":"%s","part":%s}\n' "$1" "$2"; }
say step_start '{}'
say text '{"text":"round over."}'
say step_finish '{"reason":"tool-calls","tokens":{"total":110,"input":50,"output":20,"reasoning":10,"cache":{"read":30,"write":0}},"cost":0.25}'
say step_finish '{"reason":"stop","tokens":{"total":90,"input":60,"output":30,"reasoning":0,"cache":{"read":0,"write":0}},"cost":0.25}'
"#;

#[test]
fn what_stands_only_in_the_output_is_counted_too() {
    let stage = Stage::new();
    let id = begun(&stage, "--max-tokens 1000 --max-cost 1");
    let opencode = agent(&stage, "opencode", OPENCODE);
    let ran = stage.run(&format!("run -- {opencode} -m fake/large"));
    ended_well(&ran, 3);
    let budget = budget(&stage, &id);
    assert_eq!(text(&stage, "turns").lines().count(), 2, "half a dollar each: {ran}");
    assert_eq!((&budget["tokens"], &budget["measured"]), (&json!(400), &json!(true)), "{ran}");
    assert_eq!(
        (&budget["cost_usd"], &budget["models"][0]["model"]),
        (&json!(1.0), &json!("fake/large"))
    );
}

#[test]
fn a_price_is_missed_only_where_it_is_unknown() {
    let stage = Stage::new();
    let ran = stage.run("start --max-cost 5 --check 'made=test -f done.txt' 'make the file'");
    assert!(!ran.err.contains("price"), "nothing is known to be missing: {ran}");
    let claude = spender(&stage, "model=homemade\nuses 10\ntouch done.txt\nwell 'All done.'\n");
    let named = stage.run(&format!("run --model claude-opus-4-5 --headless -- {claude}"));
    ended_well(&named, 0);
    assert!(!named.err.contains("no price is known"), "{named}");
    let again = stage.run("start --max-cost 5 'make the file'");
    assert!(again.err.contains("no price is known for homemade"), "{again}");
    let named = stage.run("run --model other --headless -- true");
    assert!(named.err.contains("no price is known for homemade, other"), "{named}");
}
