//! The journal as a whole: checked, moved, kept small.

use std::fs;
use std::path::Path;

use insta::assert_snapshot;
use rusqlite::Connection;
use serde_json::{Value, json};

use crate::stage::Stage;

/// A stage with a loop that runs, one that is cancelled and one that is done.
fn furnished() -> Stage {
    let stage = Stage::with_loop("Run --check tests=false");
    stage.stop("s1", "one");
    stage.start("Cancel --session s2");
    stage.run("cancel --session s2");
    stage.start("Finish --check tests=true --session s3");
    stage.stop("s3", "done");
    stage
}

/// The address of a file on the stage.
fn at(stage: &Stage, name: &str) -> String {
    format!("sqlite:{}", stage.path(name).display())
}

/// What a command says of another journal.
fn json_at(stage: &Stage, name: &str, line: &str) -> Value {
    let address = at(stage, name);
    let ran = stage.run_with(&format!("{line} --json"), &[("STOPGATE_STORE", &address)]);
    assert_eq!(ran.code, 0, "{line}: {ran}");
    serde_json::from_str(&ran.out).unwrap_or_else(|error| panic!("{line}: {error}: {ran}"))
}

fn export(stage: &Stage, name: &str) -> String {
    let ran = stage.run_with("store export", &[("STOPGATE_STORE", &at(stage, name))]);
    assert_eq!(ran.code, 0, "{ran}");
    ran.out
}

#[test]
fn a_sound_journal_is_checked_and_counted() {
    let stage = furnished();
    assert_snapshot!(stage.run("store check"), @"
    sqlite:$STAGE/home/journal.db: 3 loops, 1 running, 7 events
    OK: the journal is consistent.
    ");
    let view = stage.json("store check");
    assert_eq!((&view["ok"], &view["findings"]), (&json!(true), &json!([])));
    assert_eq!((&view["schema_version"], &view["events"]), (&json!(1), &json!(7)));
}

#[test]
fn what_is_wrong_with_a_journal_is_found_and_named() {
    let damages = [
        ("UPDATE loop SET revision = 9 WHERE id LIKE '1%'", "revision is 9, but it has 2 events"),
        ("UPDATE event SET revision = 7 WHERE cursor = 2", "event 2 is numbered 7"),
        (
            "UPDATE loop SET state = replace(state, '\"iteration\":1', '\"iteration\":2')",
            "its state is not what its events lead to",
        ),
        ("UPDATE loop SET session = 'x' WHERE id LIKE '1%'", "its columns say something else"),
        ("UPDATE loop SET running = 0 WHERE id LIKE '1%'", "its columns say something else"),
        ("UPDATE loop SET state = '{' WHERE id LIKE '1%'", "its record is damaged"),
        ("DELETE FROM event WHERE cursor = 1", "its events can't be followed"),
        ("DELETE FROM loop WHERE id LIKE '1%'", "2 events belong to no loop"),
    ];
    for (damage, expected) in damages {
        let stage = furnished();
        let raw = Connection::open(stage.path("home/journal.db")).expect("open the journal");
        raw.execute_batch(damage).expect("damage the journal");
        drop(raw);
        let ran = stage.run("store check");
        assert_eq!(ran.code, 1, "{damage}: {ran}");
        assert!(ran.out.contains(expected), "{damage}: {ran}");
        let view = stage.run("store check --json");
        let view: Value = serde_json::from_str(&view.out).expect("JSON");
        assert_eq!(view["ok"], json!(false), "{damage}");
    }
}

#[test]
fn a_journal_that_is_no_journal_is_exit_74() {
    let stage = furnished();
    stage.run("status");
    stage.write("home/journal.db", "this is not a journal ".repeat(500));
    for line in ["check", "migrate", "export", "compact", "copy --to sqlite:x.db"] {
        let ran = stage.run(&format!("store {line}"));
        assert_eq!(ran.code, 74, "{line}: {ran}");
    }
}

#[test]
fn migrate_sets_up_what_is_not_there() {
    let stage = Stage::new();
    assert_snapshot!(stage.run("store migrate"), @"sqlite:$STAGE/home/journal.db: set up, format 2");
    assert_snapshot!(
        stage.run("store migrate"),
        @"sqlite:$STAGE/home/journal.db: format 2, nothing to do"
    );
    let view = stage.json("store migrate");
    assert_eq!((&view["from"], &view["to"]), (&json!(2), &json!(2)));
}

#[test]
fn an_export_is_imported_byte_for_byte() {
    let stage = furnished();
    let view = stage.json(&format!("store export --out {}", stage.path("e.jsonl").display()));
    let bytes = fs::read(stage.path("e.jsonl")).expect("read the export");
    assert_eq!(view["bytes"], json!(bytes.len()));
    assert_eq!((&view["loops"], &view["events"]), (&json!(3), &json!(7)));
    assert!(!stage.path("e.jsonl.part").exists());
    let imported = json_at(&stage, "other.db", &format!("store import {}", file(&stage)));
    assert_eq!((&imported["loops"], &imported["events"]), (&json!(3), &json!(7)));
    assert_eq!(imported["blake3"], view["blake3"]);
    let again = export(&stage, "other.db");
    assert_eq!(again, stage.shown(&String::from_utf8_lossy(&bytes)));
    assert_eq!(json_at(&stage, "other.db", "store check")["ok"], json!(true));
    let names = |list: &Value| {
        let loops = list["loops"].as_array().expect("loops").iter();
        loops.map(|found| found["id"].as_str().expect("a name").to_string()).collect::<Vec<_>>()
    };
    assert_eq!(names(&json_at(&stage, "other.db", "list")), names(&stage.json("list")));
}

fn file(stage: &Stage) -> String {
    stage.path("e.jsonl").display().to_string()
}

#[test]
fn without_a_file_the_lines_go_out_and_their_hash_beside_them() {
    let stage = furnished();
    let ran = stage.run("store export");
    let mut lines = ran.out.lines();
    assert_snapshot!(lines.next().expect("a header"), @r#"{"journal":"stopgate","version":1}"#);
    let event = lines.next().expect("an event");
    assert!(event.starts_with(r#"{"loop":"1stage0000","revision":1,"at":"#), "{event}");
    assert!(ran.out.lines().last().expect("an end").starts_with(r#"{"end":{"events":7,"#));
    assert!(ran.err.starts_with("3 loops, 7 events, blake3 "), "{ran}");
    let json = stage.run("store export --json").err;
    assert!(serde_json::from_str::<Value>(&json).expect("JSON")["blake3"].is_string());
}

#[test]
fn an_import_reads_standard_input_too() {
    let stage = furnished();
    let ran = stage.run("store export");
    let other = Stage::new();
    let command = other.command("store import -");
    let ran = other.finish(command, ran.out.replace("$STAGE", "/s").as_bytes());
    // The shown text is not the exported one: its hash tells.
    assert_eq!(ran.code, 2, "{ran}");
    assert!(ran.err.contains("are not those that were exported"), "{ran}");
    stage.run(&format!("store export --out {}", file(&stage)));
    let bytes = fs::read(stage.path("e.jsonl")).expect("read the export");
    let ran = other.finish(other.command("store import -"), &bytes);
    assert_snapshot!(ran, @"sqlite:$STAGE/home/journal.db: 3 loops, 7 events imported");
}

#[test]
fn loops_that_are_there_refuse_an_import_before_anything_is_written() {
    let stage = furnished();
    stage.run(&format!("store export --out {}", file(&stage)));
    let other = Stage::with_loop("Mine");
    let before = other.run("store export").out;
    assert_snapshot!(other.run(&format!("store import {}", file(&stage))), @"
    [stderr]
    error: could not import: 1 of the loops are in the journal already: 1stage0000
     hint: nothing was written; leave those loops as they are: --skip-existing
    [exit 2]
    ");
    assert_eq!(other.run("store export").out, before);
    let ran = other.run(&format!("store import {} --skip-existing", file(&stage)));
    assert_snapshot!(
        ran,
        @"sqlite:$STAGE/home/journal.db: 2 loops, 5 events imported, 2 events left out"
    );
    assert_eq!(other.standing("1stage0000"), "active 0/20 s1");
    assert_eq!(other.standing("3stage0000"), "done 0/20 s3");
}

#[test]
fn an_imported_loop_holds_its_session() {
    let stage = furnished();
    stage.run(&format!("store export --out {}", file(&stage)));
    let other = Stage::new();
    assert_eq!(other.run(&format!("store import {}", file(&stage))).code, 0);
    other.make_directory("project");
    assert!(other.stop("s1", "two").is_sent_back(), "the hook knows of it");
    assert_eq!(other.standing("1stage0000"), "active 2/20 s1");
}

#[test]
fn an_import_of_something_else_is_refused() {
    let stage = Stage::new();
    stage.write("e.jsonl", "{\"name\": 1}\n");
    assert_snapshot!(stage.run(&format!("store import {}", file(&stage))), @"
    [stderr]
    error: could not read line 1: this is not an export of a stopgate journal
    [exit 2]
    ");
    stage.write("e.jsonl", "{\"journal\":\"stopgate\",\"version\":9}\n");
    assert_snapshot!(stage.run(&format!("store import {}", file(&stage))), @"
    [stderr]
    error: could not read line 1: its format is 9, this program knows 1; install a newer stopgate
    [exit 2]
    ");
    assert_snapshot!(stage.run("store import nowhere"), @"
    [stderr]
    error: could not read nowhere: No such file or directory (os error 2)
    [exit 2]
    ");
}

#[test]
fn a_copy_is_the_same_and_says_so() {
    let stage = furnished();
    let ran = stage.run(&format!("store copy --to {}", at(&stage, "copy.db")));
    let lines: Vec<&str> = ran.out.lines().collect();
    assert_eq!((lines[0], lines[3]), ("3 loops, 7 events copied", "The two are the same."));
    assert_eq!(lines[1].rsplit(' ').next(), lines[2].rsplit(' ').next(), "{ran}");
    assert_eq!(export(&stage, "copy.db"), stage.run("store export").out);
    let store = at(&stage, "copy.db");
    let call = stage.stop_call("s1", "two").var("STOPGATE_STORE", &store);
    assert!(call.send().is_sent_back(), "the copy's loops hold their sessions");
    let again = stage.run(&format!("store copy --to {store}"));
    assert_eq!(again.code, 2, "{again}");
    let view = stage.json(&format!("store copy --to {store} --skip-existing"));
    assert_eq!(
        (&view["loops"], &view["skipped"], &view["same"]),
        (&json!(0), &json!(7), &json!(false))
    );
    let itself = stage.run(&format!("store copy --to {}", at(&stage, "home/journal.db")));
    assert_eq!(itself.code, 2, "{itself}");
}

#[test]
fn loops_that_ended_long_ago_go_to_an_archive_and_can_come_back() {
    let stage = furnished();
    let before = stage.run("store export").out;
    assert_snapshot!(
        stage.run("store compact"),
        @"No loop ended before 2026-10-16T06:00:00Z: nothing to do."
    );
    stage.advance_minutes(31 * 24 * 60);
    stage.start("New --session s4");
    stage.run("cancel --session s4");
    assert_snapshot!(
        stage.run("store compact --older-than 30d"),
        @"2 loops, 5 events moved to $STAGE/home/archive/2026-12-16.jsonl"
    );
    let left: Vec<String> = left(&stage);
    assert_eq!(left, ["4stage0000", "1stage0000"], "what runs or ended lately stays");
    assert_eq!(stage.json("store check")["ok"], json!(true));
    assert_eq!(stage.run("status 2stage0000").code, 66);
    let archive = stage.path("home/archive/2026-12-16.jsonl");
    assert_eq!(stage.run(&format!("store import {}", archive.display())).code, 0);
    assert_eq!(stage.standing("3stage0000"), "done 0/20 s3");
    let after = stage.run("store export").out;
    let events = |text: &str| text.lines().filter(|l| l.contains("3stage0000")).count();
    assert_eq!(events(&after), events(&before));
}

fn left(stage: &Stage) -> Vec<String> {
    let list = stage.json("list");
    let loops = list["loops"].as_array().expect("loops").iter();
    loops.map(|found| found["id"].as_str().expect("a name").to_string()).collect()
}

#[test]
fn an_archive_is_added_to_and_nothing_else_is() {
    let stage = furnished();
    stage.advance_minutes(60);
    let archive = stage.path("old.jsonl");
    let compact = format!("store compact --older-than 30m --archive {}", archive.display());
    let view = stage.json(&compact);
    assert_eq!((&view["archived"], &view["removed"]), (&json!(2), &json!(2)));
    let first = fs::read(&archive).expect("read the archive");
    stage.run("cancel --session s1");
    stage.advance_minutes(60);
    assert_eq!(stage.json(&compact)["removed"], json!(1));
    let both = fs::read(&archive).expect("read the archive");
    assert!(both.starts_with(&first) && both.len() > first.len(), "it is added to");
    assert_eq!(left(&stage), Vec::<String>::new());
    assert_eq!(stage.run(&format!("store import {}", archive.display())).code, 0);
    assert_eq!(left(&stage).len(), 3);
    let diary = "Dear diary\n";
    stage.write("diary", diary);
    let line =
        format!("store compact --older-than 30m --archive {}", stage.path("diary").display());
    let ran = stage.run(&line);
    assert_eq!(ran.code, 2, "{ran}");
    assert_eq!(fs::read_to_string(stage.path("diary")).expect("read it"), diary);
    assert_eq!(left(&stage).len(), 3, "nothing leaves before the archive is written");
}

#[test]
fn compact_never_touches_what_runs_however_old() {
    let stage = Stage::with_loop("Run");
    stage.start("Wait");
    stage.start("Pause --session s3");
    stage.run("pause --session s3");
    let before = stage.run("store export").out;
    stage.advance_minutes(400 * 24 * 60);
    assert_eq!(stage.json("store compact --older-than 1d")["removed"], json!(0));
    assert_eq!(stage.run("store export").out, before);
    assert!(!stage.path("home/archive").exists());
}

#[test]
fn a_file_that_cannot_be_written_is_named_and_leaves_nothing() {
    let stage = furnished();
    let ran = stage.run(&format!("store export --out {}", stage.path("no/such/e").display()));
    assert_eq!(ran.code, 70, "{ran}");
    stage.advance_minutes(60);
    let line = "store compact --older-than 30m --archive /dev/null";
    assert_eq!(stage.run(line).code, 2);
    assert_eq!(left(&stage).len(), 3);
    assert_eq!(stage.run("store export --out /dev/null").code, 0);
    assert!(!Path::new("/dev/null").is_file(), "a device stays one");
}
