//! Stops of Cursor, as its documentation describes them.

use super::*;

fn event(status: &str) -> HookEvent {
    let payload = serde_json::json!({
        "conversation_id": "c1", "hook_event_name": "stop", "cursor_version": "3", "status": status,
        "workspace_roots": ["/p"], "loop_count": 2, "transcript_path": "/t",
    });
    let payload = payload.to_string();
    let call = parse(payload.as_bytes(), None).unwrap();
    assert_eq!(
        (&*call.session, call.cwd.as_deref(), call.continued),
        ("c1", Some("/p"), Some(true))
    );
    call.event
}

#[test]
fn only_a_completed_turn_is_a_stop() {
    assert_eq!(event("completed"), HookEvent::Stop);
    assert_eq!(event("aborted"), HookEvent::Other);
    assert_eq!(event("error"), HookEvent::Other);
}

#[test]
fn it_goes_on_by_a_follow_up_and_knows_nothing_else() {
    let said = |answer| render(&answer, Client::default()).stdout;
    assert_eq!(said(AgentAnswer::Continue("go on")), "{\"followup_message\":\"go on\"}\n");
    for answer in [
        AgentAnswer::Allow,
        AgentAnswer::Tell("x"),
        AgentAnswer::Ended("x"),
        AgentAnswer::Continue(""),
    ] {
        assert_eq!(said(answer), "{}\n");
    }
}
