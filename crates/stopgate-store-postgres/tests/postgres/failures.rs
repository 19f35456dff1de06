//! Everything that can be wrong with a server: said clearly, and within the deadline.

use std::io::Write as _;
use std::net::TcpListener;
use std::thread;
use std::time::{Duration, Instant};

use stopgate_lab::{Cluster, ServerStop, Setup};
use stopgate_store::contract::named;
use stopgate_store::{Appended, Journal, Revision, StoreError};
use stopgate_store_postgres::{Options, PostgresJournal};

use crate::scene::{begin, cluster, database, journal, options, story};

const DEADLINE: Duration = Duration::from_secs(3);
const SLACK: Duration = Duration::from_secs(3);

#[test]
fn a_server_that_can_not_be_used_is_named_with_what_to_do() {
    let there = database();
    let port = cluster().port();
    let wrong = cluster().url_of("postgres", "guess", &there);
    check(&wrong, "could not log in to the journal at postgres://postgres@127.0.0.1:");
    let none = format!("postgres://postgres@127.0.0.1:{port}/{there}");
    check(
        &none,
        "check the user, the password and the server's pg_hba.conf: invalid configuration: password missing",
    );
    check(
        &cluster().url("nowhere"),
        "create it, or correct its name: database \"nowhere\" does not exist (3D000)",
    );
    check(
        "postgres://u:p@127.0.0.1:1/d",
        "could not reach the journal at postgres://u@127.0.0.1:1/d; check that the server runs",
    );
    check(
        "postgres:///d?host=/nonexistent",
        "could not reach the journal at postgres:///nonexistent/d",
    );
}

#[test]
fn an_unknown_host_is_named() {
    let error = load("postgres://u:p@no-such-host.invalid/d").unwrap_err();
    // Where nobody resolves names, the deadline ends the search.
    let known = matches!(error, StoreError::Unreachable { .. } | StoreError::Late { .. });
    assert!(known && story(&error).contains("no-such-host.invalid"), "{}", story(&error));
}

#[test]
fn a_host_that_never_answers_is_given_up() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let silent = format!("postgres://u:p@127.0.0.1:{port}/d");
    check(&silent, "could not get an answer from the journal at postgres://u@127.0.0.1:");
    // Of two hosts, the silent one leaves time for the other.
    let there = database();
    assert_eq!(journal(&cluster().url(&there)).load(&named("a")).unwrap(), None);
    let both = format!(
        "host=127.0.0.1,127.0.0.1 port={port},{} user=postgres password='{}' dbname={}",
        cluster().port(),
        cluster().password(),
        there
    );
    assert_eq!(journal(&both).load(&named("a")).unwrap(), None);
}

#[test]
fn a_host_that_talks_something_else_is_refused() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let _ = (&stream).write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n");
        }
    });
    check(
        &format!("postgres://u:p@127.0.0.1:{port}/d?sslmode=disable"),
        "could not reach the journal at",
    );
    check(
        &format!("postgres://u:p@127.0.0.1:{port}/d?sslmode=require"),
        "could not make a safe connection to the journal at",
    );
}

#[test]
fn a_database_that_is_dropped_in_mid_use_is_named() {
    let database = database();
    let mut journal = journal(&cluster().url(&database));
    assert_eq!(begin(&mut journal, "a").unwrap(), Appended::Stored(Revision(1)));
    cluster().sql("postgres", &format!("DROP DATABASE {database} WITH (FORCE)")).unwrap();
    for refused in [journal.load(&named("a")).map(drop), begin(&mut journal, "b").map(drop)] {
        let error = refused.unwrap_err();
        assert!(matches!(error, StoreError::Database { .. }), "{}", story(&error));
    }
}

#[test]
fn a_connection_that_was_cut_while_idle_is_made_anew() {
    let database = database();
    let mut journal = journal(&cluster().url(&database));
    for number in 0..10 {
        let name = format!("loop-{number}");
        assert_eq!(begin(&mut journal, &name).unwrap(), Appended::Stored(Revision(1)));
        cut(&database);
        assert!(journal.load(&named(&name)).unwrap().is_some());
        cut(&database);
    }
}

#[test]
fn a_connection_that_is_cut_under_an_append_leaves_it_unknown() {
    let database = database();
    let mut journal = journal(&cluster().url(&database));
    assert_eq!(begin(&mut journal, "a").unwrap(), Appended::Stored(Revision(1)));
    let waiting = thread::scope(|scope| {
        let holder = scope.spawn(|| hold_tables(&database, 2));
        thread::sleep(Duration::from_millis(500));
        let append = scope.spawn(|| begin(&mut journal, "b"));
        thread::sleep(Duration::from_millis(500));
        cluster()
            .sql(
                "postgres",
                &format!(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
                     WHERE datname = '{database}' AND wait_event_type = 'Lock'"
                ),
            )
            .unwrap();
        holder.join().unwrap();
        append.join().unwrap()
    });
    let error = waiting.unwrap_err();
    assert!(matches!(error, StoreError::Lost { .. }), "{}", story(&error));
    assert!(story(&error).contains("whether it was done is not known"), "{}", story(&error));
    assert_eq!(journal.load(&named("b")).unwrap(), None);
}

#[test]
fn a_server_that_is_slow_is_given_up_and_asked_again_later() {
    let database = database();
    let url = cluster().url(&database);
    begin_at_leisure(&url);
    let mut journal = hook(&url);
    thread::scope(|scope| {
        scope.spawn(|| hold_tables(&database, 8));
        thread::sleep(Duration::from_millis(700));
        let error = timed(|| begin(&mut journal, "b")).unwrap_err();
        assert!(matches!(error, StoreError::Late { .. }), "{}", story(&error));
    });
    assert!(journal.load(&named("a")).unwrap().is_some());
}

#[test]
fn a_whole_turn_has_one_deadline() {
    let database = database();
    let url = cluster().url(&database);
    begin_at_leisure(&url);
    let mut journal = hook(&url);
    let since = Instant::now();
    journal.begin().unwrap();
    thread::sleep(DEADLINE);
    assert!(matches!(journal.load(&named("a")), Err(StoreError::Late { .. })));
    assert!(since.elapsed() < DEADLINE + SLACK);
    journal.end();
    assert!(journal.load(&named("a")).unwrap().is_some());
}

#[test]
fn a_server_that_is_full_stopped_or_frozen_is_named() {
    let mut own = Cluster::start(Setup { max_connections: 8 }).unwrap();
    let url = own.url("postgres");
    begin_at_leisure(&url);
    let mut journals: Vec<PostgresJournal> = (0..9).map(|_| hook(&url)).collect();
    let errors = journals.iter_mut().filter_map(|journal| journal.load(&named("a")).err());
    let full: Vec<StoreError> = errors.collect();
    assert!(matches!(full[..], [StoreError::Full { .. }]), "{full:?}");
    drop(journals);
    let mut journal = hook(&url);
    assert!(journal.load(&named("a")).unwrap().is_some());
    own.freeze();
    for _ in 0..2 {
        let error = timed(|| journal.load(&named("a"))).unwrap_err();
        assert!(matches!(error, StoreError::Late { .. }), "{}", story(&error));
    }
    own.thaw();
    assert!(journal.load(&named("a")).unwrap().is_some());
    own.stop(ServerStop::Fast).unwrap();
    let error = timed(|| journal.load(&named("a"))).unwrap_err();
    assert!(matches!(error, StoreError::Unreachable { .. }), "{}", story(&error));
    own.start_again().unwrap();
    assert!(journal.load(&named("a")).unwrap().is_some());
}

#[test]
fn a_standby_reads_and_says_why_it_does_not_write() {
    let primary = Cluster::start(Setup::default()).unwrap();
    let standby = primary.standby().unwrap();
    begin_at_leisure(&primary.url("postgres"));
    let mut journal = hook(&standby.url("postgres"));
    let seen = (0..50).any(|_| {
        thread::sleep(Duration::from_millis(20));
        journal.load(&named("a")).unwrap().is_some()
    });
    assert!(seen, "the standby follows");
    for refused in
        [begin(&mut journal, "b").map(drop), journal.tail(stopgate_store::Cursor(0), 9).map(drop)]
    {
        let error = refused.unwrap_err();
        assert!(matches!(error, StoreError::ReadOnly { .. }), "{}", story(&error));
        assert!(story(&error).contains("target_session_attrs=read-write"), "{}", story(&error));
    }
    let only = format!("{}?target_session_attrs=read-write", standby.url("postgres"));
    assert!(matches!(load(&only), Err(StoreError::ReadOnly { .. })));
    let both = |first: &Cluster, second: &Cluster| {
        let (password, ports) = (first.password(), (first.port(), second.port()));
        format!(
            "host=127.0.0.1,127.0.0.1 port={},{} user=postgres password='{password}' dbname=postgres",
            ports.0, ports.1
        )
    };
    let mut journal = crate::scene::journal(&both(&standby, &primary));
    assert_eq!(begin(&mut journal, "c").unwrap(), Appended::Stored(Revision(1)));
}

/// Looks for a loop, within the deadline.
fn load(url: &str) -> Result<(), StoreError> {
    timed(|| hook(url).load(&named("a")).map(drop))
}

/// Begins loop "a" of the tenant that the hooks here have, however long it takes.
fn begin_at_leisure(url: &str) {
    let mut journal = PostgresJournal::new(url, options("t")).unwrap();
    assert_eq!(begin(&mut journal, "a").unwrap(), Appended::Stored(Revision(1)));
}

fn hook(url: &str) -> PostgresJournal {
    PostgresJournal::new(url, Options { tenant: "t".into(), deadline: DEADLINE }).unwrap()
}

#[track_caller]
fn timed<T>(work: impl FnOnce() -> T) -> T {
    let since = Instant::now();
    let done = work();
    assert!(since.elapsed() < DEADLINE + SLACK, "took {:?}", since.elapsed());
    done
}

#[track_caller]
fn check(url: &str, expected: &str) {
    let story = story(&load(url).unwrap_err());
    assert!(story.contains(expected), "{story}");
    assert!(!story.contains("guess"), "{story}");
}

/// Ends every connection to a database.
fn cut(database: &str) {
    let sql = format!(
        "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = '{database}'"
    );
    cluster().sql("postgres", &sql).unwrap();
}

/// Keeps everybody else from the loops, for some seconds.
fn hold_tables(database: &str, seconds: u32) {
    let sql = format!(
        "BEGIN; LOCK TABLE stopgate.loop IN ACCESS EXCLUSIVE MODE; SELECT pg_sleep({seconds}); COMMIT"
    );
    cluster().sql(database, &sql).unwrap();
}
