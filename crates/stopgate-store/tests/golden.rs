//! The stored form, version by version: what was written once is read for ever.
//!
//! The files under `golden/v1` were written by the first program that had this format, and
//! never change. A change to the form of an event or a state must give it a new version
//! and a directory of its own, and keep reading this one.

#![expect(clippy::unwrap_used, reason = "a test says where it broke")]

mod samples;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use samples::parked::{parked, placed};
use samples::preflight::preflighted;
use samples::{
    at, controls, counters, golden, json, judged, later, more, seen, spends, word, words,
};
use stopgate_core::{Event, FORMAT, LoopId, SessionId, State, apply, fold};
use stopgate_store::transfer::{Import, Reader, VERSION, existing, export, scan};
use stopgate_store::{Cursor, Journal, MemoryJournal, Recorded, SqliteJournal, StoreError, audit};

#[test]
fn there_is_a_directory_for_every_version() {
    for version in 1..=FORMAT {
        assert!(directory(version).join("events.jsonl").exists(), "golden/v{version} is missing");
    }
    assert_eq!(VERSION, 1, "a new form of export needs golden files of its own");
}

#[test]
fn events_are_stored_as_version_1_says() {
    let stored = read("events.jsonl");
    let written: String = golden().iter().map(|event| json(event) + "\n").collect();
    assert_eq!(written, stored, "{CHANGED}");
}

/// What came later fits into the same form: it says nothing where the first program said
/// nothing, so that its own lines are read and written as ever.
#[test]
fn later_events_are_stored_as_version_1_says() {
    let stored = read("more.jsonl");
    let written: String = more().iter().map(|event| json(event) + "\n").collect();
    assert_eq!(written, stored, "{CHANGED}");
    for line in stored.lines() {
        let event: Event = serde_json::from_str(line).unwrap();
        assert_eq!(json(&event), line, "{CHANGED}");
    }
}

/// And what came with seals.
#[test]
fn origins_and_vouchers_are_stored_as_version_1_says() {
    let written: String = later().iter().map(|event| json(event) + "\n").collect();
    assert_eq!(written, read("later.jsonl"), "{CHANGED}");
}

/// And what came with replays.
#[test]
fn all_that_a_stop_saw_is_stored_as_version_1_says() {
    let written: String = seen().iter().map(|event| json(event) + "\n").collect();
    assert_eq!(written, read("seen.jsonl"), "{CHANGED}");
}

/// And what came with counters.
#[test]
fn counters_of_a_stop_are_stored_as_version_1_says() {
    let written: String = counters().iter().map(|event| json(event) + "\n").collect();
    assert_eq!(written, read("counters.jsonl"), "{CHANGED}");
}

/// And what came with waits and reviews.
#[test]
fn waits_and_reviews_are_stored_as_version_1_says() {
    let written: String = parked().iter().map(|event| json(event) + "\n").collect();
    assert_eq!(written, read("parked.jsonl"), "{CHANGED}");
}

/// And what came with first runs that `start` does not wait for.
#[test]
fn first_runs_are_stored_as_version_1_says() {
    let written: String = preflighted().iter().map(|event| json(event) + "\n").collect();
    assert_eq!(written, read("preflight.jsonl"), "{CHANGED}");
}

/// And what came with worktrees.
#[test]
fn worktrees_are_stored_as_version_1_says() {
    let written: String = placed().iter().map(|event| json(event) + "\n").collect();
    assert_eq!(written, read("placed.jsonl"), "{CHANGED}");
}

#[test]
fn events_of_judged_work_are_stored_as_version_1_says() {
    let written: String = judged().iter().map(|event| json(event) + "\n").collect();
    assert_eq!(written, read("judged.jsonl"), "{CHANGED}");
}

#[test]
fn what_people_do_to_a_loop_is_stored_as_version_1_says() {
    let stored = read("controls.jsonl");
    let written: String = controls().iter().map(|event| json(event) + "\n").collect();
    assert_eq!(written, stored, "{CHANGED}");
}

#[test]
fn what_an_agent_uses_is_stored_as_version_1_says() {
    let written: String = spends().iter().map(|event| json(event) + "\n").collect();
    assert_eq!(written, read("spends.jsonl"), "{CHANGED}");
}

#[test]
fn words_are_stored_as_version_1_says() {
    assert_eq!(words().join("\n") + "\n", read("words.jsonl"), "{CHANGED}");
}

#[test]
fn every_event_of_version_1_is_read_and_written_back() {
    let mut words: Vec<&str> = Vec::new();
    let all = read("events.jsonl")
        + &read("more.jsonl")
        + &read("judged.jsonl")
        + &read("controls.jsonl")
        + &read("later.jsonl")
        + &read("spends.jsonl")
        + &read("parked.jsonl")
        + &read("placed.jsonl")
        + &read("seen.jsonl")
        + &read("counters.jsonl")
        + &read("preflight.jsonl");
    for line in all.lines() {
        let event: Event = serde_json::from_str(line).unwrap();
        assert_eq!(json(&event), line, "{CHANGED}");
        words.push(word(&event));
    }
    words.sort_unstable();
    words.dedup();
    assert_eq!(words.len(), 33, "every variant is among them: {words:?}");
}

#[test]
fn a_state_is_stored_as_version_1_says() {
    let stored = read("state.json");
    let state: State = serde_json::from_str(&stored).unwrap();
    assert_eq!(json(&state) + "\n", stored, "{CHANGED}");
    assert_eq!(state, life().last().unwrap().1, "{CHANGED}");
}

#[test]
fn an_export_of_version_1_is_imported_and_written_back() {
    let bytes = fs::read(directory(1).join("export.jsonl")).unwrap();
    let mut journal = MemoryJournal::default();
    import(&mut journal, &bytes);
    assert_eq!(exported(&mut journal), String::from_utf8(bytes).unwrap(), "{CHANGED}");
}

#[test]
fn a_journal_of_version_1_is_read_checked_and_written_to() {
    let (_kept, path) = copy_of_journal();
    let mut journal = SqliteJournal::new(&path, Duration::from_secs(5));
    assert_eq!(exported(&mut journal), read("export.jsonl"), "{CHANGED}");
    let found = audit(&mut journal).unwrap();
    assert_eq!((found.loops, found.running, found.findings), (2, 1, Vec::new()));
    let history = journal.history(&LoopId::new("golden")).unwrap();
    let folded = fold(history.iter().map(|e| (&e.recorded.event, e.recorded.at))).unwrap();
    assert_eq!(json(&folded) + "\n", read("state.json"), "{CHANGED}");
    let held = journal.load_held(&SessionId::new("s9").unwrap()).unwrap().unwrap();
    let event = Event::Claimed;
    let state = apply(Some(held.state), &event, at(99_000)).unwrap();
    let recorded = [Recorded { event, at: at(99_000) }];
    assert!(journal.append(held.revision, &recorded, &state).is_ok());
    assert_eq!(audit(&mut journal).unwrap().findings, Vec::<String>::new());
}

/// Tables have a version of their own: version 2 has a seal beside each event and state.
#[test]
fn a_journal_of_version_1_is_given_the_tables_of_a_new_one() {
    let (_kept, old) = copy_of_journal();
    let directory = tempfile::tempdir().unwrap();
    let new = directory.path().join("journal.db");
    let mut journals = [&new, &old].map(|path| SqliteJournal::new(path, Duration::from_secs(5)));
    let migrated = journals.each_mut().map(|journal| journal.migrate().unwrap());
    assert_eq!(migrated.map(|migrated| (migrated.from, migrated.to)), [(0, 2), (1, 2)]);
    assert_eq!(tables(&new), tables(&old), "{CHANGED}");
    assert!(tables(&new).contains(&"user_version 2".into()));
}

#[test]
fn an_event_of_a_newer_format_is_refused_with_a_clear_word() {
    let (_kept, path) = copy_of_journal();
    let raw = rusqlite::Connection::open(&path).unwrap();
    raw.execute_batch("UPDATE event SET format = 2 WHERE revision = 3").unwrap();
    drop(raw);
    let mut journal = SqliteJournal::new(&path, Duration::from_secs(5));
    let errors = [
        journal.history(&LoopId::new("golden")).unwrap_err(),
        journal.tail(Cursor(0), 100).unwrap_err(),
    ];
    for error in errors {
        assert!(matches!(error, StoreError::Newer { found: 2, known: 1, .. }), "{error}");
        assert!(error.to_string().contains("install a newer stopgate"), "{error}");
    }
}

const CHANGED: &str = "the stored form has changed: give it a new FORMAT and golden files of its \
                       own, and keep reading the old ones";

/// The states through which the golden loop goes.
fn life() -> Vec<(Recorded, State)> {
    let mut life: Vec<(Recorded, State)> = Vec::new();
    for (number, event) in (0..).zip(golden()) {
        let when = at(number * 1000);
        let before = life.last().map(|(_, state)| state.clone());
        let state = apply(before, &event, when).unwrap();
        life.push((Recorded { event, at: when }, state));
    }
    life
}

fn directory(version: u32) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/golden/v{version}"))
}

fn read(name: &str) -> String {
    fs::read_to_string(directory(1).join(name)).unwrap()
}

fn copy_of_journal() -> (tempfile::TempDir, PathBuf) {
    let kept = tempfile::tempdir().unwrap();
    let path = kept.path().join("journal.db");
    fs::copy(directory(1).join("journal.db"), &path).unwrap();
    (kept, path)
}

fn tables(path: &Path) -> Vec<String> {
    let raw = rusqlite::Connection::open(path).unwrap();
    let mut all = raw.prepare("SELECT ifnull(sql, name) FROM sqlite_schema ORDER BY name").unwrap();
    let rows = all.query_map([], |row| row.get(0)).unwrap();
    // A column that was added later stands behind a blank.
    let mut tables: Vec<String> =
        rows.map(|sql: Result<String, _>| sql.unwrap().replace(", ", ",")).collect();
    let version: u32 = raw.query_row("PRAGMA user_version", [], |row| row.get(0)).unwrap();
    tables.push(format!("user_version {version}"));
    tables
}

fn import(journal: &mut dyn Journal, bytes: &[u8]) {
    let scanned = scan(&mut Reader::new(bytes)).unwrap();
    let there = existing(journal, &scanned.names).unwrap();
    let mut import = Import::begin(journal, &there).unwrap();
    let mut reader = Reader::new(bytes);
    while let Some(moved) = reader.read().unwrap() {
        import.put(moved).unwrap();
    }
    import.finish().unwrap();
}

fn exported(journal: &mut dyn Journal) -> String {
    let mut bytes = Vec::new();
    export(journal, &mut bytes).unwrap();
    String::from_utf8(bytes).unwrap()
}
