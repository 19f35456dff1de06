//! Programs of different versions on one journal: the next one goes on, an earlier one lets go
//! and says so.

use rusqlite::Connection;

use crate::stage::Stage;

fn journal(stage: &Stage) -> Connection {
    Connection::open(stage.path("home/journal.db")).expect("open the journal")
}

fn set_format(stage: &Stage, format: u32) {
    let journal = journal(stage);
    journal.pragma_update(None, "user_version", format).expect("set the format");
    journal.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).expect("write it out");
}

/// Takes out of a journal what the first version of its tables did not have.
fn make_first_format(stage: &Stage) {
    let old = "ALTER TABLE loop DROP COLUMN seal; ALTER TABLE event DROP COLUMN seal;";
    journal(stage).execute_batch(old).expect("take the seals out");
    set_format(stage, 1);
}

#[test]
fn a_running_loop_of_the_previous_version_goes_on() {
    let stage = Stage::with_loop("Finish");
    assert!(stage.stop("s1", "one").is_sent_back());
    make_first_format(&stage);
    let next = stage.stop("s1", "two");
    assert!(next.is_sent_back() && next.text.contains("Loop 2/20"), "{next}");
    assert_eq!(stage.standing("1stage0000"), "active 2/20 s1");
    let ran = stage.run("cancel");
    assert_eq!(ran.code, 0, "{ran}");
    assert!(!stage.stop("s1", "three").is_sent_back(), "cancelled stays cancelled");
}

#[test]
fn settings_of_the_previous_version_still_hold_and_are_brought_up_to_date() {
    let stage = Stage::with_loop("Finish");
    let ran = stage.run("install claude");
    assert_eq!(ran.code, 0, "{ran}");
    let path = stage.path("user/.claude/settings.json");
    let now = std::fs::read_to_string(&path).expect("settings");
    // Events that an earlier version did not answer, and a shorter time-out.
    let older = now.replace("StopFailure", "Notification").replace("600", "60");
    assert_ne!(older, now);
    std::fs::write(&path, &older).expect("write");
    assert!(stage.stop("s1", "one").is_sent_back());
    let ran = stage.run("install claude");
    assert_eq!(ran.code, 0, "{ran}");
    let after = std::fs::read_to_string(&path).expect("settings");
    assert!(after.contains("StopFailure") && after.contains("600"), "{after}");
}

#[test]
fn an_earlier_program_lets_go_and_names_the_newer_format() {
    let stage = Stage::with_loop("Finish");
    assert!(stage.stop("s1", "one").is_sent_back());
    set_format(&stage, 3);
    let before = std::fs::read(stage.path("home/journal.db")).expect("read");
    let call = stage.stop_call("s1", "two");
    let ran = call.send_bytes(&call.bytes());
    assert_eq!(ran.code, 0, "{ran}");
    assert!(ran.out.contains("systemMessage"), "never silently: {ran}");
    assert!(ran.out.contains("its format is 3, this program knows 2"), "{ran}");
    assert!(ran.out.contains("install a newer stopgate"), "{ran}");
    assert!(std::fs::read(stage.path("home/journal.db")).expect("read") == before, "kept");
    set_format(&stage, 2);
    let next = call.send_bytes(&call.bytes());
    assert!(next.out.contains("Loop 2/20"), "the loop goes on where it was: {next}");
}
