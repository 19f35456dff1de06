//! Carries a loop through many sessions of an agent, with nobody at the keyboard.
//!
//! Sessions are processes in groups of their own, read line by line; what follows a failure is one
//! pure table (`policy.rs`). Whether an agent may stop is decided where it always is: by the hook in
//! the session, or, where it has none, by the same engine once the session has ended.

mod command;
mod driver;
mod feature;
mod guard;
mod interrupt;
mod jobs;
mod loops;
mod mark;
mod plan;
mod policy;
mod process;
mod prompt;
mod question;
mod record;
mod records;
mod session;
mod terminal;
mod tmux;
mod worktree;

pub use crate::command::AgentCommand;
pub use crate::driver::{DriveEnd, DriveEnded, drive_file, drive_native};
pub use crate::guard::{SESSION_GUARD, SESSION_TERMINAL, become_client, guard_session};
pub use crate::interrupt::Interrupts;
pub use crate::jobs::{JobEnded, JobNews, JobsListener, drive_jobs};
pub use crate::plan::{
    AnswerPlan, DriveNews, DrivePlan, FeatureBuilder, FreshPolicy, SessionScreen, WorkPlace,
};
pub use crate::policy::{
    ErrorKind, FailedSession, FailedSessionState, FailureLimits, NextStep, Waits, kind, next_step,
};
pub use crate::prompt::HAND_OVER_BYTES_MAX;
pub use crate::question::trailing_question;
pub use crate::tmux::{TMUX_SESSION, run_tmux_session};
pub use crate::worktree::Delivery;
