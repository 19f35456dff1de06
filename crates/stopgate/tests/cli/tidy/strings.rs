//! Commands and tools decide by types: a text is read into one where it enters, and nowhere else.

use super::{Source, sources};

/// Where texts enter, and what is read there.
const EDGES: [(&str, &str); 9] = [
    ("stopgate/src/main.rs", "the first argument, before clap exists"),
    ("stopgate/src/hook.rs", "the hook's own arguments, read without clap"),
    ("stopgate/src/commands.rs", "`help` and `--json`, looked for before clap reads the rest"),
    ("stopgate/src/commands/agent_files.rs", "a directory in a program's path"),
    ("stopgate/src/commands/common.rs", "a person's yes or no"),
    ("stopgate/src/commands/run.rs", "--fresh, read into a policy"),
    ("stopgate/src/commands/schema.rs", "the topic of `help`, read into a file"),
    ("stopgate-mcp/src/arguments.rs", "the words of JSON Schema"),
    ("stopgate-mcp/src/incoming.rs", "the methods of JSON-RPC"),
];

#[test]
fn commands_and_tools_match_no_text_to_decide_anything() {
    let mut found = Vec::new();
    let mut used = Vec::new();
    let own = |source: &&Source| {
        ["stopgate", "stopgate-mcp"].contains(&source.krate.as_str()) && !source.is_test()
    };
    for source in sources().iter().filter(own) {
        let matched = source.text.lines().enumerate().filter(|(_, line)| matches_text(line));
        for (at, line) in matched {
            match EDGES.iter().find(|(name, _)| *name == source.name) {
                Some((name, _)) => used.push(*name),
                None => found.push(format!("{}:{}: {}", source.name, at + 1, line.trim())),
            }
        }
    }
    assert_eq!(found, Vec::<String>::new(), "read it into a type where it enters");
    for (name, what) in EDGES {
        assert!(used.contains(&name), "{name} reads nothing any more ({what}): take it out");
    }
}

/// Whether a line compares something with a text, or has one as a pattern.
fn matches_text(line: &str) -> bool {
    let code = line.trim();
    if code.starts_with("//") {
        return false;
    }
    let pattern = code.split("=>").next().filter(|_| code.contains("=>")).unwrap_or_default();
    let is_pattern = ["\"", "Some(\"", "Some((\"", "(Some(\"", "(\""]
        .iter()
        .any(|begin| pattern.trim_start().starts_with(begin));
    let compares = code.contains("== \"") || code.contains("!= \"");
    compares || is_pattern || (code.contains("matches!(") && code.contains(", \""))
}

#[test]
fn a_text_in_a_pattern_is_seen() {
    for line in [
        r#"if word == "done" {"#,
        r#"    "done" | "attested" => true,"#,
        r#"    Some("done") if late => true,"#,
        r#"    Some(("tmux", rest)) => rest,"#,
        r#"    (Some("block"), Some(reason)) => reason,"#,
        r#"matches!(word, "y" | "yes")"#,
    ] {
        assert!(matches_text(line), "{line}");
    }
    for line in [
        r#"    Outcome::Done => Some("done"),"#,
        r#"    // word == "done""#,
        r#"let word = "done";"#,
    ] {
        assert!(!matches_text(line), "{line}");
    }
}
