//! `run` with a client that is known: sessions are resumed, prompts are not sent twice.

use std::fs;

use serde_json::json;

use crate::run::{agent, begun, count, ended_well, in_background, is_alive, outcome, text, until};
use crate::stage::Stage;

/// A stand-in that is called as Claude Code is, and speaks as it does.
pub(crate) const CLAUDE: &str = r#"
while [ $# -gt 0 ]; do
  case $1 in
    --session-id) session=$2; how=new; shift;;
    --resume) session=$2; how=resumed; shift;;
    -p) prompt=$2; shift;;
  esac
  shift
done
printf '%s %s %s\n' "$how" "$session" "$(printf '%s' "$prompt" | head -1)" >>$STAGE/turns
n=$(wc -l <$STAGE/turns)
say() { printf '{"session_id":"%s",%s}\n' "$session" "$1"; }
say '"type":"system","subtype":"init"'
hook() {
  printf '{"session_id":"%s","cwd":"%s","hook_event_name":"Stop","stop_hook_active":false,"last_assistant_message":"%s"}' "$session" "$PWD" "$1" | $STOPGATE hook claude >>$STAGE/answers
}
well() { say '"type":"assistant","message":{"model":"m"}'; say "\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"result\":\"$1\""; }
"#;

pub(crate) fn claude(stage: &Stage, body: &str) -> String {
    agent(stage, "claude", &format!("{CLAUDE}{body}"))
}

#[test]
fn a_hook_in_the_session_judges_and_the_driver_does_not_count_twice() {
    let stage = Stage::new();
    let id = begun(&stage, "--max-iterations 9");
    let body = "if [ $n -ge 3 ]; then touch done.txt; fi\nhook 'round over.'\nwell 'round over.'\n";
    let claude = claude(&stage, body);
    let ran = stage.run(&format!("run --headless -- {claude}"));
    ended_well(&ran, 0);
    assert_eq!(count(&stage, "turns", "new "), 3, "{ran}");
    assert_eq!(stage.json(&format!("status {id}"))["loop"]["iteration"], json!(2), "{ran}");
    let answers = text(&stage, "answers");
    assert!(!answers.contains("Loop 1/9"), "the hook hands over: {answers}");
}

#[test]
fn a_session_goes_on_as_long_as_it_should() {
    let stage = Stage::new();
    begun(&stage, "--max-iterations 9");
    let body = "if [ $n -ge 4 ]; then touch done.txt; fi\nwell 'round over.'\n";
    let claude = claude(&stage, body);
    let ran = stage.run(&format!("run --fresh 2 -- {claude}"));
    ended_well(&ran, 0);
    let turns = text(&stage, "turns");
    let how: Vec<&str> = turns.lines().filter_map(|line| line.split(' ').next()).collect();
    assert_eq!(how, ["new", "resumed", "new", "resumed"], "{turns}");
    let session = |at: usize| turns.lines().nth(at).and_then(|line| line.split(' ').nth(1));
    assert!(session(0) == session(1) && session(1) != session(2), "{turns}");
}

/// What the stream says when the plan's window is used up, with a reset that has passed.
const LIMITED: &str = r#"
say '"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":1700000000}'
say '"type":"result","subtype":"success","is_error":true,"terminal_reason":"api_error","api_error_status":429,"result":"limit"'
exit 1
"#;

#[test]
fn a_limit_is_waited_for_and_the_prompt_is_not_sent_again() {
    let stage = Stage::new();
    let id = begun(&stage, "");
    let body = format!("if [ $n = 1 ]; then{LIMITED}fi\ntouch done.txt\nwell 'All done.'\n");
    let claude = claude(&stage, &body);
    let ran = stage.run(&format!("run -- {claude}"));
    ended_well(&ran, 0);
    let turns = text(&stage, "turns");
    assert_eq!(turns.lines().count(), 2, "{turns}");
    assert!(turns.lines().nth(1).is_some_and(|line| line.starts_with("resumed ")), "{turns}");
    assert_eq!(count(&stage, "turns", "Nobody is at the keyboard"), 1, "{turns}");
    assert_eq!(stage.json(&format!("status {id}"))["loop"]["iteration"], json!(0), "not counted");
}

#[test]
fn a_login_that_fails_calls_a_person_at_once() {
    let stage = Stage::new();
    let id = begun(&stage, "");
    let body = "say '\"type\":\"result\",\"is_error\":true,\"api_error_status\":401,\"result\":\"bad key\"'; exit 1\n";
    let claude = claude(&stage, body);
    let ran = stage.run(&format!("run -- {claude}"));
    ended_well(&ran, 4);
    assert_eq!(outcome(&stage, &id), json!("needs_input"), "{ran}");
    assert_eq!(count(&stage, "turns", "\n"), 1);
}

#[test]
fn a_conversation_that_is_too_long_is_begun_afresh_once() {
    let stage = Stage::new();
    let id = begun(&stage, "");
    let body = "say '\"type\":\"result\",\"is_error\":true,\"terminal_reason\":\"prompt_too_long\",\"result\":\"long\"'; exit 1\n";
    let claude = claude(&stage, body);
    ended_well(&stage.run(&format!("run -- {claude}")), 4);
    assert_eq!(outcome(&stage, &id), json!("infra_error"));
    assert_eq!(count(&stage, "turns", "new "), 2);
}

#[test]
fn a_killed_driver_goes_on_with_the_session_it_had() {
    let stage = Stage::new();
    begun(&stage, "");
    let body = "if [ $n = 1 ]; then echo $$ >$STAGE/pid; exec sleep 600; fi\n\
                touch done.txt\nwell 'All done.'\n";
    let claude = claude(&stage, body);
    let mut child = in_background(&stage, &format!("run -- {claude}"));
    until("the session begins", || !text(&stage, "pid").is_empty());
    until("the driver knows", || {
        fs::read_dir(stage.path("home/runs")).is_ok_and(|mut runs| {
            runs.any(|run| {
                let file = run.map(|run| run.path().join("driver.json")).unwrap_or_default();
                fs::read_to_string(file).is_ok_and(|text| text.contains("\"running\""))
            })
        })
    });
    child.kill().expect("kill the driver");
    child.wait().expect("bury the driver");
    let pid = text(&stage, "pid");
    until("the guard ends the session", || !is_alive(&pid));
    let ran = stage.run(&format!("run --continue -- {claude}"));
    ended_well(&ran, 0);
    let turns = text(&stage, "turns");
    assert_eq!(count(&stage, "turns", "Nobody is at the keyboard"), 1, "sent once: {turns}");
    let session = |at: usize| turns.lines().nth(at).and_then(|line| line.split(' ').nth(1));
    assert_eq!(session(0), session(1), "{turns}");
}
