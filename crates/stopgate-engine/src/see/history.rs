//! The journal as lines.

use serde::Serialize;
use stopgate_core::{
    Binding, Event, Frame, Rest, Ruling, Speaker, Stopped, TaskHold, TaskNote, Timestamp, Vouch,
    spend_line,
};
use stopgate_store::{Cursor, JournalEntry};
use stopgate_view::{first_runs_text, unparked, waits_for};

use crate::context::LoopTarget;
use crate::failure::Failure;
use crate::see::Records;
use crate::veil::{Veil, veil, veil_over_all};
use crate::view::{describe_edit, short, step_line, time_text};

const PAGE: usize = 500;

/// One event, ready to be shown.
#[derive(Clone, Debug, Serialize)]
pub struct EntryView {
    /// Its place in the journal.
    pub cursor: u64,
    /// The loop.
    #[serde(rename = "loop")]
    pub id: String,
    /// Its number within the loop.
    pub revision: u64,
    /// When it happened.
    pub at: String,
    /// The same, for people.
    #[serde(skip)]
    pub happened_at: Timestamp,
    /// What kind of event it is.
    pub kind: &'static str,
    /// What happened, in a sentence.
    pub what: String,
    /// The whole event.
    pub event: Event,
}

impl Records<'_> {
    /// Everything that happened to one loop.
    pub fn history(&mut self, target: &LoopTarget) -> Result<Vec<EntryView>, Failure> {
        let state = self.context.resolve(target)?.state;
        let veil = veil(self.context, &state);
        Ok(self
            .context
            .journal
            .history(&state.id)?
            .into_iter()
            .map(|entry| view(entry, &veil))
            .collect())
    }

    /// What happened to any loop after `cursor`: a page of it.
    pub fn tail(&mut self, cursor: u64) -> Result<Vec<EntryView>, Failure> {
        let veil = veil_over_all(self.context);
        let page = self.context.journal.tail(Cursor(cursor), PAGE)?;
        Ok(page.into_iter().map(|entry| view(entry, &veil)).collect())
    }
}

fn view(mut entry: JournalEntry, veil: &Veil) -> EntryView {
    veil.draw(&mut entry.recorded.event);
    let (kind, what) = describe(&entry.recorded.event);
    EntryView {
        cursor: entry.cursor.0,
        id: entry.id.as_str().into(),
        revision: entry.revision.0,
        at: time_text(entry.recorded.at),
        happened_at: entry.recorded.at,
        kind,
        what,
        event: entry.recorded.event,
    }
}

fn describe(event: &Event) -> (&'static str, String) {
    match event {
        Event::Started(started) => ("started", short(&started.goal)),
        Event::Bound { session, how } => ("bound", format!("{} {session}", describe_binding(*how))),
        Event::Detached { .. } => {
            ("detached", "its session is gone; the next one in the project is held".into())
        }
        Event::Answered { text } => ("answered", short(text)),
        Event::Edited(edit) => ("edited", describe_edit(edit)),
        Event::Pushed { frame } => (
            "pushed",
            format!("{} frame, at most {}: {}", frame.mode, frame.max, short(&frame.prompt)),
        ),
        Event::Synced { frames } => (
            "synced",
            format!(
                "the file says: {}",
                frames.iter().map(counted).collect::<Vec<_>>().join(" > ")
            ),
        ),
        Event::Popped => ("popped", "the top frame was taken off".into()),
        Event::Stopped(stopped) => ("stopped", describe_stop(stopped)),
        Event::Placed(worktree) => {
            ("placed", short(&format!("in {} on branch {}", worktree.directory, worktree.branch)))
        }
        Event::Merged { commit } => ("merged", format!("the branch is now at {commit}")),
        Event::Metered(spend) => ("metered", spend_line(spend, &[])),
        Event::Claimed => ("claimed", "the agent asked for verification".into()),
        Event::Parked(parking) => ("parked", short(&format!("waits for {}", waits_for(parking)))),
        Event::ConditionHeld => ("condition_held", "what it waits for has happened".into()),
        Event::Unparked { by } => ("unparked", unparked(by).into()),
        Event::WakeFailed { why } => ("wake_failed", short(why)),
        Event::Asked { question } => ("asked", short(question)),
        Event::Prompted { speaker, .. } => ("prompted", describe_speaker(*speaker).into()),
        Event::Paused { rest: Rest::Resume } => ("paused", "until a person resumes it".into()),
        Event::Paused { rest: Rest::NextPrompt } => {
            ("held", "until the person speaks again".into())
        }
        Event::Paused { rest: Rest::NextSession } => {
            ("handed_over", "until another session takes over".into())
        }
        Event::Resumed { max_iterations: Some(max) } => {
            ("resumed", format!("with {max} continuations"))
        }
        Event::Resumed { max_iterations: None } => ("resumed", "by a person".into()),
        Event::Cleared { .. } => ("cleared", "the session's context was cleared".into()),
        Event::Compacted { trigger } => {
            ("compacted", format!("the context is compacted ({trigger})"))
        }
        Event::TurnFailed { error, text } => ("turn_failed", short(&format!("{error}: {text}"))),
        Event::SessionEnded { reason } => ("session_ended", short(reason)),
        Event::Approved { criterion } => {
            ("approved", format!("a person attests: {}", short(criterion)))
        }
        Event::Resealed { changes, .. } => {
            ("resealed", format!("a person accepts: {}", short(&changes.join(", "))))
        }
        Event::JudgesApproved { by, .. } => {
            ("judges_approved", format!("{} accepts the changed judges", short(by)))
        }
        Event::Certified { .. } => ("certified", "what was proven is signed".into()),
        Event::Preflighted { receipts } => ("preflighted", short(&first_runs_text(receipts))),
        Event::Vouched { how: Vouch::Typed } => {
            ("vouched", "the transcript shows that a person typed the command".into())
        }
        Event::Vouched { how: Vouch::Approved } => ("vouched", "approved by a person".into()),
        Event::Task(note) => ("task", describe_task(note)),
        Event::Ended { outcome, why } => ("ended", format!("{outcome}: {}", short(why))),
    }
}

const fn describe_binding(how: Binding) -> &'static str {
    match how {
        Binding::Claimed => "claimed by session",
        Binding::Carried => "carried over to session",
        Binding::Attached => "attached to session",
    }
}

fn describe_stop(stopped: &Stopped) -> String {
    match stopped.ruling {
        Ruling::Continue => {
            let line = stopped.text.lines().next().unwrap_or_default();
            format!("sent back: {}", short(line))
        }
        Ruling::Allow(_) => format!("allowed: {}", stopped.why),
        Ruling::Complete(outcome) | Ruling::Escalate(outcome) => {
            format!("ended as {outcome}: {}", short(&stopped.why))
        }
    }
}

/// Each step in a sentence, and what it means for the session.
fn describe_task(note: &TaskNote) -> String {
    let told: Vec<String> = note.steps.iter().map(|step| short(&step_line(step))).collect();
    let told = told.join("; ");
    match &note.hold {
        TaskHold::Keep | TaskHold::Open => told,
        TaskHold::Begin { session: None, .. } => format!("{told}; no session is held"),
        TaskHold::Begin { session: Some(session), .. } => {
            format!("{told}; session {session} is held")
        }
        TaskHold::End { outcome, why } => format!("{told}; ended as {outcome}: {}", short(why)),
    }
}

fn counted(frame: &Frame) -> String {
    format!("{} {}/{}", frame.mode, frame.iteration, frame.max)
}

fn describe_speaker(speaker: Speaker) -> &'static str {
    match speaker {
        Speaker::Interjection => "a person spoke during the turn: the next stop is allowed",
        Speaker::Person => "a person prompted the agent",
        Speaker::Notification => "background work finished",
    }
}
