use super::{FrontMatter, edited, quoted};

const FILE: &str =
    "---\nactive: true\niteration: 5  # counted\nmode: loop\n---\nDo: it\n---\nmore\n";

#[track_caller]
fn check(text: &str, name: &str, expected: Option<&str>) {
    let value = FrontMatter::read(text).and_then(|file| file.value(name));
    assert_eq!(value.as_deref(), expected, "{name} of {text:?}");
}

#[test]
fn fields_are_read_without_quotes_and_comments() {
    check(FILE, "active", Some("true"));
    check(FILE, "iteration", Some("5"));
    check(FILE, "Do", None);
    check("---\np: \"a \\\"b\\\" # c\" # d\n---\n", "p", Some("a \"b\" # c"));
    check("---\np: 'it''s'\n---\n", "p", Some("it's"));
    check("---\nsession_id:\n---\n", "session_id", Some(""));
    check("---\nsession_id: # none\n---\n", "session_id", Some(""));
    check("---\r\na: 1\r\n---\r\nx", "a", Some("1"));
    check("\u{feff}---\na: 1\n---\n", "a", Some("1"));
    check("---\na: 1\na: 2\n---\n", "a", Some("1"));
    check("---\na: 1\t# see #2, and # 3\n---\n", "a", Some("1"));
    check("---\na: \"1\"# one\n---\n", "a", Some("1"));
    check("---\nurl:http://x\n  a: 2\n# a: 3\n---\n", "a", None);
}

#[test]
fn what_has_no_closing_line_has_no_fields() {
    for text in ["", "---", "---\na: 1\n", "a: 1\n---\n", " ---\na: 1\n---\n", "----\na: 1\n---\n"]
    {
        check(text, "a", None);
    }
}

#[test]
fn an_edit_touches_one_value() {
    let file = FrontMatter::read(FILE).expect("it has fields");
    assert_eq!(file.body(), "Do: it\n---\nmore\n");
    assert_eq!(file.with("iteration", "6"), FILE.replace('5', "6"));
    assert_eq!(
        file.with("updated_at", "now"),
        FILE.replace("mode: loop\n", "mode: loop\nupdated_at: now\n")
    );
    let blank = "---\r\na:\r\n---\r\n";
    let file = FrontMatter::read(blank).expect("it has fields");
    assert_eq!(file.with("a", "1"), "---\r\na: 1\r\n---\r\n");
    assert_eq!(file.with("b", "2"), "---\r\na:\r\nb: 2\r\n---\r\n");
}

#[test]
fn a_comment_outlives_an_edit() {
    for (before, after) in [
        ("a: \"1\"# one", "a: 2 # one"),
        ("a: \"1\" # one", "a: 2 # one"),
        ("a: 1\t# one # two", "a: 2\t# one # two"),
    ] {
        let text = format!("---\n{before}\n---\n");
        let edited = FrontMatter::read(&text).expect("it has fields").with("a", "2");
        assert_eq!(edited, format!("---\n{after}\n---\n"));
    }
}

#[test]
fn several_edits_follow_each_other() {
    let changes = [("iteration", "6".to_string()), ("active", "false".to_string())];
    let text = edited(FILE, &changes).expect("it has fields");
    assert_eq!(text, FILE.replace('5', "6").replace("true", "false"));
    assert_eq!(edited("no fields", &changes), None);
}

#[test]
fn what_is_quoted_reads_back() {
    for value in
        ["DONE", "", "null", "a: b", "x # y", "\"q\" \\ 'r'", "two\nlines", "- dash", "tab\there"]
    {
        let text = format!("---\np: {}\n---\n", quoted(value));
        check(&text, "p", Some(value));
    }
}

#[test]
fn a_changed_value_is_still_a_value() {
    for before in [
        "---\niteration:\r5\n---\n",
        "---\niteration: \"\"1 \"x\"\n---\n",
        "---\niteration:\n---\n",
        "---\niteration: \"\"#\n---\n",
        "---\niteration: \"5\"# counted\n---\n",
        "---\niteration: \"5\"\t# counted # twice\n---\n",
        "---\niteration: \"5\"\r# counted\n---\n",
        "---\niteration: \"5\"\u{a0}# counted\n---\n",
    ] {
        let edited = FrontMatter::read(before).unwrap().with("iteration", "7");
        let value = FrontMatter::read(&edited).unwrap().value("iteration");
        assert_eq!(value.as_deref(), Some("7"), "{edited:?}");
    }
}
