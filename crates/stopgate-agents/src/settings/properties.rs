//! Settings files as nobody would think of them: generated, edited, and edited back.
//!
//! `STOPGATE_SETTINGS_CASES` says how many files are made of each format: JSON, JSON with comments
//! and TOML.

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use super::*;

const CASES: u32 = 60;
const PROGRAM: &str = "/opt/my tools/stopgate";

fn runner() -> TestRunner {
    let cases = option_env!("STOPGATE_SETTINGS_CASES").and_then(|count| count.parse().ok());
    TestRunner::new(Config {
        cases: cases.unwrap_or(CASES),
        failure_persistence: None,
        ..Config::default()
    })
}

/// What may stand in a file besides values.
#[derive(Clone, Copy, Debug)]
enum Flavour {
    /// White space.
    Json,
    /// Comments and trailing commas, too.
    WithComments,
}

/// What stands between two tokens of JSON.
fn gap(flavour: Flavour) -> BoxedStrategy<String> {
    let spaces = prop_oneof![
        6 => Just(String::new()),
        4 => Just(" ".into()),
        3 => Just("\n".into()),
        3 => Just("\n  ".into()),
        1 => Just("\r\n\t".into()),
        1 => Just("\n\n    ".into()),
    ];
    let notes = prop_oneof![
        Just(" /* note, } */ ".to_string()),
        Just(" // note ]\n".into()),
        Just("/*,*/".into()),
    ];
    match flavour {
        Flavour::Json => spaces.boxed(),
        Flavour::WithComments => prop_oneof![8 => spaces, 1 => notes].boxed(),
    }
}

fn scalar() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("1".to_string()),
        Just("true".into()),
        Just("null".into()),
        Just("\"x\"".into()),
        Just("\"é // \\\" , }\"".into()),
        Just("[]".into()),
        Just("{}".into()),
        Just("[1, {\"a\": []}]".into()),
    ]
}

/// A list or an object: its items, each between gaps, and perhaps a trailing comma.
fn enclosed(
    open: char,
    close: char,
    items: Vec<(String, String, String)>,
    end: &str,
    comma: &str,
) -> String {
    let mut text = String::from(open);
    let count = items.len();
    for (at, (before, item, after)) in items.into_iter().enumerate() {
        text.push_str(&before);
        text.push_str(&item);
        text.push_str(&after);
        text.push_str(if at + 1 < count { "," } else { comma });
    }
    text.push_str(end);
    text.push(close);
    text
}

fn trailing(flavour: Flavour) -> BoxedStrategy<&'static str> {
    match flavour {
        Flavour::Json => Just("").boxed(),
        Flavour::WithComments => prop_oneof![Just(""), Just(",")].boxed(),
    }
}

fn list(item: BoxedStrategy<String>, flavour: Flavour) -> BoxedStrategy<String> {
    let items = proptest::collection::vec((gap(flavour), item, gap(flavour)), 0..3);
    (items, gap(flavour), trailing(flavour))
        .prop_map(|(items, end, comma)| enclosed('[', ']', items, &end, comma))
        .boxed()
}

/// An object whose keys are all different.
fn object(
    members: Vec<(String, BoxedStrategy<String>)>,
    flavour: Flavour,
) -> BoxedStrategy<String> {
    let members: Vec<_> = members
        .into_iter()
        .map(|(key, value)| {
            (gap(flavour), gap(flavour), value, gap(flavour), any::<bool>()).prop_map(
                move |(before, colon, value, after, is_there)| {
                    is_there.then(|| (before, format!("\"{key}\":{colon}{value}"), after))
                },
            )
        })
        .collect();
    (members, gap(flavour), trailing(flavour))
        .prop_map(|(members, end, comma)| {
            enclosed('{', '}', members.into_iter().flatten().collect(), &end, comma)
        })
        .boxed()
}

/// Another person's hook, in the form of this file.
fn foreign_hook(form: JsonForm, flavour: Flavour) -> BoxedStrategy<String> {
    let key = form.command_key;
    let note = match flavour {
        Flavour::Json => "",
        Flavour::WithComments => " // mine",
    };
    let hook = prop_oneof![
        Just(format!("{{\"type\": \"command\", \"{key}\": \"say done\"}}")),
        Just(format!(
            "{{\n \"type\": \"command\",{note}\n \"{key}\": \"echo 'stopgate hook'\"\n}}"
        )),
        Just("{}".to_string()),
    ];
    if !form.has_groups {
        return hook.boxed();
    }
    let hooks = list(hook.boxed(), flavour);
    (hooks, gap(flavour))
        .prop_map(|(hooks, gap)| format!("{{\"matcher\": \"\",{gap}\"hooks\": {hooks}}}"))
        .boxed()
}

/// A whole settings file.
fn file(form: JsonForm, flavour: Flavour) -> BoxedStrategy<String> {
    let names = form.events.iter().map(|event| event.name).chain(["PreToolUse"]);
    let events: Vec<(String, BoxedStrategy<String>)> =
        names.map(|name| (name.to_string(), list(foreign_hook(form, flavour), flavour))).collect();
    let others = [("model".to_string(), scalar().boxed()), ("ünlike".into(), scalar().boxed())];
    let members = match form.wrapper {
        Some(wrapper) => {
            let hooks = (wrapper.to_string(), object(events, flavour));
            others.into_iter().chain([hooks]).collect()
        }
        None => others.into_iter().chain(events).collect::<Vec<_>>(),
    };
    let lead = match flavour {
        Flavour::Json => prop_oneof![4 => Just(""), 1 => Just("\u{feff}")].boxed(),
        Flavour::WithComments => {
            prop_oneof![4 => Just(""), 1 => Just("\u{feff}"), 1 => Just("// mine\n")].boxed()
        }
    };
    let tail = match flavour {
        Flavour::Json => prop_oneof![Just(""), Just("\n"), Just("\r\n")].boxed(),
        Flavour::WithComments => {
            prop_oneof![Just(""), Just("\n"), Just("\n// end\n"), Just(" /* end */")].boxed()
        }
    };
    (lead, object(members, flavour), tail)
        .prop_map(|(lead, root, tail)| format!("{lead}{root}{tail}"))
        .boxed()
}

/// An agent and a file of its settings.
fn agent_and_file(flavour: Flavour) -> impl Strategy<Value = (Agent, String)> {
    let agents: Vec<(Agent, JsonForm)> = json_agents().collect();
    (0..agents.len()).prop_flat_map(move |at| {
        let (agent, form) = agents[at];
        file(form, flavour).prop_map(move |text| (agent, text))
    })
}

/// Runs a property over as many files of both kinds as are asked for.
fn for_json_files(property: impl Fn(Agent, &str) -> Result<(), TestCaseError>) {
    for flavour in [Flavour::Json, Flavour::WithComments] {
        let checked =
            runner().run(&agent_and_file(flavour), |(agent, text)| property(agent, &text));
        checked.unwrap_or_else(|error| panic!("{flavour:?}: {error}"));
    }
}

fn json_agents() -> impl Iterator<Item = (Agent, JsonForm)> {
    Agent::ALL.into_iter().filter_map(|agent| match agent.files().form {
        SettingsForm::Json(form) => Some((agent, form)),
        SettingsForm::KimiToml | SettingsForm::Bridge(_) => None,
    })
}

fn entries(agent: Agent) -> [HookEntry; 2] {
    let own = HookEntry::new(agent, PROGRAM);
    let shared = HookEntry { form: EntryForm::Shared, ..own.clone() };
    [own, shared]
}

fn tree(text: &str) -> serde_json::Value {
    let parsed =
        jsonc_parser::parse_to_value(without_bom(text), &jsonc_parser::ParseOptions::default());
    plain(parsed.expect("it is JSON").expect("it holds a value"))
}

fn plain(value: jsonc_parser::JsonValue<'_>) -> serde_json::Value {
    use jsonc_parser::JsonValue as From;
    match value {
        From::String(text) => text.into_owned().into(),
        From::Number(number) => serde_json::from_str(number).expect("a number"),
        From::Boolean(flag) => flag.into(),
        From::Object(object) => {
            object.into_iter().map(|(key, value)| (key.to_string(), plain(value))).collect()
        }
        From::Array(list) => list.into_iter().map(plain).collect(),
        From::Null => serde_json::Value::Null,
    }
}

/// Whether the file has a place for our entries that is empty.
fn is_hollow(agent: Agent, before: &str) -> bool {
    let SettingsForm::Json(form) = agent.files().form else { return false };
    let root = tree(before);
    let hooks = form.wrapper.map_or(&root, |wrapper| &root[wrapper]);
    let is_empty = |value: &serde_json::Value| {
        value.as_array().is_some_and(Vec::is_empty)
            || value.as_object().is_some_and(serde_json::Map::is_empty)
    };
    is_empty(&root)
        || is_empty(hooks)
        || form.events.iter().any(|event| is_empty(&hooks[event.name]))
}

/// What an installation begins an empty file with may stay.
fn without_beginning(form: JsonForm, left: &mut serde_json::Value, right: &mut serde_json::Value) {
    if let Some((key, _)) = form.begins_with {
        for value in [left, right] {
            value.as_object_mut().and_then(|members| members.remove(key));
        }
    }
}

/// What an agent's file must be after we came and went.
fn comes_and_goes(agent: Agent, before: &str) -> Result<(), TestCaseError> {
    for entry in entries(agent) {
        let installed = install(Some(before), &entry).unwrap().text;
        let again = install(Some(&installed), &entry).unwrap();
        prop_assert_eq!(&again.changes, &[""; 0], "{}", installed);
        prop_assert_eq!(&again.text, &installed);
        let found = find(agent, &installed).unwrap();
        prop_assert!(found.iter().any(InstalledEntry::judges_stops), "{}", installed);
        // With the backup, every byte comes back; without it, all but lists that were empty.
        prop_assert!(is_installation(agent, before, &installed), "by way of {}", installed);
        let removed = uninstall(agent, &installed, None).unwrap().text;
        if is_hollow(agent, before) {
            let (mut left, mut expected) = (tree(&removed), tree(before));
            if let SettingsForm::Json(form) = agent.files().form {
                without_beginning(form, &mut left, &mut expected);
            }
            prune(&mut left);
            prune(&mut expected);
            prop_assert_eq!(left, expected, "by way of {}", installed);
        } else {
            prop_assert_eq!(&removed, before, "by way of {}", installed);
        }
    }
    Ok(())
}

#[test]
fn a_file_is_what_it_was_after_we_came_and_went() {
    for_json_files(comes_and_goes);
}

/// Another program that rewrites the whole file: it loses comments and layout, adds a key, and a
/// hook of its own at the end of these lists.
fn rewritten(text: &str, form: JsonForm, events: &[&str]) -> String {
    let mut value = tree(text);
    value["added"] = serde_json::json!({"by": "another program"});
    for event in events {
        let theirs = serde_json::json!({"matcher": "x", "hooks": [{"type": "http", "url": "y"}]});
        let hooks = match form.wrapper {
            Some(wrapper) => &mut value[wrapper],
            None => &mut value,
        };
        hooks[*event].as_array_mut().expect("a list").push(theirs);
    }
    serde_json::to_string_pretty(&value).unwrap()
}

/// The events that a file has lists for.
fn listed(text: &str, form: JsonForm) -> Vec<&'static str> {
    let value = tree(text);
    let hooks = form.wrapper.map_or(&value, |wrapper| &value[wrapper]);
    form.events.iter().map(|event| event.name).filter(|name| hooks[*name].is_array()).collect()
}

#[test]
fn what_another_program_wrote_in_between_stays_and_only_ours_goes() {
    for_json_files(|agent, before| {
        let SettingsForm::Json(form) = agent.files().form else { return Ok(()) };
        let events = listed(before, form);
        for entry in entries(agent) {
            let installed = install(Some(before), &entry).unwrap().text;
            let now = rewritten(&installed, form, &events);
            let removed = uninstall(agent, &now, None).unwrap().text;
            let mut expected = tree(&rewritten(before, form, &events));
            let mut left = tree(&removed);
            without_beginning(form, &mut left, &mut expected);
            // Lists of ours that others emptied are as good as none.
            prune(&mut expected);
            prune(&mut left);
            prop_assert_eq!(left, expected, "{:?} by way of {}", agent, installed);
            prop_assert_eq!(find(agent, &removed).unwrap(), []);
        }
        Ok(())
    });
}

/// Another program's edits of a text, which leave everything else as it is.
fn retouched(text: &str) -> String {
    let at = text.find('{').expect("an object") + 1;
    let (before, after) = text.split_at(at);
    let added = "\n  \"added\": {\"by\": [1, 2]},";
    format!("{before}{added}{}\n\n", after.replace("\"ünlike\"", "\"like\""))
}

#[test]
fn an_edit_in_between_keeps_every_other_byte() {
    for_json_files(|agent, before| {
        if is_hollow(agent, before) {
            return Ok(());
        }
        for entry in entries(agent) {
            let installed = install(Some(before), &entry).unwrap().text;
            let removed = uninstall(agent, &retouched(&installed), None).unwrap().text;
            prop_assert_eq!(&removed, &retouched(before), "{:?} by way of {}", agent, installed);
        }
        Ok(())
    });
}

/// Takes out empty lists and objects, which say nothing.
fn prune(value: &mut serde_json::Value) {
    let is_empty = |value: &serde_json::Value| {
        value.as_array().is_some_and(Vec::is_empty)
            || value.as_object().is_some_and(serde_json::Map::is_empty)
    };
    match value {
        serde_json::Value::Object(members) => {
            members.values_mut().for_each(prune);
            members.retain(|_, value| !is_empty(value));
        }
        serde_json::Value::Array(items) => {
            items.iter_mut().for_each(prune);
            items.retain(|value| !is_empty(value));
        }
        _ => {}
    }
}

/// A TOML file as people write it.
fn toml_file() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        Just("model = \"x\"".to_string()),
        Just("# a note [[hooks]]".into()),
        Just("[tables.\"é\"]\nkey = 'v' # c".into()),
        Just("[[hooks]]\nevent = \"Stop\"\ncommand = \"say done\"".into()),
        Just("[[other]]\na = [1,\n  2, # two\n]".into()),
        Just("a.b.c = { d = 1, \"e f\" = [] }".into()),
        Just("since = 2026-01-01T00:00:00Z\t# then".into()),
        (0..1000_u32).prop_map(|number| format!("key{number} = 1_{number:03}")),
        (0..1000_u32).prop_map(|number| format!("[table{number}]\nx = \"\\u00e9\"")),
        Just("text = \"\"\"\n[[hooks]]\ncommand = \"stopgate hook\"\n\"\"\"".into()),
    ];
    let breaks = prop_oneof![Just("\n"), Just("\n\n"), Just("\r\n"), Just("\n  \n")];
    let parts = proptest::collection::vec((part, breaks), 0..8);
    (parts, any::<bool>()).prop_map(|(parts, ends)| {
        let mut text = String::new();
        let mut seen: Vec<String> = Vec::new();
        for (part, end) in parts {
            // A key or a table may stand there once; a list of tables as often as it likes.
            let repeats = part.starts_with("[[") || part.starts_with('#');
            let bare = !part.starts_with('[') && !part.starts_with('#');
            if (!repeats && seen.contains(&part))
                || (bare && seen.iter().any(|one| one.starts_with('[')))
            {
                continue;
            }
            text.push_str(&part);
            text.push_str(end);
            seen.push(part);
        }
        if ends { text } else { text.trim_end().to_string() }
    })
}

#[test]
fn a_toml_file_is_what_it_was_after_we_came_and_went() {
    let checked = runner().run(&toml_file(), |before| comes_and_goes_in_toml(&before));
    checked.unwrap_or_else(|error| panic!("{error}"));
}

fn comes_and_goes_in_toml(before: &str) -> Result<(), TestCaseError> {
    let agent = Agent::Kimi;
    let entry = HookEntry::new(agent, PROGRAM);
    let installed = install(Some(before), &entry).unwrap().text;
    prop_assert_eq!(&install(Some(&installed), &entry).unwrap().text, &installed);
    prop_assert_eq!(find(agent, &installed).unwrap().len(), 3);
    prop_assert_eq!(&uninstall(agent, &installed, None).unwrap().text, before);
    // Another program adds a key at the top.
    let top = "added_at_the_top = true # by another program\n";
    let left = uninstall(agent, &format!("{top}{installed}"), None).unwrap().text;
    // An empty file gets no line break before our tables, so this one goes with them.
    let expected = if before.is_empty() { top.trim_end() } else { top };
    prop_assert_eq!(left, format!("{}{}", expected, before));
    // Another program adds a table behind ours.
    let added = format!("{installed}\n[added]\nby = \"another program\"\n");
    let left = uninstall(agent, &added, None).unwrap().text;
    prop_assert!(left.ends_with("\n[added]\nby = \"another program\"\n"), "{}", left);
    prop_assert!(left.starts_with(before.trim_end()), "{}", left);
    prop_assert_eq!(find(agent, &left).unwrap(), []);
    // Another program writes the whole file anew.
    let anew =
        installed.replace("command = \"", "command   =   \"").replace("timeout =", "timeout  =");
    let left = uninstall(agent, &anew, None).unwrap().text;
    prop_assert_eq!(find(agent, &left).unwrap(), []);
    prop_assert!(!left.contains("/opt/my tools/stopgate"), "{}", left);
    Ok(())
}
