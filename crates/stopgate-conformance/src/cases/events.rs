//! Events that are not the end of the main agent's turn, while a loop holds it.

use serde_json::json;

use super::{HookCase, case, held, let_go, not_for};
use crate::stage::{CaseMachine, Miss, SESSION};
use crate::subject::HookEvents;

pub(super) const CASES: &[HookCase] = &[
    case(
        "other events",
        "A hook that is registered for all events must hold only stops.",
        other_events,
    ),
    case("event of tomorrow", "Clients add events; an unknown one is not a stop.", unknown_event),
    case(
        "subagent stop",
        "A subagent has its own task: held for the loop of the main agent, it never ends.",
        subagent,
    ),
    case(
        "compaction",
        "Compaction ends as a nameless subagent; holding it breaks the summary.",
        compaction,
    ),
    case(
        "background tasks",
        "While background work runs there is nothing to do: each hold burns a turn.",
        background,
    ),
];

/// The loop holds as before.
fn still_held(stage: &CaseMachine<'_>, when: &str) -> Result<(), Miss> {
    held(&stage.ask(&stage.stop())?, when)
}

/// Events other than stops must reach the hook.
fn hears_all(stage: &CaseMachine<'_>) -> Result<(), Miss> {
    match stage.hook.events {
        HookEvents::All => Ok(()),
        HookEvents::Stops => Err(Miss::NotApplicable("registered for stops only".into())),
    }
}

fn other_events(stage: &CaseMachine<'_>) -> Result<(), Miss> {
    hears_all(stage)?;
    stage.arm()?;
    for (name, payload) in stage.client.others() {
        stage.notify(&stage.filled(payload, SESSION), name)?;
    }
    Ok(())
}

fn unknown_event(stage: &CaseMachine<'_>) -> Result<(), Miss> {
    let mut payload = stage.stop();
    let name = "hook_event_name";
    if payload.get(name).is_none() {
        return Err(not_for(stage, "does not name the event"));
    }
    hears_all(stage)?;
    stage.arm()?;
    payload[name] = json!("EventOfTomorrow");
    stage.notify(&payload, "an unknown event")?;
    still_held(stage, "after an unknown event")
}

fn subagent(stage: &CaseMachine<'_>) -> Result<(), Miss> {
    let Some(payload) = stage.client.event("SubagentStop", "bg") else {
        return Err(not_for(stage, "sends no subagent's stop that was captured"));
    };
    hears_all(stage)?;
    stage.arm()?;
    stage.notify(&stage.filled(payload, SESSION), "a subagent's stop")?;
    still_held(stage, "after a subagent's stop")
}

fn compaction(stage: &CaseMachine<'_>) -> Result<(), Miss> {
    let events = [("PreCompact", "auto"), ("SubagentStop", "compaction-fork")];
    let payloads: Vec<_> =
        events.iter().filter_map(|(name, variant)| stage.client.event(name, variant)).collect();
    if payloads.is_empty() {
        return Err(not_for(stage, "sends no compaction that was captured"));
    }
    hears_all(stage)?;
    stage.arm()?;
    for payload in payloads {
        stage.notify(&stage.filled(payload, SESSION), "a compaction")?;
    }
    still_held(stage, "after a compaction")
}

fn background(stage: &CaseMachine<'_>) -> Result<(), Miss> {
    let Some(payload) = stage.client.event("Stop", "bg") else {
        return Err(not_for(stage, "names no background tasks"));
    };
    stage.arm()?;
    let_go(&stage.ask(&stage.filled(payload, SESSION))?, "while background tasks run")?;
    still_held(stage, "after the background tasks")
}
