//! JSON texts of other programs, edited in place.
//!
//! A value is put in, taken out or replaced by the positions of a parse with comments and trailing
//! commas. Everything else stays byte for byte. Text comes in and text goes out.

mod layout;

mod splice;

pub use layout::{JsonLayout, PrintJson, enclose, quote};
pub use splice::{JsonBracket, JsonItem, append, remove, replace};
