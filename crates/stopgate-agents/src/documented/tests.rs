//! Agents that nobody here has seen run.

use super::*;

#[test]
fn antigravity_is_asked_only_when_all_rests_and_always_hears_a_decision() {
    let event = |idle: bool, error: &str| {
        let payload = serde_json::json!({
            "conversationId": "c1", "workspacePaths": ["/p"], "transcriptPath": "/t",
            "terminationReason": "completed", "error": error, "fullyIdle": idle,
        });
        let payload = payload.to_string();
        parse_antigravity(payload.as_bytes(), None).unwrap().event
    };
    assert_eq!(event(true, ""), HookEvent::Stop);
    assert_eq!(event(false, ""), HookEvent::Other);
    assert_eq!(event(true, "quota"), HookEvent::Other);
    let said = |answer| render_antigravity(&answer, Client::default()).stdout;
    assert_eq!(
        said(AgentAnswer::Continue("go")),
        "{\"decision\":\"continue\",\"reason\":\"go\"}\n"
    );
    assert_eq!(said(AgentAnswer::Allow), "{\"decision\":\"stop\"}\n");
}

#[test]
fn grok_is_understood_in_camel_case() {
    let payload =
        r#"{"sessionId":"g1","hookEventName":"Stop","workspaceRoot":"/p","stopHookActive":true}"#;
    let call = parse_grok(payload.as_bytes(), None).unwrap();
    assert_eq!((call.event, &*call.session, call.continued), (HookEvent::Stop, "g1", Some(true)));
    assert_eq!(call.cwd.as_deref(), Some("/p"));
}
