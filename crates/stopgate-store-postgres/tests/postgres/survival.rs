//! Servers that die under load: what was acknowledged is there afterwards.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use stopgate_core::{apply, fold};
use stopgate_lab::{Cluster, ServerStop, Setup};
use stopgate_store::contract::{named, prompted, started};
use stopgate_store::{Appended, Journal, Recorded, Revision};
use stopgate_store_postgres::{Options, PostgresJournal, migrate};

use crate::scene::{NOON, options};

const WRITERS: usize = 6;
/// What each writer has had acknowledged.
type Written = [AtomicU64; WRITERS];

#[test]
fn a_server_that_is_killed_under_load_loses_nothing_acknowledged() {
    let mut own = Cluster::start(Setup::default()).unwrap();
    let url = own.url("postgres");
    let acknowledged = storm(&url, |written| {
        for how in [ServerStop::Kill, ServerStop::Immediate, ServerStop::Kill] {
            everybody_writes(written);
            own.stop(how).unwrap();
            own.start_again().unwrap();
        }
        everybody_writes(written);
    });
    assert_kept(&url, &acknowledged);
}

#[test]
fn a_standby_that_is_promoted_under_load_has_everything_acknowledged() {
    let mut primary = Cluster::start(Setup::default()).unwrap();
    let standby = primary.standby().unwrap();
    let url = format!(
        "host=127.0.0.1,127.0.0.1 port={},{} user=postgres password='{}' dbname=postgres \
         target_session_attrs=read-write",
        primary.port(),
        standby.port(),
        primary.password(),
    );
    let mut before = 0;
    let acknowledged = storm(&url, |written| {
        everybody_writes(written);
        primary.stop(ServerStop::Kill).unwrap();
        standby.promote().unwrap();
        before = events(&standby);
        everybody_writes(written);
    });
    assert!(events(&standby) > before, "writers have found the new primary");
    assert_kept(&url, &acknowledged);
}

fn events(cluster: &Cluster) -> u64 {
    let count = cluster.sql("postgres", "SELECT count(*) FROM stopgate.event").unwrap();
    count.trim().parse().unwrap()
}

/// Waits until each writer has had ten more events acknowledged.
fn everybody_writes(written: &Written) {
    let deadline = Instant::now() + Duration::from_mins(2);
    let goals = written.each_ref().map(|count| count.load(Ordering::Relaxed) + 10);
    let behind =
        || written.iter().zip(&goals).any(|(now, goal)| now.load(Ordering::Relaxed) < *goal);
    while behind() {
        assert!(Instant::now() < deadline, "a writer is stuck: {written:?}");
        thread::sleep(Duration::from_millis(5));
    }
}

/// Writers append as fast as they can while `happen` does its worst; the revision of each
/// loop that was acknowledged last.
fn storm(url: &str, happen: impl FnOnce(&Written)) -> BTreeMap<String, Revision> {
    migrate(url, &options("storm")).unwrap();
    let over = AtomicBool::new(false);
    let written = Written::default();
    let since = Instant::now();
    let acknowledged: BTreeMap<String, Revision> = thread::scope(|scope| {
        let (over, written) = (&over, &written);
        let writer = |number: usize| write(url, &format!("loop-{number}"), over, &written[number]);
        let writers: Vec<_> = (0..WRITERS).map(|n| scope.spawn(move || writer(n))).collect();
        let end = AtEnd(over);
        happen(written);
        drop(end);
        writers.into_iter().map(|writer| writer.join().unwrap()).collect()
    });
    let all: u64 = acknowledged.values().map(|revision| revision.0).sum();
    println!("{all} events acknowledged in {:?}", since.elapsed());
    acknowledged
}

/// Sends the writers home, also when the test fails.
struct AtEnd<'a>(&'a AtomicBool);

impl Drop for AtEnd<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// One writer: after an error it looks where the loop stands, as a hook would.
fn write(url: &str, name: &str, over: &AtomicBool, written: &AtomicU64) -> (String, Revision) {
    let options = Options { tenant: "storm".into(), deadline: Duration::from_secs(2) };
    let mut journal = PostgresJournal::new(url, options).unwrap();
    let mut acknowledged = Revision::NONE;
    while !over.load(Ordering::Relaxed) {
        match append(&mut journal, name, acknowledged) {
            Some(revision) => {
                acknowledged = revision;
                written.store(revision.0, Ordering::Relaxed);
            }
            None => thread::sleep(Duration::from_millis(5)),
        }
    }
    (name.into(), acknowledged)
}

fn append(journal: &mut PostgresJournal, name: &str, acknowledged: Revision) -> Option<Revision> {
    let found = journal.load(&named(name)).ok()?;
    let at = found.as_ref().map_or(Revision::NONE, |stored| stored.revision);
    assert!(at >= acknowledged, "{name} was at {acknowledged:?} and is at {at:?}");
    let event = if found.is_some() { prompted("on") } else { started(name, "/p", None) };
    let state = apply(found.map(|stored| stored.state), &event, NOON)?;
    match journal.append(at, &[Recorded { event, at: NOON }], &state).ok()? {
        Appended::Stored(revision) => Some(revision),
        Appended::Conflict | Appended::SessionTaken => None,
    }
}

/// Each loop is at least where it was acknowledged, numbered without gaps, and its own fold.
fn assert_kept(url: &str, acknowledged: &BTreeMap<String, Revision>) {
    let mut journal = PostgresJournal::new(url, options("storm")).unwrap();
    for (name, revision) in acknowledged {
        assert!(revision.0 > 0, "{name} was written to");
        let stored = journal.load(&named(name)).unwrap().unwrap();
        assert!(stored.revision >= *revision, "{name}: {revision:?} was acknowledged");
        let history = journal.history(&named(name)).unwrap();
        let numbers: Vec<u64> = history.iter().map(|entry| entry.revision.0).collect();
        assert!(numbers.iter().copied().eq(1..=stored.revision.0), "{name}");
        let folded = fold(history.iter().map(|e| (&e.recorded.event, e.recorded.at)));
        assert_eq!(folded, Some(stored.state), "{name}");
    }
    assert_eq!(journal.check().unwrap(), Vec::<String>::new());
}
