//! What was said: markers in Markdown, the end of a transcript.
//!
//! Bytes in, meaning out. Nothing here opens a file, reads a clock, asks the
//! environment or starts a program, and no input makes it panic.

pub mod markers;
pub mod transcript;
