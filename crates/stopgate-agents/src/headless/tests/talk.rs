//! Clients that wait without a word, and one that asks its host.

use std::time::Duration;

use serde_json::{Value, json};

use super::turn;
use crate::headless::StreamReader;
use crate::{Agent, ClientExit, FailureClass, QuestionHabit, StreamFact, TurnHelper, TurnSession};

const MINUTE: Duration = Duration::from_mins(1);

fn reader(agent: Agent) -> StreamReader {
    agent.headless().unwrap().reader()
}

#[test]
fn opencode_says_in_its_log_why_it_waits() {
    let mut opencode = reader(Agent::OpenCode);
    opencode.error_line(
        "timestamp=2026-11-16T04:13:33.147Z level=INFO run=1 message=loop session.id=ses_1 step=0",
    );
    assert_eq!(opencode.session(), Some("ses_1"));
    opencode.error_line(
        "timestamp=2026-11-16T04:13:42.092Z level=ERROR run=1 message=\"stream error\" \
         providerID=p modelID=m session.id=ses_1 small=false agent=build mode=primary \
         error.error=\"AI_APICallError: Rate limit reached\"",
    );
    assert!(opencode.gives_up(Duration::from_secs(59)).is_none());
    let failure = opencode.gives_up(MINUTE).expect("it waits");
    assert_eq!(failure.class, FailureClass::RateLimit);
    assert!(failure.message.ends_with("AI_APICallError: Rate limit reached"), "{failure:?}");
    let report = opencode.report(ClientExit::Signal);
    assert!(report.can_resume, "the log names the session");
    assert_eq!(report.end.unwrap_err().message, "", "a log is not a client's last word");
}

#[test]
fn an_error_without_a_name_is_told_when_a_client_hangs() {
    let mut opencode = reader(Agent::OpenCode);
    opencode.error_line(
        "timestamp=1 level=ERROR run=1 message=\"stream error\" error.error=\"AI_Error: sorry\"",
    );
    assert!(opencode.gives_up(MINUTE).is_none());
    let failure = opencode.hang(MINUTE * 6);
    assert_eq!(failure.class, FailureClass::Hang);
    assert!(failure.message.contains("AI_Error: sorry; the client may be waiting"), "{failure:?}");
    let quiet = reader(Agent::Claude).hang(MINUTE);
    assert_eq!(quiet.message, "no output for 60 s");
}

#[test]
fn qwen_says_in_its_transcript_why_it_waits() {
    let record = |name: &str, status: u64| {
        let event = json!({"event.name": name, "status_code": status, "error_message": "429 slow"});
        let line = json!({"type": "system", "systemPayload": {"uiEvent": event}});
        line.to_string().into_bytes()
    };
    let mut qwen = reader(Agent::Qwen);
    qwen.record_line(&record("qwen-code.api_error", 429));
    let failure = qwen.gives_up(MINUTE).expect("it waits");
    assert_eq!(failure.class, FailureClass::RateLimit);
    assert_eq!(qwen.hang(MINUTE).class, FailureClass::RateLimit);
    qwen.record_line(&record("qwen-code.api_response", 200));
    assert!(qwen.gives_up(MINUTE).is_none(), "it answered after all");
    qwen.record_line(&record("qwen-code.api_error", 429));
    qwen.record_line(br#"{"type":"user"}"#);
    assert!(qwen.gives_up(MINUTE).is_none(), "that was about an earlier prompt");
}

fn request(tool: &str, input: &Value) -> Vec<u8> {
    let request = json!({"subtype": "can_use_tool", "tool_name": tool, "input": input});
    let event = json!({"type": "control_request", "request_id": "r1", "request": request});
    event.to_string().into_bytes()
}

fn reply(facts: &[StreamFact]) -> Value {
    let [StreamFact::Reply(line)] = facts else { panic!("one reply: {facts:?}") };
    let reply: Value = serde_json::from_str(line).unwrap();
    reply["response"]["response"].clone()
}

#[test]
fn a_question_to_the_host_ends_the_turn_or_is_decided_by_the_agent() {
    let asks = || {
        let question = json!({"question": "Which?", "options": [{"label": "A"}, {"label": "B"}]});
        request("AskUserQuestion", &json!({"questions": [question]}))
    };
    let mut parks = reader(Agent::Claude).with_questions(QuestionHabit::Park);
    assert_eq!(reply(&parks.line(&asks()))["interrupt"], json!(true));
    parks.line(br#"{"type":"result","is_error":true,"terminal_reason":"aborted_tools"}"#);
    let report = parks.report(ClientExit::Code(1));
    assert_eq!((report.end, report.question.as_deref()), (Ok(()), Some("Which? (A, B)")));

    let mut decides = reader(Agent::Claude);
    let told = reply(&decides.line(&asks()));
    assert_eq!((&told["behavior"], &told["interrupt"]), (&json!("deny"), &Value::Null));
    assert_eq!(decides.report(ClientExit::Code(0)).question, None);
}

#[test]
fn a_plan_that_stands_elsewhere_is_asked_with_its_text() {
    let mut claude = reader(Agent::Claude).with_questions(QuestionHabit::Park);
    claude.line(
        br#"{"type":"assistant","parent_tool_use_id":null,"message":{"content":[{"type":"tool_use","name":"ExitPlanMode","input":{"plan":"1. Paint."}}]}}"#,
    );
    claude.line(&request("ExitPlanMode", &json!({})));
    let question = claude.report(ClientExit::Signal).question.unwrap();
    assert!(question.ends_with("1. Paint."), "{question}");
    let mut approved = reader(Agent::Claude).with_questions(QuestionHabit::ParkApproved);
    let told = reply(&approved.line(&request("ExitPlanMode", &json!({}))));
    assert_eq!(told["behavior"], json!("allow"));
}

#[test]
fn a_host_that_can_not_answer_says_so() {
    let mut claude = reader(Agent::Claude);
    let facts = claude.line(
        br#"{"type":"control_request","request_id":"r2","request":{"subtype":"hook_callback"}}"#,
    );
    let [StreamFact::Reply(line)] = &facts[..] else { panic!("one reply: {facts:?}") };
    assert!(line.contains("\"error\":\"not supported\""), "{line}");
}

#[test]
fn only_a_hosted_claude_listens_and_has_a_helper() {
    let helper = TurnHelper { name: "h", description: "d", prompt: "p", model: Some("small") };
    let claude = Agent::Claude.headless().unwrap();
    let own = ["--allowedTools".to_owned(), "Bash".to_owned()];
    let asked = turn(&own, TurnSession::New("ID"));
    let command = claude.hosted_command(&asked, Some(&helper));
    let line = command.argv.join(" ");
    assert!(line.starts_with("client --input-format stream-json --permission-prompt-tool stdio"));
    assert!(line.contains(r#"--agents {"h":{"description":"d","model":"small","prompt":"p"}}"#));
    assert!(command.opening.unwrap().contains("\"text\":\"go on\""));
    let own = ["--input-format=text".to_owned()];
    let other = claude.hosted_command(&turn(&own, TurnSession::New("ID")), None);
    assert_eq!(other.opening, None, "another program hosts the session");
    let codex = Agent::Codex.headless().unwrap();
    assert!(!codex.has_sub_agents());
    assert_eq!(codex.hosted_command(&turn(&[], TurnSession::New("ID")), None).opening, None);
}
