//! Every agent's own answers, heard by its own client.

use super::*;
use crate::{AgentAnswer, Call, Client, HookEvent};

const STOP: StopSample<'_> = StopSample {
    session: "s1",
    cwd: "/p",
    transcript: "/t.jsonl",
    message: "I am done.",
    continued: false,
};

fn heard(agent: Agent, answer: AgentAnswer<'_>) -> Understood {
    let reply = agent.render(&answer, Client::default());
    agent.understands(&HookOutput {
        exit_code: Some(reply.exit_code.into()),
        stdout: &reply.stdout,
        stderr: &reply.stderr,
    })
}

#[test]
fn every_agent_is_held_let_go_and_never_held_by_a_message() {
    for agent in Agent::ALL {
        let text = "Loop 1/20: \"tests\" <fail> & more\nsecond line é";
        assert_eq!(
            heard(agent, AgentAnswer::Continue(text)),
            Understood::Held(text.into()),
            "{agent:?}"
        );
        assert_eq!(heard(agent, AgentAnswer::Allow), Understood::Allowed, "{agent:?}");
        for answer in [AgentAnswer::Tell("over"), AgentAnswer::Ended("over")] {
            let told = heard(agent, answer);
            let fine = matches!(&told, Understood::Allowed | Understood::Told(_));
            assert!(fine, "{agent:?}: {told:?}");
        }
        let context = AgentAnswer::Context { event: HookEvent::SessionStart, text: "know this" };
        let reply = agent.render(&context, Client::default());
        assert_eq!(reply.exit_code, 0, "{agent:?}");
    }
}

#[test]
fn a_continuation_without_a_word_lets_go_where_it_would_be_a_fault() {
    for agent in Agent::ALL.into_iter().filter(|agent| *agent != Agent::Claude) {
        assert_eq!(heard(agent, AgentAnswer::Continue(" \n")), Understood::Allowed, "{agent:?}");
    }
}

#[test]
fn every_agents_stop_is_read_as_a_stop() {
    for agent in Agent::ALL {
        let payload = agent.stop_payload(&STOP).to_string();
        let Call { agent: who, event, session, cwd, .. } =
            agent.parse(payload.as_bytes(), None).unwrap();
        assert_eq!((who, event, &*session), (agent, HookEvent::Stop, "s1"));
        assert_eq!(cwd.as_deref(), Some("/p"), "{agent:?}");
    }
}

#[test]
fn a_missing_program_holds_only_gemini_and_our_command_keeps_it_silent() {
    let missing = HookOutput { exit_code: Some(127), stdout: "", stderr: "sh: not found" };
    for agent in Agent::ALL {
        let held = matches!(agent.understands(&missing), Understood::Held(_));
        assert_eq!(held, agent == Agent::Gemini, "{agent:?}");
    }
    let silent = HookOutput { exit_code: Some(0), stdout: "", stderr: "" };
    assert_eq!(Agent::Gemini.understands(&silent), Understood::Allowed);
}

#[test]
fn no_answer_is_longer_than_every_client_shows() {
    let long = "é".repeat(40_000);
    for agent in Agent::ALL.into_iter().filter(|agent| *agent != Agent::Claude) {
        let reply = agent.render(&AgentAnswer::Continue(&long), Client::default());
        let bytes = reply.stdout.len() + reply.stderr.len();
        assert!((9_000..10_000).contains(&bytes), "{agent:?}: {bytes}");
    }
}

/// What Claude Code did with answers that it was given.
#[test]
fn claude_code_takes_a_block_at_any_exit_code_and_text_for_nothing() {
    let heard = |code: i32, stdout: &str, stderr: &str| match Agent::Claude
        .understands(&HookOutput { exit_code: Some(code), stdout, stderr })
    {
        Understood::Allowed => "allowed".into(),
        Understood::Told(text) => format!("told {text}"),
        Understood::Held(text) => format!("held {text}"),
        Understood::Refused(why) => format!("refused: {why}"),
    };
    let block = r#"{"decision":"block","reason":"R"}"#;
    assert_eq!(heard(0, block, ""), "held R");
    assert_eq!(heard(1, block, ""), "held R");
    assert_eq!(heard(2, block, "E"), "held R");
    assert_eq!(heard(0, r#"{"decision":"block","reason":"R","more":1}"#, ""), "held R");
    assert_eq!(heard(0, r#"{"decision":"block"}"#, ""), "held Blocked by hook");
    assert_eq!(heard(2, "", "E"), "held E");
    assert_eq!(heard(2, "", ""), "held No stderr output");
    assert_eq!(heard(2, r#"{"systemMessage":"M"}"#, "E"), "held E");
    assert_eq!(heard(0, "all is well", ""), "allowed");
    assert_eq!(heard(0, &format!("log line\n{block}"), ""), "allowed");
    assert_eq!(
        heard(0, &format!("{block}\n{block}"), ""),
        "refused: there is more than one JSON value"
    );
    assert_eq!(heard(0, r#"{"decision":"block","reason":null}"#, ""), "refused: reason is null");
    assert_eq!(heard(0, r#"{"decision":"allow"}"#, ""), "refused: there is no decision \"allow\"");
    assert_eq!(heard(0, r#"{"continue":false,"decision":"block","reason":"R"}"#, ""), "allowed");
    assert_eq!(heard(127, "", "not found"), "refused: the exit code is 127");
}
