//! The judgement of stopgate, and the words it is made of.
//!
//! Nothing here reads a clock, a file or a variable: `no_std` makes that a
//! compile error rather than a habit. Two functions matter: [`due`] says which
//! checks a stop needs, [`decide`] says what the stop is answered.

#![no_std]

extern crate alloc;
#[cfg(test)]
extern crate std;

mod words;

mod time;

mod stored;

mod outcome;

mod marker;

mod receipt;

mod criterion;

mod ground;

mod gate;

mod spend;

mod policy;

mod order;

mod state;

mod event;

mod fold;

mod soundness;

mod seen;

mod tally;

mod brakes;

mod budget;

mod idle;

mod ledger;

mod written;

mod word;

mod worktree;

mod decide;

mod judges;

mod clean;

mod excerpt;

mod parking;

mod first_run;

mod prompt;

mod digest;

#[cfg(test)]
mod scene;

#[cfg(test)]
mod stored_tests;

pub use crate::budget::{
    BudgetUse, budgets, crowded_context, reached_budget, spend_line, spend_words,
};
pub use crate::clean::{clean, clip, clip_end};
pub use crate::criterion::{
    Author, Baseline, CoverageFormat, Criterion, CriterionJudge, Floor, GitDemand, JudgesAre, Kept,
    PatternSubject, Proof, ProofCommand, Reuse, Site, Standing, Terms, Visibility, Weight,
};
pub use crate::decide::{
    Decision, Verdict, asks_gates, completes, conclude, decide, due, overdue, proves,
};
pub use crate::digest::{Digest, digest_of};
pub use crate::event::{
    Binding, Event, FORMAT, Facts, Leave, LoopEdit, Ruling, RulingWord, Speaker, Started, Stopped,
    TaskHold, TaskNote,
};
pub use crate::excerpt::excerpt;
pub use crate::first_run::{FirstRun, FirstRunResult};
pub use crate::fold::{advance, apply, fold};
pub use crate::gate::{GateAction, GateTrace, GateWord, LoopGate};
pub use crate::ground::{ApprovedJudges, Ground, ProjectSource};
pub use crate::idle::idle_signal;
pub use crate::judges::{Verified, verified};
pub use crate::ledger::{ErrorClass, Ledger, WrittenError};
pub use crate::marker::{Marker, Signal, signal};
pub use crate::outcome::Outcome;
pub use crate::parking::{BackgroundChecks, Parking, UnparkedBy, WaitCondition, WokenClient};
pub use crate::policy::{Enforcement, GoalShape, Order, Policy, Rule};
pub use crate::prompt::{PROMPT_BYTES_MAX, PROMPT_VOICE, announcement, fenced, is_continuation};
pub use crate::receipt::{
    Evidence, OpinionCost, OriginalRun, OriginalVerdict, Receipt, Status, Strength, Tests,
};
pub use crate::seen::{CapScope, ClientCap, Seen, SpokenExit, ToolUse};
pub use crate::soundness::Soundness;
pub use crate::spend::{
    BudgetKind, CONTEXT_WARN_PERCENT, ContextUse, CountedCall, DaySpend, MeterDoubt, ModelSpend,
    QuotaUse, SharedBudget, Spend, SpendMark, TokenUse, UsageFile, WRAP_UP_PERCENT, tokens_text,
    usd_text,
};
pub use crate::state::{
    FRAMES_MAX, Frame, LoopId, LoopState, Mode, Phase, Rest, SessionId, State, Surface, Waiting,
};
pub use crate::tally::Tally;
pub use crate::time::Timestamp;
pub use crate::word::{FileTrust, Origin, Party, Replaced, Vouch, is_agents_choice};
pub use crate::worktree::{LoopWorktree, Repository};
