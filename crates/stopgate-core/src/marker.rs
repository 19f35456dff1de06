//! What an agent can say about being done, and what it means to a frame.
//!
//! A marker is intent, never proof: nothing here can complete a loop that has
//! criteria of its own.

use crate::state::Mode;

/// One known marker that stood as a signal in the agent's last message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
