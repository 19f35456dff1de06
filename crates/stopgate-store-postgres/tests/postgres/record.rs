//! A journal on a server that was edited outside of stopgate is told from one that was not.

use std::path::Path;

use stopgate_core::{Event, apply};
use stopgate_store::contract::{named, prompted, started};
use stopgate_store::{
    Appended, Filter, Journal, KeySource, Recorded, Revision, Soundness, WriterKey, audit,
};
use stopgate_store_postgres::PostgresJournal;

use crate::scene::{NOON, cluster, database, journal};

fn signed(url: &str, key: u8) -> PostgresJournal {
    let mut journal = journal(url);
    journal.sign_as(match key {
        1 => KeySource::new(Path::new("a"), |_| WriterKey::from_bytes(&[1; 48])),
        _ => KeySource::new(Path::new("b"), |_| WriterKey::from_bytes(&[2; 48])),
    });
    journal
}

fn add(journal: &mut dyn Journal, event: Event) {
    let found = journal.load(&named("a")).unwrap();
    let revision = found.as_ref().map_or(Revision::NONE, |stored| stored.revision);
    let state = apply(found.map(|stored| stored.state), &event, NOON).unwrap();
    let appended = journal.append(revision, &[Recorded { event, at: NOON }], &state).unwrap();
    assert_eq!(appended, Appended::Stored(Revision(revision.0 + 1)));
}

/// A loop of three events by the first writer.
fn furnished() -> (String, String) {
    let database = database();
    let url = cluster().url(&database);
    let mut journal = signed(&url, 1);
    add(&mut journal, started("a", "/p", None));
    add(&mut journal, prompted("one"));
    add(&mut journal, prompted("two"));
    (database, url)
}

#[test]
fn a_record_is_sound_to_its_writer_and_of_an_unknown_one_to_others() {
    let (_, url) = furnished();
    let mut own = signed(&url, 1);
    assert_eq!(own.soundness(&named("a")).unwrap(), Soundness::Sound);
    assert_eq!(own.list(&Filter::default()).unwrap()[0].soundness, Soundness::Sound);
    assert_eq!(audit(&mut own).unwrap().findings, Vec::<String>::new());
    let mut other = signed(&url, 2);
    assert_eq!(other.soundness(&named("a")).unwrap(), Soundness::UnknownWriter);
    let found = audit(&mut other).unwrap();
    assert_eq!((found.unknown, found.findings), (1, Vec::new()));
    add(&mut other, prompted("three"));
    add(&mut own, prompted("four"));
    assert_eq!(own.soundness(&named("a")).unwrap(), Soundness::UnknownWriter);
}

#[test]
fn edited_removed_and_reordered_records_are_found() {
    let edits = [
        "UPDATE stopgate.loop SET state = replace(state, 'the goal', 'a goal')",
        "UPDATE stopgate.loop SET seal = NULL",
        "UPDATE stopgate.event SET body = replace(body, 'one', 'ten')",
        "UPDATE stopgate.event SET at = at + 1 WHERE revision = 2",
        "UPDATE stopgate.event SET seal = NULL WHERE revision = 2",
        "DELETE FROM stopgate.event WHERE revision = 2",
        "DELETE FROM stopgate.event WHERE revision = 3",
    ];
    for edit in edits {
        let (database, url) = furnished();
        cluster().sql(&database, edit).unwrap();
        let mut journal = signed(&url, 1);
        assert_eq!(journal.soundness(&named("a")).unwrap(), Soundness::Forged, "{edit}");
        add(&mut journal, prompted("three"));
        assert_eq!(journal.soundness(&named("a")).unwrap(), Soundness::Forged, "{edit}, appended");
    }
}

#[test]
fn tables_of_version_1_are_given_seals() {
    let (database, url) = furnished();
    let old = "ALTER TABLE stopgate.loop DROP COLUMN seal; \
               ALTER TABLE stopgate.event DROP COLUMN seal; \
               DELETE FROM stopgate.migration WHERE version = 2";
    cluster().sql(&database, old).unwrap();
    let mut journal = signed(&url, 1);
    assert_eq!(journal.soundness(&named("a")).unwrap(), Soundness::Unchained);
    add(&mut journal, prompted("three"));
    let stored = journal.load(&named("a")).unwrap().unwrap();
    assert_eq!((stored.revision, stored.soundness), (Revision(4), Soundness::Sound));
    assert_eq!(journal.soundness(&named("a")).unwrap(), Soundness::Unchained);
}
