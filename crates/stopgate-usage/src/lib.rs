//! What the clients' own records say about what was used.
//!
//! Bytes in, tokens out: a [`UsageReader`] takes the lines of a transcript, a rollout or a
//! session file as they come and gives one [`UsageCall`] for each call of a model; [`absorb`] counts
//! them, each once, at the [`Price`] of its model. Nothing here opens a file, reads a clock
//! or a variable.

mod count;
mod format;
mod instant;
mod meter;
mod news;
mod prices;
mod reader;
mod seek;
mod statusline;

pub use crate::format::UsageFormat;
pub use crate::meter::{Counting, absorb, day_of};
pub use crate::news::{MoreToRead, read_news};
pub use crate::prices::{PRICES_AS_OF, Price, PriceBook, known_window, parse_usd};
pub use crate::reader::{UsageCall, UsageNews, UsageReader};
pub use crate::seek::first_line_since;
pub use crate::statusline::{StatuslineHint, read_statusline};
