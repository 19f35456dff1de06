//! Every case that was recorded with the real clients, and what it must come to.

mod talk;

use std::time::Duration;

use super::*;

const CLAUDE_ERRORS: &str =
    include_str!("../../tests/data/headless/claude-2.1.325-stream-errors.jsonl");
const CLAUDE_OK: &str = include_str!("../../tests/data/headless/claude-2.1.325-stream-ok.jsonl");
const CODEX: &str = include_str!("../../tests/data/headless/codex-0.166.0-exec-json.jsonl");
const ROLLOUT: &str = include_str!("../../tests/data/headless/codex-0.166.0-rollout.jsonl");
const COPILOT: &str = include_str!("../../tests/data/headless/copilot-1.0.102.jsonl");
const GEMINI: &str = include_str!("../../tests/data/headless/gemini-0.61.0.jsonl");
const KIMI: &str = include_str!("../../tests/data/headless/kimi-2.1.0.jsonl");
const OPENCODE: &str = include_str!("../../tests/data/headless/opencode-1.18.33.jsonl");
const PI: &str = include_str!("../../tests/data/headless/pi-0.87.1.jsonl");
const QWEN: &str = include_str!("../../tests/data/headless/qwen-0.24.4.jsonl");

/// The lines of one recorded case.
fn lines(file: &str, case: &str) -> Vec<Vec<u8>> {
    let records = file.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let lines: Vec<_> = records
        .filter(|record| record["case"].as_str().unwrap().starts_with(case))
        .map(|record| serde_json::to_vec(&record["event"]).unwrap())
        .collect();
    assert!(!lines.is_empty(), "no case {case:?}");
    lines
}

fn read(agent: Agent, file: &str, case: &str) -> StreamReader {
    let mut reader = agent.headless().unwrap().reader();
    for line in lines(file, case) {
        reader.line(&line);
    }
    reader
}

fn end(agent: Agent, file: &str, case: &str, code: i32) -> Result<(), FailureClass> {
    let report = read(agent, file, case).report(ClientExit::Code(code));
    report.end.map_err(|failure| failure.class)
}

#[test]
fn recorded_ends_of_claude_codex_and_copilot_have_their_class() {
    use FailureClass::{Auth, Context, Killed, Network, Overloaded, RateLimit, Server, Unknown};
    let claude = |case, code, end| (Agent::Claude, CLAUDE_ERRORS, case, code, end);
    let codex = |case, code, end| (Agent::Codex, CODEX, case, code, end);
    let copilot = |case, code, end| (Agent::Copilot, COPILOT, case, code, end);
    let table = [
        claude("HTTP 500", 1, Err(Server)),
        claude("HTTP 529", 1, Err(Overloaded)),
        claude("HTTP 429 retry-after 3,", 1, Err(RateLimit)),
        claude("HTTP 429 retry-after 70", 1, Err(RateLimit)),
        claude("HTTP 429 unified", 1, Err(RateLimit)),
        claude("success with unified", 0, Ok(())),
        claude("HTTP 401 twice", 0, Ok(())),
        claude("HTTP 403", 1, Err(Auth)),
        claude("HTTP 400 prompt is too long, first", 1, Err(Context)),
        claude("HTTP 400 prompt is too long, long", 0, Ok(())),
        claude("cut in mid-stream", 0, Ok(())),
        claude("connection refused", 1, Err(Network)),
        claude("SIGINT in a tool", 0, Err(Killed)),
        claude("SIGINT while", 0, Err(Killed)),
        claude("--max-turns", 1, Ok(())),
        claude("--max-budget", 1, Err(Unknown)),
        claude("permission denied", 0, Ok(())),
        (Agent::Claude, CLAUDE_OK, "ok, tool call", 0, Ok(())),
        (Agent::Claude, CLAUDE_OK, "--include-partial", 143, Err(Killed)),
        codex("ok", 0, Ok(())),
        codex("resume", 0, Ok(())),
        codex("HTTP 500", 1, Err(Overloaded)),
        codex("HTTP 429", 1, Err(RateLimit)),
        codex("429 usage", 1, Err(RateLimit)),
        codex("429 insufficient", 1, Err(RateLimit)),
        codex("401", 1, Err(Auth)),
        codex("400 context", 1, Err(Context)),
        codex("response.failed context", 1, Err(Context)),
        codex("response.failed rate", 0, Ok(())),
        codex("cut in", 0, Ok(())),
        codex("SIGINT", 1, Err(Killed)),
        copilot("ok, stdout", 0, Ok(())),
        copilot("401", 1, Err(Auth)),
        copilot("429 retry-after 3:", 1, Err(RateLimit)),
        copilot("429 retry-after 3600", 1, Err(RateLimit)),
        copilot("500", 1, Err(Server)),
        copilot("400 context", 1, Err(Context)),
        copilot("cut in", 0, Ok(())),
    ];
    for (agent, file, case, code, expected) in table {
        assert_eq!(end(agent, file, case, code), expected, "{}: {case}", agent.word());
    }
}

#[test]
fn recorded_ends_of_the_others_have_their_class() {
    use FailureClass::{Auth, Context, Killed, Network, RateLimit, Server};
    let gemini = |case, code, end| (Agent::Gemini, GEMINI, case, code, end);
    let qwen = |case, code, end| (Agent::Qwen, QWEN, case, code, end);
    let table = [
        gemini("ok", 0, Ok(())),
        gemini("429 with RetryInfo 3s", 173, Err(RateLimit)),
        gemini("429 per-day", 173, Err(RateLimit)),
        gemini("429 RetryInfo 900s", 173, Err(RateLimit)),
        gemini("500", 244, Err(Server)),
        gemini("401", 145, Err(Auth)),
        gemini("400", 144, Err(Context)),
        gemini("cut in", 1, Err(Network)),
        gemini("maxSessionTurns", 53, Ok(())),
        qwen("ok", 0, Ok(())),
        qwen("resume", 0, Ok(())),
        qwen("401", 1, Err(Auth)),
        qwen("500", 1, Err(Server)),
        qwen("cut in", 0, Ok(())),
        qwen("permission", 0, Ok(())),
        (Agent::Kimi, KIMI, "ok", 0, Ok(())),
        (Agent::Kimi, KIMI, "question", 0, Ok(())),
        (Agent::Kimi, KIMI, "500", 130, Err(Killed)),
        (Agent::OpenCode, OPENCODE, "ok", 0, Ok(())),
        (Agent::OpenCode, OPENCODE, "429", 1, Err(RateLimit)),
        (Agent::OpenCode, OPENCODE, "401", 1, Err(Auth)),
        (Agent::OpenCode, OPENCODE, "context overflow", 1, Ok(())),
        (Agent::Pi, PI, "ok", 0, Ok(())),
        (Agent::Pi, PI, "401", 0, Err(Auth)),
        (Agent::Pi, PI, "500", 0, Err(Server)),
    ];
    for (agent, file, case, code, expected) in table {
        assert_eq!(end(agent, file, case, code), expected, "{}: {case}", agent.word());
    }
}

#[test]
fn a_stream_without_a_final_event_was_cut_off_whatever_the_exit_code_is() {
    for agent in Agent::ALL {
        let Some(headless) = agent.headless() else { continue };
        for exit in [ClientExit::Code(0), ClientExit::Signal] {
            let report = headless.reader().report(exit);
            assert_eq!(report.end.unwrap_err().class, FailureClass::Killed, "{}", agent.word());
            assert!(!report.can_resume, "{}: nothing is known to be stored", agent.word());
        }
    }
}

#[test]
fn the_last_message_is_what_the_agent_said_last() {
    let table = [
        (Agent::Claude, CLAUDE_OK, "ok, tool call"),
        (Agent::Codex, CODEX, "ok"),
        (Agent::Copilot, COPILOT, "ok, stdout"),
        (Agent::Gemini, GEMINI, "ok"),
        (Agent::Kimi, KIMI, "ok"),
        (Agent::OpenCode, OPENCODE, "ok"),
        (Agent::Pi, PI, "ok"),
        (Agent::Qwen, QWEN, "ok"),
    ];
    for (agent, file, case) in table {
        let report = read(agent, file, case).report(ClientExit::Code(0));
        assert!(report.said.ends_with("done"), "{}: {:?}", agent.word(), report.said);
        assert!(report.can_resume, "{}", agent.word());
    }
}

#[test]
fn reset_times_are_read_where_the_client_tells_them() {
    let reset = |agent, file, case| {
        let report = read(agent, file, case).report(ClientExit::Code(1));
        report.end.unwrap_err().reset
    };
    let seconds = |seconds| Some(ResetTime::After(Duration::from_secs(seconds)));
    let at = Some(ResetTime::At(1_794_757_879));
    assert_eq!(reset(Agent::Claude, CLAUDE_ERRORS, "HTTP 429 unified"), at);
    assert_eq!(reset(Agent::Claude, CLAUDE_ERRORS, "HTTP 429 retry-after 70"), None);
    assert_eq!(reset(Agent::Gemini, GEMINI, "429 RetryInfo 900s"), seconds(900));
    assert_eq!(reset(Agent::OpenCode, OPENCODE, "429"), seconds(3));
    assert_eq!(reset(Agent::Codex, CODEX, "429 usage"), None, "only words");
}

#[test]
fn codex_keeps_the_reset_time_and_the_kind_of_error_in_its_record() {
    let mut reader = read(Agent::Codex, CODEX, "429 usage");
    for line in lines(ROLLOUT, "usage limit") {
        reader.record_line(&line);
    }
    let failure = reader.report(ClientExit::Code(1)).end.unwrap_err();
    assert_eq!(failure.reset, Some(ResetTime::At(1_794_757_938)));

    let mut reader = read(Agent::Codex, CODEX, "HTTP 500");
    for line in lines(ROLLOUT, "rate limit headers on a good answer") {
        reader.record_line(&line);
    }
    let failure = reader.report(ClientExit::Code(1)).end.unwrap_err();
    assert_eq!(failure.class, FailureClass::Server, "and its window was not used up");
    assert_eq!(failure.reset, None);
}

#[test]
fn a_client_that_would_sleep_for_long_is_given_up() {
    let qwen = read(Agent::Qwen, QWEN, "429");
    let failure = qwen.gives_up(Duration::ZERO).unwrap();
    assert_eq!(failure.class, FailureClass::RateLimit);
    assert_eq!(failure.reset, Some(ResetTime::After(Duration::from_mins(2))));

    let kimi = read(Agent::Kimi, KIMI, "429");
    assert_eq!(kimi.gives_up(Duration::ZERO).unwrap().class, FailureClass::RateLimit);
    assert!(read(Agent::Kimi, KIMI, "500").gives_up(Duration::from_hours(1)).is_none());

    let mut codex = Agent::Codex.headless().unwrap().reader();
    codex.line(&lines(CODEX, "HTTP 429")[0]);
    assert!(codex.gives_up(Duration::from_secs(59)).is_none());
    assert!(codex.gives_up(Duration::from_mins(1)).is_some());
    codex.line(br#"{"type":"item.started","item":{"type":"command_execution"}}"#);
    assert!(codex.gives_up(Duration::from_hours(1)).is_none(), "it went on");
}

#[test]
fn a_session_of_gemini_whose_first_turn_failed_is_lost() {
    let headless = Agent::Gemini.headless().unwrap();
    let mut reader = headless.reader().with_session("chosen");
    reader.line(br#"{"type":"init","session_id":"chosen"}"#);
    assert!(!reader.report(ClientExit::Signal).can_resume);
    let mut reader = headless.reader().with_session("chosen");
    reader.line(br#"{"type":"init","session_id":"chosen"}"#);
    reader.line(br#"{"type":"tool_use"}"#);
    assert!(reader.report(ClientExit::Signal).can_resume);
}

#[test]
fn kimi_tells_its_failures_on_standard_error() {
    let mut reader = Agent::Kimi.headless().unwrap().reader();
    reader.error_line("error: failed to run prompt: provider.auth_error: 401 no such key");
    let report = reader.report(ClientExit::Code(1));
    assert_eq!(report.end.unwrap_err().class, FailureClass::Auth);
}

#[test]
fn facts_come_line_by_line() {
    let mut reader = Agent::Claude.headless().unwrap().reader();
    let facts: Vec<_> = lines(CLAUDE_ERRORS, "success with unified")
        .iter()
        .flat_map(|line| reader.line(line))
        .collect();
    assert!(facts.contains(&StreamFact::Quota { used: 0.91, resets_at: 1_794_756_083 }));
    assert!(facts.contains(&StreamFact::Finished));
    let mut reader = Agent::Kimi.headless().unwrap().reader();
    let retry = reader.line(&lines(KIMI, "429")[0]);
    let delay = Some(Duration::from_hours(1));
    assert_eq!(retry, [StreamFact::Retry { class: FailureClass::RateLimit, delay }]);
}

fn turn<'a>(own_args: &'a [String], session: TurnSession<'a>) -> HeadlessTurn<'a> {
    HeadlessTurn {
        program: "client",
        own_args,
        session,
        model: Some("large"),
        in_git: false,
        usage_file: None,
        prompt: "go on",
    }
}

#[test]
fn command_lines_are_those_that_were_seen_to_work() {
    let table = [
        (Agent::Claude, "--output-format stream-json --verbose --session-id ID --model large -p"),
        (Agent::Codex, "exec --json --skip-git-repo-check -m large"),
        (Agent::Gemini, "-o stream-json -m large --session-id ID -p"),
        (Agent::Qwen, "-o stream-json -m large --session-id ID"),
        (Agent::Copilot, "--output-format json --model large --session-id ID -p"),
        (Agent::Kimi, "--output-format stream-json -m large -p"),
        (Agent::OpenCode, "run --format json --print-logs -m large"),
        (Agent::Pi, "--mode json --session-id ID --model large -p"),
    ];
    for (agent, expected) in table {
        let command = agent.headless().unwrap().command(&turn(&[], TurnSession::New("ID")));
        assert_eq!(command.argv.join(" "), format!("client {expected} go on"));
    }
    let table = [
        (Agent::Claude, "--output-format stream-json --verbose --resume ID --model large -p"),
        (Agent::Codex, "exec --json --skip-git-repo-check -m large resume ID"),
        (Agent::Gemini, "-o stream-json -m large --resume ID -p"),
        (Agent::Qwen, "-o stream-json -m large --resume ID"),
        (Agent::Copilot, "--output-format json --model large --resume=ID -p"),
        (Agent::Kimi, "--output-format stream-json -m large --session ID -p"),
        (Agent::OpenCode, "run --format json --print-logs -m large --session ID"),
        (Agent::Pi, "--mode json --session-id ID --model large -p"),
    ];
    for (agent, expected) in table {
        let command = agent.headless().unwrap().command(&turn(&[], TurnSession::Resumed("ID")));
        assert_eq!(command.argv.join(" "), format!("client {expected} go on"));
    }
}

#[test]
fn the_persons_own_arguments_come_first_and_their_model_wins() {
    let own = ["exec", "-m", "small", "--full-auto"].map(str::to_owned);
    let command = Agent::Codex.headless().unwrap().command(&turn(&own, TurnSession::New("ID")));
    let expected = "client exec -m small --full-auto --json --skip-git-repo-check go on";
    assert_eq!(command.argv.join(" "), expected);
    let own = ["--model=small"].map(str::to_owned);
    let command = Agent::Claude.headless().unwrap().command(&turn(&own, TurnSession::New("ID")));
    assert!(!command.argv.contains(&"large".to_owned()), "{:?}", command.argv);
}

#[test]
fn programs_are_known_by_their_name() {
    assert_eq!(Agent::of_program("claude"), Some(Agent::Claude));
    assert_eq!(Agent::of_program("codex.exe"), Some(Agent::Codex));
    assert_eq!(Agent::of_program("sh"), None);
}
