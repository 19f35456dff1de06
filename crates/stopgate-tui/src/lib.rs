//! The terminal view: loops as frames of cells, keys as wishes.
//!
//! Pure like the room below it: no clock, no files, no terminal. The program feeds it rows, events
//! and keys, draws its cells, and carries out what it wishes for.

mod theme;

mod keys;

mod board;

mod list;

mod detail;

pub use crate::board::{Board, BoardCommand};
pub use crate::keys::PressedKey;
pub use crate::theme::{Colours, Letters, Theme};
