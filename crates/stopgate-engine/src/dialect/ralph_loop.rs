//! The `ralph-loop` dialect on the disk.
//!
//! Only the session that the file names is held. A file that makes no sense is left as it
//! is; one whose loop is over goes, and is kept in stopgate's home.

use serde::Serialize;
use stopgate_agents::{Call, Reply};
use stopgate_core::{Frame, Marker, Outcome, Phase, Policy, Verdict};
use stopgate_dialects::ralph_loop::{FILE, FieldTrouble, RalphLoop, counted, note};
use stopgate_signals::markers;

use super::desk::{Held, JudgedFile, Sheet};
use super::{Answered, DialectCall, printed};
use crate::failure::Failure;
use crate::view::LoopView;

#[derive(Serialize)]
struct BlockWire<'a> {
    decision: &'static str,
    reason: &'a str,
    #[serde(rename = "systemMessage")]
    message: &'a str,
}

/// Answers one stop.
pub(super) fn stop(desk: &DialectCall, call: &Call<'_>) -> Result<Answered, Failure> {
    let Some((mut held, text, found)) = find(desk)? else {
        return Ok(Answered::nothing());
    };
    if found.session.is_none() && found.active {
        return Ok(told(&format!("{FILE} names no session_id, so it holds nobody")));
    }
    if !found.holds(&call.session) || !found.active || held.is_paused(&found.run) {
        return Ok(Answered::nothing());
    }
    let frame = match &found.frame {
        Ok(frame) => frame,
        Err(trouble) => return Ok(corrupt(desk, trouble)),
    };
    let message = DialectCall::last_message(call);
    let mut seen = DialectCall::seen(call, message.as_deref());
    // Here one promise counts, and it is the file's.
    seen.markers.clear();
    if let (Some(message), Some(promise)) = (&message, &found.promise)
        && markers::promised(message, promise)
    {
        seen.markers.push(Marker::PromiseComplete);
    }
    let judged = held.judge(&sheet(desk, &found, frame), &seen);
    let (answered, words) = settle(&mut held, &text, &found, &judged)?;
    held.close(judged, &words);
    Ok(answered)
}

impl DialectCall {
    /// How the plugin's loop in this directory stands.
    pub fn ralph_loop_view(&self) -> Result<LoopView, Failure> {
        let (held, _, found) = find(self)?.ok_or_else(nothing)?;
        let frame = found.frame.as_ref().map_err(confused)?;
        let mut sheet = sheet(self, &found, frame);
        sheet.phase = held.phase_of(&sheet);
        Ok(self.view(&sheet))
    }

    /// A person ends the plugin's loop in this directory.
    pub fn ralph_loop_cancel(&self) -> Result<LoopView, Failure> {
        let (mut held, _, found) = find(self)?.ok_or_else(nothing)?;
        let path = held.file.clone();
        held.remove(&path)?;
        held.over(Outcome::Cancelled, "a person cancelled it");
        let blank = Frame {
            mode: stopgate_core::Mode::Loop,
            iteration: 0,
            max: u32::MAX,
            prompt: String::new(),
        };
        let mut sheet = sheet(self, &found, found.frame.as_ref().unwrap_or(&blank));
        sheet.phase = Phase::Ended {
            outcome: Outcome::Cancelled,
            why: "a person cancelled it".into(),
            at: self.now,
        };
        Ok(self.view(&sheet))
    }
}

fn find(desk: &DialectCall) -> Result<Option<(Held<'_>, String, RalphLoop)>, Failure> {
    let path = desk.directory.join(FILE);
    if !path.exists() {
        return Ok(None);
    }
    let held = desk.hold(&path)?;
    let Some(text) = held.read()? else { return Ok(None) };
    let Some(found) = RalphLoop::read(&text) else {
        return Err(Failure::fault(format!("could not read a loop in {}", path.display())));
    };
    Ok(Some((held, text, found)))
}

fn sheet(desk: &DialectCall, found: &RalphLoop, frame: &Frame) -> Sheet {
    let off = Phase::Ended { outcome: Outcome::Aborted, why: "switched off".into(), at: desk.now };
    Sheet {
        run: found.run.clone(),
        goal: frame.prompt.lines().next().unwrap_or("ralph loop").into(),
        policy: Policy { stale_after_ms: i64::MAX, max_minutes: 0, ..Policy::default() },
        phase: if found.active { Phase::Active } else { off },
        frames: vec![frame.clone()],
        criteria: Vec::new(),
        updated_at: desk.now,
    }
}

/// Writes what the decision means, and puts the answer into that plugin's form.
fn settle(
    held: &mut Held<'_>,
    text: &str,
    found: &RalphLoop,
    judged: &JudgedFile,
) -> Result<(Answered, String), Failure> {
    let path = held.file.clone();
    match &judged.decision.verdict {
        Verdict::Continue { .. } => {
            let unfit = || Failure::fault("could not count: the file has no fields any more");
            let top = judged.after.top().ok_or_else(unfit)?;
            held.write(&path, &counted(text, top.iteration).ok_or_else(unfit)?)?;
            let message = note(top, found.promise.as_deref());
            Ok((Answered::Block(block(&top.prompt, &message)), top.prompt.clone()))
        }
        Verdict::Allow(_) => Ok((Answered::nothing(), String::new())),
        Verdict::Complete { outcome, why } | Verdict::Escalate { outcome, why } => {
            held.remove(&path)?;
            Ok((told(&format!("the ralph loop ended as {outcome}: {why}")), String::new()))
        }
    }
}

fn block(prompt: &str, message: &str) -> Reply {
    printed(&BlockWire { decision: "block", reason: prompt, message })
}

/// Lets the agent go, with a word for the person where they look.
fn told(what: &str) -> Answered {
    Answered::Allow(Reply { stderr: format!("stopgate: {what}\n"), ..Reply::default() })
}

fn corrupt(desk: &DialectCall, trouble: &FieldTrouble) -> Answered {
    let what = confused(trouble).story();
    desk.note(&what);
    told(&format!("{what}; the stop was allowed and the file left as it is"))
}

fn confused(trouble: &FieldTrouble) -> Failure {
    let FieldTrouble { field, value } = trouble;
    Failure::fault(format!("could not follow {FILE}: {field} says \"{value}\""))
        .hint("fix that field, or end the loop: stopgate cancel --dialect ralph-loop")
}

fn nothing() -> Failure {
    Failure::no_loop(format!("no loop in this directory: there is no {FILE}"))
}
