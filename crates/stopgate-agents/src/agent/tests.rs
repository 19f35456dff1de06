//! Payloads and transcripts, as captured from the real clients.

use std::fmt::Write;

use stopgate_signals::transcript::{Bound, Last, last_message};

use super::*;
use crate::HookEvent;

const CAPTURED: [(Agent, &str, &str); 9] = [
    (Agent::Codex, include_str!("../../tests/data/codex-0.166.0.jsonl"), CODEX),
    (Agent::Gemini, include_str!("../../tests/data/gemini-0.61.0.jsonl"), GEMINI),
    (Agent::Qwen, include_str!("../../tests/data/qwen-0.24.4.jsonl"), QWEN),
    (Agent::Qwen, include_str!("../../tests/data/qwen-0.15.10.jsonl"), QWEN_OLD),
    (Agent::Copilot, include_str!("../../tests/data/copilot-1.0.102-pascalcase.jsonl"), COPILOT),
    (Agent::Copilot, include_str!("../../tests/data/copilot-1.0.102.jsonl"), COPILOT_CAMEL),
    (Agent::Kimi, include_str!("../../tests/data/kimi-2.1.0.jsonl"), KIMI),
    (Agent::OpenCode, include_str!("../../tests/data/opencode-1.18.33.jsonl"), BRIDGED),
    (Agent::Pi, include_str!("../../tests/data/pi-0.87.1.jsonl"), BRIDGED_WITH_TRANSCRIPT),
];

const CODEX: &str = "\
SessionStart source(Startup)
Stop first said(reply 1)
Stop again said(reply 2)
Stop again said(reply 3)
SessionEnd
";

// What was said is in the transcript: the payload's own message grows. Its `false` proves nothing.
const GEMINI: &str = "\
SessionStart source(Startup)
UserPromptSubmit prompt(first prompt)
Stop prompt(first prompt)
UserPromptSubmit prompt(CONTINUE-1 <do> the \"next\" step & go)
Stop again prompt(first prompt)
UserPromptSubmit prompt(STDERR-CONTINUE-2)
Stop again prompt(first prompt)
SessionEnd
";

const QWEN: &str = "\
SessionStart source(Startup)
UserPromptSubmit prompt(first prompt)
Stop first said(reply 1)
UserPromptSubmit prompt(CONTINUE-1 <do> the \"next\" step & go)
Stop again said(reply 2)
UserPromptSubmit prompt(STDERR-CONTINUE-2)
Stop again said(reply 3)
";

const QWEN_OLD: &str = "\
UserPromptSubmit prompt(first prompt)
Stop again said(reply 1)
UserPromptSubmit prompt(CONTINUE-1 <do> the \"next\" step & go)
Stop again said(reply 2)
UserPromptSubmit prompt(STDERR-CONTINUE-2)
Stop again said(reply 3)
";

const COPILOT: &str = "\
SessionStart source(Startup) without a transcript
UserPromptSubmit prompt(first prompt) without a transcript
Stop first
UserPromptSubmit prompt(CONTINUE-1 <do> the \"next\" step & go) without a transcript
Stop again
SessionEnd without a transcript
";

// Only a stop shows what it is; the others must be named on the command line.
const COPILOT_CAMEL: &str = "\
no event
no event
Stop first
no event
Stop again
no event
";

const KIMI: &str = "\
SessionStart source(Startup) without a transcript
Stop first without a transcript
";

const BRIDGED: &str = "\
Stop said(reply 1) without a transcript
Stop said(reply 2) without a transcript
Stop said(reply 3) without a transcript
";

const BRIDGED_WITH_TRANSCRIPT: &str = "\
Stop said(reply 1)
Stop said(reply 2)
Stop said(reply 3)
";

#[test]
fn every_captured_payload_is_understood() {
    for (agent, captured, expected) in CAPTURED {
        let mut told = String::new();
        for line in captured.lines() {
            let sample: serde_json::Value = serde_json::from_str(line).unwrap();
            let payload = sample["stdin"].to_string();
            writeln!(told, "{}", tell(agent, &payload)).unwrap();
        }
        assert_eq!(told, expected, "{agent:?}");
    }
}

fn tell(agent: Agent, payload: &str) -> String {
    let call = match agent.parse(payload.as_bytes(), None) {
        Ok(call) => call,
        Err(Malformed::NoEvent) => return "no event".into(),
        Err(error) => panic!("{agent:?}: {error}: {payload}"),
    };
    assert_eq!(call.agent, agent);
    assert!(call.cwd.as_deref().is_some_and(|cwd| cwd.starts_with("/home/dev/w/")), "{payload}");
    let mut told = format!("{:?}", call.event);
    match call.continued {
        Some(true) => told.push_str(" again"),
        Some(false) => told.push_str(" first"),
        None => {}
    }
    for (name, text) in [("prompt", &call.prompt), ("said", &call.last_message)] {
        if let Some(text) = text {
            write!(told, " {name}({text})").unwrap();
        }
    }
    if let Some(source) = call.source {
        write!(told, " source({source:?})").unwrap();
    }
    if call.transcript.is_none() {
        told.push_str(" without a transcript");
    }
    told
}

const TRANSCRIPTS: [(Agent, &str, &str, bool); 6] = [
    (Agent::Codex, include_str!("../../tests/data/transcript-codex.jsonl"), "reply 3", false),
    (Agent::Gemini, include_str!("../../tests/data/transcript-gemini.jsonl"), "reply 3", false),
    (Agent::Qwen, include_str!("../../tests/data/transcript-qwen.jsonl"), "reply 3", false),
    (Agent::Copilot, include_str!("../../tests/data/transcript-copilot.jsonl"), "fin", true),
    (Agent::Kimi, include_str!("../../tests/data/transcript-kimi.jsonl"), "reply 2", false),
    (Agent::Pi, include_str!("../../tests/data/transcript-pi.jsonl"), "reply 3", false),
];

#[test]
fn every_captured_transcript_tells_what_was_said_last_and_whether_tools_ran() {
    for (agent, captured, expected, used) in TRANSCRIPTS {
        let read = std::io::Cursor::new(captured.as_bytes());
        let last = last_message(read, Bound::default(), |line| agent.record(line)).unwrap();
        assert_eq!(last, Last::Text(expected.into()), "{agent:?}");
        let tools = captured.lines().any(|line| agent.is_tool_use(line.as_bytes()));
        assert_eq!(tools, used, "{agent:?}");
    }
}

#[test]
fn a_turn_without_an_answer_yet_says_nothing_old() {
    for (agent, captured, ..) in TRANSCRIPTS {
        let lines: Vec<&str> = captured.lines().collect();
        let turn = |line: &&str| agent.record(line.as_bytes()) == TranscriptRecord::UserTurn;
        let at = lines.iter().rposition(turn).unwrap();
        let text = lines[..=at].join("\n");
        let read = std::io::Cursor::new(text.as_bytes());
        let last = last_message(read, Bound::default(), |line| agent.record(line)).unwrap();
        assert_eq!(last, Last::Silent, "{agent:?}");
    }
}

#[test]
fn tools_are_seen_in_every_transcript_that_shows_them() {
    for (agent, line) in [
        (
            Agent::Codex,
            r#"{"type":"response_item","payload":{"type":"function_call","name":"shell"}}"#,
        ),
        (Agent::Codex, r#"{"type":"response_item","payload":{"type":"custom_tool_call"}}"#),
        (Agent::Gemini, r#"{"type":"gemini","content":"","toolCalls":[{"id":"1"}]}"#),
        (
            Agent::Qwen,
            r#"{"type":"assistant","message":{"role":"model","parts":[{"functionCall":{"name":"x"}}]}}"#,
        ),
        (Agent::Copilot, r#"{"type":"tool.execution_start","data":{}}"#),
        (Agent::Kimi, r#"{"type":"context.append_loop_event","event":{"type":"tool.call"}}"#),
        (
            Agent::Pi,
            r#"{"type":"message","message":{"role":"assistant","content":[{"type":"toolCall"}]}}"#,
        ),
    ] {
        assert!(agent.is_tool_use(line.as_bytes()), "{line}");
        assert!(!agent.is_tool_use(b"{\"type\":\"x\"}") && !agent.is_tool_use(b"\xff"));
    }
}

#[test]
fn a_byte_order_mark_and_halves_of_characters_are_no_obstacle() {
    for agent in Agent::ALL {
        let sample = crate::StopSample {
            session: "s1",
            cwd: "/p",
            transcript: "/t",
            message: "x",
            continued: true,
        };
        let payload = agent.stop_payload(&sample).to_string();
        let marked = format!("\u{feff}{payload}");
        assert_eq!(
            agent.parse(marked.as_bytes(), None).unwrap().event,
            HookEvent::Stop,
            "{agent:?}"
        );
        let half = payload.replacen('{', "{\"odd\":\"\\ud83d\",", 1);
        assert_eq!(agent.parse(half.as_bytes(), None).unwrap().event, HookEvent::Stop, "{agent:?}");
        for broken in ["", "[]", "{", "{}", "null"] {
            assert!(agent.parse(broken.as_bytes(), Some("Stop")).is_err(), "{agent:?}");
        }
    }
}

#[test]
fn what_a_client_announces_as_a_prompt_may_be_our_own_text() {
    let prompt = format!("Loop 1/20\n{}\n", stopgate_core::PROMPT_VOICE);
    let payload = serde_json::json!({
        "session_id": "s1", "cwd": "/p", "hook_event_name": "UserPromptSubmit", "prompt": prompt,
    });
    let payload = payload.to_string();
    let call = Agent::Qwen.parse(payload.as_bytes(), None).unwrap();
    assert!(call.is_continuation() && !call.is_typed());
}

#[test]
fn words_and_marks_are_unlike_each_other() {
    for (at, agent) in Agent::ALL.into_iter().enumerate() {
        assert_eq!(Agent::named(agent.word()), Some(agent));
        for other in &Agent::ALL[at + 1..] {
            assert_ne!(agent.word(), other.word());
            let marks = agent.variables().marks;
            assert!(!other.variables().marks.iter().any(|mark| marks.contains(mark)), "{other:?}");
        }
        let files = agent.files();
        assert!(files.user.is_some() || files.project.is_some(), "{agent:?}");
        assert!(!files.programs.is_empty(), "{agent:?}");
    }
    assert_eq!(Agent::named("nobody"), None);
}

#[test]
fn caps_are_what_was_seen() {
    let caps: Vec<(&str, u32)> = Agent::ALL
        .into_iter()
        .filter_map(|agent| Some((agent.word(), agent.cap(None, Client::default())?.refusals)))
        .collect();
    // The eighth block of Qwen's is thrown away, so seven are of use.
    assert_eq!(caps, [("claude", 8), ("qwen", 7), ("copilot", 8), ("kimi", 1), ("cursor", 5)]);
    let qwen = |value| Agent::Qwen.cap(Some(value), Client::default()).unwrap().refusals;
    assert_eq!([qwen("20"), qwen("500"), qwen("0"), qwen("x")], [19, 99, 7, 7]);
}
