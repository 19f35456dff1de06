//! The words that every agent shares.

use super::*;

#[test]
fn only_a_prompt_that_begins_as_a_task_notification_is_one() {
    for (prompt, expected) in [
        (Some("<task-notification>\n<task-id>a1</task-id>"), true),
        (Some("<task-notification>"), true),
        (Some("what does <task-notification> mean?"), false),
        (Some(""), false),
        (None, false),
    ] {
        assert_eq!(call(prompt).is_task_notification(), expected, "{prompt:?}");
    }
}

#[test]
fn an_owned_call_says_the_same() {
    let call = Call {
        background: vec![Background {
            id: "b1".into(),
            kind: "shell".into(),
            description: "".into(),
        }],
        cwd: Some("/proj".into()),
        ..call(Some("go on"))
    };
    assert_eq!(call.clone().into_owned(), call);
}

#[test]
fn a_blank_prompt_is_not_typed_by_a_person() {
    assert!(call(Some("go on")).is_typed());
    // A client that does not tell the text tells of a person all the same.
    assert!(call(None).is_typed());
    for blank in ["", " \n"] {
        assert!(!call(Some(blank)).is_typed(), "{blank:?}");
    }
}

#[test]
fn every_error_finishes_the_sentence_could_not() {
    let json = serde_json::from_str::<u8>("{").unwrap_err();
    for error in [
        Malformed::Empty,
        Malformed::NotUtf8,
        Malformed::NotJson(json),
        Malformed::NotAnObject,
        Malformed::NoSession,
        Malformed::NoEvent,
    ] {
        let text = error.to_string();
        assert!(text.starts_with(|first: char| first.is_ascii_lowercase()), "{text}");
        assert!(!text.ends_with('.'), "{text}");
    }
}

fn call(prompt: Option<&str>) -> Call<'_> {
    Call {
        prompt: prompt.map(Cow::Borrowed),
        ..Call::new(Agent::Claude, HookEvent::UserPromptSubmit, "s1".into())
    }
}
