//! The variables with which a session is resumed.
//!
//! A client that is woken sees what its own shell saw when the loop was parked. What looks like
//! a key is never written to disk: it comes from the environment of the background process, which
//! has that of the command that started it.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;

use stopgate_core::LoopId;

use crate::home::Home;
use crate::judging::wait_note::{self, WaitNote, started_anew};

/// The variables for a client that goes on with a loop: those of this process, then those kept.
pub(super) fn kept(home: &Home, id: &LoopId) -> Vec<(OsString, OsString)> {
    let mut all: BTreeMap<OsString, OsString> = started_anew().into_iter().collect();
    let kept = WaitNote::read(home, id).map(|kept| kept.variables).unwrap_or_default();
    all.extend(kept.into_iter().map(|(name, value)| (name.into(), value.into())));
    all.into_iter().collect()
}

/// Forgets what was kept for a loop.
pub(super) fn forget(home: &Home, id: &LoopId) {
    let _ = fs::remove_file(wait_note::path(home, id));
}
