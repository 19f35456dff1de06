//! Files in other people's formats: what is read can be edited, and reads back.

use serde_json::{Value, json};
use stopgate_core::{Decision, LoopId, Marker, Seen, State, Tally, Timestamp, apply, decide};
use stopgate_dialects::front_matter::FrontMatter;
use stopgate_dialects::idle::{self, TextChange};
use stopgate_dialects::json_text::{self, Document, PathStep};
use stopgate_dialects::{criteria, features, import, instant, instant_text, ralph_loop, task};

use super::Target;

const NOW: Timestamp = Timestamp::from_unix_millis(1_794_744_000_000);

/// Every target of this kind.
pub const TARGETS: [Target; 9] = [
    ("json_text", json_text),
    ("front_matter", front_matter),
    ("idle_message", idle_message),
    ("idle_file", idle_file),
    ("ralph_loop", ralph_loop),
    ("features", features),
    ("criteria", criteria),
    ("task", task),
    ("instant", instants),
];

/// An edit of a JSON text changes what it names, and nothing else.
pub fn json_text(bytes: &[u8]) {
    let Ok(text) = str::from_utf8(bytes) else { return };
    let Ok(document) = Document::read(text) else { return };
    let before = document.root().value();
    let path = [PathStep::Key("metadata"), PathStep::Key("iteration")];
    let edited = json_text::set(text, &path, &json!(7)).expect("what was read can be edited");
    let after = Document::read(&edited).expect("an edited text can be read").root().value();
    assert_eq!(after["metadata"]["iteration"], json!(7), "{edited}");
    if let Value::Object(fields) = &before {
        for (name, value) in fields.iter().filter(|(name, _)| *name != "metadata") {
            assert_eq!(&after[name], value, "{edited}");
        }
    }
    let removed = json_text::remove(&edited, &path).expect("what was set can be removed");
    let after = Document::read(&removed).expect("what is left can be read").root().value();
    // Where a name stood twice, an earlier one comes to light: no edit touched it.
    if text.matches("iteration").count() < 2 && !text.contains('\\') {
        assert_eq!(after["metadata"].get("iteration"), None, "{removed}");
    }
}

/// A changed field reads back, and the body stays.
pub fn front_matter(bytes: &[u8]) {
    let Ok(text) = str::from_utf8(bytes) else { return };
    let Some(file) = FrontMatter::read(text) else { return };
    let edited = file.with("iteration", "7");
    let again = FrontMatter::read(&edited).expect("an edited file has fields");
    assert_eq!(again.value("iteration").as_deref(), Some("7"), "{edited}");
    assert_eq!(again.body(), file.body(), "{edited}");
}

/// A message of the idle plugin, and the listing it stands in.
pub fn idle_message(bytes: &[u8]) {
    let Ok(text) = str::from_utf8(bytes) else { return };
    if let Some(newest) = idle::listing::newest(text) {
        let _ = idle::message::read(&newest);
    }
    let Some(found) = idle::message::read(text) else { return };
    let _ = import::from_idle(&found, NOW);
    let changes =
        [TextChange::Count(7), TextChange::Pop, TextChange::Done("COMPLETE"), TextChange::Stale];
    for change in changes {
        if let Some(next) = idle::message::changed(text, &change, NOW) {
            assert!(idle::message::read(&next).is_some(), "{change:?}: {next}");
        }
    }
}

/// A file of the idle plugin.
pub fn idle_file(bytes: &[u8]) {
    let Ok(text) = str::from_utf8(bytes) else { return };
    let Some(found) = idle::file::read(text) else { return };
    let _ = import::from_idle(&found, NOW);
    if let Some(idle::file::After::Text(next)) =
        idle::file::changed(text, &TextChange::Count(7), NOW)
    {
        assert!(idle::file::read(&next).is_some(), "{next}");
    }
}

/// A file of the widely used plugin.
pub fn ralph_loop(bytes: &[u8]) {
    let Ok(text) = str::from_utf8(bytes) else { return };
    let Some(found) = ralph_loop::RalphLoop::read(text) else { return };
    let _ = import::from_ralph_loop(&found);
    let Ok(frame) = found.frame else { return };
    let next = ralph_loop::counted(text, 7).expect("what was read can be counted");
    let again = ralph_loop::RalphLoop::read(&next).expect("it can be read again");
    assert_eq!(again.frame.map(|frame| frame.iteration), Ok(7), "{next}");
    assert_eq!(again.run, found.run, "it is the same loop");
    let _ = ralph_loop::note(&frame, found.promise.as_deref());
}

/// A list of features before the first NUL byte, a progress file behind it.
pub fn features(bytes: &[u8]) {
    let Ok(text) = str::from_utf8(bytes) else { return };
    let (list, progress) = text.split_once('\0').unwrap_or((text, text));
    let before = features::ProgressFile::read(progress);
    let next = features::advanced(progress, 7);
    assert_eq!(features::ProgressFile::read(&next).iteration, 7, "{next}");
    assert_eq!(features::ProgressFile::read(&next).max, before.max, "{next}");
    let Ok(list) = features::FeatureList::read(list) else { return };
    let _ = import::from_features(&list, &before);
    if let Some(feature) = list.next() {
        assert!(!features::continue_with(feature, 2, &before).is_empty());
    }
}

/// A file of criteria.
pub fn criteria(bytes: &[u8]) {
    let Ok(text) = str::from_utf8(bytes) else { return };
    let _ = criteria::advice(text);
    let Ok(record) = criteria::CriteriaRecord::read(text) else { return };
    let _ = import::from_criteria(&record);
    let _ = criteria::announcement(&record);
    assert!(!criteria::blocked(&record).is_empty());
    let next = criteria::counted(text, 7, &record.next_breaker()).expect("it can be counted");
    let again = criteria::CriteriaRecord::read(&next).expect("it can be read again");
    assert_eq!((again.iteration, again.breaker), (7, record.next_breaker()), "{next}");
    assert_eq!(again.criteria, record.criteria, "{next}");
}

/// A task, stopped three times.
pub fn task(bytes: &[u8]) {
    let Ok(text) = str::from_utf8(bytes) else { return };
    let Ok(record) = task::TaskRecord::read(text) else { return };
    let _ = import::from_task(&record);
    let _ = task::choose(&[record.clone(), record]);
    let mut text = text.to_string();
    for said in [&[][..], &[], &[Marker::LoopComplete]] {
        text = stopped(&text, said);
    }
}

fn stopped(text: &str, said: &[Marker]) -> String {
    let record = task::TaskRecord::read(text).expect("what was written can be read");
    let sight = task::TaskSight { session: "s", prompt_id: Some("p"), continued: None };
    let look = task::TaskLook::new(&record, &sight);
    let state = State {
        id: LoopId::new("task"),
        goal: record.subject.clone(),
        project: String::new(),
        session: None,
        claim_until: None,
        policy: task::policy(),
        phase: look.phase(NOW),
        frames: vec![look.frame()],
        criteria: Vec::new(),
        ground: stopgate_core::Ground::default(),
        surface: stopgate_core::Surface::default(),
        gates: Vec::new(),
        spend: None,
        woken: None,
        worktree: None,
        tally: look.tally(Tally::default()),
        started_at: NOW,
        updated_at: NOW,
        progress_at: NOW,
        rest_ms: 0,
        answer: None,
        origin: stopgate_core::Origin::default(),
    };
    let seen = look.seen(Seen { markers: said.to_vec(), ..Seen::default() });
    let decision: Decision = decide(&state, &seen, NOW);
    let after = decision
        .events
        .iter()
        .fold(state, |state, event| apply(Some(state), event, NOW).expect("a loop stays a loop"));
    let settled = look.settle(text, &decision, &after, NOW);
    let again = task::TaskRecord::read(&settled.text).expect("what was written can be read");
    let counted = again.iteration.saturating_sub(record.iteration);
    assert!(again.iteration >= record.iteration && counted <= 1, "{}", settled.text);
    assert_eq!(again.remaining, record.remaining, "{}", settled.text);
    assert_eq!(again.errors, record.errors, "{}", settled.text);
    settled.text
}

/// A point in time: what is written reads back.
pub fn instants(bytes: &[u8]) {
    let Ok(text) = str::from_utf8(bytes) else { return };
    let Some(at) = instant(text) else { return };
    let whole = at.unix_millis().div_euclid(1000);
    let again = instant(&instant_text(at)).expect("what is written can be read");
    assert_eq!(again.unix_millis().div_euclid(1000), whole, "{text}");
}
