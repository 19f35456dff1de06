use super::{Control, Review, SideMessage};

#[test]
fn a_word_or_an_object_controls_a_loop() {
    let control = |text: &str| SideMessage::read(text).and_then(|message| message.control());
    assert_eq!(control("pause\n"), Some(Control::Pause));
    assert_eq!(control("CANCEL: wrong branch"), Some(Control::Cancel));
    assert_eq!(control(r#"{"command":"escalate","run_id":"r1"}"#), Some(Control::Escalate));
    assert_eq!(control("resumed"), None);
    assert_eq!(control("  "), None);
    assert_eq!(control("{}"), None);
}

#[test]
fn only_an_approval_approves() {
    let review = |text: &str| SideMessage::read(text).map(|message| message.review());
    assert_eq!(review("APPROVED"), Some(Review::Approved));
    let wish = Review::Changes("name the error".into());
    assert_eq!(review("CHANGES: name the error"), Some(wish.clone()));
    assert_eq!(review(r#"{"decision":"CHANGES","text":"name the error"}"#), Some(wish));
    assert_eq!(review("not yet"), Some(Review::Changes("not yet".into())));
}
