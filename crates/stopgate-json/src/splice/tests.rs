//! One item in, the same item out.

use jsonc_parser::ast::Value;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};

use super::*;

#[test]
fn an_item_is_put_behind_the_last_one_and_taken_out_again() {
    check("{}", "{\n  \"k\": 1\n}");
    check("[]", "[\n  1\n]");
    check("{\"a\":1}", "{\"a\":1, \"k\": 1}");
    check("{ \"a\": 1 }\n", "{ \"a\": 1, \"k\": 1 }\n");
    check("[1,]", "[1, 1,]");
    check("{\"a\":1 /* c, */ }", "{\"a\":1 /* c, */, \"k\": 1 }");
    check("{\n\t\"a\": 1\n}\n", "{\n\t\"a\": 1,\n\t\"k\": 1\n}\n");
    check("{\r\n  \"a\": 1\r\n}\r\n", "{\r\n  \"a\": 1,\r\n  \"k\": 1\r\n}\r\n");
    check("{\r\n  \"a\": 1 // c\r\n}", "{\r\n  \"a\": 1, // c\r\n  \"k\": 1\r\n}");
    check("{\n  \"a\": 1, // c\n}", "{\n  \"a\": 1, // c\n  \"k\": 1,\n}");
    check("{\n  \"a\": 1 // c\n  // end\n}", "{\n  \"a\": 1, // c\n  \"k\": 1\n  // end\n}");
    check("{\n  \"a\": 1 /* c */ /* d */\n}", "{\n  \"a\": 1, /* c */ /* d */\n  \"k\": 1\n}");
    check("{\n  \"a\": 1\n  , \"b\": 2}", "{\n  \"a\": 1\n  , \"b\": 2,\n  \"k\": 1}");
    check("{\"a\": 1,\n\"b\": 2}", "{\"a\": 1,\n\"b\": 2,\n\"k\": 1}");
    check("{\n    \"a\": 1}", "{\n    \"a\": 1,\n    \"k\": 1}");
    check("{\n  // only\n}", "{\n  // only\n  \"k\": 1\n}");
    check("{ /* only */ }", "{ /* only */ \"k\": 1 }");
    check("{ // only\n}", "{ // only\n  \"k\": 1\n}");
    check("{\n  \"a\": 1\n\n}", "{\n  \"a\": 1,\n  \"k\": 1\n\n}");
    check("{\n  \"a\": \"}, //\"\n}", "{\n  \"a\": \"}, //\",\n  \"k\": 1\n}");
}

#[test]
fn an_item_leaves_from_anywhere() {
    gone("[1, 2, 3]", 0, "[2, 3]");
    gone("[1, 2, 3]", 1, "[1, 3]");
    gone("[1, 2, 3]", 2, "[1, 2]");
    gone("[ 1 ]", 0, "[]");
    gone("[1,2,]", 1, "[1,]");
    gone("[\n  1,\n  2,\n  3\n]", 0, "[\n  2,\n  3\n]");
    gone("[\n  1,\n  2,\n  3\n]", 1, "[\n  1,\n  3\n]");
    gone("[\n  1, // one\n  2, // two\n  3\n]", 1, "[\n  1, // one\n  // two\n  3\n]");
    gone("[\n  // one\n  1,\n  2\n]", 0, "[\n  // one\n  2\n]");
    gone("[\n  1 // one\n  , 2\n]", 1, "[\n  1 // one\n  \n]");
    gone("[1 /* , */]", 0, "[ /* , */]");
    gone("[1]", 7, "[1]");
}

#[test]
fn no_comment_swallows_what_follows() {
    gone("[\n  // c\n  1, 2\n]", 0, "[\n  // c\n  2\n]");
    gone("[\n  // c\n  1]", 0, "[\n  // c\n  ]");
    gone("[\n  1, // c\n  2]", 1, "[\n  1 // c\n  ]");
    gone("[\n  1, // c\n  2,]", 1, "[\n  1, // c\n  ]");
    gone("[\n  1, // c\n  2 /* d */, 3]", 1, "[\n  1, // c\n   /* d */3]");
    gone("[\n  1, 2,\n  3\n]", 0, "[\n  2,\n  3\n]");
    gone("{ // c\n\"a\": 1/* d */,\n  \"b\": 2}", 0, "{ // c\n/* d */\n  \"b\": 2}");
    // Two block comments side by side are not a line comment.
    gone("[\n1,/* a *//* b */\n  2]", 1, "[\n1/* a *//* b */]");
}

#[test]
fn every_mix_of_breaks_and_comments_stays_json() {
    let gaps = ["", " ", "\n  ", " // c\n  ", "/* , */", "\n\n  // d\n  "];
    let pairs = || gaps.iter().flat_map(|first| gaps.map(|second| (*first, second)));
    for (open, before) in pairs() {
        for (after, close) in pairs() {
            survives(&format!("[{open}1{before},{after}2{close}]"));
            survives(&format!("[{open}1{before},{after}2,{close}]"));
        }
    }
}

/// Any item leaves, and one more comes and goes, without harm to the others.
#[track_caller]
fn survives(text: &str) {
    let bracket = bracket_of(text);
    for (index, left) in [(0, "2"), (1, "1")] {
        let shorter = remove(text, &bracket, index);
        let items = bracket_of(&shorter).items;
        let items: Vec<_> = items.iter().map(|item| &shorter[item.start..item.end]).collect();
        assert_eq!(items, [left], "{text:?} without {index} is {shorter:?}");
    }
    let longer = append(text, &bracket, &JsonItem::Element(&serde_json::Value::from(3)));
    assert_eq!(remove(&longer, &bracket_of(&longer), 2), text, "{longer:?}");
}

#[track_caller]
fn check(text: &str, expected: &str) {
    let one = serde_json::Value::from(1);
    let (bracket, item) = match parse(text) {
        Value::Array(list) => (JsonBracket::from(&list), JsonItem::Element(&one)),
        Value::Object(object) => (JsonBracket::from(&object), JsonItem::Member("k", &one)),
        _ => panic!("{text} has no bracket"),
    };
    let longer = append(text, &bracket, &item);
    assert_eq!(longer, expected, "{text}");
    let index = bracket.items.len();
    assert_eq!(remove(&longer, &bracket_of(&longer), index), text, "and back");
}

#[track_caller]
fn gone(text: &str, index: usize, expected: &str) {
    assert_eq!(remove(text, &bracket_of(text), index), expected, "{text}");
}

fn bracket_of(text: &str) -> JsonBracket {
    match parse(text) {
        Value::Array(list) => JsonBracket::from(&list),
        Value::Object(object) => JsonBracket::from(&object),
        _ => panic!("{text} has no bracket"),
    }
}

fn parse(text: &str) -> Value<'_> {
    let strict = ParseOptions { allow_missing_commas: false, ..ParseOptions::default() };
    parse_to_ast(text, &CollectOptions::default(), &strict).unwrap().value.unwrap()
}
