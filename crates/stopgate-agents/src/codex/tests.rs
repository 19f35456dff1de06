//! Hooks that a person trusts.

use super::*;
use crate::settings::{HookEntry, install};

const PATH: &str = "/h/.codex/hooks.json";

#[test]
fn each_hook_is_known_by_its_place_and_its_hash() {
    let hooks = install(None, &HookEntry::new(Agent::Codex, "/opt/stopgate")).unwrap().text;
    let entries = trust_entries(PATH, &hooks);
    let keys: Vec<&str> = entries.iter().map(|entry| entry.key.as_str()).collect();
    for event in ["stop", "session_start", "user_prompt_submit", "session_end"] {
        assert!(keys.contains(&format!("{PATH}:{event}:0:0").as_str()), "{keys:?}");
    }
    let config = |key: &str| {
        entries.iter().find(|entry| entry.key.contains(key)).unwrap().add_to("").unwrap().text
    };
    // As the client itself computes them.
    assert_eq!(config(":stop:"), STOP);
    assert_eq!(config(":session_start:"), SESSION_START);
}

#[test]
fn trust_comes_and_goes_without_a_trace() {
    let hooks = install(None, &HookEntry::new(Agent::Codex, "/opt/stopgate")).unwrap().text;
    let entries = trust_entries(PATH, &hooks);
    for before in [
        "",
        "model = \"x\"",
        "# mine\n[a]\nb = 1 # c\n",
        "[hooks.state.\"x:stop:0:0\"]\ntrusted_hash = \"y\"\n",
    ] {
        let mut text = before.to_string();
        for entry in &entries {
            text = entry.add_to(&text).unwrap().text;
            assert_eq!(entry.add_to(&text).unwrap().changes, [""; 0]);
        }
        assert!(text.starts_with(before), "{text}");
        for entry in entries.iter().rev() {
            text = entry.take_from(&text).unwrap().text;
        }
        assert_eq!(text, before);
    }
    assert!(entries[0].add_to("model = ").is_err());
}

#[test]
fn others_hooks_are_none_of_our_business() {
    let hooks = r#"{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"say done"}]}]}}"#;
    assert_eq!(trust_entries(PATH, hooks), []);
    let both = install(Some(hooks), &HookEntry::new(Agent::Codex, "/opt/stopgate")).unwrap().text;
    let entries = trust_entries(PATH, &both);
    assert!(entries.iter().any(|entry| entry.key.ends_with(":stop:1:0")), "{entries:?}");
}

const STOP: &str = "\
[hooks.state.\"/h/.codex/hooks.json:stop:0:0\"]
trusted_hash = \"sha256:d9fd5a54392e424e67b8fd0ff17d16cddbe330cee3474f001d8f286673d9f23a\"
";

const SESSION_START: &str = "\
[hooks.state.\"/h/.codex/hooks.json:session_start:0:0\"]
trusted_hash = \"sha256:25cd30e3f3a4b6770792e8f084399e1011f0989030d99f708c74943ab0653d3e\"
";
