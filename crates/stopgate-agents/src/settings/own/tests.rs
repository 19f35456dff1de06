//! Which entries are ours.

use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};

use super::*;

#[test]
fn an_entry_is_ours_by_its_programs_name_and_its_first_word() {
    for (hook, expected) in [
        (r#""command":"/opt/stopgate","args":["hook","claude"]"#, true),
        (r#""command":"stopgate","args":["hook"]"#, true),
        (r#""command":"C:\\tools\\Stopgate.EXE","args":["hook","claude"]"#, true),
        (r#""command":"/opt/stopgate","args":["status"]"#, false),
        (r#""command":"/opt/stopgate","args":[]"#, false),
        (r#""command":"/opt/stopgate hook claude","args":[]"#, false),
        (r#""command":"/opt/stopgate-wrapper","args":["hook"]"#, false),
        (r#""command":"/opt/stopgate/run","args":["hook"]"#, false),
        (r#""command":"stopgate hook claude""#, true),
        (r#""command":"/opt/stopgate hook claude || true""#, true),
        (r#""command":"'/my tools/stopgate' hook claude""#, true),
        (r#""command":"\"$HOME/bin/stopgate\" hook claude""#, true),
        (r#""command":"/my\\ tools/stopgate hook claude""#, true),
        (r#""command":"echo stopgate hook""#, false),
        (r#""command":"stopgate; hook""#, false),
        (r#""command":"stopgate""#, false),
        (r#""command":"""#, false),
        (r#""command":["stopgate","hook"]"#, false),
        (r#""args":["hook"]"#, false),
    ] {
        assert_eq!(read(&format!(r#"{{"type":"command",{hook}}}"#)).is_some(), expected, "{hook}");
    }
    assert!(read(r#"{"type":"prompt","command":"stopgate hook claude"}"#).is_none());
    assert!(read(r#"{"command":"stopgate hook claude"}"#).is_none());
}

#[test]
fn what_a_person_added_to_the_line_is_known() {
    check("stopgate hook claude", &[]);
    check("stopgate hook", &[]);
    check("stopgate hook claude --shadow 2>/dev/null", &["--shadow"]);
    check("stopgate hook claude --shadow || true", &["--shadow"]);
    check("stopgate hook claude --task-file 'a b'\\ c", &["--task-file", "a b c"]);
    let own = read(r#"{"type":"command","command":"stopgate hook claude --task-file $HOME/t"}"#);
    assert_eq!(own.unwrap().extras(), Extras::Shell);
}

#[track_caller]
fn check(line: &str, expected: &[&str]) {
    let own =
        Own { command: EntryCommand::Shell(line.into()), timeout_s: None, message: None, keys: 2 };
    let expected = expected.iter().map(ToString::to_string).collect();
    assert_eq!(own.extras(), Extras::Words(expected), "{line}");
}

fn read(hook: &str) -> Option<Own> {
    let parsed = parse_to_ast(hook, &CollectOptions::default(), &ParseOptions::default()).unwrap();
    Own::read(parsed.value.unwrap().as_object().unwrap(), JsonForm::CLAUDE)
}
