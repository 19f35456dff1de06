use std::path::Path;

use stopgate_core::Author;

use super::{has_command, read};

#[test]
fn a_gate_is_read_as_people_write_it() {
    for (text, definition) in [
        ("tdd", r#"{"type":"tdd"}"#),
        (
            "iteration > 10",
            r#"{"rules":[{"action":"escalate","if":"iteration > 10","reason":"{% raw %}`iteration > 10` holds{% endraw %}"}]}"#,
        ),
        (
            "complete if passed('t')",
            r#"{"rules":[{"action":"complete","if":"passed('t')","reason":"{% raw %}`passed('t')` holds{% endraw %}"}]}"#,
        ),
        (r#"{"all": ["promise"]}"#, r#"{"all":[{"type":"promise"}]}"#),
    ] {
        let gates =
            read([(&text.to_string(), Author::Command)].into_iter(), Path::new("/")).expect(text);
        assert_eq!(gates[0].definition, definition, "{text}");
    }
}

#[test]
fn a_gate_that_makes_no_sense_is_refused_before_the_loop_begins() {
    for (text, why) in [
        ("iteration > 1 && true", "write `and` instead of `&&`"),
        ("stop if iteration > 1", "could not understand the gate"),
        ("{}", "give one of"),
        ("filesModified|length == 0", "only in a git repository"),
    ] {
        let error = read([(&text.to_string(), Author::Command)].into_iter(), Path::new("/nowhere"))
            .expect_err(text);
        assert!(error.message.contains(why), "{text}: {}", error.message);
    }
}

#[test]
fn a_command_is_found_however_deep_it_is() {
    assert!(has_command(r#"{"any": ["promise", {"not": {"command": "true"}}]}"#));
    assert!(!has_command("iteration > 10"));
}
