//! The one impure act: runs checks and says what came out.
//!
//! A check never fails to answer: what could not be run is a receipt, too. Nothing
//! here knows a store or prints; results are *given* to the core.

mod ask;

mod capture;

mod check;

mod child;

mod size_limit;

pub use crate::ask::{Told, ask};
pub use crate::check::{Check, Ran, run};
pub use crate::size_limit::survive_size_limit;
