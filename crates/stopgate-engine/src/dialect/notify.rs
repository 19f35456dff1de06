//! Tells the person that a loop is over, by a command of theirs.
//!
//! Off unless `STOPGATE_NOTIFY` names one. Nothing of it reaches the agent, and no answer
//! depends on it.

use std::time::Duration;

use super::Desk;

/// A message that takes longer is given up: an agent waits.
const PATIENCE: Duration = Duration::from_secs(3);

impl Desk {
    /// Runs the person's command with the message as its last argument.
    pub(super) fn notify(&self, message: &str) {
        let Some(command) = self.settings.notify() else { return };
        let line = format!("{command} \"$1\"");
        let argv = ["/bin/sh", "-c", &line, "stopgate", message];
        match stopgate_verify::own_tool(&argv, &self.folder, PATIENCE) {
            Ok(told) if told.is_fine() => {}
            Ok(_) => self.note(&format!("STOPGATE_NOTIFY failed: {command}")),
            Err(error) => self.note(&format!("STOPGATE_NOTIFY failed: {command}: {error}")),
        }
    }
}
