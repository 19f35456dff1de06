//! The same program with its journal on a PostgreSQL server.

use std::net::TcpListener;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use serde_json::json;
use stopgate_lab::{Cluster, Setup};

use crate::call::{Answer, Call};
use crate::doors;
use crate::stage::{Ran, Stage};

/// The server that these tests share; each has a database of its own.
fn cluster() -> &'static Cluster {
    static SHARED: OnceLock<Cluster> = OnceLock::new();
    SHARED.get_or_init(|| Cluster::start(Setup::default()).expect("start a server"))
}

/// A stage whose journal is on the server.
pub(crate) struct Served {
    pub(crate) stage: Stage,
    database: String,
    pub(crate) url: String,
}

impl Served {
    pub(crate) fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let database = format!("cli_{}", COUNT.fetch_add(1, Ordering::Relaxed));
        let create = format!("CREATE DATABASE {database}");
        cluster().sql("postgres", &create).expect("make a database");
        let url = cluster().socket_url(&database);
        Self { stage: Stage::new(), database, url }
    }

    pub(crate) fn run(&self, line: &str) -> Ran {
        self.run_at(&self.url, line)
    }

    fn run_at(&self, url: &str, line: &str) -> Ran {
        let variables = [("STOPGATE_STORE", url), ("STOPGATE_STORE_DEADLINE", "20s")];
        self.stage.run_with(line, &variables)
    }

    pub(crate) fn start(&self, line: &str) {
        let ran = self.run(&format!("start {line}"));
        assert_eq!(ran.code, 0, "{ran}");
    }

    pub(crate) fn standing(&self, id: &str) -> String {
        let ran = self.run(&format!("status {id} --json"));
        assert_eq!(ran.code, 0, "{ran}");
        let found: serde_json::Value = serde_json::from_str(&ran.out).expect("JSON");
        let found = &found["loop"];
        let word = found["outcome"].as_str().or(found["state"].as_str()).unwrap_or("?");
        format!("{word} {}/{}", found["iteration"], found["max_iterations"])
    }

    fn served<'a>(&'a self, call: Call<'a>) -> Call<'a> {
        call.var("STOPGATE_STORE", &self.url).var("STOPGATE_STORE_DEADLINE", "20s")
    }

    pub(crate) fn stop(&self, session: &str, message: &str) -> Answer {
        self.served(self.stage.stop_call(session, message)).send()
    }
}

#[test]
fn a_loop_on_a_server_is_held_without_any_sign() {
    let served = Served::new();
    served.start("Finish --check tests='test -e done' --session s1");
    assert!(served.stop("s1", "one").is_sent_back());
    assert!(!served.stop("s2", "one").is_sent_back(), "another session is not held");
    assert_eq!(served.standing("1stage0000"), "active 1/20");
    served.stage.write("project/done", "");
    assert!(!served.stop("s1", "two").is_sent_back());
    assert_eq!(served.standing("1stage0000"), "done 1/20");
    for sign in ["home/journal.db", "home/journal.signs", "home/server.signs/held"] {
        assert!(!served.stage.path(sign).exists(), "{sign}");
    }
}

#[test]
fn another_machine_sees_the_same_loop() {
    let served = Served::new();
    served.start("Finish --max-idle 0");
    let elsewhere = served.stage.path("elsewhere").display().to_string();
    let call = served.served(served.stage.stop_call("s1", "one"));
    assert!(call.var("STOPGATE_HOME", &elsewhere).send().is_sent_back(), "claimed by its stop");
    assert!(served.stop("s1", "two").is_sent_back());
    assert_eq!(served.standing("1stage0000"), "active 2/20");
    let ran = served.run("cancel 1stage0000");
    assert_eq!(ran.code, 0, "{ran}");
    assert!(!served.stop("s1", "three").is_sent_back());
}

#[test]
fn tools_count_for_a_session_that_was_seen_to_be_held() {
    let served = Served::new();
    served.start("Finish --max-idle 2 --session s1");
    for round in 0..4 {
        assert!(served.stop("s1", &format!("round {round}")).is_sent_back(), "round {round}");
        let tools = served.stage.call("PostToolBatch", "s1").with("tool_calls", json!([]));
        // No server is needed to count: a wrong address would be noticed.
        tools.var("STOPGATE_STORE", "postgres://nobody@127.0.0.1:1/none").send();
    }
    let tools = served.stage.path("home/server.signs/tools/s1");
    assert_eq!(std::fs::metadata(tools).expect("a counter").len(), 4);
    for round in 0..2 {
        assert!(served.stop("s1", &format!("idle {round}")).is_sent_back());
    }
}

#[test]
fn tenants_do_not_see_each_other() {
    let served = Served::new();
    served.start("Finish --session s1");
    let call = served.served(served.stage.stop_call("s1", "one"));
    assert!(!call.var("STOPGATE_TENANT", "other").send().is_sent_back());
    assert!(served.stop("s1", "one").is_sent_back());
}

#[test]
fn a_journal_goes_to_a_server_and_back_unchanged() {
    let served = Served::new();
    let stage = &served.stage;
    stage.start("Run --check tests=false --session s1");
    stage.stop("s1", "one");
    stage.start("Cancel --session s2");
    stage.run("cancel --session s2");
    let there = stage.run(&format!("store copy --to {} --json", served.url));
    assert_eq!(there.code, 0, "{there}");
    let back = format!("sqlite:{}", stage.path("back.db").display());
    let back = served.run(&format!("store copy --to {back} --json"));
    let hashes = |ran: &Ran| {
        let view: serde_json::Value = serde_json::from_str(&ran.out).expect("JSON");
        assert_eq!(view["same"], json!(true), "{ran}");
        (view["from_blake3"].clone(), view["to_blake3"].clone())
    };
    assert_eq!(hashes(&there), hashes(&back));
    assert_eq!(served.run("store export").out, stage.run("store export").out);
    let checked = served.run("store check");
    assert_eq!(checked.code, 0, "{checked}");
    assert!(served.stop("s1", "two").is_sent_back(), "it holds its session there");
}

#[test]
fn loops_on_a_server_are_archived_and_come_back() {
    let served = Served::new();
    served.start("Run --session s1");
    served.start("Cancel --session s2");
    served.run("cancel --session s2");
    served.stage.advance_minutes(60);
    let ran = served.run("store compact --older-than 30m --json");
    assert!(ran.out.contains("\"archived\":1,\"events\":2,\"removed\":1"), "{ran}");
    assert_eq!(served.run("status 2stage0000").code, 66);
    let archive = served.stage.path("home/archive/2026-11-15.jsonl");
    assert_eq!(served.run(&format!("store import {}", archive.display())).code, 0);
    assert_eq!(served.standing("2stage0000"), "cancelled 0/20");
    assert_eq!(served.run("store check").code, 0);
}

/// A store that can't be asked: exit 74 for a person, go ahead for an agent, in time.
#[track_caller]
fn check_unasked(served: &Served, url: &str, said: &str) {
    let variables = [("STOPGATE_STORE", url), ("STOPGATE_STORE_DEADLINE", "4s")];
    let ran = served.stage.run_with("list", &variables);
    assert_eq!(ran.code, 74, "{ran}");
    assert!(ran.err.contains(said) && !ran.err.contains("secret"), "{ran}");
    let before = served.stage.complaints().len();
    let call = served.stage.stop_call("s1", "one").var("STOPGATE_STORE", url);
    let call = call.var("STOPGATE_STORE_DEADLINE", "4s");
    let begun = doors::now();
    let ran = call.send_bytes(&call.bytes());
    assert!(begun.elapsed() < Duration::from_secs(12), "it took {:?}", begun.elapsed());
    assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{ran}");
    crate::bad_input::lets_go(&ran.out);
    let complaints = served.stage.complaints();
    assert_eq!(complaints.len(), before + 1, "{complaints:?}");
    assert!(!complaints[before].contains("secret"), "{complaints:?}");
}

#[test]
fn a_server_that_cannot_be_asked_lets_the_agent_go_in_time() {
    let served = Served::new();
    let silent = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = silent.local_addr().expect("its address").port();
    let cases = [
        (cluster().url_of("postgres", "secret", &served.database), "log in"),
        ("postgres://me:secret@no.such.host.invalid/x".into(), "could not"),
        ("postgres://me:secret@127.0.0.1:1/x".into(), "reach the journal"),
        (format!("postgres://me:secret@127.0.0.1:{port}/x"), "get an answer"),
        (cluster().socket_url("no_such_database"), "find the database"),
    ];
    for (url, said) in cases {
        check_unasked(&served, &url, said);
    }
}

#[test]
fn a_database_that_goes_in_mid_loop_ends_nothing() {
    let served = Served::new();
    served.start("Finish --session s1");
    assert!(served.stop("s1", "one").is_sent_back());
    let rename = |from: &str, to: &str| {
        let sql = format!("ALTER DATABASE {from} RENAME TO {to}");
        cluster().sql("postgres", &sql).expect("rename the database");
    };
    let away = format!("{}_away", served.database);
    rename(&served.database, &away);
    check_unasked(&served, &served.url, "find the database");
    rename(&away, &served.database);
    std::fs::remove_file(served.stage.path("home/stopgate.log")).expect("empty the log");
    assert_eq!(served.standing("1stage0000"), "active 1/20");
    assert!(served.stop("s1", "two").is_sent_back());
}

#[test]
fn a_newer_server_is_refused_with_a_clear_word() {
    let served = Served::new();
    served.start("Finish --session s1");
    let ran = served.run("store migrate");
    assert!(ran.out.ends_with("format 2, nothing to do\n"), "{ran}");
    let newer = "INSERT INTO stopgate.migration VALUES (99); UPDATE stopgate.loop SET format = 99; \
                 UPDATE stopgate.event SET format = 99";
    cluster().sql(&served.database, newer).expect("age the database");
    check_unasked(&served, &served.url, "install a newer stopgate");
    assert_eq!(served.run("store migrate").code, 74);
}

#[test]
fn a_person_may_want_the_first_stop_held_back_on_a_server_too() {
    let served = Served::new();
    let address = "[store]\naddress = \"postgres://me@127.0.0.1:1/x\"\ndeadline = \"1s\"\n";
    let config = format!("{address}on_store_error = \"block_once\"\n");
    served.stage.write("user/.config/stopgate/config.toml", config);
    let send = || {
        let call = served.stage.stop_call("s1", "one");
        call.send_bytes(&call.bytes()).out
    };
    assert!(Answer::read("Stop", &send()).is_sent_back());
    assert_eq!(send(), "");
}
