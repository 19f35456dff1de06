//! Events that are not the end of the main agent's turn, while a loop holds it.

use serde_json::json;
use stopgate_agents::Understood;

use super::{Case, held, let_go, not_for};
use crate::stage::{Miss, SESSION, Stage};

pub(super) const CASES: &[Case] = &[
    Case {
        name: "other events",
        why: "A hook that is registered for all events must hold only stops.",
        run: other_events,
    },
    Case {
        name: "event of tomorrow",
        why: "Clients add events; an unknown one is not a stop.",
        run: unknown_event,
    },
    Case {
        name: "subagent stop",
        why: "A subagent has its own task: held for the loop of the main agent, it never ends.",
        run: subagent,
    },
    Case {
        name: "compaction",
        why: "Compaction ends as a nameless subagent; holding it breaks the summary.",
        run: compaction,
    },
    Case {
        name: "background tasks",
        why: "While background work runs there is nothing to do: each hold burns a turn.",
        run: background,
    },
];

/// The loop holds as before.
fn still_held(stage: &Stage<'_>, when: &str) -> Result<(), Miss> {
    held(&stage.ask(&stage.stop())?, when)
}

fn other_events(stage: &Stage<'_>) -> Result<(), Miss> {
    stage.arm()?;
    for (name, payload) in stage.client.others() {
        // The client's own end of a session may end a loop, too; prompts are answered elsewhere.
        if matches!(name, "SessionEnd") {
            continue;
        }
        let understood = stage.ask(&stage.filled(payload, SESSION))?;
        let_go(&understood, &format!("at {name}"))?;
    }
    Ok(())
}

fn unknown_event(stage: &Stage<'_>) -> Result<(), Miss> {
    let mut payload = stage.stop();
    let name = "hook_event_name";
    if payload.get(name).is_none() {
        return Err(not_for(stage, "does not name the event"));
    }
    stage.arm()?;
    payload[name] = json!("EventOfTomorrow");
    let_go(&stage.ask(&payload)?, "at an unknown event")?;
    still_held(stage, "after an unknown event")
}

fn subagent(stage: &Stage<'_>) -> Result<(), Miss> {
    let Some(payload) = stage.client.event("SubagentStop", "bg") else {
        return Err(not_for(stage, "sends no subagent's stop that was captured"));
    };
    stage.arm()?;
    let understood = stage.ask(&stage.filled(payload, SESSION))?;
    let_go(&understood, "at a subagent's stop")?;
    still_held(stage, "after a subagent's stop")
}

fn compaction(stage: &Stage<'_>) -> Result<(), Miss> {
    let events = [("PreCompact", "auto"), ("SubagentStop", "compaction-fork")];
    let payloads: Vec<_> =
        events.iter().filter_map(|(name, variant)| stage.client.event(name, variant)).collect();
    if payloads.is_empty() {
        return Err(not_for(stage, "sends no compaction that was captured"));
    }
    stage.arm()?;
    for payload in payloads {
        let_go(&stage.ask(&stage.filled(payload, SESSION))?, "at a compaction")?;
    }
    still_held(stage, "after a compaction")
}

fn background(stage: &Stage<'_>) -> Result<(), Miss> {
    let Some(payload) = stage.client.event("Stop", "bg") else {
        return Err(not_for(stage, "names no background tasks"));
    };
    stage.arm()?;
    let understood: Understood = stage.ask(&stage.filled(payload, SESSION))?;
    let_go(&understood, "while background tasks run")?;
    still_held(stage, "after the background tasks")
}
