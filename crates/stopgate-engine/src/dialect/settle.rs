//! How a stop of a file that may go on saying "over" is recorded: its end, once.

use super::desk::{Held, JudgedFile};

impl Held<'_> {
    /// Remembers and records what came of a stop; the end of a loop only the first time.
    pub(super) fn settle(mut self, judged: JudgedFile, words: &str) {
        let over = judged.after.outcome().is_some();
        if over && (self.memory.is_over() || judged.decision.events.is_empty()) {
            self.save();
            return;
        }
        self.memory.revive();
        self.close(judged, words);
    }
}
