//! Databases of a cluster, and the journals in them.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use anyhow::{Result, bail};
use stopgate_lab::Cluster;
use stopgate_store::{Journal, Stored};
use stopgate_store_postgres::{Options, PostgresJournal};

use crate::journal;

/// Longer than anything that is measured.
const PATIENCE: Duration = Duration::from_mins(1);

/// An empty database; gives its name.
pub(crate) fn database(cluster: &Cluster) -> Result<String> {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let name = format!("chore_{}", COUNT.fetch_add(1, Ordering::Relaxed));
    cluster.sql("postgres", &format!("CREATE DATABASE {name}"))?;
    Ok(name)
}

/// The journal at `address`, for somebody with patience.
pub(crate) fn open(address: &str) -> Result<PostgresJournal> {
    let options = Options { deadline: PATIENCE, ..Options::default() };
    Ok(PostgresJournal::new(address, options)?)
}

/// Every loop of the journal at `address`, once the whole of it is proven sound.
pub(crate) fn inspect(address: &str) -> Result<Vec<Stored>> {
    let mut journal = open(address)?;
    let found = journal::follow(&mut journal)?;
    match journal.check()?.as_slice() {
        [] => Ok(found),
        wrong => bail!("trust the database: {}", wrong.join("; ")),
    }
}
