//! One contract, every engine; and generated histories with memory as the oracle.

#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a test says where it broke")]

use std::path::PathBuf;
use std::time::Duration;

use proptest::prelude::*;
use stopgate_core::{Event, SessionId, Timestamp, apply};
use stopgate_store::contract::{self, Bench, bound, ended, named, prompted, started};
use stopgate_store::{
    Appended, Cursor, Filter, Journal, MemoryJournal, Recorded, Revision, SqliteJournal, audit,
};

struct Memory(MemoryJournal);

impl Bench for Memory {
    fn open(&self) -> Box<dyn Journal> {
        Box::new(self.0.clone())
    }
}

struct Sqlite {
    directory: tempfile::TempDir,
}

impl Sqlite {
    fn new() -> Self {
        Self { directory: tempfile::tempdir().unwrap() }
    }

    fn path(&self) -> PathBuf {
        self.directory.path().join("journal.db")
    }
}

impl Bench for Sqlite {
    fn open(&self) -> Box<dyn Journal> {
        Box::new(SqliteJournal::new(&self.path(), Duration::from_secs(30)))
    }
}

#[test]
fn memory_keeps_the_contract() {
    let table = contract::run("memory", &|| Box::new(Memory(MemoryJournal::default())));
    println!("{table}");
    assert_eq!(table.lines().count(), contract::cases().len());
}

#[test]
fn sqlite_keeps_the_contract() {
    let table = contract::run("sqlite", &|| Box::new(Sqlite::new()));
    println!("{table}");
    assert_eq!(table.lines().count(), contract::cases().len());
}

#[test]
fn the_bundled_sqlite_is_not_one_that_loses_data() {
    // 3.7.0 to 3.51.2 can corrupt a database when the log is reset; 3.52.0 was withdrawn.
    let version = rusqlite::version_number();
    assert!(version >= 3_051_003 && version != 3_052_000, "{version}");
}

/// What one step of a generated history does.
#[derive(Clone, Debug)]
struct Step {
    name: usize,
    event: usize,
    session: usize,
    lag: u64,
}

fn step() -> impl Strategy<Value = Step> {
    (0..4_usize, 0..6_usize, 0..3_usize, prop_oneof![9 => Just(0), 1 => 1..3_u64])
        .prop_map(|(name, event, session, lag)| Step { name, event, session, lag })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_history_is_the_same_in_memory_and_in_sqlite(steps in prop::collection::vec(step(), 1..40)) {
        let sqlite = Sqlite::new();
        let mut engines: [Box<dyn Journal>; 2] = [Box::new(MemoryJournal::default()), sqlite.open()];
        for (number, step) in steps.iter().enumerate() {
            let [oracle, engine] = &mut engines;
            let expected = play(&mut **oracle, step, number);
            let actual = play(&mut **engine, step, number);
            prop_assert_eq!(expected, actual, "step {}: {:?}", number, step);
        }
        let [oracle, engine] = &mut engines;
        prop_assert_eq!(dump(&mut **oracle), dump(&mut **engine));
    }
}

/// What a step led to.
#[derive(Debug, PartialEq, Eq)]
enum Played {
    Nothing,
    Appended(Appended),
    Removed(u64),
}

fn play(journal: &mut dyn Journal, step: &Step, number: usize) -> Played {
    let name = ["a", "b", "c", "d"][step.name];
    let session = ["s", "t", "u"][step.session];
    let at = Timestamp::from_unix_millis(1_750_000_000_000 + i64::try_from(number).unwrap());
    let found = journal.load(&named(name)).unwrap();
    let revision = found.as_ref().map_or(0, |stored| stored.revision.0);
    let expected = Revision(revision.saturating_sub(step.lag));
    if step.event == 5 {
        return Played::Removed(journal.remove(&[(named(name), expected)]).unwrap());
    }
    let event: Event = match (step.event, &found) {
        (_, None) if step.session == 0 => started(name, "/p", None),
        (_, None) => started(name, "/p", Some(session)),
        (0, Some(_)) => bound(session),
        (1, Some(_)) => ended(),
        (_, Some(_)) => prompted(&format!("{number}")),
    };
    let Some(state) = apply(found.map(|stored| stored.state), &event, at) else {
        return Played::Nothing;
    };
    Played::Appended(journal.append(expected, &[Recorded { event, at }], &state).unwrap())
}

fn dump(journal: &mut dyn Journal) -> String {
    let loops = journal.list(&Filter::default()).unwrap();
    let tail = journal.tail(Cursor(0), 1000).unwrap();
    let held: Vec<_> = ["s", "t", "u"]
        .iter()
        .map(|name| journal.load_held(&SessionId::new(name).unwrap()).unwrap())
        .collect();
    let pending = journal.pending("/p").unwrap();
    let audit = audit(journal).unwrap();
    assert_eq!(audit.findings, Vec::<String>::new());
    format!("{loops:#?}\n{tail:#?}\n{held:#?}\n{pending:#?}\n{audit:#?}")
}
