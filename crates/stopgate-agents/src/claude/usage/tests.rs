use super::context_tokens;

#[track_caller]
fn check(line: &str, expected: Option<u64>) {
    assert_eq!(context_tokens(line.as_bytes()), expected, "{line}");
}

#[test]
fn every_part_of_the_context_counts() {
    check(
        r#"{"type":"assistant","isSidechain":false,"message":{"id":"m","usage":{"input_tokens":3,
            "cache_creation_input_tokens":20,"cache_read_input_tokens":100,"output_tokens":7,
            "service_tier":"standard","cache_creation":{"x":1}}}}"#,
        Some(130),
    );
    check(r#"{"type":"assistant","message":{"usage":{"input_tokens":5}}}"#, Some(5));
}

#[test]
fn lines_that_say_nothing_about_it_are_passed_over() {
    check(
        r#"{"type":"assistant","isSidechain":true,"message":{"usage":{"input_tokens":5}}}"#,
        None,
    );
    check(r#"{"type":"user","message":{"usage":{"input_tokens":5}}}"#, None);
    check(r#"{"type":"assistant","message":{"usage":{"input_tokens":0,"output_tokens":0}}}"#, None);
    check(r#"{"type":"assistant","message":{"usage":null}}"#, None);
    check(r#"{"type":"assistant","message":{"usage":{"input_tokens":"#, None);
    check("", None);
    assert_eq!(context_tokens(b"\"usage\" \xff"), None);
}
