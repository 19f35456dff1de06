//! How each agent asks to stop, and how it wants to be answered.
//!
//! One module an agent: payload in, reply out, its transcript's records, and
//! its settings edited as text. Bytes come in and bytes go out; nothing here
//! opens a file, starts a program, or reads a clock or a variable.

mod call;

pub mod claude;

pub use call::{Answer, Background, Call, Event, Malformed, Reply, Source};
