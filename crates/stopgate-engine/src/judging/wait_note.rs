//! What this machine keeps of a wait that began on it.
//!
//! A journal may be shared with other machines. What its record says is never enough to run
//! a command, fetch an address or start a client: the wait must have begun here, with the same
//! condition.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use stopgate_agents::Agent;
use stopgate_core::{LoopId, WaitCondition};
use stopgate_verify::files::{Durable, read_text, replace_private};
use stopgate_verify::keepable_variables;

use crate::failure::Failure;
use crate::home::{Home, file_name};

/// No environment is larger.
const NOTE_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// What a loop waits for, and the variables for the client that goes on with it.
#[derive(Serialize, Deserialize)]
pub(crate) struct WaitNote {
    pub(crate) condition: WaitCondition,
    pub(crate) variables: BTreeMap<String, String>,
}

impl WaitNote {
    /// What is kept for a loop, where something is.
    pub(crate) fn read(home: &Home, id: &LoopId) -> Option<Self> {
        serde_json::from_str(&read_text(&path(home, id), NOTE_BYTES_MAX).ok()?).ok()
    }

    /// Keeps it for a loop.
    pub(crate) fn write(&self, home: &Home, id: &LoopId) -> Result<(), Failure> {
        let path = path(home, id);
        let text = serde_json::to_vec(self).unwrap_or_default();
        replace_private(&path, &text, Durable::Buffered).map_err(|error| {
            Failure::fault(format!("could not write {}", path.display())).because(error)
        })
    }
}

/// Whether this wait of the loop began on this machine, for this state directory.
pub(crate) fn began_here(home: &Home, id: &LoopId, condition: &WaitCondition) -> bool {
    WaitNote::read(home, id).is_some_and(|kept| kept.condition == *condition)
}

/// The file in which it is kept.
pub(crate) fn path(home: &Home, id: &LoopId) -> PathBuf {
    home.directory().join("parked").join(&*file_name(id.as_str()))
}

/// The variables of this process that a program may have that is started anew: none by which
/// a client tells its own shells who they belong to.
pub fn started_anew() -> Vec<(OsString, OsString)> {
    stopgate_verify::variables().filter(|(name, _)| !is_mark(&name.to_string_lossy())).collect()
}

/// Keeps what a loop waits for, and the variables that are there now for the client that goes on.
pub(crate) fn keep(home: &Home, id: &LoopId, condition: &WaitCondition) -> Result<(), Failure> {
    let variables: BTreeMap<String, String> = keepable_variables()
        .into_iter()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .filter(|(name, _)| !is_mark(name))
        .collect();
    WaitNote { condition: condition.clone(), variables }.write(home, id)
}

/// Whether a variable tells a client's own shells who they belong to.
fn is_mark(name: &str) -> bool {
    Agent::ALL.into_iter().any(|agent| {
        let own = agent.variables();
        let told = [own.version, own.session, own.project, own.process];
        told.into_iter().flatten().any(|one| one == name)
            || own.marks.contains(&name)
            || own.shell.contains(&name)
    })
}
