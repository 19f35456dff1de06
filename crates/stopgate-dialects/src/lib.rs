//! Loops kept in another tool's files: what their text means, and how it changes.
//!
//! One module a format: text in, the core's state out; a decision in, text out. Nothing
//! here opens a file, reads a clock or a variable, starts a program, or decides.

mod dialect;

mod instant;

pub mod front_matter;

pub mod json_text;

pub mod idle;

pub mod ralph_loop;

pub mod features;

pub mod criteria;

pub mod task;

pub mod import;

pub use crate::dialect::Dialect;
pub use crate::instant::{instant, instant_text};
