//! Over generated records: what is not the hook's stays byte for byte, and nothing panics.

use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::Value;

use super::{TaskEdit, TaskRecord, TaskSight};
use crate::json_text::Document;

/// Foreign members in somebody's own layout, with comments.
fn foreign() -> impl Strategy<Value = String> {
    let value = prop_oneof![
        Just("1.50".to_string()),
        Just("[ 1,2 ,\t3 ]".to_string()),
        Just("{\"b\" : null , \"a\":{}}".to_string()),
        "[a-z é]{0,6}".prop_map(|text| Value::from(text).to_string()),
    ];
    let gap =
        prop_oneof![Just(""), Just("\n\t"), Just(" /* note, \"x\": 1 */ "), Just(" // own\n")];
    let member = ("[a-z]{9}", gap, value)
        .prop_map(|(name, gap, value)| format!("{gap}\"{name}\"{gap}: {value},"));
    vec(member, 0..5).prop_map(|members| members.concat())
}

proptest! {
    #[test]
    fn a_count_changes_its_digits_alone(
        before in foreign(), inside in foreign(), after in foreign(), count in 0..99_u32
    ) {
        let text = |count: u32| format!(
            "{{{before}\"status\":\"in_progress\",\"metadata\" : {{{inside}\"iteration\" :{count} \
             ,{after}\"cost\":1}} // end\n}}\n"
        );
        let edited = TaskEdit::of(&text(count)).iteration(count + 1).text();
        prop_assert_eq!(edited, text(count + 1));
    }

    #[test]
    fn what_is_remembered_adds_one_member(before in foreign(), inside in foreign()) {
        let text = format!(
            "{{{before}\"status\": \"in_progress\", \"metadata\": {{{inside}\"iteration\": 1}}}}"
        );
        let record = TaskRecord::read(&text).unwrap();
        let sight = TaskSight { session: "s", ..TaskSight::default() };
        let mark = record.mark.seen_by(&record, &sight).sent_back(&record, 0, 1);
        let edited = TaskEdit::of(&text).mark(&mark).text();
        prop_assert_eq!(&TaskRecord::read(&edited).unwrap().mark.session, "s");
        let mut value = Document::read(&edited).unwrap().root().value();
        value["metadata"].as_object_mut().unwrap().remove("stopgate");
        prop_assert_eq!(value, Document::read(&text).unwrap().root().value());
        // All that stood before the new member stands where it stood.
        let kept = text.trim_end_matches('}');
        prop_assert!(edited.starts_with(kept.trim_end()), "{}", edited);
    }

    #[test]
    fn no_text_makes_it_panic(text in "\\PC{0,80}") {
        let _ = TaskRecord::read(&text);
        let _ = TaskEdit::of(&text).iteration(1).text();
    }
}
