//! The background process: watches what parked loops wait for, and has them woken.
//!
//! One for each person and state directory, started by the first command that needs it and gone
//! when there is nothing to watch. It decides nothing and keeps nothing that the journal lacks:
//! each wake is claimed in the journal by the process that becomes the client, so this one may be
//! killed at any moment. Where it is missing, stops still ask for their conditions themselves.

#[cfg(unix)]
mod alarm;
#[cfg(unix)]
mod files;
#[cfg(unix)]
mod peer;
#[cfg(unix)]
mod server;
mod terms;
#[cfg(unix)]
mod unit;
#[cfg(unix)]
mod waker;
#[cfg(unix)]
mod watched;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub use crate::peer::{ensure, nudge, poke, state, stop};
#[cfg(unix)]
pub use crate::server::serve;
pub use crate::terms::{DaemonState, Served, Stay};
#[cfg(unix)]
pub use crate::unit::unit_text;
#[cfg(unix)]
pub use crate::waker::wake_loop;
#[cfg(windows)]
pub use crate::windows::{ensure, nudge, poke, serve, state, stop, unit_text, wake_loop};

/// The word that makes the program this process, away from any terminal.
pub const DAEMON: &str = "__daemon";
/// The word that makes the program wake one loop.
pub const WAKE: &str = "__wake";
