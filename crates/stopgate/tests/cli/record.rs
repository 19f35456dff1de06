//! A record that was edited outside of stopgate proves nothing, and is said to be so.

use std::fs;

use rusqlite::Connection;
use serde_json::json;

use crate::stage::Stage;

/// Edits the journal as one who has a SQL shell and no key.
fn edit(stage: &Stage, sql: &str) {
    let raw = Connection::open(stage.path("home/journal.db")).expect("open the journal");
    raw.execute_batch(sql).expect("edit the journal");
}

/// A loop whose check failed once, for session s1; its file stays as it is.
fn failed_once() -> (Stage, String) {
    let stage = Stage::new();
    let id = stage.start("Work --check tests=false --session s1");
    assert!(stage.stop("s1", "one").is_sent_back());
    (stage, id)
}

const PASS: &str =
    "UPDATE loop SET state = replace(state, '\"status\":\"fail\"', '\"status\":\"pass\"')";

fn outcome(stage: &Stage, id: &str) -> String {
    let view = stage.json(&format!("status {id}"));
    view["loop"]["outcome"].as_str().unwrap_or("none").into()
}

#[test]
fn a_failure_that_was_edited_to_a_pass_is_found_at_the_next_stop() {
    let (stage, id) = failed_once();
    edit(&stage, PASS);
    let answer = stage.stop("s1", "two");
    assert!(!answer.is_sent_back(), "{answer}");
    assert_eq!(outcome(&stage, &id), "tampered");
    assert_eq!(stage.run(&format!("receipt export {id}")).code, 2);
    assert_eq!(stage.run("status --exit-code").code, 5);
}

#[test]
fn an_edited_record_is_shown_as_tampered_before_any_stop() {
    let edits = [
        PASS,
        "UPDATE event SET body = replace(body, 'Work', 'Rest') WHERE revision = 1",
        "DELETE FROM event WHERE revision = 2",
        "UPDATE event SET at = at + 1",
    ];
    for sql in edits {
        let (stage, id) = failed_once();
        edit(&stage, sql);
        assert_eq!(outcome(&stage, &id), "tampered", "{sql}");
        let verified = stage.run(&format!("verify {id}"));
        assert_eq!(verified.code, 5, "{sql}: {verified}");
        assert_eq!(stage.run("store check").code, 1, "{sql}");
    }
}

#[test]
fn a_removed_event_is_found_when_the_loop_would_end() {
    let stage = Stage::new();
    stage.write("project/flag", "no");
    let id = stage.start("Work --check 'tests=grep -q yes flag' --session s1");
    stage.stop("s1", "one");
    edit(&stage, "DELETE FROM event WHERE revision = 2");
    stage.write("project/flag", "yes");
    let answer = stage.stop("s1", "two");
    assert!(!answer.is_sent_back(), "{answer}");
    assert_eq!(outcome(&stage, &id), "tampered");
}

#[test]
fn what_was_found_forged_stays_so_whatever_happens_to_it() {
    let (stage, id) = failed_once();
    edit(&stage, PASS);
    for command in ["done", "pause", "resume"] {
        assert_eq!(stage.run(&format!("{command} {id}")).code, 0, "{command}");
        assert_eq!(outcome(&stage, &id), "tampered", "{command}");
    }
    stage.stop("s1", "two");
    assert_eq!(stage.run(&format!("resume {id}")).code, 0);
    stage.stop("s1", "three");
    assert_eq!(outcome(&stage, &id), "tampered");
}

#[test]
fn a_record_without_its_seals_or_by_an_unknown_writer_is_never_done_and_nobody_is_accused() {
    let others = "UPDATE loop SET seal = CAST(x'09090909090909090909090909090909' || \
                  substr(seal, 17) AS BLOB); \
                  UPDATE event SET seal = CAST(x'0909090909090909' || substr(seal, 9) AS BLOB)";
    let edits = [
        ("UPDATE loop SET seal = NULL; UPDATE event SET seal = NULL", "unchained"),
        (others, "unknown writer"),
    ];
    for (sql, word) in edits {
        let stage = Stage::new();
        stage.write("project/flag", "no");
        let id = stage.start("Work --check 'tests=grep -q yes flag' --session s1");
        stage.stop("s1", "one");
        edit(&stage, sql);
        let view = stage.json(&format!("status {id}"));
        assert_eq!(
            (&view["loop"]["record"], &view["loop"]["outcome"]),
            (&json!(word), &json!(null))
        );
        assert_eq!(stage.run("store check").code, 0);
        stage.write("project/flag", "yes");
        let answer = stage.stop("s1", "two");
        assert!(!answer.is_sent_back(), "{answer}");
        assert_eq!(outcome(&stage, &id), "attested", "{word}");
    }
}

#[test]
fn a_lost_key_costs_the_proof_and_accuses_nobody() {
    let (stage, id) = failed_once();
    fs::remove_file(stage.path("home/keys/journal.key")).expect("remove the key");
    let view = stage.json(&format!("status {id}"));
    assert_eq!(view["loop"]["record"], json!("unknown writer"));
    assert_eq!(outcome(&stage, &id), "none");
}

#[test]
fn a_loop_whose_basis_is_gone_is_not_done_and_one_whose_basis_was_edited_is_forged() {
    for gone in [true, false] {
        let stage = Stage::with_loop("Work --check tests=true");
        for entry in fs::read_dir(stage.path("home/seals")).expect("seals").flatten() {
            if gone {
                fs::remove_file(entry.path()).expect("remove the note");
            } else {
                let text = fs::read_to_string(entry.path()).expect("read the note");
                fs::write(entry.path(), text + " ").expect("edit the note");
            }
        }
        let answer = stage.stop("s1", "one");
        assert!(answer.is_sent_back(), "{answer}");
        let word = if gone { "is gone" } else { "was edited" };
        assert!(answer.to_string().contains(word), "{answer}");
        stage.stop("s1", "two");
        let outcome = outcome(&stage, "1stage0000");
        assert_ne!(outcome, "done");
        assert_eq!(outcome == "tampered", !gone, "{outcome}");
    }
}
