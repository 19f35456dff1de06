use stopgate_core::Timestamp;

use super::*;

const PROGRESS: &str = "# Ralph Loop Progress: x\n\n## Configuration\n- Max Iterations: 15\n\n\
                        ## Current State\n- Iteration: 3\n- Status: IN_PROGRESS\n";

fn list(text: &str) -> FeatureList {
    FeatureList::read(text).expect("a list")
}

#[test]
fn only_a_plain_true_passes() {
    let list = list(
        r#"{"features": [{"id": 1, "passes": true}, {"id": 2, "passes": "true"}, {"id": 3},
            {"id": 4, "passes": 1}, {"id": 5, "passes": false}, "six"]}"#,
    );
    assert_eq!((list.features.len(), list.complete(), list.remaining()), (6, 1, 5));
    assert_eq!(list.next().map(|next| &*next.id), Some("2"));
    assert_eq!(list.features[5].description, "six");
    assert!(!list.oddities.is_empty());
}

#[test]
fn a_bare_list_comments_and_texts_as_ids_are_understood() {
    let list =
        list("\u{feff}[ // mine\n {\"id\": \"F-1\", \"name\": \"n\", \"passes\": false,},\n]");
    let next = list.next().expect("one is left");
    assert_eq!((&*next.id, &*next.description), ("F-1", "n"));
    assert_eq!(list.oddities, Vec::<String>::new());
}

#[test]
fn what_is_no_list_is_refused() {
    for text in ["", "nope", "{}", r#"{"features": {}}"#, r#"{"features": null}"#, "7"] {
        assert!(FeatureList::read(text).is_err(), "{text:?}");
    }
    assert_eq!(list(r#"{"features": []}"#).features, []);
}

#[test]
fn oddities_are_named() {
    let list = list(r#"{"features": [{"id": 1, "passes": true, "description": "d"}, {"id": 1}]}"#);
    assert_eq!(
        list.oddities,
        [
            "the 2. feature has no description",
            "the 2. feature has no \"passes\": true or false; it counts as unfinished",
            "two features have the id 1",
        ]
    );
}

#[test]
fn numbers_have_defaults_and_bounds() {
    let read = |text: &str| {
        let progress = ProgressFile::read(text);
        (progress.iteration, progress.max)
    };
    assert_eq!(read(PROGRESS), (3, 15));
    assert_eq!(read("Status: x\n"), (1, 15));
    assert_eq!(read("Iteration: many\nIteration: 4\nMax Iterations: 0"), (4, 0));
    assert_eq!(read("Max Iteration: 15\n**Iteration:** 2\n"), (2, 15));
    assert_eq!(read("Iteration: 99999999999999999999\n"), (u32::MAX, 15));
    assert_eq!(
        ProgressFile::read("- Status:  not started \r\n").status.as_deref(),
        Some("not started")
    );
    let tuned = "Compact Every: 4\nFeatures Per Session: 5\nContext Limit: 1000000\n";
    let progress = ProgressFile::read(tuned);
    assert_eq!((progress.compact_every, progress.per_session), (4, 5));
    assert_eq!(progress.context_limit, Some(1_000_000));
}

#[test]
fn the_first_lines_change_and_no_others() {
    let text = format!("{PROGRESS}\nold note Iteration: 9, Status: done\n");
    let expected = text.replacen("Iteration: 3", "Iteration: 4", 1);
    assert_eq!(advanced(&text, 4), expected);
    let expected = text.replacen("Status: IN_PROGRESS", "Status: COMPLETE", 1);
    assert_eq!(ended(&text, ProgressStanding::Complete), expected);
}

#[test]
fn what_stands_around_a_value_stays() {
    let check = |text: &str, expected: &str| assert_eq!(advanced(text, 7), expected);
    check(
        "Iteration: 3 of 15 \r\nStatus: x  \r\n",
        "Iteration: 7 of 15 \r\nStatus: IN_PROGRESS  \r\n",
    );
    check("**Iteration:** 3\n", "**Iteration:** 7\n");
    check("Iteration:3", "Iteration:7");
    check("Iteration:\n", "Iteration: 7\n");
    check("Iteration: none\n", "Iteration: 7\n");
}

#[test]
fn a_line_that_is_missing_is_added_where_it_is_needed() {
    assert_eq!(advanced("Status: x\n", 2), "Status: IN_PROGRESS\nIteration: 2\n");
    assert_eq!(advanced("", 2), "Iteration: 2\n");
    assert_eq!(advanced("note\r\nend", 2), "note\r\nend\r\nIteration: 2\r\n");
    assert_eq!(ended("note", ProgressStanding::ReachedLimit), "note\nStatus: REACHED_LIMIT\n");
}

#[test]
fn a_new_loop_can_be_read_again() {
    let text = list_template(&["say \"hi\"".into(), "b".into()]);
    let read = list(&text);
    assert_eq!(read.features[0].description, "say \"hi\"");
    assert_eq!((read.remaining(), read.oddities.len()), (2, 0));
    let progress = ProgressFile::read(&progress_template("x", 9));
    assert_eq!((progress.iteration, progress.max), (0, 9));
    assert_eq!(progress.status.as_deref(), Some("not_started"));
}

#[test]
fn a_model_is_the_features_own_or_its_categorys_or_the_default() {
    let read = list(
        r#"{"models": {"ui": "small", "default": "large"}, "features": [
            {"id": 1, "description": "a", "passes": false, "model": "own", "category": "ui"},
            {"id": 2, "description": "b", "passes": false, "category": "ui"},
            {"id": 3, "description": "c", "passes": false, "category": "other"}]}"#,
    );
    let models: Vec<_> = read.features.iter().map(|feature| read.model_of(feature)).collect();
    assert_eq!(models, [Some("own"), Some("small"), Some("large")]);
    let bare = list(r#"[{"id": 1, "description": "a", "passes": false}]"#);
    assert_eq!(bare.model_of(&bare.features[0]), None);
}

#[test]
fn the_agent_is_told_the_model_and_to_make_room_where_asked() {
    let feature = Feature {
        id: "2".into(),
        description: "Thing".into(),
        passes: false,
        model: Some("sonnet".into()),
        category: None,
    };
    let progress = ProgressFile::read("Compact Every: 4\n");
    let reason = continue_with(&feature, 4, &progress);
    assert!(reason.starts_with("Ralph Loop iteration 4: Continue with Feature 2 - Thing. Review"));
    assert!(reason.contains("the model sonnet"), "{reason}");
    assert!(reason.contains("/compact"), "{reason}");
    assert!(!continue_with(&feature, 5, &progress).contains("/compact"));
}

#[test]
fn a_full_context_is_known_by_its_window() {
    assert_eq!(overflowing(189_999, None), None);
    assert_eq!(overflowing(190_000, None), Some(200_000));
    assert_eq!(overflowing(200_001, None), None, "the window is evidently larger");
    assert_eq!(overflowing(950_000, None), Some(1_000_000));
    assert_eq!(overflowing(950_000, Some(0)), None);
    assert_eq!(overflowing(96, Some(100)), Some(100));
    assert_eq!(overflowing(u64::MAX, None), Some(1_000_000));
}

#[test]
fn a_batch_counts_what_this_session_completed() {
    assert!(!batch_is_done(7, 3, 0));
    assert!(!batch_is_done(7, 3, 5));
    assert!(batch_is_done(8, 3, 5));
    assert!(!batch_is_done(1, 3, 5), "somebody took back what had passed");
}

#[test]
fn a_line_of_the_log_is_one_line() {
    let now = Timestamp::from_unix_millis(1_700_000_000_000);
    let line = log_line(now, "abc\u{1b}[31m", Some(true), "CONTINUE: a\nb");
    assert_eq!(
        line,
        "[2023-11-14 22:13:20Z] Session: abc, stop_hook_active: true, CONTINUE: a b\n"
    );
}

#[test]
fn a_count_on_the_line_of_the_status_is_kept() {
    let before = "- Status: IN_PROGRESS | Max Iterations: 9 | Iteration: 3\n";
    let after = advanced(before, 4);
    let read = ProgressFile::read(&after);
    assert_eq!((read.iteration, read.max), (4, 9), "{after}");
    assert_eq!(ProgressFile::read(&ended(&after, ProgressStanding::ReachedLimit)).iteration, 4);
}

#[test]
fn a_feature_is_marked_and_everything_else_stays() {
    let text =
        "{\"features\": [\n  {\"id\": 1, \"passes\": false},\n  {\"id\": \"b\"} // last\n]}\n";
    let first = super::passing(text, "1").unwrap();
    assert_eq!(first, text.replace("false", "true"));
    assert_eq!(super::passing(&first, "1").unwrap(), first);
    let both = FeatureList::read(&super::passing(&first, "b").unwrap()).unwrap();
    assert_eq!(both.remaining(), 0);
    assert_eq!(super::passing(text, "9").unwrap(), text);
    let bare = "[{\"id\": 1, \"passes\": false}]";
    assert_eq!(super::passing(bare, "1").unwrap(), bare.replace("false", "true"));
}
