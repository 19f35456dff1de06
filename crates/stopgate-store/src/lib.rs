//! Where loops are remembered: one trait, several engines, one contract for all.
//!
//! Only `append` adds to a loop, and only where nobody else has written since: what is
//! decided elsewhere is stored whole or not at all. Only `remove` takes loops out, and only
//! such as have ended and were put elsewhere as they are.

mod chain;

mod journal;

mod error;

mod memory;

mod sqlite;

mod audit;

pub mod transfer;

#[cfg(feature = "contract")]
#[expect(
    clippy::expect_used,
    clippy::missing_panics_doc,
    reason = "a case of the contract panics where it is broken"
)]
pub mod contract;

pub use crate::audit::{Audit, audit};
pub use crate::chain::{
    ChainBase, ChainLink, ChainWalk, EventRecord, EventSeal, KeySource, StateRecord, StateSeal,
    WRITER_KEY_BYTES, WriterKey, look_at_state,
};
pub use crate::error::{Cause, StoreError};
pub use crate::journal::{
    Appended, Cursor, Delivered, EndedFilter, Filter, Journal, JournalEntry, Migrated, Recorded,
    Revision, Stored,
};
pub use crate::memory::MemoryJournal;
pub use crate::sqlite::{Durability, SqliteJournal, WAL_PAGES_MAX};
pub use stopgate_core::Soundness;
