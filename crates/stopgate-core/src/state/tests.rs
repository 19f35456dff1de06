use alloc::string::ToString;

use crate::{LoopId, SessionId};

#[test]
fn names_are_told_as_they_are() {
    assert_eq!(LoopId::new("1abc").as_str(), "1abc");
    assert_eq!(LoopId::new("1abc").to_string(), "1abc");
    let session = SessionId::new(" s1 ").expect("a name");
    assert_eq!((session.as_str(), &*session.to_string()), (" s1 ", " s1 "));
    assert_eq!(SessionId::new(" \t"), None);
}
