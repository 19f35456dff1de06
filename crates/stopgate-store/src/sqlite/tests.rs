use std::time::Duration;

use super::{Durability, SqliteJournal};

#[track_caller]
fn check(durability: Durability, expected: i64) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("journal.db");
    let mut journal = SqliteJournal::new(&path, Duration::from_secs(5)).surviving(durability);
    let connection = journal.open().unwrap();
    let found: i64 = connection.query_row("PRAGMA synchronous", [], |row| row.get(0)).unwrap();
    assert_eq!(found, expected, "{durability:?}");
}

#[test]
fn a_commit_is_synced_only_where_a_power_loss_must_be_survived() {
    check(Durability::Process, 1);
    check(Durability::PowerLoss, 2);
}
