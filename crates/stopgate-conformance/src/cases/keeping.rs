//! Holding and letting go: what a stop hook is for.

use std::thread;

use serde_json::{Value, json};
use stopgate_agents::{Client, Understood};

use super::{HookCase, case, held, let_go, not_for};
use crate::shot::ShotInput;
use crate::stage::{CaseMachine, MESSAGE, Miss, OTHER_SESSION, SESSION, failed, short};

/// A hook that holds more often than this without any progress has no limit.
const HOLDS_MAX: u32 = 60;

pub(super) const CASES: &[HookCase] = &[
    case("holds", "An armed loop sends the agent back, with a word that says what to do.", holds),
    case(
        "nothing but the answer",
        "A line of text beside the JSON, and clients drop the whole answer.",
        only_the_answer,
    ),
    case(
        "holds again",
        "stop_hook_active means nothing: some clients always send true, some never.",
        holds_again,
    ),
    case(
        "lets go when done",
        "Once the condition is true, the agent may stop, and the next stop is free.",
        lets_go,
    ),
    case(
        "has a limit",
        "Some clients have none: two hundred continuations in a minute were seen.",
        has_a_limit,
    ),
    case(
        "knows the client's limit",
        "Past it the client drops the answer and ends the turn without a word.",
        client_limit,
    ),
    case(
        "other session",
        "A second session in the same project must not be held for the first one's loop.",
        other_session,
    ),
    case(
        "two sessions at once",
        "Stops come at the same moment; none may be lost, mixed up or left waiting.",
        at_once,
    ),
];

/// How often this client lets a hook hold it in one turn.
fn turns(stage: &CaseMachine<'_>) -> Option<u32> {
    stage.client.agent.cap(None, Client::default()).map(|cap| cap.refusals)
}

/// The nth stop of a turn, with a message of its own.
fn nth_stop(stage: &CaseMachine<'_>, number: u32) -> Value {
    let capture = if number == 1 { stage.client.stop() } else { stage.client.continued_stop() };
    let mut payload = stage.filled(capture, SESSION);
    let message = format!("{MESSAGE} Attempt {}.", "again ".repeat(number as usize));
    for name in ["last_assistant_message", "prompt_response"] {
        if payload.get(name).is_some() {
            payload[name] = json!(message);
        }
    }
    payload
}

fn holds(stage: &CaseMachine<'_>) -> Result<(), Miss> {
    stage.arm()?;
    held(&stage.ask(&stage.stop())?, "at the first stop")
}

fn only_the_answer(stage: &CaseMachine<'_>) -> Result<(), Miss> {
    stage.arm()?;
    let input = ShotInput::Bytes(stage.stop().to_string().into_bytes());
    let heard = stage.shot(input).fire(stage.deadline)?;
    held(&stage.judge(&heard)?, "at the first stop")?;
    let text = String::from_utf8_lossy(&heard.stdout);
    let is_object = serde_json::from_str::<Value>(&text).is_ok_and(|value| value.is_object());
    if is_object || text.trim().is_empty() {
        return Ok(());
    }
    failed(format!("printed what is not one JSON object: {}", short(&text)))
}

fn holds_again(stage: &CaseMachine<'_>) -> Result<(), Miss> {
    if turns(stage) == Some(1) {
        return Err(not_for(stage, "continues a turn only once"));
    }
    stage.arm()?;
    for number in 1..=3 {
        held(&stage.ask(&nth_stop(stage, number))?, &format!("at stop {number}"))?;
    }
    Ok(())
}

fn lets_go(stage: &CaseMachine<'_>) -> Result<(), Miss> {
    stage.arm()?;
    held(&stage.ask(&stage.stop())?, "at the first stop")?;
    stage.finish()?;
    let_go(&stage.ask(&nth_stop(stage, 2))?, "when the condition is true")?;
    let_go(&stage.ask(&stage.stop())?, "one stop later")
}

/// How often the agent is held before it may stop; at most `max` times is looked.
fn count_holds(stage: &CaseMachine<'_>, max: u32) -> Result<u32, Miss> {
    for number in 1..=max {
        if !matches!(stage.ask(&nth_stop(stage, number))?, Understood::Held(_)) {
            return Ok(number - 1);
        }
    }
    Ok(max)
}

fn has_a_limit(stage: &CaseMachine<'_>) -> Result<(), Miss> {
    if turns(stage) == Some(1) {
        return Err(not_for(stage, "continues a turn only once"));
    }
    stage.arm()?;
    match count_holds(stage, HOLDS_MAX)? {
        0 => failed("the agent is not held at all".into()),
        HOLDS_MAX => failed(format!("still held after {HOLDS_MAX} stops without progress")),
        _ => Ok(()),
    }
}

fn client_limit(stage: &CaseMachine<'_>) -> Result<(), Miss> {
    let Some(cap) = turns(stage).filter(|cap| *cap > 1) else {
        return Err(not_for(stage, "has no such limit"));
    };
    if stage.hook.lifts_limit.contains(&stage.client.agent) {
        return Err(not_for(stage, "has its limit lifted by the installation"));
    }
    stage.arm()?;
    match count_holds(stage, cap + 1)? {
        0 => failed("the agent is not held at all".into()),
        holds if holds > cap => failed(format!("holds {holds} times; the client allows {cap}")),
        _ => Ok(()),
    }
}

fn other_session(stage: &CaseMachine<'_>) -> Result<(), Miss> {
    stage.arm()?;
    held(&stage.ask(&stage.stop())?, "in the session of the loop")?;
    let other = stage.filled(stage.client.stop(), OTHER_SESSION);
    let_go(&stage.ask(&other)?, "in another session")
}

fn at_once(stage: &CaseMachine<'_>) -> Result<(), Miss> {
    stage.arm()?;
    let own = stage.stop();
    let other = stage.filled(stage.client.stop(), OTHER_SESSION);
    // The client delivers a stop once; two calls of one session are two of its hooks.
    let payloads = [&own, &other, &own, &other];
    let answers: Vec<Result<Understood, Miss>> = thread::scope(|scope| {
        let asked = payloads.map(|payload| scope.spawn(move || stage.ask(payload)));
        let gone = || failed("a call could not be made".into());
        asked.into_iter().map(|call| call.join().unwrap_or_else(|_| gone())).collect()
    });
    for (at, answer) in answers.into_iter().enumerate() {
        match at % 2 {
            0 => held(&answer?, "in the session of the loop, at once")?,
            _ => let_go(&answer?, "in another session, at once")?,
        }
    }
    Ok(())
}
