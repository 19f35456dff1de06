//! The one impure act: runs checks and says what came out.
//!
//! A check never fails to answer: what could not be run is a receipt, too. Nothing
//! here knows a store or prints; results are *given* to the core.

mod attempt;

pub mod baseline;

mod capture;

mod check;

mod child;

mod env;

mod environment;

mod git;

mod glob;

mod leash;

mod limits;

mod orphans;

mod proc;

mod redact;

mod runner;

mod scratch;

pub mod coverage;

pub mod kinds;

pub mod report;

mod size_limit;

mod tool;

pub mod spots;

pub mod pristine;

mod program;

mod seal;

mod tree;

mod file_name;

pub mod files;

mod sign;

mod prove;

mod xml;

pub use crate::check::{Check, Command, Limits, Ran, Run, Whole, run};
pub use crate::env::may_pass;
pub use crate::file_name::file_name;
pub use crate::git::{GitFilters, git};
pub use crate::leash::{LEASH, hold_leash, provide_leash};
pub use crate::orphans::{Strangers, end_children};
pub use crate::program::command_fingerprint;
pub use crate::prove::{
    Files, Freshness, Measured, Place, Proved, Request, changes, content_fingerprint, measure,
    prove,
};
pub use crate::redact::redact;
pub use crate::seal::{Change, Seal, SealError};
pub use crate::sign::{Fit, Key, fits};
pub use crate::size_limit::survive_size_limit;
pub use crate::tool::{ToolOutput, own_tool, tool};
pub use crate::tree::{Kind, Scope, Tree, TreeError, TreeFile, fingerprint};
