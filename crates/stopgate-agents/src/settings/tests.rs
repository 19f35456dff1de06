//! Settings files before and after.

use super::draft::MESSAGE;
use super::*;

const PROGRAM: &str = "/opt/stopgate";
const EVENTS: &[EventName] = JsonForm::CLAUDE.events;

#[test]
fn a_new_file_holds_every_entry_and_the_lifted_cap() {
    let edited = put(None);
    let settings: serde_json::Value = serde_json::from_str(&edited.text).unwrap();
    let hooks = settings["hooks"].as_object().unwrap();
    assert_eq!(hooks.len(), EVENTS.len());
    for EventName { name: event, timeout_s } in EVENTS.iter().copied() {
        let mut hook = serde_json::json!({
            "type": "command", "command": PROGRAM, "args": ["hook", "claude"], "timeout": timeout_s,
        });
        if event == "Stop" {
            hook["statusMessage"] = MESSAGE.into();
        }
        assert_eq!(hooks[event], serde_json::json!([{"hooks": [hook]}]), "{event}");
    }
    assert_eq!(settings["env"], serde_json::json!({ CAP_VARIABLE: "0" }));
    let rules = settings["permissions"]["allow"].as_array().unwrap();
    assert_eq!(rules.len(), 7);
    assert!(rules.contains(&"Bash(stopgate blocked:*)".into()), "{rules:?}");
    let never = ["start", "trust", "verify", "approve", "cancel", "edit"];
    let runs = |rule: &serde_json::Value| {
        never.iter().any(|verb| rule.as_str().unwrap().contains(&format!("stopgate {verb}")))
    };
    assert!(!rules.iter().any(runs), "no rule runs or changes a check: {rules:?}");
    assert_eq!(edited.changes.len(), 3);
    assert!(edited.changes[0].starts_with("8 hooks run /opt/stopgate: Stop, Sub"));
    assert_eq!(edited.notes, [""; 0]);
    assert!(edited.text.starts_with(FRESH), "{}", edited.text);
    assert!(edited.text.ends_with("\n  }\n}\n"));
}

const FRESH: &str = r#"{
  "hooks": {
    "Stop": [
      {
        "hooks": [
          {
            "type": "command",
            "command": "/opt/stopgate",
            "args": ["hook", "claude"],
            "timeout": 600,
            "statusMessage": "stopgate is running your checks (stopgate status)"
          }
        ]
      }
    ],
    "SubagentStop": [
"#;

/// Files without entries of ours, in every shape that people leave them.
const FILES: [&str; 20] = [
    "{}",
    "{}\n",
    "{\"model\":\"opus\"}",
    "{ \"model\": \"opus\" }\n",
    "{\n  \"model\": \"opus\"\n}\n",
    "{\n\t\"model\": \"opus\",\n\t\"env\": {\n\t\t\"A\": \"b\"\n\t}\n}\n",
    "{\n    \"env\": {\"A\": \"b\"},\n    \"permissions\": {\"allow\": [\"Bash(ls:*)\"]}\n}",
    "{\r\n  \"model\": \"opus\",\r\n  \"env\": {\r\n    \"A\": \"b\"\r\n  }\r\n}\r\n",
    "\u{feff}{\n  \"model\": \"opus\"\n}\n",
    "// mine\n{\n  // the model\n  \"model\": \"opus\", // big\n  /* last */\n}\n// end\n",
    "{\n  // nothing yet\n}\n",
    "{\n  \"model\": \"opus\", // trailing commas\n}\n",
    "{\"hooks\":{\"Stop\":[{\"hooks\":[{\"type\":\"command\",\"command\":\"say done\"}]}]},\"env\":{\"A\":\"b\"}}",
    "{\"hooks\": {\"PreToolUse\": []}, \"env\": {\"CLAUDE_CODE_STOP_HOOK_BLOCK_CAP\": \"50\"}}\n",
    r#"{
  "hooks": {
    "Stop": [
      {
        "matcher": "",
        "hooks": [
          // tell me
          { "type": "command", "command": "notify-send 'stopgate hook'" }
        ]
      } // keep this
    ],
    "Notification": [ { "hooks": [ { "type": "command", "command": "bell" } ] } ]
  },
  "disableAllHooks": false
}
"#,
    "{\n  \"hooks\": {\n    \"Stop\": [\n      // none, on purpose\n    ]\n  }\n}\n",
    "{\n  \"hooks\": {\n    \"Stop\": [null, 7, {\"hooks\": null}, {}]\n  }\n}\n",
    "{\n  \"hooks\": { /* later */ }\n}\n",
    "{\n\n  \"a\": [1,\n    2],\n\n\n  \"b\": {}}",
    "{\n\"a\": 1,\n\"hooks\": {\n\"Stop\": [\n{ \"hooks\": [] }\n]\n}\n}\n",
];

#[test]
fn what_was_installed_can_be_taken_out_without_a_trace() {
    for before in FILES {
        let installed = put(Some(before));
        assert_eq!(find(Agent::Claude, &installed.text).unwrap().len(), EVENTS.len(), "{before}");
        let removed = uninstall(Agent::Claude, &installed.text, None).unwrap();
        assert_eq!(removed.text, before, "from {}", installed.text);
        assert!(removed.changes.len() >= 2, "{:?}", removed.changes);
    }
}

#[test]
fn a_second_time_changes_nothing() {
    for before in FILES {
        let once = put(Some(before));
        let twice = put(Some(&once.text));
        assert_eq!(twice.text, once.text, "{before}");
        assert_eq!(twice.changes, [""; 0], "{before}");
        assert_eq!(
            uninstall(Agent::Claude, before, None).unwrap(),
            Edited { text: before.into(), changes: vec![], notes: vec![] }
        );
    }
}

#[test]
fn text_is_added_and_none_of_it_is_lost() {
    for before in FILES {
        let after = put(Some(before)).text;
        let mut chars = after.chars();
        assert!(before.chars().all(|char| chars.any(|kept| kept == char)), "{before}\n{after}");
    }
}

#[test]
fn an_entry_takes_its_place_behind_the_others() {
    check(
        "{\n\t\"hooks\": {\n\t\t\"Stop\": [\n\t\t\t{ \"hooks\": [ { \"type\": \"command\", \"command\": \"bell\" } ] } // mine\n\t\t]\n\t}\n}\n",
        "{\n\t\"hooks\": {\n\t\t\"Stop\": [\n\t\t\t{ \"hooks\": [ { \"type\": \"command\", \"command\": \"bell\" } ] }, // mine\n\t\t\t{\n\t\t\t\t\"hooks\": [\n\t\t\t\t\t{\n\t\t\t\t\t\t\"type\": \"command\",\n",
    );
    check("{\r\n  \"a\": 1\r\n}\r\n", "{\r\n  \"a\": 1,\r\n  \"hooks\": {\r\n    \"Stop\": [\r\n");
    check(
        "{\"hooks\": {\"Stop\": []}}",
        "{\"hooks\": {\"Stop\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"/opt/stopgate\"",
    );
    check("", FRESH);
    check(" \n", FRESH);
    check("// to do\n", "// to do\n{\n  \"hooks\": {\n    \"Stop\": [");
}

#[test]
fn an_older_entry_of_ours_is_replaced_where_it_stands() {
    for older in [
        r#"{"type": "command", "command": "/old/stopgate", "args": ["hook", "claude"], "timeout": 600}"#,
        r#"{"type": "command", "command": "/opt/stopgate hook claude"}"#,
        r#"{"type": "command", "command": "'/old place/stopgate' hook claude || true", "timeout": 30}"#,
        r#"{"type": "command", "command": "/opt/stopgate", "args": ["hook", "claude"], "timeout": 60}"#,
        r#"{"type": "command", "command": "/opt/stopgate", "args": ["hook", "claude"]}"#,
        r#"{"async": true, "type": "command", "command": "/opt/stopgate", "args": ["hook", "claude"], "timeout": 600}"#,
    ] {
        let stop = |hook: &str| {
            format!("{{\n  \"hooks\": {{\n    \"Stop\": [{{\"hooks\": [1, {hook}, 2]}}], // mine\n")
        };
        let before = format!("{}    \"Setup\": []\n  }}\n}}\n", stop(older));
        let edited = put(Some(&before));
        let current = format!(
            r#"{{"type": "command", "command": "/opt/stopgate", "args": ["hook", "claude"], "timeout": 600, "statusMessage": "{MESSAGE}"}}"#
        );
        assert!(edited.text.starts_with(&stop(&current)), "{}", edited.text);
        assert_eq!(edited.changes[1], "1 hook now runs /opt/stopgate: Stop.");
        assert_eq!(find(Agent::Claude, &edited.text).unwrap().len(), EVENTS.len());
    }
}

#[test]
fn an_older_entry_over_several_lines_keeps_its_indentation() {
    let edited = put(Some(&FRESH_OLD.replace("PATH", "/a/much/older/stopgate")));
    assert!(edited.text.starts_with(&FRESH_OLD.replace("PATH", PROGRAM)[..230]), "{}", edited.text);
}

const FRESH_OLD: &str = r#"{
    "hooks": {
        "Stop": [
            {
                "hooks": [
                    {
                        "type": "command",
                        "command": "PATH",
                        "args": ["hook", "claude"],
                        "timeout": 600
                    }
                ]
            }
        ]
    }
}
"#;

#[test]
fn doubles_go_and_what_a_person_added_stays() {
    let stop = |hooks: &str| format!("{{\"hooks\": {{\"Stop\": [{{\"hooks\": [{hooks}]}}]}}}}");
    let shadow = r#"{"type": "command", "command": "stopgate hook claude --shadow"}"#;
    let edited = put(Some(&stop(&format!("{shadow}, {shadow}, {shadow}"))));
    assert_eq!(edited.changes[..2], ["A second Stop hook is removed."; 2]);
    let found = find(Agent::Claude, &edited.text).unwrap();
    assert_eq!(found.len(), EVENTS.len());
    assert_eq!(found[0].command, exec(&[PROGRAM, "hook", "claude", "--shadow"]));

    let dialect = r#"{"type": "command", "command": "stopgate hook claude --dialect ralph-loop"}"#;
    let edited = put(Some(&stop(dialect)));
    let found = find(Agent::Claude, &edited.text).unwrap();
    assert_eq!(found.len(), EVENTS.len() + 1, "the dialect's entry stands beside ours");
    assert_eq!(
        found[0].command,
        EntryCommand::Shell("stopgate hook claude --dialect ralph-loop".into())
    );

    let shell = r#"{"type": "command", "command": "stopgate hook claude --task-file $HOME/t"}"#;
    let edited = put(Some(&stop(shell)));
    assert_eq!(edited.notes, ["The Stop hook needs a shell and was left as it is."]);
    assert_eq!(find(Agent::Claude, &edited.text).unwrap().len(), EVENTS.len());
}

#[test]
fn a_persons_cap_stays_and_is_reported() {
    for (cap, lifted) in [
        ("\"50\"", false),
        ("\"\"", false),
        ("50", false),
        ("\"0\"", true),
        ("\"-1\"", true),
        ("0", true),
    ] {
        let before = format!("{{\"env\": {{\"{CAP_VARIABLE}\": {cap}}}}}");
        let edited = put(Some(&before));
        assert!(edited.text.starts_with(before.trim_end_matches('}')), "{}", edited.text);
        assert_eq!(edited.notes.is_empty(), lifted, "{cap}: {:?}", edited.notes);
    }
    let edited = put(Some(&format!("{{\"env\": {{\"{CAP_VARIABLE}\": \"50\"}}}}")));
    assert_eq!(
        edited.notes,
        [
            "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP was \"50\" already and stays so; set it to \"0\" to lift the limit on continuations."
        ]
    );
}

#[test]
fn only_what_is_ours_leaves() {
    let own = r#"{"type": "command", "command": "stopgate hook claude"}"#;
    for (before, after) in [
        (format!(r#"{{"hooks": {{"Stop": [{{"hooks": [{own}]}}]}}}}"#), "{}"),
        (
            format!(r#"{{"hooks": {{"Stop": [{{"hooks": [1, {own}]}}]}}}}"#),
            r#"{"hooks": {"Stop": [{"hooks": [1]}]}}"#,
        ),
        (
            format!(r#"{{"hooks": {{"Stop": [{{"hooks": [{own}]}}, 1]}}}}"#),
            r#"{"hooks": {"Stop": [1]}}"#,
        ),
        (
            format!(r#"{{"hooks": {{"Gone": [{{"matcher": "", "hooks": [{own}]}}], "B": 1}}}}"#),
            r#"{"hooks": {"B": 1}}"#,
        ),
        (
            format!("{{\"hooks\": {{\"Stop\": [{{\"hooks\": [{own}]}} /* mine */]}}}}"),
            r#"{"hooks": {"Stop": [ /* mine */]}}"#,
        ),
        (
            format!(
                r#"{{"a": 1, "env": {{"{CAP_VARIABLE}": "0"}}, "hooks": {{"Stop": [{{"hooks": [{own}]}}]}}}}"#
            ),
            r#"{"a": 1}"#,
        ),
        (
            format!(
                r#"{{"env": {{"A": "b", "{CAP_VARIABLE}": "0"}}, "hooks": {{"Stop": [{{"hooks": [{own}]}}]}}}}"#
            ),
            r#"{"env": {"A": "b"}}"#,
        ),
    ] {
        assert_eq!(uninstall(Agent::Claude, &before, None).unwrap().text, after, "{before}");
    }
    for kept in [
        format!(r#"{{"env": {{"{CAP_VARIABLE}": "0"}}}}"#),
        r#"{"hooks": {}, "env": {}}"#.into(),
        r#"{"hooks": {"Stop": []}}"#.into(),
        String::new(),
    ] {
        assert_eq!(uninstall(Agent::Claude, &kept, None).unwrap().text, kept);
    }
}

#[test]
fn our_entries_are_found_in_either_form() {
    let text = r#"{"hooks": {
        "Stop": [{"hooks": [{"type": "command", "command": "/a/stopgate", "args": ["hook", "claude"], "timeout": 5}]}],
        "Notification": [{"hooks": [{"type": "command", "command": "stopgate hook claude"}, {"type": "http"}]}],
        "Setup": 7
    }}"#;
    let expected = [
        InstalledEntry {
            event: "Stop".into(),
            kind: HookEvent::Stop,
            command: exec(&["/a/stopgate", "hook", "claude"]),
            timeout_s: Some(5),
        },
        InstalledEntry {
            event: "Notification".into(),
            kind: HookEvent::Other,
            command: EntryCommand::Shell("stopgate hook claude".into()),
            timeout_s: None,
        },
    ];
    assert_eq!(find(Agent::Claude, text).unwrap(), expected);
    assert_eq!(find(Agent::Claude, "").unwrap(), []);
    assert_eq!(find(Agent::Claude, "\u{feff}{}").unwrap(), []);
}

#[test]
fn switches_and_matchers_that_silence_us_are_reported() {
    let off = "{\"disableAllHooks\": true, \"env\": {\"CLAUDE_CODE_STOP_HOOK_BLOCK_CAP\": 12}}";
    assert_eq!(
        switches(off).unwrap(),
        Switches { disable_all_hooks: true, cap: Some("12".into()) }
    );
    assert_eq!(switches("{\"disableAllHooks\": \"yes\"}").unwrap(), Switches::default());
    assert_eq!(switches("").unwrap(), Switches::default());
    assert_eq!(
        put(Some(off)).notes[1],
        "disableAllHooks is true here: no hook runs until it is removed."
    );

    let narrow = r#"{"hooks": {"SessionStart": [{"matcher": "startup", "hooks": [{"type": "command", "command": "stopgate hook claude"}]}]}}"#;
    assert_eq!(
        put(Some(narrow)).notes,
        ["The SessionStart hook runs only where its matcher \"startup\" fits."]
    );
}

#[test]
fn a_file_that_is_not_what_it_should_be_is_refused() {
    for (text, expected) in [
        (
            "{\n  \"a\": 1\n  \"b\": 2\n}",
            "read the settings: they stop being JSON at 2:9; correct that and try again",
        ),
        ("{", "read the settings: they stop being JSON at 1:1; correct that and try again"),
        ("{'a': 1}", "read the settings: they stop being JSON at 1:2; correct that and try again"),
        (
            "[]",
            "use the settings: the top level at 1:1 is a list, not an object; correct that and try again",
        ),
        (
            "\n null",
            "use the settings: the top level at 2:2 is null, not an object; correct that and try again",
        ),
        (
            "{\"hooks\": []}",
            "use the settings: hooks at 1:11 is a list, not an object; correct that and try again",
        ),
        (
            "{\n  \"hooks\": {\n    \"Stop\": {}\n  }\n}",
            "use the settings: hooks.Stop at 3:13 is an object, not a list; correct that and try again",
        ),
        (
            "{\"hooks\": {\"StopFailure\": \"é\"}}",
            "use the settings: hooks.StopFailure at 1:27 is a text, not a list; correct that and try again",
        ),
        (
            "{\"é\": 1, \"env\": true}",
            "use the settings: env at 1:17 is true or false, not an object; correct that and try again",
        ),
        (
            "{\"hooks\": {}, \"hooks\": {}}",
            "use the settings: hooks stands there again at 1:15; remove one and try again",
        ),
        (
            "{\"hooks\": {\"Stop\": [], \"Stop\": []}}",
            "use the settings: hooks.Stop stands there again at 1:24; remove one and try again",
        ),
    ] {
        assert_eq!(install(Some(text), &entry()).unwrap_err().to_string(), expected, "{text}");
    }
    let deep = "[".repeat(100_000);
    assert!(install(Some(&deep), &entry()).is_err());
    assert!(
        uninstall(Agent::Claude, "[", None).is_err()
            && find(Agent::Claude, "{\"hooks\": 1}").is_err()
            && switches("{\"env\": 1}").is_err()
    );
}

#[test]
fn a_damaged_file_is_refused_or_edited_well() {
    for file in FILES {
        for (at, char) in file.char_indices() {
            let (head, rest) = (&file[..at], &file[at + char.len_utf8()..]);
            survives(head);
            survives(&format!("{head}{rest}"));
            survives(&format!("{head}/{rest}"));
        }
    }
}

#[track_caller]
fn survives(damaged: &str) {
    if let Ok(edited) = install(Some(damaged), &entry()) {
        assert_eq!(find(Agent::Claude, &edited.text).unwrap().len(), EVENTS.len(), "{damaged}");
        let removed = uninstall(Agent::Claude, &edited.text, None).unwrap();
        assert_eq!(find(Agent::Claude, &removed.text).unwrap(), [], "{damaged}");
    }
}

#[test]
fn an_odd_path_is_written_as_json() {
    let entry = HookEntry::new(Agent::Claude, "C:\\my \"tools\"\\stopgate.exe");
    let edited = install(None, &entry).unwrap();
    let found = find(Agent::Claude, &edited.text).unwrap();
    assert_eq!(found[0].command, exec(&[&entry.program, "hook", "claude"]));
    assert_eq!(install(Some(&edited.text), &entry).unwrap().changes, [""; 0]);
    assert_eq!(uninstall(Agent::Claude, &edited.text, None).unwrap().text, "{}\n");
}

#[track_caller]
fn check(before: &str, expected: &str) {
    let after = put(Some(before)).text;
    assert!(after.starts_with(expected), "{after}");
}

fn put(text: Option<&str>) -> Edited {
    install(text, &entry()).unwrap()
}

fn entry() -> HookEntry {
    HookEntry::new(Agent::Claude, PROGRAM)
}

fn exec(argv: &[&str]) -> EntryCommand {
    EntryCommand::Exec(argv.iter().map(ToString::to_string).collect())
}

#[test]
fn a_shared_entry_names_no_path_and_is_replaced_and_removed_like_any_other() {
    let shared = HookEntry { form: EntryForm::Shared, ..entry() };
    let edited = install(None, &shared).unwrap();
    assert!(!edited.text.contains(PROGRAM), "{}", edited.text);
    let line = "stopgate hook claude --shared 2>/dev/null || true";
    assert!(edited.text.contains(line), "{}", edited.text);
    assert_eq!(install(Some(&edited.text), &shared).unwrap().changes, [""; 0]);
    let own = install(Some(&edited.text), &entry()).unwrap();
    assert!(own.text.contains(PROGRAM) && !own.text.contains("--shared"), "{}", own.text);
    let again = install(Some(&own.text), &shared).unwrap();
    assert_eq!(again.text, edited.text);
    assert_eq!(uninstall(Agent::Claude, &edited.text, None).unwrap().text.trim(), "{}");
}

#[test]
fn a_status_line_is_chained_and_comes_back() {
    let shown = HookEntry { statusline: StatusLine::Show, ..entry() };
    let before = "{\n  \"statusLine\": {\n    \"type\": \"command\",\n    \"command\": \"my 'bar'\",\n    \"padding\": 0\n  }\n}\n";
    let edited = install(Some(before), &shown).unwrap();
    assert!(edited.text.contains("/opt/stopgate statusline --with "), "{}", edited.text);
    assert_eq!(install(Some(&edited.text), &shown).unwrap().changes, [""; 0]);
    assert_eq!(uninstall(Agent::Claude, &edited.text, None).unwrap().text, before);
    let fresh = install(None, &shown).unwrap();
    assert!(fresh.text.contains("\"command\": \"/opt/stopgate statusline\""), "{}", fresh.text);
    assert_eq!(uninstall(Agent::Claude, &fresh.text, None).unwrap().text.trim(), "{}");
}

#[test]
fn rules_of_others_stay_where_ours_come_and_go() {
    let before = "{\"permissions\": {\"allow\": [\"Bash(ls:*)\"], \"deny\": []}}";
    let edited = put(Some(before));
    assert!(edited.text.contains("Bash(ls:*)") && edited.text.contains("Bash(stopgate done:*)"));
    assert_eq!(uninstall(Agent::Claude, &edited.text, None).unwrap().text, before);
    let left = HookEntry { exits: ExitRules::Leave, ..entry() };
    assert!(!install(Some(before), &left).unwrap().text.contains("Bash(stopgate"));
}
