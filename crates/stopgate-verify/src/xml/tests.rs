use proptest::prelude::*;

use super::{Role, Tags};

fn names(document: &str) -> (Vec<String>, bool) {
    let mut tags = Tags::new(document);
    let mut names = Vec::new();
    for tag in &mut tags {
        let mark = match tag.role {
            Role::Open => "+",
            Role::Close => "-",
            Role::Empty => "",
        };
        names.push(format!("{mark}{}", tag.name));
    }
    (names, tags.is_sound())
}

#[test]
fn tags_come_in_order_and_comments_are_none() {
    let (found, sound) =
        names("<?xml version='1.0'?><!-- <x> --><a><b k=\">\"/><![CDATA[<c>]]></a>");
    assert_eq!(found, ["+a", "b", "-a"]);
    assert!(sound);
}

#[test]
fn a_document_that_is_cut_is_not_sound() {
    for cut in ["<a><b>", "<a", "<a><!-- ", "</a>"] {
        assert!(!names(cut).1, "{cut}");
    }
}

#[test]
fn attributes_are_decoded() {
    let document = "<a one='1' two = \"a &lt;&#65;&#x42;&amp;&nope; & b\" three='4'/>";
    let tag = Tags::new(document).next().expect("a tag");
    assert_eq!(tag.attribute("two").as_deref(), Some("a <AB&&nope; & b"));
    assert_eq!(tag.number("one"), Some(1));
    assert_eq!(tag.number("three"), Some(4));
    assert_eq!(tag.attribute("four"), None);
}

proptest! {
    #[test]
    fn no_text_is_too_odd(text in "[<>/!&;='\"a#x\u{e9}\\[\\]-]{0,60}") {
        for tag in Tags::new(&text) {
            let _ = tag.attribute("a");
        }
    }
}
