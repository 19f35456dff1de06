use proptest::prelude::*;
use serde_json::{Map, Value, json};
use stopgate_core::Timestamp;

use super::{TextChange, file, listing, message};

const NOW: Timestamp = Timestamp::from_unix_millis(1_800_000_000_000);

fn foreign() -> impl Strategy<Value = Vec<(String, Value)>> {
    let value = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        "[ -~é\"\\\\]{0,8}".prop_map(Value::from),
        Just(json!([1, {"deep": ["x"]}])),
    ];
    prop::collection::vec(("x[a-z\"]{0,6}", value), 0..5)
}

/// An object whose members stand in the order given, with a layout of its own.
fn object(members: &[(String, String)], layout: &str) -> String {
    let members = members.iter().map(|(name, value)| format!("{}:{layout}{value}", json!(name)));
    format!("{{{layout}{}{layout}}}", members.collect::<Vec<_>>().join(&format!(",{layout}")))
}

fn printed(foreign: &[(String, Value)]) -> Vec<(String, String)> {
    foreign.iter().map(|(name, value)| (name.clone(), value.to_string())).collect()
}

proptest! {
    #[test]
    fn counting_leaves_everything_else_byte_for_byte(
        outer in foreign(), inner in foreign(), iter in 0u32..1000, at in 0usize..4,
        layout in prop::sample::select(vec!["", " ", "\n  "]),
    ) {
        let text = |iter: u32, when: &str| {
            let mut frame = printed(&inner);
            frame.insert(at.min(frame.len()), ("iter".into(), iter.to_string()));
            let mut members = printed(&outer);
            members.push(("schema".into(), "1".into()));
            members.insert(at.min(members.len()), ("updated_at".into(), json!(when).to_string()));
            members.push(("stack".into(), format!("[{}]", object(&frame, layout))));
            members.push(("event".into(), "\"STATE\"".into()));
            object(&members, layout)
        };
        let before = text(iter, "2020-01-01T00:00:00Z");
        let after = message::changed(&before, &TextChange::Count(iter + 1), NOW);
        prop_assert_eq!(after, Some(text(iter + 1, "2027-01-15T08:00:00Z")));
    }

    #[test]
    fn an_end_keeps_what_it_does_not_know(outer in foreign()) {
        let mut state: Map<String, Value> = outer.iter().cloned().collect();
        state.insert("schema".into(), json!(1));
        state.insert("stack".into(), json!([{"iter": 1}]));
        let text = Value::Object(state.clone()).to_string();
        let done = message::changed(&text, &TextChange::Done("COMPLETE"), NOW).expect("it ends");
        let done: Map<String, Value> = serde_json::from_str(&done).expect("it is JSON");
        for (name, value) in &state {
            prop_assert!(name == "stack" || done.get(name) == Some(value), "{}", name);
        }
    }

    #[test]
    fn no_text_makes_a_reader_panic(text in "[-\\[\\]{}:,a \"\n0-9]{0,80}") {
        let _ = (message::read(&text), file::read(&text), listing::newest(&text));
    }
}
