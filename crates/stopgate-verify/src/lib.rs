//! The one impure act: runs checks and says what came out.
//!
//! A check never fails to answer: what could not be run is a receipt, too. Nothing
//! here knows a store or prints; results are *given* to the core.

mod attempt;

pub mod baseline;

mod basis;

mod builds;

mod bytecode;

mod capture;

mod check;

mod child;

mod env;

mod environment;

mod git;

mod glob;

mod judges;

mod launch;

mod leash;

mod limits;

mod detached;

mod orphans;

mod output_pipe;

mod proc;

mod process_mark;

mod started_through;

mod redact;

mod runner;

mod scratch;

pub mod coverage;

pub mod kinds;

pub mod report;

mod shell;

mod size_limit;

mod snapshot;

mod stop;

mod tool;

pub mod spots;

mod place;

mod program;

mod tree;

mod file_name;

pub mod files;

mod secret;

mod sign;

mod prove;

mod review;

mod watch;

mod worktree;

mod xml;

#[doc(hidden)]
pub mod fuzzing;

pub use crate::basis::{Basis, BasisError, BasisStore, JudgeLine};
pub use crate::bytecode::CompiledPython;
pub use crate::check::{Check, CheckCommand, ChecksRun, OutputWanted, Run, RunLimits, run};
pub use crate::detached::{detached, detached_for};
pub use crate::env::{may_pass, withheld};
pub use crate::environment::variables;
pub use crate::file_name::file_name;
pub use crate::git::{GitError, GitFilters, git};
pub use crate::judges::{check_warnings, steering_variables};
pub use crate::launch::{
    LaunchPlan, become_program, keepable_variables, launch_self, launch_self_heard, leave_session,
    own_program,
};
pub use crate::leash::{LEASH, hold_leash, provide_leash};
pub use crate::orphans::{Strangers, end_children};
pub use crate::place::{PlaceKind, PlaceReport, ProjectCopy, place_report};
pub use crate::process_mark::ProcessMark;
pub use crate::program::command_fingerprint;
pub use crate::prove::{
    ChangedFile, ChangedJudges, Files, FirstWrites, Freshness, Measured, ProofRequest,
    ProofStorage, Proved, StartCopy, TestFloor, changed_judges, content_fingerprint, floor,
    measure, proof_fingerprint, prove,
};
pub use crate::redact::redact;
pub use crate::review::{
    BRIEF_FILE, LastWords, Opinion, OpinionVerdict, ReviewRequest, earlier_opinion, read_opinion,
    review,
};
pub use crate::shell::has_posix_shell;
pub use crate::sign::{Fit, Key, fits, record_key};
pub use crate::size_limit::survive_size_limit;
pub use crate::snapshot::{SNAPSHOTS_MAX, SnapshotStore, TreeSnapshot};
pub use crate::started_through::{processes_above, variable_before};
pub use crate::stop::RunStop;
pub use crate::tool::{ToolOutput, own_tool, tool};
pub use crate::tree::{FileKind, TREE_KEY_NAME, Tree, TreeError, TreeFile, TreeScope, fingerprint};
pub use crate::watch::{RunningCheck, while_watched};
pub use crate::worktree::{
    HeadState, KeptApart, LoopBranch, MergeTry, PublishTry, head_state, worktree_warnings,
};
