//! The rules of nested frames that are closed one stop at a time.

use alloc::format;

use crate::decide::RuleAnswer;
use crate::marker::Marker;
use crate::outcome::Outcome;
use crate::state::{Mode, State};

/// What a frame of `mode` hears in `markers`; the least flattering one, where it is several.
pub fn idle_signal(mode: Mode, markers: &[Marker]) -> Option<Marker> {
    let heard: &[Marker] = match mode {
        Mode::Loop => {
            &[Marker::LoopDoneStuck, Marker::LoopDoneMaxIterations, Marker::LoopDoneComplete]
        }
        Mode::Issue => &[
            Marker::LoopDoneStuck,
            Marker::LoopDoneMaxIterations,
            Marker::LoopDoneComplete,
            Marker::IssueComplete,
        ],
        Mode::Grind => &[Marker::GrindDoneMaxIssues, Marker::GrindDoneNoMoreIssues],
    };
    heard.iter().copied().find(|wanted| markers.contains(wanted))
}

/// The frame on top is at its limit: it goes, and the loop with it if it is the last.
pub(crate) fn top_limit(state: &State) -> Option<RuleAnswer> {
    let top = state.top()?;
    if top.iteration < top.max {
        return None;
    }
    let why = format!("{} iterations were used", top.max);
    Some(if state.frames.len() > 1 {
        RuleAnswer::Pop(why)
    } else {
        RuleAnswer::Escalate(Outcome::MaxIterations, why)
    })
}

/// The agent says that the frame on top is over: it goes, and the loop with it if it is the last.
pub(crate) fn said(state: &State, markers: &[Marker]) -> Option<RuleAnswer> {
    let marker = idle_signal(state.top()?.mode, markers)?;
    let why = format!("the agent said {}; no check proved it", marker.text());
    if state.frames.len() > 1 {
        return Some(RuleAnswer::Pop(why));
    }
    Some(match marker {
        Marker::LoopDoneStuck => RuleAnswer::Escalate(Outcome::Blocked, why),
        Marker::LoopDoneMaxIterations => RuleAnswer::Escalate(Outcome::MaxIterations, why),
        Marker::LoopDoneComplete
        | Marker::IssueComplete
        | Marker::GrindDoneNoMoreIssues
        | Marker::GrindDoneMaxIssues
        | Marker::PromiseComplete
        | Marker::PromiseBlocked
        | Marker::PromiseEscalate
        | Marker::LoopComplete => RuleAnswer::Complete(Outcome::Attested, why),
    })
}

#[cfg(test)]
mod enumeration;
#[cfg(test)]
mod tests;
