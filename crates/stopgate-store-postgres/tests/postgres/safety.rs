//! `sslmode`, as libpq means it.

use std::path::{Path, PathBuf};

use stopgate_lab::Cluster;
use stopgate_store::Journal;
use stopgate_store::contract::named;

use crate::scene::{cluster, database, fresh, journal, story};

#[test]
fn a_connection_is_as_safe_as_it_was_asked_for() {
    let (ca, other) = (&cluster().authority(), &cluster().other_authority());
    let own = &ca.with_file_name("server.pem");
    for (host, mode, root, expected) in [
        ("127.0.0.1", "disable", None, "in the clear"),
        ("127.0.0.1", "allow", None, "in the clear"),
        ("127.0.0.1", "prefer", None, "encrypted"),
        ("127.0.0.1", "require", None, "encrypted"),
        ("127.0.0.1", "require", Some(other), "refused: UnknownIssuer"),
        ("127.0.0.1", "verify-ca", Some(ca), "encrypted"),
        ("127.0.0.1", "verify-ca", Some(own), "encrypted"),
        ("127.0.0.1", "verify-ca", Some(other), "refused: UnknownIssuer"),
        ("127.0.0.1", "verify-ca", None, "refused: UnknownIssuer"),
        ("127.0.0.1", "verify-full", Some(ca), "refused: not valid for name"),
        ("127.0.0.1", "verify-full", Some(own), "refused: not valid for name"),
        ("localhost", "verify-full", Some(ca), "encrypted"),
        ("localhost", "verify-full", Some(own), "encrypted"),
        ("localhost", "verify-full", Some(other), "refused: UnknownIssuer"),
        ("localhost", "verify-full", None, "refused: UnknownIssuer"),
    ] {
        check(host, mode, root.map(PathBuf::as_path), expected);
    }
}

#[test]
fn a_root_certificate_that_can_not_be_read_is_named() {
    check(
        "localhost",
        "verify-full",
        Some(Path::new("/nonexistent.pem")),
        "refused: /nonexistent.pem",
    );
}

#[test]
fn the_servers_own_rules_are_met_where_the_mode_allows() {
    for name in ["safe_only", "plain_only"] {
        let sql = format!("CREATE ROLE {name} LOGIN SUPERUSER PASSWORD 'x'");
        cluster().sql("postgres", &sql).unwrap();
    }
    let database = database();
    for (user, mode, expected) in [
        ("safe_only", "allow", true),
        ("safe_only", "prefer", true),
        ("safe_only", "disable", false),
        ("plain_only", "allow", true),
        ("plain_only", "require", false),
    ] {
        let url = format!("{}?sslmode={mode}", cluster().url_of(user, "x", &database));
        let loaded = journal(&url).load(&named("a"));
        assert_eq!(loaded.is_ok(), expected, "{user} {mode}: {loaded:?}");
    }
}

#[track_caller]
fn check(host: &str, mode: &str, root: Option<&Path>, expected: &str) {
    let scene = format!("{host} {mode} {root:?}");
    let seen = connect(cluster(), host, mode, root);
    let (kind, detail) = expected.split_once(": ").unwrap_or((expected, ""));
    assert!(seen.starts_with(kind) && seen.contains(detail), "{scene}: {seen}");
}

fn connect(cluster: &Cluster, host: &str, mode: &str, root: Option<&Path>) -> String {
    let name = fresh("safety");
    let root = root.map_or(String::new(), |path| format!("sslrootcert='{}'", path.display()));
    let mut journal = journal(&format!(
        "host={host} port={} user=postgres password='{}' dbname=postgres sslmode={mode} \
         application_name={name} {root}",
        cluster.port(),
        cluster.password(),
    ));
    if let Err(error) = journal.load(&named("a")) {
        return format!("refused: {}", story(&error));
    }
    let sql = format!(
        "SELECT CASE WHEN ssl THEN 'encrypted' ELSE 'in the clear' END \
         FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE application_name = '{name}'"
    );
    cluster.sql("postgres", &sql).unwrap()
}
