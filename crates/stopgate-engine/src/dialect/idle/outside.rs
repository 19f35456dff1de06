//! What people and programs outside say to a running idle loop, and what it says to them:
//! control words, a reviewer's answer, the switch that turns it off, the trace.

use std::fs::OpenOptions;
use std::io::Write;

use serde_json::{Value, json};
use stopgate_agents::Reply;
use stopgate_core::{Outcome, Seen, digest_of, idle_signal};
use stopgate_dialects::idle::guard::ToolCall;
use stopgate_dialects::idle::side::{Control, Review, SideMessage};
use stopgate_dialects::idle::{
    CONTROL, FILE, FrameReview, IdleStanding, OFF_FILE, REVIEW, TRACE, TextChange,
    claims_completion,
};
use stopgate_dialects::instant_text;

use super::{Found, Place, apply, find, sheet};
use crate::dialect::desk::{Held, JudgedFile};
use crate::dialect::jwz::Store;
use crate::dialect::{Answered, DialectCall, files};
use crate::failure::Failure;

/// Whether a file in the loop's directory switches its loops off.
pub(super) fn is_switched_off(desk: &DialectCall) -> bool {
    desk.directory.join(OFF_FILE).exists()
}

/// The newest message of the control topic, where there is a store.
pub(super) fn control_topic(desk: &DialectCall) -> Option<String> {
    Store::find(&desk.directory)?.newest(CONTROL.0).ok().flatten()
}

/// Does what the newest control word says; an answer where that ends the stop.
pub(super) fn obey(
    desk: &DialectCall,
    held: &mut Held<'_>,
    found: &Found,
    told: Option<String>,
) -> Result<Option<Answered>, Failure> {
    let told = match &found.place {
        Place::Topic(_) => told.and_then(|body| news(held, found, CONTROL.0, &body)),
        Place::File(_) => take(desk, held, found, CONTROL)?,
    };
    let Some(control) = told.and_then(|told| told.control()) else {
        return Ok(None);
    };
    held.meet(&found.state.run);
    let (change, outcome, why) = match control {
        Control::Pause => {
            held.note_pause();
            return Ok(Some(Answered::nothing()));
        }
        Control::Resume => {
            held.note_resume();
            return Ok(None);
        }
        Control::Cancel => (
            TextChange::Abort("USER_CANCELLED"),
            Outcome::Cancelled,
            "a control message cancelled it",
        ),
        Control::Escalate => {
            (TextChange::Done("STUCK"), Outcome::Blocked, "a control message called for a person")
        }
    };
    apply(desk, held, found, &change)?;
    let told = format!("the idle loop ended: {why}");
    held.tell_end(&sheet(desk, &found.state), outcome, why, &told);
    held.over(outcome, why);
    let stderr = format!("stopgate: {told}\n");
    Ok(Some(Answered::Allow(Reply { stderr, ..Reply::default() })))
}

/// A claim of completion that a reviewer has still to agree to.
pub(super) struct Unreviewed {
    /// What the reviewer wants changed, where they answered.
    pub(super) wish: Option<String>,
}

/// Takes a claim of completion back that needs a review and has none.
pub(super) fn review(
    desk: &DialectCall,
    held: &mut Held<'_>,
    found: &Found,
    seen: &mut Seen,
) -> Result<Option<Unreviewed>, Failure> {
    let top = found.state.frames.last();
    let said = top.and_then(|top| idle_signal(top.mode, &seen.markers));
    if found.state.reviewed == FrameReview::No || !said.is_some_and(claims_completion) {
        return Ok(None);
    }
    let answer = take(desk, held, found, REVIEW)?.map(|answer| answer.review());
    let wish = match answer {
        Some(Review::Approved) => return Ok(None),
        Some(Review::Changes(wish)) => Some(wish),
        None => None,
    };
    seen.markers.clear();
    Ok(Some(Unreviewed { wish }))
}

/// Where a reviewer answers.
pub(super) fn review_place(found: &Found) -> String {
    match &found.place {
        Place::Topic(_) => {
            format!("topic {} ({{\"run_id\": \"{}\", \"decision\": …}})", REVIEW.0, found.state.run)
        }
        Place::File(_) => REVIEW.1.into(),
    }
}

/// The newest message for this run that was not heard yet: a topic's must name the run, a
/// file's is removed.
fn take(
    desk: &DialectCall,
    held: &mut Held<'_>,
    found: &Found,
    (topic, file): (&str, &str),
) -> Result<Option<SideMessage>, Failure> {
    match &found.place {
        Place::Topic(store) => {
            Ok(store.newest(topic)?.and_then(|body| news(held, found, topic, &body)))
        }
        Place::File(_) => {
            let path = desk.directory.join(file);
            let Some(text) = files::read(&path)? else { return Ok(None) };
            files::remove(&path)?;
            Ok(SideMessage::read(&text))
        }
    }
}

/// What the newest message of a topic says to this run, the first time that it is seen.
fn news(held: &mut Held<'_>, found: &Found, topic: &str, body: &str) -> Option<SideMessage> {
    let told = SideMessage::read(body);
    let told = told.filter(|told| told.run.as_ref() == Some(&found.state.run))?;
    let heard = json!(digest_of(body));
    held.meet(&found.state.run);
    let known = held.memory.notes.insert(topic.into(), heard.clone());
    if known == Some(heard) {
        return None;
    }
    held.save();
    Some(told)
}

/// Writes down how a stop was decided, where `IDLE_TRACE=1` asks for it; nothing depends on it.
pub(super) fn trace(desk: &DialectCall, found: &Found, judged: &JudgedFile, seen: &Seen) {
    if !desk.settings.traces_idle() {
        return;
    }
    let top = judged.after.top().or_else(|| judged.before.top());
    let markers: Vec<&str> = seen.markers.iter().map(|marker| marker.text()).collect();
    let blocked = matches!(judged.decision.verdict, stopgate_core::Verdict::Continue { .. });
    let line = json!({
        "at": instant_text(desk.now),
        "run_id": found.state.run,
        "rule": judged.decision.rule.word(),
        "decision": if blocked { "block" } else { "allow" },
        "iteration": top.map(|top| top.iteration),
        "max": top.map(|top| top.max),
        "signals": markers,
    });
    let written = match &found.place {
        Place::Topic(store) => store.post(TRACE.0, &line.to_string()),
        Place::File(_) => append(desk, &line),
    };
    if let Err(failure) = written {
        desk.note(&format!("no trace of this stop: {}", failure.story()));
    }
}

fn append(desk: &DialectCall, line: &Value) -> Result<(), Failure> {
    let path = desk.directory.join(TRACE.1);
    // Asked before it is opened: a pipe that nobody reads would be waited for.
    if path.metadata().is_ok_and(|found| !found.is_file()) {
        return Err(Failure::fault(format!("{} is not a regular file", path.display())));
    }
    let opened = OpenOptions::new().create(true).append(true).open(&path);
    opened.and_then(|mut file| writeln!(file, "{line}")).map_err(|error| {
        Failure::fault(format!("could not write {}", path.display())).because(error)
    })
}

/// Denies a tool call that would change the state of the loop that holds its caller.
pub(in crate::dialect) fn guard(desk: &DialectCall, raw: &[u8]) -> Result<Answered, Failure> {
    let Ok(payload) = serde_json::from_slice::<Value>(raw) else { return Ok(Answered::nothing()) };
    let asked = ToolCall::read(&payload).filter(|call| call.changes(FILE));
    if asked.is_none() || is_switched_off(desk) {
        return Ok(Answered::nothing());
    }
    let found = find(desk)?.map(|(_, found)| found);
    if !found.is_some_and(|found| found.state.standing == IdleStanding::Active) {
        return Ok(Answered::nothing());
    }
    let why = "This file keeps the loop that you are in, and stopgate counts in it. Finish with the \
               loop's marker, or have the person run: stopgate cancel --dialect idle";
    let denial = json!({"hookSpecificOutput": {
        "hookEventName": "PreToolUse",
        "permissionDecision": "deny",
        "permissionDecisionReason": why,
    }});
    Ok(Answered::Block(Reply { stdout: format!("{denial}\n"), ..Reply::default() }))
}
