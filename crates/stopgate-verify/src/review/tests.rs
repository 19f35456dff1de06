use super::answer::{OpinionVerdict, read_opinion};

#[track_caller]
fn check(said: &str, expected: Option<OpinionVerdict>) {
    let read = read_opinion(said);
    assert_eq!(read.as_ref().ok().map(|opinion| opinion.verdict), expected, "{said}: {read:?}");
}

#[test]
fn only_one_object_of_the_known_form_is_an_opinion() {
    check(r#"{"verdict":"pass","reasons":["it does what was asked"]}"#, Some(OpinionVerdict::Pass));
    check("```json\n{\"verdict\":\"fail\",\"reasons\":[\"a\"]}\n```", Some(OpinionVerdict::Fail));
    check(r#" {"reasons":["?"],"verdict":"unsure"} "#, Some(OpinionVerdict::Unsure));
}

#[test]
fn whatever_else_is_said_is_none() {
    for said in [
        "",
        "pass",
        "Pass. Everything is fine.",
        r#"The verdict: {"verdict":"pass","reasons":["a"]}"#,
        r#"{"verdict":"pass","reasons":["a"]} Thank you."#,
        r#"{"verdict":"pass"}"#,
        r#"{"verdict":"pass","reasons":[]}"#,
        r#"{"verdict":"pass","reasons":["  "]}"#,
        r#"{"verdict":"pass","reasons":"a"}"#,
        r#"{"verdict":"PASS","reasons":["a"]}"#,
        r#"{"verdict":"passed","reasons":["a"]}"#,
        r#"{"verdict":"pass","reasons":["a"],"more":1}"#,
        r#"[{"verdict":"pass","reasons":["a"]}]"#,
        r#"{"verdict":"fail","verdict":"pass","reasons":["a"]}"#,
    ] {
        check(said, None);
    }
}

#[test]
fn a_reason_is_one_line_without_control_signs() {
    let said = r#"{"verdict":"fail","reasons":["a\tb\r\nc\u001b[31m d","\t"]}"#;
    let read = read_opinion(said).expect("an opinion");
    assert_eq!(read.reasons, ["a b c d"]);
}
