//! Tells the person that a loop in another tool's files is over.

use stopgate_core::State;

use super::DialectCall;
use crate::notify::{NoticeWire, send};

impl DialectCall {
    /// Sends a message as the person wishes.
    pub(super) fn notify(&self, state: &State, message: &str) {
        let notice = NoticeWire::of_file(state, message, self.now);
        send(self.settings, &self.home, self.now, &[notice]);
    }
}
