//! A journal that was edited outside of stopgate is told from one that was not.

#![expect(clippy::unwrap_used, reason = "a test says where it broke")]

use std::path::{Path, PathBuf};
use std::time::Duration;

use stopgate_core::{Event, LoopId, Timestamp, apply};
use stopgate_store::contract::{bound, named, prompted, started};
use stopgate_store::transfer::{Import, Reader, export};
use stopgate_store::{
    Journal, KeySource, Recorded, Revision, Soundness, SqliteJournal, WriterKey, audit,
};

const NOON: Timestamp = Timestamp::from_unix_millis(1_750_000_000_000);

/// A journal with one loop of four events, written by `writer`.
struct Bench {
    directory: tempfile::TempDir,
}

impl Bench {
    fn new() -> Self {
        let bench = Self { directory: tempfile::tempdir().unwrap() };
        let mut journal = bench.open();
        add(&mut journal, "a", started("a", "/p", None));
        add(&mut journal, "a", bound("s"));
        add(&mut journal, "a", prompted("one"));
        add(&mut journal, "a", prompted("two"));
        bench
    }

    fn path(&self) -> PathBuf {
        self.directory.path().join("journal.db")
    }

    fn open(&self) -> SqliteJournal {
        opened(&self.path(), 1)
    }

    fn edit(&self, sql: &str) -> &Self {
        let raw = rusqlite::Connection::open(self.path()).unwrap();
        raw.execute_batch(sql).unwrap();
        self
    }

    /// What a stop sees, and what a walk along all events sees.
    fn found(&self) -> (Soundness, Soundness) {
        let mut journal = self.open();
        let snapshot = journal.load(&named("a")).unwrap().unwrap().soundness;
        (snapshot, journal.soundness(&named("a")).unwrap())
    }
}

fn opened(path: &Path, key: u8) -> SqliteJournal {
    let mut journal = SqliteJournal::new(path, Duration::from_secs(5));
    journal.sign_as(match key {
        1 => KeySource::new(path, |_| WriterKey::from_bytes(&[1; 48])),
        2 => KeySource::new(path, |_| WriterKey::from_bytes(&[2; 48])),
        _ => KeySource::default(),
    });
    journal
}

fn add(journal: &mut dyn Journal, name: &str, event: Event) {
    let found = journal.load(&named(name)).unwrap();
    let revision = found.as_ref().map_or(Revision::NONE, |stored| stored.revision);
    let state = apply(found.map(|stored| stored.state), &event, NOON).unwrap();
    let appended = journal.append(revision, &[Recorded { event, at: NOON }], &state).unwrap();
    assert_eq!(appended, stopgate_store::Appended::Stored(Revision(revision.0 + 1)));
}

#[test]
fn an_untouched_record_is_sound() {
    let bench = Bench::new();
    assert_eq!(bench.found(), (Soundness::Sound, Soundness::Sound));
    let found = audit(&mut bench.open()).unwrap();
    assert_eq!((found.unchained, found.unknown, found.findings), (0, 0, Vec::new()));
}

#[test]
fn an_edited_state_is_found_when_it_is_loaded_and_stays_so() {
    let bench = Bench::new();
    bench.edit("UPDATE loop SET state = replace(state, 'the goal', 'a goal')");
    assert_eq!(bench.found(), (Soundness::Forged, Soundness::Forged));
    add(&mut bench.open(), "a", prompted("three"));
    assert_eq!(bench.found(), (Soundness::Forged, Soundness::Forged));
    let found = audit(&mut bench.open()).unwrap();
    assert!(found.findings.iter().any(|f| f.contains("changed outside of stopgate")), "{found:?}");
}

#[test]
fn edited_removed_and_reordered_events_are_found() {
    let edits = [
        "UPDATE event SET body = replace(body, 'one', 'ten')",
        "UPDATE event SET at = at + 1 WHERE revision = 2",
        "UPDATE event SET format = 0 WHERE revision = 2",
        "DELETE FROM event WHERE revision = 3",
        "DELETE FROM event WHERE revision = 4",
        "UPDATE event SET previous = 1 WHERE revision = 3; DELETE FROM event WHERE revision = 2",
        "UPDATE event SET body = (SELECT body FROM event WHERE revision = 4) WHERE revision = 3",
        "UPDATE event SET revision = 7 - revision WHERE revision > 2",
        "UPDATE event SET previous = 4 WHERE revision = 2",
        "UPDATE event SET seal = NULL WHERE revision = 2",
        "UPDATE event SET seal = 'text' WHERE revision = 2",
        "UPDATE loop SET seal = NULL",
        "UPDATE loop SET seal = x'00'",
    ];
    for edit in edits {
        let bench = Bench::new();
        assert_eq!(bench.edit(edit).found().1, Soundness::Forged, "{edit}");
        let found = audit(&mut bench.open()).unwrap();
        assert!(!found.findings.is_empty(), "{edit}");
    }
}

#[test]
fn an_edit_with_its_seal_taken_away_or_renamed_is_never_sound_again() {
    let edits = [
        ("UPDATE loop SET seal = NULL", Soundness::Forged),
        ("UPDATE loop SET seal = NULL; UPDATE event SET seal = NULL", Soundness::Unchained),
        (
            "UPDATE loop SET seal = CAST(x'0909090909090909' || substr(seal, 9) AS BLOB)",
            Soundness::UnknownWriter,
        ),
    ];
    for (edit, expected) in edits {
        let bench = Bench::new();
        bench.edit("UPDATE loop SET state = replace(state, 'the goal', 'a goal')").edit(edit);
        assert_eq!(bench.found().1, expected, "{edit}");
        add(&mut bench.open(), "a", prompted("three"));
        assert_eq!(bench.found().1, expected, "{edit}, and then an append");
    }
}

#[test]
fn a_machine_without_the_key_accuses_nobody() {
    let bench = Bench::new();
    let edits = ["", "UPDATE loop SET state = replace(state, 'the goal', 'a goal')"];
    for edit in edits {
        bench.edit(edit);
        for key in [0, 2] {
            let mut journal = opened(&bench.path(), key);
            let stored = journal.load(&named("a")).unwrap().unwrap();
            assert_eq!(stored.soundness, Soundness::UnknownWriter);
            let walked = journal.soundness(&named("a")).unwrap();
            assert_eq!(walked, Soundness::UnknownWriter);
            let found = audit(&mut journal).unwrap();
            assert_eq!(found.unknown, 1);
            assert!(!found.findings.iter().any(|f| f.contains("outside of stopgate")));
        }
    }
}

#[test]
fn two_writers_may_share_a_loop() {
    let bench = Bench::new();
    add(&mut opened(&bench.path(), 2), "a", prompted("three"));
    assert_eq!(bench.found(), (Soundness::UnknownWriter, Soundness::UnknownWriter));
    add(&mut bench.open(), "a", prompted("four"));
    assert_eq!(bench.found(), (Soundness::Sound, Soundness::UnknownWriter));
    bench.edit("UPDATE event SET body = replace(body, 'one', 'ten')");
    assert_eq!(bench.found().1, Soundness::Forged, "what I wrote I can still tell");
}

#[test]
fn a_journal_of_version_1_is_unchained_and_goes_on() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("journal.db");
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/v1/journal.db");
    std::fs::copy(golden, &path).unwrap();
    let mut journal = opened(&path, 1);
    let ids: Vec<LoopId> = journal.names(&LoopId::new(""), 10).unwrap();
    let running = ids.into_iter().find(|id| {
        journal.load(id).unwrap().is_some_and(|stored| stored.state.outcome().is_none())
    });
    let running = running.unwrap();
    assert_eq!(journal.soundness(&running).unwrap(), Soundness::Unchained);
    assert_eq!(audit(&mut journal).unwrap().unchained, 2);
    add(&mut journal, running.as_str(), prompted("later"));
    assert_eq!(journal.load(&running).unwrap().unwrap().soundness, Soundness::Sound);
    assert_eq!(journal.soundness(&running).unwrap(), Soundness::Unchained);
    assert_eq!(audit(&mut journal).unwrap().findings, Vec::<String>::new());
}

#[test]
fn seals_move_with_their_events() {
    let bench = Bench::new();
    let mut bytes = Vec::new();
    export(&mut bench.open(), &mut bytes).unwrap();
    let moved = |bytes: &[u8], key| {
        let directory = tempfile::tempdir().unwrap();
        let mut journal = opened(&directory.path().join("journal.db"), key);
        let mut import = Import::begin(&mut journal, &std::collections::BTreeSet::new()).unwrap();
        let mut reader = Reader::new(bytes);
        while let Some(moved) = reader.read().unwrap() {
            import.put(moved).unwrap();
        }
        import.finish().unwrap();
        add(&mut journal, "a", prompted("three"));
        let mut again = Vec::new();
        export(&mut journal, &mut again).unwrap();
        let lines = |bytes: &[u8]| String::from_utf8_lossy(bytes).lines().count();
        assert_eq!(lines(&again), lines(bytes) + 1);
        journal.soundness(&named("a")).unwrap()
    };
    assert_eq!(moved(&bytes, 1), Soundness::Sound);
    assert_eq!(moved(&bytes, 2), Soundness::UnknownWriter);
    assert_eq!(moved(&edited(&bytes, "one", "ten"), 1), Soundness::Forged);
    let bare = edited(&without_seals(&bytes), "one", "ten");
    assert_eq!(moved(&bare, 1), Soundness::Unchained, "an import seals nothing by itself");
}

/// An export whose lines were edited, with a last line that fits.
fn edited(bytes: &[u8], from: &str, to: &str) -> Vec<u8> {
    refooted(&String::from_utf8_lossy(bytes).replace(from, to))
}

fn without_seals(bytes: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(bytes).into_owned();
    let bare: Vec<String> = text
        .lines()
        .map(|line| match line.split_once(",\"seal\":") {
            Some((before, _)) => format!("{before}}}"),
            None => line.into(),
        })
        .collect();
    refooted(&(bare.join("\n") + "\n"))
}

fn refooted(text: &str) -> Vec<u8> {
    let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with("{\"end\"")).collect();
    let body = lines.join("\n") + "\n";
    let hash = blake3::hash(body.as_bytes()).to_hex();
    let events = lines.len() - 1;
    format!("{body}{{\"end\":{{\"events\":{events},\"blake3\":\"{hash}\"}}}}\n").into_bytes()
}
