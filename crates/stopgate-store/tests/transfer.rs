//! A journal that moves is the same journal: byte for byte, in every engine, at any size.

#![expect(clippy::unwrap_used, reason = "a test says where it broke")]

use std::collections::BTreeSet;
use std::io::Cursor as Bytes;
use std::path::Path;
use std::time::Duration;

use proptest::prelude::*;
use stopgate_core::{Event, Timestamp, apply};
use stopgate_store::contract::{bound, ended, named, prompted, started};
use stopgate_store::transfer::{
    Import, Imported, Moved, Reader, TransferError, existing, export, names, scan,
};
use stopgate_store::{
    Appended, Filter, Journal, MemoryJournal, Recorded, Revision, SqliteJournal, audit,
};

/// What one step of a generated history does to which loop.
#[derive(Clone, Debug)]
struct Step {
    name: usize,
    event: usize,
    session: usize,
}

fn step() -> impl Strategy<Value = Step> {
    (0..6_usize, 0..6_usize, 0..3_usize).prop_map(|(name, event, session)| Step {
        name,
        event,
        session,
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_history_survives_a_journey_through_every_engine(steps in prop::collection::vec(step(), 0..60)) {
        let directory = tempfile::tempdir().unwrap();
        let mut first = MemoryJournal::default();
        steps.iter().enumerate().for_each(|(number, step)| play(&mut first, step, number));
        let bytes = exported(&mut first);
        let mut second = sqlite(&directory.path().join("a.db"));
        imported(&mut second, &bytes).unwrap();
        prop_assert_eq!(text(&exported(&mut second)), text(&bytes));
        let mut third = MemoryJournal::default();
        imported(&mut third, &exported(&mut second)).unwrap();
        prop_assert_eq!(text(&exported(&mut third)), text(&bytes));
        let all = Filter::default();
        prop_assert_eq!(first.list(&all).unwrap(), second.list(&all).unwrap());
        prop_assert_eq!(first.pending("/p").unwrap(), second.pending("/p").unwrap());
        prop_assert_eq!(audit(&mut first).unwrap(), audit(&mut second).unwrap());
        prop_assert_eq!(&audit(&mut second).unwrap().findings, &Vec::<String>::new());
    }

    #[test]
    fn an_export_that_is_cut_or_altered_is_refused(
        steps in prop::collection::vec(step(), 1..12),
        place in any::<prop::sample::Index>(),
        flip in any::<bool>(),
    ) {
        let mut journal = MemoryJournal::default();
        steps.iter().enumerate().for_each(|(number, step)| play(&mut journal, step, number));
        let mut bytes = exported(&mut journal);
        let at = place.index(bytes.len());
        if flip {
            bytes[at] ^= 1;
        } else {
            bytes.truncate(at);
        }
        let mut target = MemoryJournal::default();
        prop_assert!(imported(&mut target, &bytes).is_err(), "{}", String::from_utf8_lossy(&bytes));
        prop_assert_eq!(target.list(&Filter::default()).unwrap(), []);
    }
}

#[test]
fn a_hundred_thousand_events_are_copied_with_the_same_hash() {
    let directory = tempfile::tempdir().unwrap();
    let mut first = sqlite(&directory.path().join("a.db"));
    fill(&mut first, 500, 200);
    let mut second = sqlite(&directory.path().join("b.db"));
    let mut import = Import::begin(&mut second, &names(&mut MemoryJournal::default()).unwrap());
    let told = import.as_mut().unwrap().put_all(&mut first).unwrap();
    let copied = import.unwrap().finish().unwrap();
    assert_eq!((copied.loops, copied.events), (500, 100_000));
    let again = export(&mut second, &mut std::io::sink()).unwrap();
    assert_eq!((told.events, &told.hash), (100_000, &again.hash));
    let wal = std::fs::metadata(directory.path().join("b.db-wal")).map_or(0, |found| found.len());
    assert!(wal < 1_000_000, "the log is put back: {wal} bytes");
}

#[test]
fn loops_that_are_there_are_refused_before_anything_is_written() {
    let mut first = MemoryJournal::default();
    for name in ["a", "b", "c"] {
        put(&mut first, name, started(name, "/p", None));
    }
    let bytes = exported(&mut first);
    let mut target = MemoryJournal::default();
    put(&mut target, "b", started("b", "/elsewhere", None));
    let refused = imported(&mut target, &bytes).unwrap_err();
    assert_eq!(refused.to_string(), "import: 1 of the loops are in the journal already: b");
    assert_eq!(target.list(&Filter::default()).unwrap().len(), 1);
    let skipped = imported_around(&mut target, &bytes).unwrap();
    assert_eq!(skipped, Imported { loops: 2, events: 2, skipped: 1 });
    assert_eq!(target.load(&named("b")).unwrap().unwrap().state.project, "/elsewhere");
}

#[test]
fn a_running_loop_whose_session_is_held_is_refused_whole() {
    let directory = tempfile::tempdir().unwrap();
    let mut first = MemoryJournal::default();
    put(&mut first, "a", started("a", "/p", None));
    put(&mut first, "b", started("b", "/p", Some("s")));
    let bytes = exported(&mut first);
    let mut target = sqlite(&directory.path().join("a.db"));
    put(&mut target, "live", started("live", "/p", Some("s")));
    let refused = imported(&mut target, &bytes).unwrap_err();
    assert!(matches!(&refused, TransferError::SessionTaken { id } if id == "b"), "{refused}");
    assert_eq!(target.list(&Filter::default()).unwrap().len(), 1);
    put(&mut target, "live", ended());
    imported(&mut target, &bytes).unwrap();
    assert_eq!(target.list(&Filter::default()).unwrap().len(), 3);
}

#[test]
fn archives_may_follow_each_other_and_tell_a_loop_twice() {
    let mut first = MemoryJournal::default();
    put(&mut first, "a", started("a", "/p", None));
    let mut bytes = exported(&mut first);
    put(&mut first, "a", ended());
    put(&mut first, "b", started("b", "/p", None));
    bytes.extend(exported(&mut first));
    let mut target = MemoryJournal::default();
    let told = imported(&mut target, &bytes).unwrap();
    assert_eq!(told, Imported { loops: 2, events: 3, skipped: 1 });
    assert_eq!(text(&exported(&mut target)), text(&exported(&mut first)));
}

#[test]
fn what_a_newer_program_wrote_is_named_and_refused() {
    check(
        "{\"journal\":\"stopgate\",\"version\":2}\n",
        "read line 1: its format is 2, this program knows 1; install a newer stopgate",
    );
    let header = "{\"journal\":\"stopgate\",\"version\":1}\n";
    let event = "{\"loop\":\"a\",\"revision\":1,\"at\":0,\"format\":2,\"event\":{\"sang\":{}}}\n";
    check(
        &format!("{header}{event}"),
        "read line 2: its format is 2, this program knows 1; install a newer stopgate",
    );
    check("", "read line 1: this is not an export of a stopgate journal");
    check("{\"name\":\"x\"}\n", "read line 1: this is not an export of a stopgate journal");
    check(header, "read the export to its end: it is cut off after line 1");
    check(&format!("{header}[1]\n"), "read line 2 of the export: it is damaged");
}

#[track_caller]
fn check(text: &str, expected: &str) {
    let refused = imported(&mut MemoryJournal::default(), text.as_bytes()).unwrap_err();
    assert_eq!(refused.to_string(), expected, "{text}");
}

#[test]
fn an_import_that_is_given_up_leaves_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let mut target = sqlite(&directory.path().join("a.db"));
    let mut import = Import::begin_without(&mut target, BTreeSet::new()).unwrap();
    import.put(moved("a", 1, started("a", "/p", None))).unwrap();
    import.put(moved("b", 1, started("b", "/p", None))).unwrap();
    let gap = import.put(moved("a", 3, ended())).unwrap_err();
    assert_eq!(gap.to_string(), "follow loop a: after event 1 comes event 3");
    drop(import);
    assert_eq!(target.list(&Filter::default()).unwrap(), []);
    let mut import = Import::begin_without(&mut target, BTreeSet::new()).unwrap();
    let headless = import.put(moved("a", 1, ended())).unwrap_err();
    assert_eq!(headless.to_string(), "follow loop a: it does not begin with its start");
    let foreign = import.put(moved("a", 1, started("b", "/p", None))).unwrap_err();
    assert_eq!(foreign.to_string(), "follow loop a: it does not begin with its start");
}

fn moved(name: &str, revision: u64, event: Event) -> Moved {
    let recorded = Recorded { event, at: Timestamp::from_unix_millis(1_750_000_000_000) };
    Moved { id: named(name), revision: Revision(revision), recorded, seal: None }
}

fn sqlite(path: &Path) -> SqliteJournal {
    SqliteJournal::new(path, Duration::from_secs(30))
}

fn exported(journal: &mut dyn Journal) -> Vec<u8> {
    let mut bytes = Vec::new();
    let exported = export(journal, &mut bytes).unwrap();
    assert_eq!(exported.bytes, bytes.len() as u64);
    assert_eq!(exported.hash, blake3::hash(&bytes).to_hex().as_str());
    bytes
}

fn imported(journal: &mut dyn Journal, bytes: &[u8]) -> Result<Imported, TransferError> {
    let scanned = scan(&mut Reader::new(Bytes::new(bytes)))?;
    let there = existing(journal, &scanned.names)?;
    tell(Import::begin(journal, &there)?, bytes)
}

fn imported_around(journal: &mut dyn Journal, bytes: &[u8]) -> Result<Imported, TransferError> {
    let scanned = scan(&mut Reader::new(Bytes::new(bytes)))?;
    let there = existing(journal, &scanned.names)?;
    tell(Import::begin_without(journal, there)?, bytes)
}

fn tell(mut import: Import<'_>, bytes: &[u8]) -> Result<Imported, TransferError> {
    let mut reader = Reader::new(Bytes::new(bytes));
    while let Some(moved) = reader.read()? {
        import.put(moved)?;
    }
    import.finish()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn play(journal: &mut dyn Journal, step: &Step, number: usize) {
    let name = ["a", "b", "c", "d", "e", "f"][step.name];
    let session = ["s", "t", "u"][step.session];
    let found = journal.load(&named(name)).unwrap();
    let event = match (step.event, &found) {
        (0 | 1, None) => started(name, "/p", None),
        (_, None) => started(name, "/p", Some(session)),
        (0, Some(_)) => bound(session),
        (1, Some(_)) => ended(),
        (_, Some(_)) => prompted(&format!("{number} \u{1f980} \"quoted\"")),
    };
    let at = Timestamp::from_unix_millis(1_750_000_000_000 + i64::try_from(number).unwrap());
    let revision = found.as_ref().map_or(Revision::NONE, |stored| stored.revision);
    let state = apply(found.map(|stored| stored.state), &event, at).unwrap();
    // A session that is taken is a step that did not happen.
    let _ = journal.append(revision, &[Recorded { event, at }], &state).unwrap();
}

fn put(journal: &mut dyn Journal, name: &str, event: Event) {
    let found = journal.load(&named(name)).unwrap();
    let revision = found.as_ref().map_or(Revision::NONE, |stored| stored.revision);
    let at = Timestamp::from_unix_millis(1_750_000_000_000);
    let state = apply(found.map(|stored| stored.state), &event, at).unwrap();
    let appended = journal.append(revision, &[Recorded { event, at }], &state).unwrap();
    assert!(matches!(appended, Appended::Stored(_)));
}

/// Many loops, whose events are mixed as those of many agents are.
fn fill(journal: &mut dyn Journal, loops: u64, each: u64) {
    let mut import = Import::begin_without(journal, BTreeSet::new()).unwrap();
    for revision in 1..=each {
        for number in 0..loops {
            let name = format!("loop-{number}");
            let event = match revision {
                1 => started(&name, "/p", Some(&name)),
                last if last == each && number % 2 == 0 => ended(),
                _ => prompted(&format!("{revision} of {number}")),
            };
            import.put(moved(&name, revision, event)).unwrap();
        }
    }
    import.finish().unwrap();
}
