//! The journal on PostgreSQL, for users who have outgrown one machine.
//!
//! The same trait and the same contract as the other engines. One round trip to load,
//! one to append, no session state (so that a pooler may stand in between), and an
//! answer within the deadline whatever the network does.

mod address;

mod tls;

mod patience;

mod link;

mod trouble;

mod schema;

mod rows;

mod parcel;

mod desk;

mod upkeep;

mod journal;

mod listener;

pub use crate::address::redacted;
pub use crate::journal::{Options, PostgresJournal, migrate};
pub use crate::listener::{Listened, Listener};
