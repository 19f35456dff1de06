//! What an agent should still know when its context was compacted.

use std::fmt::Write;
use std::time::Duration;

use stopgate_agents::{AgentAnswer, Call, Client, HookEvent, SessionSource};
use stopgate_core::{Timestamp, clip};
use stopgate_dialects::idle::{ANCHOR_FILE, ANCHOR_TOPIC, IdleLoop, IdleStanding, anchor};
use stopgate_dialects::instant_text;
use stopgate_verify::{GitFilters, git};

use super::{Found, Held, Place, find};
use crate::dialect::{Answered, DialectCall, files};
use crate::failure::Failure;

const GIT_PATIENCE: Duration = Duration::from_secs(2);
const GIT_BYTES_MAX: usize = 2000;

/// Leaves a recovery anchor before the context is compacted; the loop itself is not touched.
pub(in crate::dialect) fn pre_compact(
    desk: &DialectCall,
    _call: &Call<'_>,
) -> Result<Answered, Failure> {
    let Some((_held, found)) = active(desk)? else { return Ok(Answered::nothing()) };
    match &found.place {
        Place::Topic(store) => {
            store.post(ANCHOR_TOPIC, &message(desk, &found.state, desk.now))?;
        }
        Place::File(_) => {
            let text = format!("{}\n", whole(desk, &found.state));
            files::write(&desk.directory.join(ANCHOR_FILE), &text)?;
        }
    }
    Ok(Answered::nothing())
}

/// Tells an agent whose context was just compacted what it was at.
pub(in crate::dialect) fn session_start(
    desk: &DialectCall,
    call: &Call<'_>,
) -> Result<Answered, Failure> {
    if call.source != Some(SessionSource::Compact) {
        return Ok(Answered::nothing());
    }
    let Some((_held, found)) = active(desk)? else { return Ok(Answered::nothing()) };
    let text = format!("You are in an idle loop; go on with it.\n{}", anchor(&found.state));
    let said = AgentAnswer::Context { event: HookEvent::SessionStart, text: &text };
    Ok(Answered::Allow(call.agent.render(&said, Client::default())))
}

fn active(desk: &DialectCall) -> Result<Option<(Held<'_>, Found)>, Failure> {
    Ok(find(desk)?.filter(|(_, found)| found.state.standing == IdleStanding::Active))
}

/// Takes the anchor away with its loop.
pub(super) fn sweep(desk: &DialectCall) -> Result<(), Failure> {
    files::remove(&desk.directory.join(ANCHOR_FILE))
}

fn message(desk: &DialectCall, state: &IdleLoop, now: Timestamp) -> String {
    serde_json::json!({
        "schema": 1,
        "event": "ANCHOR",
        "run_id": state.run,
        "updated_at": instant_text(now),
        "anchor": whole(desk, state),
    })
    .to_string()
}

fn whole(desk: &DialectCall, state: &IdleLoop) -> String {
    let mut text = anchor(state);
    let asked: [(&str, &[&str]); 2] = [
        ("Recent commits", &["log", "--oneline", "-5"]),
        ("Changed files", &["status", "--short", "--ignore-submodules=dirty", "."]),
    ];
    for (heading, arguments) in asked {
        let told = git(arguments, &desk.directory, GitFilters::OwnOnly, GIT_PATIENCE).ok();
        let Some(told) = told.filter(|told| told.is_fine() && !told.stdout.is_empty()) else {
            continue;
        };
        let said = String::from_utf8_lossy(&told.stdout);
        let _ = write!(text, "\n\n{heading}:\n{}", clip(said.trim_end(), GIT_BYTES_MAX));
    }
    text
}
