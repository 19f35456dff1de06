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

mod glob;

mod limits;

mod detached;

mod orphans;

mod proc;

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

mod sign;

mod prove;

mod xml;

pub use crate::check::{Check, Command, Limits, Ran, Run, Whole, run};
pub use crate::detached::detached;
pub use crate::env::withheld;
pub use crate::file_name::file_name;
pub use crate::orphans::Strangers;
pub use crate::program::command_fingerprint;
pub use crate::prove::{
    Files, Freshness, Measured, Place, Proved, Request, changes, content_fingerprint, measure,
    prove,
};
pub use crate::seal::{Change, Seal, SealError};
pub use crate::sign::{Fit, Key, fits};
pub use crate::size_limit::survive_size_limit;
pub use crate::tool::{ToolOutput, tool};
pub use crate::tree::{Kind, Scope, Tree, TreeError, TreeFile, fingerprint};
