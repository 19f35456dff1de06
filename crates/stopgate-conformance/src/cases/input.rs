//! Payloads: whole, odd, torn, huge, slow.

use serde_json::{Value, json};
use stopgate_agents::Understood;

use super::{HookCase, case, let_go};
use crate::shot::{ShotInput, ShotReader};
use crate::stage::{CaseMachine, MESSAGE, Miss, failed};

const HUGE: usize = 16 * 1024 * 1024;

pub(super) const CASES: &[HookCase] = &[
    case(
        "no loop",
        "A hook fires in every session: without a loop it must let go and say nothing.",
        no_loop,
    ),
    case("unknown fields", "Clients add fields in every version.", unknown_fields),
    case("byte order mark", "Clients on Windows put one before the payload.", byte_order_mark),
    case(
        "other types",
        "A field may be null, a number or a list one day; the agent must get away.",
        other_types,
    ),
    case("broken JSON", "A payload that was cut must let the agent stop.", broken_json),
    case(
        "empty input",
        "A client that sends nothing must not be held, and must not wait.",
        empty_input,
    ),
    case("not UTF-8", "A message may quote bytes of a file.", not_utf8),
    case(
        "16 MiB payload",
        "Messages are not cut: an agent that prints a log may send megabytes.",
        huge_payload,
    ),
    case("slow input", "A payload may come in pieces.", slow_input),
    case(
        "input never ends",
        "A client that keeps the pipe open must not be waited for without end.",
        endless_input,
    ),
    case("input closed", "A hook may be started without a standard input at all.", closed_input),
    case(
        "reader gone",
        "A client that was closed does not read the answer; the hook must end all the same.",
        reader_gone,
    ),
    case(
        "odd session",
        "A session's name is foreign text: it must not become a path or a command.",
        odd_session,
    ),
    case(
        "hostile message",
        "What a model says must not be run, and must not break the answer.",
        hostile_message,
    ),
];

fn bytes(payload: &Value) -> Vec<u8> {
    payload.to_string().into_bytes()
}

fn asked_with(stage: &CaseMachine<'_>, input: ShotInput, when: &str) -> Result<(), Miss> {
    let understood = stage.fire(&stage.shot(input))?;
    let_go(&understood, when)
}

fn no_loop(stage: &CaseMachine<'_>) -> Result<(), Miss> {
    match stage.ask(&stage.stop())? {
        Understood::Allowed => Ok(()),
        other => failed(format!("without a loop: {}", super::words(&other))),
    }
}

fn unknown_fields(stage: &CaseMachine<'_>) -> Result<(), Miss> {
    let mut payload = stage.stop();
    payload["a_field_of_tomorrow"] = json!({"deep": [1, {"er": null}]});
    payload["decision"] = json!("block");
    let_go(&stage.ask(&payload)?, "with unknown fields")
}

fn byte_order_mark(stage: &CaseMachine<'_>) -> Result<(), Miss> {
    let mut input = vec![0xef, 0xbb, 0xbf];
    input.extend(bytes(&stage.stop()));
    asked_with(stage, ShotInput::Bytes(input), "with a byte order mark")
}

fn other_types(stage: &CaseMachine<'_>) -> Result<(), Miss> {
    let stop = stage.stop();
    for odd in [json!(null), json!(7), json!(["a"]), json!({"a": 1})] {
        let mut payload = stop.clone();
        for value in payload.as_object_mut().into_iter().flatten().map(|(_, value)| value) {
            *value = odd.clone();
        }
        let_go(&stage.ask(&payload)?, &format!("with every field {odd}"))?;
    }
    let_go(&stage.ask(&json!([]))?, "with a list for a payload")
}

fn broken_json(stage: &CaseMachine<'_>) -> Result<(), Miss> {
    let whole = bytes(&stage.stop());
    let half = whole[..whole.len() / 2].to_vec();
    asked_with(stage, ShotInput::Bytes(half), "with half a payload")?;
    asked_with(stage, ShotInput::Bytes(b"}{ not json".to_vec()), "with no JSON")
}

fn empty_input(stage: &CaseMachine<'_>) -> Result<(), Miss> {
    asked_with(stage, ShotInput::Bytes(Vec::new()), "without a payload")
}

fn not_utf8(stage: &CaseMachine<'_>) -> Result<(), Miss> {
    let mut payload = stage.stop();
    payload["extra"] = json!("MARK");
    let text = payload.to_string();
    let (before, after) = text.split_once("MARK").unwrap_or((&text, ""));
    let input = [before.as_bytes(), &[0xff, 0xfe, 0xc3], after.as_bytes()].concat();
    asked_with(stage, ShotInput::Bytes(input), "with bytes that are not UTF-8")
}

fn huge_payload(stage: &CaseMachine<'_>) -> Result<(), Miss> {
    let mut payload = stage.stop();
    let text = "all work and no play\n".repeat(HUGE / 21);
    let names = ["last_assistant_message", "prompt_response"];
    let name = names.into_iter().find(|name| payload.get(name).is_some()).unwrap_or("extra");
    payload[name] = json!(text);
    asked_with(stage, ShotInput::Bytes(bytes(&payload)), "with 16 MiB")
}

fn slow_input(stage: &CaseMachine<'_>) -> Result<(), Miss> {
    asked_with(stage, ShotInput::Slowly(bytes(&stage.stop())), "with a slow payload")
}

fn endless_input(stage: &CaseMachine<'_>) -> Result<(), Miss> {
    asked_with(stage, ShotInput::NeverEnding(bytes(&stage.stop())), "with an open pipe")
}

fn closed_input(stage: &CaseMachine<'_>) -> Result<(), Miss> {
    asked_with(stage, ShotInput::Closed, "without an input")
}

fn reader_gone(stage: &CaseMachine<'_>) -> Result<(), Miss> {
    let mut shot = stage.shot(ShotInput::Bytes(bytes(&stage.stop())));
    shot.reader = ShotReader::Gone;
    let heard = shot.fire(stage.deadline)?;
    stage.settled(&heard)
}

fn odd_session(stage: &CaseMachine<'_>) -> Result<(), Miss> {
    let long = "x".repeat(5000);
    for session in ["../../../odd", "a\nb; touch odd", "$(touch odd)", "", &long] {
        let payload = stage.filled(stage.client.stop(), session);
        let_go(&stage.ask(&payload)?, &format!("with the session {session:.20}"))?;
    }
    nothing_ran(stage, "odd")
}

fn hostile_message(stage: &CaseMachine<'_>) -> Result<(), Miss> {
    let message = format!(
        "{MESSAGE}\n`touch pwned` $(touch pwned) '; touch pwned; \"\\u0000\u{1b}[2J</system>"
    );
    let mut payload = stage.stop();
    for name in ["last_assistant_message", "prompt_response"] {
        if payload.get(name).is_some() {
            payload[name] = json!(message);
        }
    }
    let_go(&stage.ask(&payload)?, "with a hostile message")?;
    nothing_ran(stage, "pwned")
}

/// No file of this name appeared where a path or a command of the payload would put one.
fn nothing_ran(stage: &CaseMachine<'_>, name: &str) -> Result<(), Miss> {
    let places = [stage.project(), stage.home(), stage.root().into(), stage.root().join("tmp")];
    let above = stage.root().parent().map(std::path::Path::to_path_buf);
    match places.into_iter().chain(above).map(|dir| dir.join(name)).find(|path| path.exists()) {
        Some(path) => failed(format!("made {}", path.display())),
        None => Ok(()),
    }
}
