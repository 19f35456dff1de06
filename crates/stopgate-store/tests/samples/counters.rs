//! What came with counters.

use stopgate_core::{Event, Facts, Stopped};

use super::sent_back;

/// What came with counters: where they stood at a stop that was not counted, and what changed.
pub(crate) fn counters() -> Vec<Event> {
    let facts = Facts {
        tool_mark: Some(12),
        transcript_mark: Some(4096),
        changed_files: Some(3),
        ..Facts::default()
    };
    vec![Event::Stopped(Box::new(Stopped { facts, ..sent_back() }))]
}
