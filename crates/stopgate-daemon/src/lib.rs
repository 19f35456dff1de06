//! The background process: watches what parked loops wait for, and has them woken.
//!
//! One for each person and state directory, started by the first command that needs it and gone
//! when there is nothing to watch. It decides nothing and keeps nothing that the journal lacks:
//! each wake is claimed in the journal by the process that becomes the client, so this one may be
//! killed at any moment. Where it is missing, stops still ask for their conditions themselves.

mod alarm;
mod files;
mod peer;
mod server;
mod unit;
mod waker;
mod watched;

pub use crate::peer::{DaemonState, ensure, nudge, poke, state, stop};
pub use crate::server::{Served, serve};
pub use crate::unit::unit_text;
pub use crate::waker::{WAKE, wake_loop};

/// The word that makes the program this process, away from any terminal.
pub const DAEMON: &str = "__daemon";
