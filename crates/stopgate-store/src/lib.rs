//! Where loops are remembered: one trait, several engines, one contract for all.
//!
//! Only `append` writes, and only where nobody else has written since: what is
//! decided elsewhere is stored whole or not at all.

mod journal;

mod error;

mod memory;

mod sqlite;

#[cfg(feature = "contract")]
#[expect(
    clippy::expect_used,
    clippy::missing_panics_doc,
    reason = "a case of the contract panics where it is broken"
)]
pub mod contract;

pub use crate::error::StoreError;
pub use crate::journal::{
    Appended, Cursor, Entry, Filter, Journal, Recorded, Revision, Standing, Stored,
};
pub use crate::memory::MemoryJournal;
pub use crate::sqlite::{SqliteJournal, WAL_PAGES_MAX};
