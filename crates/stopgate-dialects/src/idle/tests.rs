use stopgate_core::{Frame, Mode, Outcome, Timestamp};

use super::file::{self, After};
use super::{
    IdleLoop, IdleStanding, LastTouched, TextChange, Worktree, anchor, listing, message, reason,
};

const NOW: Timestamp = Timestamp::from_unix_millis(1_800_000_000_000);
const NOW_TEXT: &str = "2027-01-15T08:00:00Z";

const MESSAGE: &str = r#"{"schema": 1, "event":"STATE","x":[1, 2],"run_id":"r1","stack":[{"id":"g1","mode":"grind","iter":2,"max":100,"filter":"priority:1"},{"id":"i1","mode":"issue","iter":1,"max":10,"issue_id":"a","z":null}],"updated_at":"2027-01-15T07:59:00Z"}"#;
const FILE: &str = "---\nactive: true # on\nmode: issue\niteration: 5\nmax_iterations: 10\nmine: x\n---\nDo the thing\n\nwith care\n";

/// A loop in a few words.
fn shown(found: Option<IdleLoop>) -> String {
    let Some(found) = found else { return "nothing".into() };
    let frames = found.frames.iter().map(|f| format!(" {} {}/{}", f.mode, f.iteration, f.max));
    let standing = match &found.standing {
        IdleStanding::Active => "active".into(),
        IdleStanding::Over(outcome, why) => format!("{outcome} ({why})"),
        IdleStanding::Off => "off".into(),
    };
    let touched = match found.touched {
        LastTouched::Unsaid => "",
        LastTouched::At(_) => " touched",
        LastTouched::Unreadable => " garbled",
    };
    format!("{standing}{}{touched}", frames.collect::<String>())
}

#[track_caller]
fn says(text: &str, expected: &str) {
    assert_eq!(shown(message::read(text)), expected, "{text}");
}

#[test]
fn a_message_is_read_with_defaults_and_without_a_schema_not_at_all() {
    says(MESSAGE, "active grind 2/100 issue 1/10 touched");
    says(r#"{"schema":0,"stack":[{"iter":null}]}"#, "active loop 0/10");
    says(r#"{"schema":2,"event":null,"stack":[{"mode":"odd","iter":"3"}]}"#, "active loop 3/10");
    says(r#"{"schema":1,"stack":[{}],"updated_at":"garbage"}"#, "active loop 0/10 garbled");
    says(r#"{"schema":1,"stack":[{}],"updated_at":17}"#, "active loop 0/10 garbled");
    says(r#"{"schema":1,"stack":[{}],"updated_at":null}"#, "active loop 0/10");
    says(r#"{"schema":null,"stack":[{}]}"#, "nothing");
    says(r#"{"stack":[{}]}"#, "nothing");
    says("[1]", "nothing");
    says("not json", "nothing");
}

#[test]
fn what_is_over_is_over_and_counts_that_make_no_sense_leave_no_frames() {
    says(r#"{"schema":1}"#, "attested (no frame is left)");
    says(r#"{"schema":1,"stack":"odd"}"#, "attested (no frame is left)");
    says(r#"{"schema":1,"event":"ABORT","stack":[{}]}"#, "aborted (ABORT) loop 0/10");
    says(r#"{"schema":1,"event":"ABORT","reason":"USER_CANCELLED"}"#, "cancelled (USER_CANCELLED)");
    says(r#"{"schema":1,"event":"DONE","reason":"STALE","stack":[{}]}"#, "stale (STALE) loop 0/10");
    says(r#"{"schema":1,"event":"DONE","reason":"STUCK"}"#, "blocked (STUCK)");
    says(r#"{"schema":1,"event":"PAUSE","stack":[{}]}"#, "aborted (PAUSE) loop 0/10");
    for iter in ["\"abc\"", "-1", "1.5", "[]", "true", "99999999999", "\"\""] {
        says(&format!(r#"{{"schema":1,"stack":[{{"iter":{iter}}}]}}"#), "active");
    }
    says(r#"{"schema":1,"stack":[7]}"#, "active");
}

#[track_caller]
fn becomes(change: &TextChange, expected: &str) {
    let text = message::changed(MESSAGE, change, NOW).expect("it can be changed");
    assert_eq!(text, expected.replace("NOW", NOW_TEXT), "{change:?}");
}

#[test]
fn a_change_touches_what_it_means_and_keeps_the_rest() {
    let now = MESSAGE.replace("2027-01-15T07:59:00Z", "NOW");
    let (head, _) = now.split_once(r#","stack""#).expect("it has a stack");
    let tail = r#","updated_at":"NOW"}"#;
    let grind = r#"{"id":"g1","mode":"grind","iter":2,"max":100,"filter":"priority:1"}"#;
    becomes(&TextChange::Count(2), &now.replace(r#""iter":1"#, r#""iter":2"#));
    becomes(&TextChange::Pop, &format!(r#"{head},"stack":[{grind}]{tail}"#));
    let ended = |event: &str, reason: &str| {
        let head = head.replace("STATE", event);
        format!(r#"{head},"stack":[],"updated_at":"NOW","reason":"{reason}"}}"#)
    };
    for (change, event, word) in [
        (TextChange::Done("COMPLETE"), "DONE", "COMPLETE"),
        (TextChange::Abort("CORRUPT"), "ABORT", "CORRUPT"),
    ] {
        let text = message::changed(MESSAGE, &change, NOW).expect("it can be changed");
        let value = |text: &str| serde_json::from_str::<serde_json::Value>(text).expect("JSON");
        assert_eq!(value(&text), value(&ended(event, word).replace("NOW", NOW_TEXT)));
        assert!(text.contains(r#""schema": 1"#) && text.contains(r#""x":[1, 2]"#), "{text}");
    }
}

#[test]
fn a_stale_message_keeps_its_frames_and_is_revived_with_them() {
    let stale = message::changed(MESSAGE, &TextChange::Stale, NOW).expect("it can be changed");
    says(&stale, "stale (STALE) grind 2/100 issue 1/10 touched");
    let revived = message::changed(&stale, &TextChange::Revive, NOW).expect("it can be changed");
    says(&revived, "active grind 2/100 issue 1/10 touched");
    assert_eq!(revived, MESSAGE.replace("2027-01-15T07:59:00Z", NOW_TEXT));
}

#[test]
fn what_is_begun_and_pushed_is_read_back() {
    let frame = |mode, prompt: &str| Frame { mode, iteration: 0, max: 7, prompt: prompt.into() };
    let text = message::begun("r1", &frame(Mode::Grind, "all \"of\"\nthem"), NOW);
    let text = message::pushed(&text, "f2", &frame(Mode::Issue, "one"), NOW).expect("pushed");
    says(&text, "active grind 0/7 issue 0/7 touched");
    let found = message::read(&text).expect("a loop");
    assert_eq!((found.run.as_str(), found.goal.as_str()), ("r1", "all \"of\"\nthem"));
    let text = file::begun("r1", &frame(Mode::Issue, "one\ntwo"), NOW);
    let found = file::read(&text).expect("a loop");
    assert_eq!((found.run.as_str(), found.goal.as_str()), ("r1", "one"));
    assert_eq!(shown(Some(found)), "active issue 0/7 touched");
}

#[track_caller]
fn reads(fields: &str, expected: &str) {
    assert_eq!(shown(file::read(&format!("---\n{fields}\n---\nDo it\n"))), expected, "{fields}");
}

#[test]
fn the_file_is_read_with_defaults() {
    assert_eq!(shown(file::read(FILE)), "active issue 5/10");
    reads("iteration: 1", "active loop 1/10");
    reads("active: true", "active loop 0/10");
    reads("active: false\niteration: 1", "off loop 1/10");
    reads("active: true\niteration: abc", "active");
    reads("active: true\nmax_iterations: -3", "active");
    reads("active: true\nevent: DONE\nreason: STALE", "stale (STALE) loop 0/10");
    reads("active: true\nupdated_at: 2027-01-15T07:59:00+02:00", "active loop 0/10 touched");
    reads("active: perhaps", "nothing");
    reads("title: a note", "nothing");
    assert_eq!(shown(file::read("no fields")), "nothing");
}

#[test]
fn the_file_counts_in_place_and_goes_when_it_is_over() {
    let changed = |change| file::changed(FILE, &change, NOW).expect("it can be changed");
    assert_eq!(
        changed(TextChange::Count(6)),
        After::Text(FILE.replace("iteration: 5", "iteration: 6"))
    );
    for change in [TextChange::Done("COMPLETE"), TextChange::Abort("CORRUPT"), TextChange::Sweep] {
        assert_eq!(changed(change), After::Gone);
    }
    let After::Text(stale) = changed(TextChange::Stale) else { panic!("it stays") };
    assert_eq!(shown(file::read(&stale)), "stale (STALE) issue 5/10");
    let Some(After::Text(revived)) = file::changed(&stale, &TextChange::Revive, NOW) else {
        panic!("it stays")
    };
    assert_eq!(shown(file::read(&revived)), "active issue 5/10");
}

#[track_caller]
fn newest(listing: &str, expected: Option<u32>) {
    let found = listing::newest(listing).and_then(|text| message::read(&text));
    let iteration = found.and_then(|found| Some(found.frames.last()?.iteration));
    assert_eq!(iteration, expected, "{listing}");
}

fn body(iter: u32, at: &str) -> String {
    format!(r#"{{"schema":1,"run_id":"r","stack":[{{"iter":{iter}}}],"updated_at":"{at}"}}"#)
}

#[test]
fn the_newest_message_is_found_whichever_way_they_are_listed() {
    let (a, b, c) = (
        body(1, "2027-01-01T00:00:00Z"),
        body(2, "2027-01-01T00:00:01Z"),
        body(3, "2027-01-01T00:00:02Z"),
    );
    newest(&format!("{a}\n{b}\n{c}\n"), Some(3));
    newest(&format!("{c}\n{b}\n{a}\n"), Some(3));
    newest(&format!("[{a},{b},{c}]"), Some(3));
    newest(&format!("[{c},{b},{a}]"), Some(3));
    newest(&a, Some(1));
    let same = body(2, "2027-01-01T00:00:00Z");
    newest(&format!("{a}\n{same}"), Some(2));
    newest(&format!("{same}\n{a}"), Some(2));
    let pretty = "01X by Swift Silver Stork, just now\n  {\n  \"schema\": 1,\n  \"stack\": [{\"iter\": 4}]}\n";
    newest(pretty, Some(4));
    newest(&format!("▸ 01B by Bold Bear just now\n  {b}\n\n▸ 01A minutes ago\n  {a}\n"), Some(2));
}

#[test]
fn envelopes_are_opened_and_tell_the_order() {
    let envelope = |id: &str, at: i64, body: &str| {
        serde_json::json!({"id": id, "body": body, "created_at": at}).to_string()
    };
    let (a, b) = (envelope("01A", 1, &body(1, "x")), envelope("01B", 2, &body(2, "x")));
    newest(&format!("[{a},{b}]"), Some(2));
    newest(&format!("[{b},{a}]"), Some(2));
    newest(&format!("{{\"messages\":[{b},{a}]}}"), Some(2));
    newest(&format!("{b}\n{a}\n"), Some(2));
    let garbage = envelope("01C", 3, "not json");
    newest(&format!("[{garbage},{b},{a}]"), None);
}

#[test]
fn garbage_on_top_hides_what_lies_below() {
    newest("not json", None);
    newest("", None);
    newest("[]", None);
    newest(&format!("{}\nnot json\n", body(1, "2027-01-01T00:00:00Z")), None);
}

#[test]
fn the_agent_is_sent_back_in_the_documented_words() {
    let plain = "[ITERATION 6/10] Continue working on the task. Check your progress and either \
                 complete the task or keep iterating.";
    assert_eq!(reason(6, 10, None), plain);
    let text = MESSAGE.replace("\"z\":null", "\"worktree_path\":\"/w/a\",\"branch\":\"b\"");
    let worktree = message::read(&text).and_then(|found| found.worktree);
    assert_eq!(
        worktree,
        Some(Worktree { path: "/w/a".into(), branch: Some("b".into()), issue: Some("a".into()) })
    );
    assert_eq!(
        reason(6, 10, worktree.as_ref()),
        format!("{plain}\nWorktree: /w/a, branch b, issue a. Work below that directory.")
    );
}

#[test]
fn the_anchor_tells_what_the_agent_was_at() {
    let found = message::read(MESSAGE).expect("a loop");
    assert_eq!(anchor(&found), "Loop: idle loop r1\n- grind 2/100: \n- issue 1/10: a");
    assert_eq!(found.standing, IdleStanding::Active);
    assert_ne!(found.standing, IdleStanding::Over(Outcome::Stale, String::new()));
}
