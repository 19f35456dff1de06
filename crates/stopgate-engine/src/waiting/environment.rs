//! What this machine keeps of a wait that began on it: the condition, and the variables with
//! which the session is resumed.
//!
//! A journal may be shared with other machines. What its record says is never enough to run
//! a command, fetch an address or start a client: the wait must have begun here, with the same
//! condition.
//!
//! A client that is woken sees what its own shell saw when the loop was parked. What looks like
//! a key is never written to disk: it comes from the environment of the background process, which
//! has that of the command that started it.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
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

/// What is kept of a wait.
#[derive(Serialize, Deserialize)]
struct WaitNote {
    condition: WaitCondition,
    variables: BTreeMap<String, String>,
}

/// The variables of this process that a program may have that is started anew: none by which
/// a client tells its own shells who they belong to.
pub fn started_anew() -> Vec<(OsString, OsString)> {
    std::env::vars_os().filter(|(name, _)| !is_mark(&name.to_string_lossy())).collect()
}

/// Keeps what a loop waits for, and the variables that are there now for the client that goes on.
pub(super) fn keep(home: &Home, id: &LoopId, condition: &WaitCondition) -> Result<(), Failure> {
    let variables: BTreeMap<String, String> = keepable_variables()
        .into_iter()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .filter(|(name, _)| !is_mark(name))
        .collect();
    let path = note(home, id);
    let kept = WaitNote { condition: condition.clone(), variables };
    let text = serde_json::to_vec(&kept).unwrap_or_default();
    replace_private(&path, &text, Durable::Buffered).map_err(|error| {
        Failure::fault(format!("could not write {}", path.display())).because(error)
    })
}

/// The variables for a client that goes on with a loop: those of this process, then those kept.
pub(super) fn kept(home: &Home, id: &LoopId) -> Vec<(OsString, OsString)> {
    let mut all: BTreeMap<OsString, OsString> = started_anew().into_iter().collect();
    let kept = read(home, id).map(|kept| kept.variables).unwrap_or_default();
    all.extend(kept.into_iter().map(|(name, value)| (name.into(), value.into())));
    all.into_iter().collect()
}

/// Whether this wait of the loop began on this machine, for this state directory.
pub(super) fn began_here(home: &Home, id: &LoopId, condition: &WaitCondition) -> bool {
    read(home, id).is_some_and(|kept| kept.condition == *condition)
}

fn read(home: &Home, id: &LoopId) -> Option<WaitNote> {
    serde_json::from_str(&read_text(&note(home, id), NOTE_BYTES_MAX).ok()?).ok()
}

/// Forgets what was kept for a loop.
pub(super) fn forget(home: &Home, id: &LoopId) {
    let _ = fs::remove_file(note(home, id));
}

fn note(home: &Home, id: &LoopId) -> PathBuf {
    home.directory().join("parked").join(&*file_name(id.as_str()))
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
