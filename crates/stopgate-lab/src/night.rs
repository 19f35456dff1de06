//! What can go wrong in a night: real clients driven by `stopgate run`, a model that fails as scripted,
//! and what must come of it.
//!
//! The expectations are data that stands beside each case; nothing is derived from what was seen.

mod cases;
mod play;

pub use cases::{ExpectedNight, NightCase, cases_of};
pub use play::{NightResult, play};
