//! Over generated files: an edit changes the value it names, and nothing else.

use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::json;

use super::*;

/// A value and the layout it is written in.
#[derive(Clone, Debug)]
enum Tree {
    Plain(String),
    List(Vec<(String, Tree, String)>),
    Object(Vec<(String, String, Tree, String)>),
}

fn gap() -> impl Strategy<Value = String> {
    let plain = prop_oneof![Just(""), Just(" "), Just("\n  "), Just("\r\n\t"), Just("   ")];
    let noted = prop_oneof![
        "[a-z,\\]}{\"]{0,6}".prop_map(|note| format!("/* {note} */")),
        "[a-z,\\]}{\"]{0,6}".prop_map(|note| format!(" // {note}\n")),
    ];
    prop_oneof![4 => plain.prop_map(String::from), 1 => noted]
}

fn tree() -> impl Strategy<Value = Tree> {
    let plain = prop_oneof![
        Just("1".to_string()),
        Just("-2.50".to_string()),
        Just("true".to_string()),
        Just("null".to_string()),
        "[a-z \\p{L}]{0,5}".prop_map(|text| Value::from(text).to_string()),
    ];
    let leaf = plain.prop_map(Tree::Plain);
    leaf.prop_recursive(3, 24, 4, |inner| {
        let item = (gap(), inner.clone(), gap());
        let member = ("[abc]{1,2}", gap(), inner, gap());
        prop_oneof![vec(item, 0..4).prop_map(Tree::List), vec(member, 0..4).prop_map(Tree::Object),]
    })
}

fn object() -> impl Strategy<Value = Tree> {
    vec(("[abc]{1,2}", gap(), tree(), gap()), 0..4).prop_map(Tree::Object)
}

/// An object whose members all have names of their own, and at least one of them.
fn members() -> impl Strategy<Value = Tree> {
    vec((gap(), tree(), gap()), 1..4).prop_map(|members| {
        let named = members.into_iter().enumerate();
        Tree::Object(named.map(|(at, (a, tree, b))| (format!("m{at}"), a, tree, b)).collect())
    })
}

fn write(tree: &Tree) -> String {
    match tree {
        Tree::Plain(text) => text.clone(),
        Tree::List(items) => {
            let items: Vec<_> =
                items.iter().map(|(a, item, b)| format!("{a}{}{b}", write(item))).collect();
            format!("[{}]", items.join(","))
        }
        Tree::Object(members) => {
            let write = |(name, a, value, b): &(String, String, Tree, String)| {
                format!("{a}\"{name}\"{b}:{a}{}{b}", write(value))
            };
            let members: Vec<_> = members.iter().map(write).collect();
            format!("{{{}}}", members.join(","))
        }
    }
}

fn value(text: &str) -> Value {
    Document::read(text).expect("JSON").root().value()
}

/// Every comment of a text, in order.
fn found(text: &str) -> Vec<ast::Comment<'_>> {
    let options = CollectOptions {
        comments: jsonc_parser::CommentCollectionStrategy::Separate,
        tokens: true,
    };
    let parsed = parse_to_ast(text, &options, &COMMENTED_JSON).expect("JSON");
    let mut found: Vec<_> =
        parsed.comments.unwrap_or_default().values().flat_map(|list| list.to_vec()).collect();
    found.sort_by_key(Ranged::start);
    found.dedup_by_key(|comment| comment.start());
    found
}

fn comments(text: &str) -> Vec<String> {
    found(text).iter().map(|comment| comment.text().trim().to_string()).collect()
}

/// Whether every byte of `part` is in `whole`, in order; white space in an empty object aside.
fn holds(whole: &str, part: &str) -> bool {
    let mut bytes = whole.bytes();
    let is_empty = value(part) == json!({});
    let wanted = part.bytes().filter(|byte| !is_empty || !byte.is_ascii_whitespace());
    wanted.into_iter().all(|byte| bytes.any(|other| other == byte))
}

/// How much of `before` is left at both ends of `after`.
fn kept(before: &str, after: &str) -> usize {
    let same = |(a, b): &(u8, u8)| a == b;
    let head = before.bytes().zip(after.bytes()).take_while(same).count();
    let (before, after) = (&before.as_bytes()[head..], &after.as_bytes()[head..]);
    head + before.iter().copied().rev().zip(after.iter().copied().rev()).take_while(same).count()
}

proptest! {
    #[test]
    fn setting_a_member_changes_it_alone(tree in object(), name in "[abcd]{1,2}") {
        let text = write(&tree);
        let mut expected = value(&text);
        let old = expected.get(&name).cloned();
        let edited = set(&text, &[PathStep::Key(&name)], &json!(77)).expect("an edit");
        expected[&name] = json!(77);
        prop_assert_eq!(value(&edited), expected);
        let is_plain = old.as_ref().is_none_or(|old| !old.is_array() && !old.is_object());
        if is_plain {
            prop_assert_eq!(comments(&edited), comments(&text));
        }
        if let Some(old) = old.filter(|_| is_plain) {
            prop_assert!(kept(&text, &edited) + old.to_string().len() + 1 >= text.len());
        } else if is_plain {
            prop_assert!(holds(&edited, &text), "{edited:?}");
        }
        prop_assert_eq!(set(&edited, &[PathStep::Key(&name)], &json!(77)).expect("an edit"), edited);
    }

    #[test]
    fn a_pushed_element_is_the_only_news(tree in object(), name in "[abcd]{1,2}") {
        let text = write(&tree);
        let edited = push(&text, &[PathStep::Key(&name)], &json!("new")).expect("an edit");
        let mut expected = value(&text);
        match expected.get_mut(&name) {
            Some(Value::Array(list)) => list.push(json!("new")),
            _other => expected[&name] = json!(["new"]),
        }
        prop_assert_eq!(value(&edited), expected);
    }

    #[test]
    fn removing_leaves_the_rest_and_every_comment_outside(tree in members(), at in 0_usize..4) {
        let text = write(&tree);
        let document = Document::read(&text).expect("JSON");
        let object = document.root.as_object().expect("an object");
        let gone = &object.properties[at % object.properties.len()];
        let name = gone.name.as_str();
        let mut expected = value(&text);
        expected.as_object_mut().expect("an object").remove(name);
        let edited = remove(&text, &[PathStep::Key(name)]).expect("an edit");
        prop_assert_eq!(value(&edited), expected);
        let (before, after) = (&text[..gone.start()], &text[gone.end()..]);
        let outside = found(&text)
            .into_iter()
            .filter(|comment| comment.end() <= before.len() || comment.start() >= gone.end())
            .map(|comment| comment.text().trim().to_string());
        prop_assert_eq!(comments(&edited), outside.collect::<Vec<_>>(), "{:?} {:?}", before, after);
    }
}
