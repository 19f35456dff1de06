//! What counts as an accusation, and which outcome means what.

use super::{StoryEnding, accuses, text_of};

#[test]
fn only_done_is_done() {
    assert_eq!(StoryEnding::of_outcome(Some("done")), StoryEnding::Done);
    assert_eq!(StoryEnding::of_outcome(Some("attested")), StoryEnding::Attested);
    assert_eq!(StoryEnding::of_outcome(Some("needs_approval")), StoryEnding::Asked);
    assert_eq!(StoryEnding::of_outcome(Some("tampered")), StoryEnding::Accused);
    for other in [None, Some("infra_error"), Some("stalled"), Some("aborted")] {
        assert_eq!(StoryEnding::of_outcome(other), StoryEnding::Held, "{other:?}");
    }
}

#[test]
fn an_accusation_is_found_in_every_answer() {
    let answer =
        r#"{"hookSpecificOutput":{"additionalContext":"Put it back, or it is Tampering"}}"#;
    assert!(accuses(&text_of(answer)));
    assert!(accuses(&text_of(r#"{"systemMessage":"ended: tampered"}"#)));
    assert!(!accuses(&text_of(r#"{"reason":"two original tests fail"}"#)));
}
