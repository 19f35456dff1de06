//! A server that the tests share, and what they do with it.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use stopgate_core::{Event, Timestamp, apply};
use stopgate_lab::{Cluster, Setup};
use stopgate_store::contract::started;
use stopgate_store::{Appended, Journal, Recorded, Revision, StoreError};
use stopgate_store_postgres::{Options, PostgresJournal};

pub(crate) const NOON: Timestamp = Timestamp::from_unix_millis(1_750_000_000_000);

/// The server that most tests share; each uses a database or a tenant of its own.
pub(crate) fn cluster() -> &'static Cluster {
    static SHARED: OnceLock<Cluster> = OnceLock::new();
    SHARED.get_or_init(|| Cluster::start(Setup::default()).unwrap())
}

/// A name that no other test has.
pub(crate) fn fresh(what: &str) -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    format!("{what}_{}", COUNT.fetch_add(1, Ordering::Relaxed))
}

/// An empty database of the shared server.
pub(crate) fn database() -> String {
    let name = fresh("journal");
    cluster().sql("postgres", &format!("CREATE DATABASE {name}")).unwrap();
    name
}

pub(crate) fn options(tenant: &str) -> Options {
    Options { tenant: tenant.into(), deadline: Duration::from_mins(1) }
}

pub(crate) fn journal(url: &str) -> PostgresJournal {
    PostgresJournal::new(url, options("default")).unwrap()
}

/// Begins a loop that holds no session.
pub(crate) fn begin(journal: &mut dyn Journal, name: &str) -> Result<Appended, StoreError> {
    store(journal, Revision::NONE, &started(name, "/p", None))
}

/// Stores one event at the beginning of a loop.
pub(crate) fn store(
    journal: &mut dyn Journal,
    at: Revision,
    event: &Event,
) -> Result<Appended, StoreError> {
    let state = apply(None, event, NOON).unwrap();
    journal.append(at, &[Recorded { event: event.clone(), at: NOON }], &state)
}

/// The whole story of an error, as a person reads it.
pub(crate) fn story(error: &StoreError) -> String {
    let mut story = format!("could not {error}");
    let mut next = std::error::Error::source(error);
    while let Some(cause) = next {
        story.push_str(": ");
        story.push_str(&cause.to_string());
        next = cause.source();
    }
    story
}
