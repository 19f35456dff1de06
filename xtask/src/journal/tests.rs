//! A journal that lies must be found out.

use std::path::Path;

use rusqlite::Connection;
use tempfile::TempDir;

use super::{counts, fill, inspect, iteration};

#[test]
fn a_sound_journal_is_read_whole() {
    let home = filled();
    let found = inspect(home.path()).unwrap();
    assert_eq!(counts(home.path()).unwrap(), (15, 3));
    assert_eq!(iteration(&found, "other-1"), Some(4));
    assert_eq!(iteration(&found, "nobody"), None);
}

#[test]
fn every_lie_is_found() {
    check("UPDATE loop SET revision = revision + 1 WHERE number = 2");
    check("UPDATE loop SET newest = (SELECT previous FROM event WHERE cursor = newest)");
    check("UPDATE loop SET state = replace(state, '\"iteration\":4', '\"iteration\":5')");
    check("DELETE FROM event WHERE cursor = 7");
    check("UPDATE event SET revision = 9 WHERE cursor = 7");
    check("UPDATE event SET at = at + 1 WHERE cursor = 10");
}

#[track_caller]
fn check(lie: &str) {
    let home = filled();
    let connection = Connection::open(home.path().join("journal.db")).unwrap();
    let changed = connection.execute(lie, []).unwrap();
    drop(connection);
    assert!(changed > 0, "{lie} changes nothing");
    assert!(inspect(home.path()).is_err(), "{lie}");
}

fn filled() -> TempDir {
    let home = tempfile::tempdir().unwrap();
    fill(home.path(), Path::new("/project"), 3, 5).unwrap();
    home
}
