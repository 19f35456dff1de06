//! What happened to a loop beside its stops, a sentence each.

use stopgate_core::{
    Binding, Event, LoopEdit, Rest, Speaker, TaskHold, Timestamp, Vouch, tokens_text, usd_text,
};

use crate::first_run::first_runs_text;
use crate::parked::{unparked, waits_for};

/// One thing that happened between two stops.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoopMoment {
    /// When.
    pub at: Timestamp,
    /// How many stops there were before it.
    pub after_stop: usize,
    /// What happened, in a word.
    pub kind: &'static str,
    /// The same in a sentence; may hold text that others wrote.
    pub what: String,
}

/// What to tell of an event; `None` for the start and for stops, which are told elsewhere.
pub(crate) fn moment(event: &Event, at: Timestamp, after_stop: usize) -> Option<LoopMoment> {
    let (kind, what) = told(event)?;
    Some(LoopMoment { at, after_stop, kind, what })
}

fn told(event: &Event) -> Option<(&'static str, String)> {
    Some(match event {
        Event::Started(_) | Event::Stopped(_) | Event::Synced { .. } | Event::Metered(_) => {
            return None;
        }
        Event::Bound { session, how } => ("bound", bound(session.as_str(), *how)),
        Event::Detached { .. } => ("detached", "its session is gone".into()),
        Event::Pushed { frame } => {
            ("pushed", format!("{} frame, at most {}: {}", frame.mode, frame.max, frame.prompt))
        }
        Event::Popped => ("popped", "the frame on top was closed by command".into()),
        Event::Claimed => ("claimed", "the agent asked for verification".into()),
        Event::Parked(parking) => ("parked", waits_for(parking)),
        Event::ConditionHeld => ("condition held", "what it waits for has happened".into()),
        Event::Unparked { by } => ("unparked", unparked(by).into()),
        Event::WakeFailed { why } => ("wake failed", why.clone()),
        Event::Asked { question } => ("asked", question.clone()),
        Event::Answered { text } => ("answered", text.clone()),
        Event::Edited(edit) => ("edited", edited(edit)),
        Event::Prompted { speaker, .. } => ("prompted", prompted(*speaker).into()),
        Event::Paused { rest } => ("paused", paused(*rest).into()),
        Event::Resumed { max_iterations: Some(max) } => {
            ("resumed", format!("a person resumed it with {max} continuations"))
        }
        Event::Resumed { max_iterations: None } => ("resumed", "a person resumed it".into()),
        Event::Cleared { .. } => ("cleared", "the session's context was cleared".into()),
        Event::Compacted { .. } => ("compacted", "the session's context was compacted".into()),
        Event::TurnFailed { error, text } => ("turn failed", format!("{error}: {text}")),
        Event::SessionEnded { reason } => ("session ended", reason.clone()),
        Event::Approved { criterion } => ("approved", format!("a person attests: {criterion}")),
        Event::Resealed { changes, .. } => {
            ("resealed", format!("a person made these the judges: {}", changes.join(", ")))
        }
        Event::JudgesApproved { by, .. } => {
            ("judges approved", format!("{by} accepted the changed judges"))
        }
        Event::Certified { .. } => ("signed", "what was proven was signed".into()),
        Event::Preflighted { receipts } => ("first run", first_runs_text(receipts)),
        Event::Vouched { how: Vouch::Typed } => {
            ("vouched", "the transcript shows that a person typed the command".into())
        }
        Event::Vouched { how: Vouch::Approved } => ("vouched", "a person approved it".into()),
        Event::Task(note) => ("task", task(&note.hold)),
        Event::Placed(worktree) => {
            ("worktree", format!("{} on branch {}", worktree.directory, worktree.branch))
        }
        Event::Merged { commit } => ("merged", commit.clone()),
        Event::Ended { outcome, why } => ("ended", format!("{outcome}: {why}")),
    })
}

fn bound(session: &str, how: Binding) -> String {
    let how = match how {
        Binding::Claimed => "claimed by",
        Binding::Carried => "carried over to",
        Binding::Attached => "attached to",
    };
    format!("{how} session {session}")
}

const fn prompted(speaker: Speaker) -> &'static str {
    match speaker {
        Speaker::Interjection => "a person spoke during the turn",
        Speaker::Person => "a person prompted the agent",
        Speaker::Notification => "background work finished",
    }
}

const fn paused(rest: Rest) -> &'static str {
    match rest {
        Rest::Resume => "a person paused it",
        Rest::NextPrompt => "a person paused it until their next prompt",
        Rest::NextSession => "it waits for another session",
    }
}

fn edited(edit: &LoopEdit) -> String {
    let mut parts = Vec::new();
    parts.extend(edit.goal.as_ref().map(|goal| format!("goal: {goal}")));
    parts.extend(edit.max_iterations.map(|max| format!("at most {max} continuations")));
    parts.extend(edit.max_minutes.map(|max| format!("at most {max} min")));
    parts.extend(edit.max_tokens.map(|max| format!("at most {} tokens", tokens_text(max))));
    let cost = edit.max_cost_micros.map(|max| usd_text(max.saturating_mul(1000)));
    parts.extend(cost.map(|max| format!("at most {max}")));
    parts.extend(edit.max_quota.map(|max| format!("at most {max} % of the quota")));
    parts.extend(edit.added.iter().map(|criterion| format!("added {}", criterion.name)));
    parts.extend(edit.dropped.iter().map(|name| format!("dropped {name}")));
    format!("a person changed it: {}", parts.join("; "))
}

fn task(hold: &TaskHold) -> String {
    match hold {
        TaskHold::Keep => "the task went on".into(),
        TaskHold::Begin { .. } => "iterations began".into(),
        TaskHold::Open => "iterations ended; the task is open".into(),
        TaskHold::End { outcome, why } => format!("the task ended as {outcome}: {why}"),
    }
}
