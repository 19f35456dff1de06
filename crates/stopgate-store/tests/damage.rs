//! A journal that is damaged, newer or in use is refused, and never touched.

#![expect(clippy::unwrap_used, reason = "a test says where it broke")]

use std::path::Path;
use std::time::Duration;

use stopgate_core::LoopId;
use stopgate_store::contract::{named, started};
use stopgate_store::{Journal, Recorded, Revision, SqliteJournal, StoreError, WAL_PAGES_MAX};

#[test]
fn garbage_is_refused_and_kept() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("journal.db");
    std::fs::write(&path, b"this is not a database, it is a diary".repeat(200)).unwrap();
    let before = std::fs::read(&path).unwrap();
    assert!(matches!(load(&path), Err(StoreError::Corrupt { .. })));
    assert_eq!(std::fs::read(&path).unwrap(), before);
}

#[test]
fn a_newer_format_is_refused_and_kept() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("journal.db");
    let newer = rusqlite::Connection::open(&path).unwrap();
    newer.execute_batch("CREATE TABLE future (x); PRAGMA user_version = 99").unwrap();
    drop(newer);
    let before = std::fs::read(&path).unwrap();
    let error = load(&path).unwrap_err();
    assert!(matches!(error, StoreError::Newer { found: 99, known: 2, .. }), "{error}");
    assert!(error.to_string().contains("install a newer stopgate"), "{error}");
    assert_eq!(std::fs::read(&path).unwrap(), before);
}

#[test]
fn a_damaged_record_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("journal.db");
    begin(&path, "abc");
    let raw = rusqlite::Connection::open(&path).unwrap();
    raw.execute_batch("UPDATE loop SET state = '{\"id\": 7'").unwrap();
    drop(raw);
    let error = load(&path).unwrap_err();
    assert!(matches!(&error, StoreError::Record { id, .. } if id == "abc"), "{error}");
}

#[test]
fn a_journal_in_use_is_busy_after_some_patience() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("journal.db");
    begin(&path, "abc");
    let raw = rusqlite::Connection::open(&path).unwrap();
    raw.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let mut journal = SqliteJournal::new(&path, Duration::from_millis(50));
    assert!(matches!(journal.begin(), Err(StoreError::Busy { .. })));
    raw.execute_batch("ROLLBACK").unwrap();
    let lock = std::fs::File::open(path.with_extension("lock")).unwrap();
    lock.lock().unwrap();
    let mut journal = SqliteJournal::new(&path, Duration::from_millis(50));
    assert!(matches!(journal.begin(), Err(StoreError::Busy { .. })));
    lock.unlock().unwrap();
    assert!(journal.begin().is_ok());
}

#[test]
fn the_log_never_grows_past_its_limit() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("journal.db");
    for number in 0..400 {
        // A fresh journal each time, dropped without an orderly close, as in a hook.
        let mut journal = SqliteJournal::new(&path, Duration::from_secs(5));
        let name = format!("loop-{number}");
        append_start(&mut journal, &name);
        journal.settle();
        std::mem::forget(journal);
        let wal = std::fs::metadata(directory.path().join("journal.db-wal")).map_or(0, |m| m.len());
        assert!(wal <= (WAL_PAGES_MAX + 32) * 4200, "{wal} bytes after {number}");
    }
}

fn load(path: &Path) -> Result<(), StoreError> {
    SqliteJournal::new(path, Duration::from_secs(1)).load(&LoopId::new("abc")).map(drop)
}

fn begin(path: &Path, name: &str) {
    append_start(&mut SqliteJournal::new(path, Duration::from_secs(5)), name);
}

fn append_start(journal: &mut SqliteJournal, name: &str) {
    let at = stopgate_core::Timestamp::from_unix_millis(1_750_000_000_000);
    let event = started(name, "/p", None);
    let state = stopgate_core::apply(None, &event, at).unwrap();
    assert_eq!(state.id, named(name));
    let _ = journal.append(Revision::NONE, &[Recorded { event, at }], &state).unwrap();
}

#[test]
fn a_journal_that_must_be_there_is_not_made_anew() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("journal.db");
    let open = || SqliteJournal::existing(&path, Duration::from_secs(1)).load(&LoopId::new("abc"));
    assert!(matches!(open(), Err(StoreError::Open { .. })));
    assert!(!path.exists());
    std::fs::write(&path, "").unwrap();
    assert!(matches!(open(), Err(StoreError::Empty { .. })));
    assert_eq!(std::fs::metadata(&path).unwrap().len(), 0);
}
