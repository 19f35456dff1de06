use super::{RalphLoop, counted, note};

const FILE: &str = "---\nactive: true\niteration: 3\nsession_id: s1\nmax_iterations: 0\n\
completion_promise: \"ALL DONE\"\nstarted_at: \"2027-01-01T00:00:00Z\"\nextra: kept # so\n---\n\nFix it.\n---\nReally.\n";

#[test]
fn the_plugins_file_is_read() {
    let found = RalphLoop::read(FILE).expect("a loop");
    let frame = found.frame.clone().expect("counts that make sense");
    assert_eq!((frame.iteration, frame.max), (3, u32::MAX));
    assert_eq!(frame.prompt, "Fix it.\n---\nReally.");
    assert_eq!(found.promise.as_deref(), Some("ALL DONE"));
    assert!(found.active && found.holds("s1") && !found.holds("s2"));
}

#[test]
fn a_file_that_names_nobody_holds_nobody() {
    for session in ["session_id:\n", "session_id: \"\"\n", "session_id: null\n", ""] {
        let found = RalphLoop::read(&FILE.replace("session_id: s1\n", session)).expect("a loop");
        assert!(!found.holds("s1") && !found.holds(""), "{session:?}");
    }
}

#[test]
fn a_field_that_makes_no_sense_is_named() {
    for (field, value) in [("iteration", "abc"), ("iteration", "-1"), ("max_iterations", "1e3")] {
        let old = if field == "iteration" { "iteration: 3" } else { "max_iterations: 0" };
        let found =
            RalphLoop::read(&FILE.replace(old, &format!("{field}: {value}"))).expect("a loop");
        let trouble = found.frame.expect_err("it makes no sense");
        assert_eq!((trouble.field, trouble.value.as_str()), (field, value));
    }
    let empty = RalphLoop::read("---\niteration: 1\n---\n\n").expect("a loop");
    assert!(empty.frame.is_err(), "there is nothing to send back");
    assert!(RalphLoop::read("no fields").is_none());
}

#[test]
fn counting_touches_the_count_alone() {
    assert_eq!(counted(FILE, 4).as_deref(), Some(&*FILE.replace("iteration: 3", "iteration: 4")));
}

#[test]
fn the_note_says_how_to_finish() {
    let mut frame = RalphLoop::read(FILE).expect("a loop").frame.expect("sense");
    let said = note(&frame, Some("ALL DONE"));
    assert!(
        said.contains("iteration 3.") && said.contains("<promise>ALL DONE</promise>"),
        "{said}"
    );
    frame.max = 9;
    let said = note(&frame, None);
    assert!(said.contains("iteration 3 of 9") && said.contains("No promise"), "{said}");
}
