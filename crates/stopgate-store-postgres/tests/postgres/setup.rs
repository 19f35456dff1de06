//! Tables, tenants, roles, and the order of the tail.

use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use stopgate_store::contract::{named, prompted, started};
use stopgate_store::{Appended, Cursor, Filter, Journal, Recorded, Revision, StoreError};
use stopgate_store_postgres::{Listened, Listener, PostgresJournal, migrate};

use crate::scene::{NOON, begin, cluster, database, journal, options, store, story};

#[test]
fn fifty_hooks_may_start_at_once_on_an_empty_database() {
    let url = cluster().url(&database());
    thread::scope(|scope| {
        let hook = |number: usize| {
            let mut journal = journal(&url);
            assert_eq!(journal.load(&named("nobody")).unwrap(), None);
            begin(&mut journal, &format!("loop-{number}")).unwrap()
        };
        let hooks: Vec<_> = (0..50).map(|n| scope.spawn(move || hook(n))).collect();
        for hook in hooks {
            assert_eq!(hook.join().unwrap(), Appended::Stored(Revision(1)));
        }
    });
    assert_eq!(journal(&url).list(&Filter::default()).unwrap().len(), 50);
}

#[test]
fn tables_are_set_up_once_and_then_left_alone() {
    let database = database();
    let url = cluster().url(&database);
    let (first, second) = (migrate(&url, &options("t")), migrate(&url, &options("t")));
    assert_eq!((first.unwrap().from, second.unwrap().from), (0, 2));
    let versions = cluster().sql(&database, "SELECT version FROM stopgate.migration").unwrap();
    assert_eq!(versions.split_whitespace().collect::<Vec<_>>(), ["1", "2"]);
}

#[test]
fn tables_of_a_newer_program_are_refused_and_kept() {
    let database = database();
    let mut journal = journal(&cluster().url(&database));
    assert_eq!(begin(&mut journal, "a").unwrap(), Appended::Stored(Revision(1)));
    cluster().sql(&database, "INSERT INTO stopgate.migration (version) VALUES (99)").unwrap();
    for refused in [
        journal.load(&named("a")).map(drop),
        begin(&mut journal, "b").map(drop),
        journal.tail(Cursor(0), 9).map(drop),
        journal.migrate().map(drop),
    ] {
        let error = refused.unwrap_err();
        assert!(matches!(error, StoreError::NewerServer { found: 99, known: 2, .. }), "{error}");
        assert!(story(&error).contains("install a newer stopgate"), "{error}");
    }
    let loops = cluster().sql(&database, "SELECT count(*) FROM stopgate.loop").unwrap();
    assert_eq!(loops.trim(), "1");
}

#[test]
fn an_event_of_a_newer_program_is_refused() {
    let database = database();
    let mut journal = journal(&cluster().url(&database));
    assert_eq!(begin(&mut journal, "a").unwrap(), Appended::Stored(Revision(1)));
    cluster().sql(&database, "UPDATE stopgate.event SET format = 7").unwrap();
    let error = journal.history(&named("a")).unwrap_err();
    assert!(matches!(error, StoreError::NewerServer { found: 7, .. }), "{error}");
    assert!(journal.load(&named("a")).unwrap().is_some(), "the state is of a known format");
}

#[test]
fn a_damaged_record_is_named() {
    let database = database();
    let mut journal = journal(&cluster().url(&database));
    assert_eq!(begin(&mut journal, "abc").unwrap(), Appended::Stored(Revision(1)));
    cluster().sql(&database, "UPDATE stopgate.loop SET state = '{'").unwrap();
    let error = journal.load(&named("abc")).unwrap_err();
    assert!(matches!(&error, StoreError::Record { id, .. } if id == "abc"), "{error}");
}

#[test]
fn tenants_do_not_see_each_other() {
    let url = cluster().url(&database());
    let mut one = PostgresJournal::new(&url, options("one")).unwrap();
    let mut other = PostgresJournal::new(&url, options("other")).unwrap();
    let event = started("a", "/p", Some("s"));
    for journal in [&mut one, &mut other] {
        // The same name and the same session, and nobody is in anybody's way.
        assert_eq!(store(journal, Revision::NONE, &event).unwrap(), Appended::Stored(Revision(1)));
    }
    assert_eq!(begin(&mut one, "b").unwrap(), Appended::Stored(Revision(1)));
    for (journal, loops) in [(&mut one, 2), (&mut other, 1)] {
        assert_eq!(journal.list(&Filter::default()).unwrap().len(), loops);
        assert_eq!(journal.tail(Cursor(0), 9).unwrap().len(), loops);
        assert_eq!(journal.find("").unwrap().len(), loops);
        assert_eq!(journal.history(&named("a")).unwrap().len(), 1);
    }
    assert_eq!(other.load(&named("b")).unwrap(), None);
    assert_eq!(other.pending("/p").unwrap(), []);
}

/// The interleaving that a tail ordered by a sequence alone gets wrong, whatever the order of
/// transaction ids: the one with the lower cursor is committed last.
#[test]
fn the_tail_passes_nobody_over_who_is_still_writing() {
    let database = database();
    let mut journal = journal(&cluster().url(&database));
    for name in ["slow", "fast"] {
        assert_eq!(begin(&mut journal, name).unwrap(), Appended::Stored(Revision(1)));
    }
    let seen = journal.tail(Cursor(0), 9).unwrap();
    assert_eq!(seen.len(), 2);
    let mut slow = crate::scene::journal(&cluster().url(&database));
    slow.gather().unwrap();
    assert_eq!(more(&mut slow, "slow"), Appended::Stored(Revision(2)));
    assert_eq!(more(&mut journal, "fast"), Appended::Stored(Revision(2)));
    let after = seen[1].cursor;
    assert_eq!(journal.tail(after, 9).unwrap(), [], "a lower cursor may still come in");
    assert_eq!(journal.history(&named("fast")).unwrap().len(), 2, "it is stored all the same");
    let _ = slow.deliver().unwrap();
    let order: Vec<_> = journal.tail(after, 9).unwrap().into_iter().map(|e| e.id).collect();
    assert_eq!(order, [named("slow"), named("fast")]);
}

#[test]
fn a_crowd_is_followed_without_a_gap() {
    let url = cluster().url(&database());
    assert_eq!(journal(&url).list(&Filter::default()).unwrap(), []);
    let (done, finished) = mpsc::channel();
    thread::scope(|scope| {
        for writer in 0..6 {
            let (url, done) = (&url, done.clone());
            scope.spawn(move || {
                begin_many(url, writer);
                done.send(()).unwrap();
            });
        }
        drop(done);
        let mut journal = journal(&url);
        let (mut followed, mut writers) = (Vec::new(), 6);
        while followed.len() < 240 {
            let from = followed.last().copied().unwrap_or(Cursor(0));
            followed.extend(journal.tail(from, 7).unwrap().into_iter().map(|entry| entry.cursor));
            while finished.try_recv().is_ok() {
                writers -= 1;
            }
            assert!(writers > 0 || journal.tail(from, 1).unwrap().len() == 1, "none is missing");
        }
    });
}

fn begin_many(url: &str, writer: usize) {
    let mut journal = journal(url);
    for number in 0..40 {
        let _ = begin(&mut journal, &format!("{writer}-{number}")).unwrap();
    }
}

#[test]
fn a_foreign_transaction_does_not_hold_the_tail_back() {
    let database = database();
    let mut journal = journal(&cluster().url(&database));
    assert_eq!(begin(&mut journal, "a").unwrap(), Appended::Stored(Revision(1)));
    let sleeper = thread::spawn(move || {
        cluster()
            .sql(&database, "BEGIN; CREATE TABLE elsewhere (x int); SELECT pg_sleep(1.5); COMMIT")
    });
    thread::sleep(Duration::from_millis(500));
    assert_eq!(more(&mut journal, "a"), Appended::Stored(Revision(2)));
    assert_eq!(journal.tail(Cursor(0), 9).unwrap().len(), 2);
    sleeper.join().unwrap().unwrap();
}

#[test]
fn a_listener_hears_of_its_tenants_news_only() {
    let url = cluster().url(&database());
    let mut ear = Listener::new(&url, options("one")).unwrap();
    let mut one = PostgresJournal::new(&url, options("one")).unwrap();
    let mut other = PostgresJournal::new(&url, options("other")).unwrap();
    assert_eq!(ear.wait(Duration::ZERO).unwrap(), Listened::News, "a new ear may have missed some");
    let _ = begin(&mut other, "a").unwrap();
    other.settle();
    assert_eq!(ear.wait(Duration::from_millis(200)).unwrap(), Listened::Nothing);
    let _ = begin(&mut one, "a").unwrap();
    assert_eq!(ear.wait(Duration::from_millis(200)).unwrap(), Listened::Nothing, "not yet told");
    one.settle();
    assert_eq!(ear.wait(Duration::from_secs(5)).unwrap(), Listened::News);
    one.settle();
    assert_eq!(ear.wait(Duration::from_millis(200)).unwrap(), Listened::Nothing, "told once");
}

/// The statements of docs/postgres.md, as an administrator runs them.
#[test]
fn the_documented_roles_are_enough() {
    let database = database();
    let guide = include_str!("../../../../docs/postgres.md");
    let sql: String =
        guide.split("```sql\n").skip(1).filter_map(|part| part.split("```").next()).collect();
    let sql = sql.replace("DATABASE stopgate", &format!("DATABASE {database}"));
    let (before, after) = sql.split_once("-- stopgate store migrate\n").unwrap();
    cluster().sql(&database, before).unwrap();
    let owner = cluster().url_of("stopgate_owner", "change me", &database);
    let hook = cluster().url_of("stopgate_hook", "change me too", &database);
    let error = journal(&hook).load(&named("a")).unwrap_err();
    assert!(matches!(error, StoreError::Privilege { .. }), "{}", story(&error));
    assert_eq!(migrate(&owner, &options("default")).unwrap().from, 0);
    cluster().sql(&database, after).unwrap();
    let mut journal = journal(&hook);
    assert_eq!(begin(&mut journal, "a").unwrap(), Appended::Stored(Revision(1)));
    assert_eq!(more(&mut journal, "a"), Appended::Stored(Revision(2)));
    assert_eq!(journal.tail(Cursor(0), 9).unwrap().len(), 2);
    journal.settle();
    let error = journal.remove(&[(named("a"), Revision(2))]).unwrap_err();
    assert!(matches!(error, StoreError::Privilege { .. }), "{}", story(&error));
    let mut owner = crate::scene::journal(&owner);
    assert_eq!(owner.remove(&[(named("a"), Revision(2))]).unwrap(), 0, "it still runs");
}

/// One more event at the end of a loop.
fn more(journal: &mut dyn Journal, name: &str) -> Appended {
    let found = journal.load(&named(name)).unwrap().unwrap();
    let event = prompted("more");
    let state = stopgate_core::apply(Some(found.state), &event, NOON).unwrap();
    journal.append(found.revision, &[Recorded { event, at: NOON }], &state).unwrap()
}
