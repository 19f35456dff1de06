//! The contract of every engine.

use stopgate_store::Journal;
use stopgate_store::contract::{self, Bench};
use stopgate_store_postgres::PostgresJournal;

use crate::scene::{cluster, database, fresh, options};

/// A tenant of its own, in a database that all cases share.
struct Postgres {
    url: String,
    tenant: String,
}

impl Bench for Postgres {
    fn open(&self) -> Box<dyn Journal> {
        Box::new(PostgresJournal::new(&self.url, options(&self.tenant)).unwrap())
    }
}

#[test]
fn postgres_keeps_the_contract() {
    let url = cluster().url(&database());
    let fresh = || Box::new(Postgres { url: url.clone(), tenant: fresh("tenant") }) as Box<_>;
    let table = contract::run("postgres", &fresh);
    println!("{table}");
    assert_eq!(table.lines().count(), contract::cases().len());
}
