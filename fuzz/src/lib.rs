//! What every fuzz target does with its bytes, and what must hold afterwards.
//!
//! Shared by the targets and by the test that replays the corpus. Each function takes any
//! bytes and panics only where a reader, or an edit of what it accepted, is wrong.

pub mod dialects;

pub mod inputs;

pub mod sessions;

/// A target's name and what it does.
pub type Target = (&'static str, fn(&[u8]));

/// Every target there is.
pub fn targets() -> impl Iterator<Item = Target> {
    let own = dialects::TARGETS.into_iter().chain(inputs::TARGETS);
    own.chain(sessions::TARGETS)
}
