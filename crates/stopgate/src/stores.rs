//! The stores that this program can open.

use stopgate_engine::Stores;

/// All of them.
#[cfg(feature = "postgres")]
pub(crate) const STORES: Stores = Stores { postgres: Some(postgres) };

/// Only those that the engine itself knows.
#[cfg(not(feature = "postgres"))]
pub(crate) const STORES: Stores = Stores { postgres: None };

#[cfg(feature = "postgres")]
fn postgres(
    remote: &stopgate_engine::Remote,
) -> Result<Box<dyn stopgate_store::Journal>, stopgate_engine::Failure> {
    use stopgate_store_postgres::{Options, PostgresJournal};

    let options = Options { tenant: remote.tenant.clone(), deadline: remote.deadline };
    let journal = PostgresJournal::new(&remote.address, options)?;
    Ok(Box::new(journal))
}
