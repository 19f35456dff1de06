//! Trust without a person at the machine: a hash that one of them wrote down before.

use std::path::Path;

use crate::failure::Failure;
use crate::trust::ProjectTrust;

impl ProjectTrust<'_> {
    /// Trusts the project's file if `hash` is the one of its content, which a person printed
    /// with `trust --print-hash`; with another content nothing is trusted.
    pub fn trust_hash(&mut self, project: &Path, hash: &str) -> Result<(), Failure> {
        let view = self.trust_view(project)?;
        if view.content != hash.trim() {
            return Err(Failure::usage(format!(
                "{} changed since it was trusted: its hash is {}",
                view.path, view.content
            ))
            .hint("review the file, then print its hash: stopgate trust --print-hash"));
        }
        self.trust(&view)
    }
}
