//! Over generated files: counting and commands leave everything else as it was.

use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::json_text::Document;

/// One member of a state file: known, foreign, or of the wrong kind.
fn member() -> impl Strategy<Value = String> {
    let flag = prop_oneof![Just("true"), Just("false"), Just("\"false\""), Just("null")];
    let status = prop_oneof![Just("in_progress"), Just("paused"), Just("odd"), Just("completed")];
    prop_oneof![
        flag.clone().prop_map(|flag| format!("\"criteriaStatus\": {{\"a\": {flag}, \"x\": true}}")),
        flag.prop_map(|flag| format!("\"exit_signal\": {flag}")),
        status.prop_map(|status| format!("\"status\": \"{status}\"")),
        (0_u32..9).prop_map(|count| format!("\"iteration\": {count}")),
        (0_u32..9).prop_map(|count| {
            format!("\"circuitBreaker\" : {{\"note\": [1], \"stuckCount\":{count} /* n */}}")
        }),
        Just("\"circuitBreaker\": null".to_string()),
        Just("\"criteria\": [\"a\", \"b\"]".to_string()),
        Just("\"remainingSteps\": [\n \"s\" // later\n]".to_string()),
        "[a-z]{1,4}".prop_map(|name| format!("\"my-{name}\": {{ \"{name}\": [ 1,2 ] }}")),
    ]
}

fn file() -> impl Strategy<Value = String> {
    let gap = prop_oneof![Just(" "), Just("\n  "), Just("\r\n\t"), Just(" // why\n  ")];
    vec((gap, member()), 0..9).prop_map(|members| {
        let members: Vec<String> =
            members.into_iter().map(|(gap, member)| format!("{gap}{member}")).collect();
        format!("{{{}\n}}\n", members.join(","))
    })
}

/// The value without what the hook and the commands write.
fn foreign(text: &str, written: &[&str]) -> serde_json::Value {
    let mut value = Document::read(text).expect("JSON").root().value();
    let object = value.as_object_mut().expect("an object");
    for key in written {
        object.remove(*key);
    }
    if let Some(breaker) = object.get_mut("circuitBreaker").and_then(|b| b.as_object_mut()) {
        breaker.remove("stuckCount");
        breaker.remove("lastUnmet");
    }
    if object.get("circuitBreaker").is_some_and(|b| !b.is_object() || *b == json!({})) {
        object.remove("circuitBreaker");
    }
    value
}

fn lines_with<'t>(text: &'t str, part: &str) -> Vec<&'t str> {
    text.lines().filter(|line| line.contains(part)).map(str::trim).collect()
}

proptest! {
    #[test]
    fn counting_keeps_everything_else(text in file(), iteration in 0_u32..99, stuck in 0_u32..9) {
        let breaker = Breaker { stuck, last_unmet: "a \"b\"".into() };
        let after = counted(&text, iteration, &breaker).expect("an edit");
        let read = CriteriaRecord::read(&after).expect("a record");
        prop_assert_eq!(read.iteration, iteration);
        prop_assert_eq!(read.breaker, breaker.clone());
        prop_assert_eq!(foreign(&after, &["iteration"]), foreign(&text, &["iteration"]));
        prop_assert_eq!(after.matches("// why").count(), text.matches("// why").count());
        prop_assert_eq!(lines_with(&after, "my-").len(), lines_with(&text, "my-").len());
        prop_assert_eq!(counted(&after, iteration, &breaker).expect("an edit"), after);
    }

    #[test]
    fn commands_keep_what_they_do_not_name(text in file()) {
        let written = ["iteration", "status", "exit_signal"];
        let change = IterationChange::default();
        for edited in [iterated(&text, &change), cancelled(&text), paused(&text), resumed(&text)] {
            let Ok(edited) = edited else { continue };
            prop_assert_eq!(foreign(&edited, &written), foreign(&text, &written));
            prop_assert_eq!(edited.matches("//").count(), text.matches("//").count());
        }
    }

    #[test]
    fn no_text_makes_the_reader_stumble(text in "\\PC*") {
        let _ = advice(&text);
        if let Ok(record) = CriteriaRecord::read(&text) {
            let _ = (blocked(&record), announcement(&record), status_block(&record));
        }
    }
}
