//! Tells the person that a loop in another tool's files is over.

use super::Desk;
use crate::notify::send;

impl Desk {
    /// Sends a message as the person wishes.
    pub(super) fn notify(&self, message: &str) {
        send(self.settings, &self.folder, self.now, &[message.to_string()]);
    }
}
