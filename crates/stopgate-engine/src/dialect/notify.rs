//! Tells the person that a loop in another tool's files is over.

use stopgate_core::{Outcome, State};

use super::DialectCall;
use crate::failure::Failure;
use crate::notify::{NoticeWire, given_up, send};

impl DialectCall {
    /// Sends a message as the person wishes.
    pub(super) fn notify(&self, state: &State, message: &str) {
        let notice = NoticeWire::of_file(state, message, self.now);
        send(self.settings, &self.home, self.now, &[notice]);
    }

    /// Tells the person that the loop's driver gave up. The files have no word for that, and stay
    /// as they are.
    pub fn driven_gives_up(&self, outcome: Outcome, why: &str) -> Result<(), Failure> {
        let notice = given_up(&self.view_loop()?, outcome, why, self.now);
        send(self.settings, &self.home, self.now, &[notice]);
        Ok(())
    }
}
