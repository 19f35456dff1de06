//! What an agent can say about being done, and what it means to a frame.
//!
//! A marker is intent, never proof: nothing here can complete a loop that has
//! criteria of its own.

use serde::{Deserialize, Serialize};

use crate::state::Mode;

/// One known marker that stood as a signal in the agent's last message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Marker {
    /// `<loop-done>COMPLETE</loop-done>`
    LoopDoneComplete,
    /// `<loop-done>MAX_ITERATIONS</loop-done>`
    LoopDoneMaxIterations,
    /// `<loop-done>STUCK</loop-done>`
    LoopDoneStuck,
    /// `<issue-complete>DONE</issue-complete>`
    IssueComplete,
    /// `<grind-done>NO_MORE_ISSUES</grind-done>`
    GrindDoneNoMoreIssues,
    /// `<grind-done>MAX_ISSUES</grind-done>`
    GrindDoneMaxIssues,
    /// `<promise>COMPLETE</promise>`
    PromiseComplete,
    /// `<promise>BLOCKED</promise>`
    PromiseBlocked,
    /// `<promise>ESCALATE</promise>`
    PromiseEscalate,
    /// `<loop-complete>`
    LoopComplete,
}

impl Marker {
    /// The marker as an agent writes it.
    pub const fn text(self) -> &'static str {
        match self {
            Self::LoopDoneComplete => "<loop-done>COMPLETE</loop-done>",
            Self::LoopDoneMaxIterations => "<loop-done>MAX_ITERATIONS</loop-done>",
            Self::LoopDoneStuck => "<loop-done>STUCK</loop-done>",
            Self::IssueComplete => "<issue-complete>DONE</issue-complete>",
            Self::GrindDoneNoMoreIssues => "<grind-done>NO_MORE_ISSUES</grind-done>",
            Self::GrindDoneMaxIssues => "<grind-done>MAX_ISSUES</grind-done>",
            Self::PromiseComplete => "<promise>COMPLETE</promise>",
            Self::PromiseBlocked => "<promise>BLOCKED</promise>",
            Self::PromiseEscalate => "<promise>ESCALATE</promise>",
            Self::LoopComplete => "<loop-complete>",
        }
    }
}

/// What the markers of one message amount to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// The agent claims that the frame is finished.
    Complete,
    /// The agent says that it can't go on.
    Blocked,
    /// The agent asks for a person.
    Escalate,
}

/// What a native frame hears in `markers`.
///
/// An honest exit is heard before a claim: who says both has not finished.
pub fn signal(mode: Mode, markers: &[Marker]) -> Option<Signal> {
    let heard =
        |wanted: Signal| markers.iter().any(|marker| meaning(mode, *marker) == Some(wanted));
    [Signal::Blocked, Signal::Escalate, Signal::Complete].into_iter().find(|wanted| heard(*wanted))
}

fn meaning(mode: Mode, marker: Marker) -> Option<Signal> {
    match marker {
        Marker::PromiseBlocked | Marker::LoopDoneStuck => Some(Signal::Blocked),
        Marker::PromiseEscalate => Some(Signal::Escalate),
        Marker::PromiseComplete | Marker::LoopDoneComplete | Marker::LoopComplete => match mode {
            Mode::Loop | Mode::Issue => Some(Signal::Complete),
            Mode::Grind => None,
        },
        Marker::IssueComplete => match mode {
            Mode::Issue => Some(Signal::Complete),
            Mode::Loop | Mode::Grind => None,
        },
        Marker::GrindDoneNoMoreIssues | Marker::GrindDoneMaxIssues => match mode {
            Mode::Grind => Some(Signal::Complete),
            Mode::Loop | Mode::Issue => None,
        },
        // Counting is stopgate's own business; a claim to have counted is not a signal.
        Marker::LoopDoneMaxIterations => None,
    }
}

#[cfg(test)]
mod tests;
