use proptest::prelude::*;

use super::redact;

#[track_caller]
fn check(text: &str, shown: &str) {
    assert_eq!(redact(text), shown);
}

#[test]
fn keys_that_their_makers_marked_are_masked() {
    check("key sk-ant-api03-AbCdEfGh12345678 end", "key sk-[masked] end");
    check("GH=ghp_0123456789abcdefABCDEF0123456789abcd", "GH=ghp_[masked]");
    check("(xoxb-1234567890-abcdef)", "(xoxb-[masked])");
    check("AKIAIOSFODNN7EXAMPLE", "AKIA[masked]");
    check("url?key=AIzaSyA0123456789abcdefghijklmnopqrstuv&x", "url?key=[masked]&x");
    check("glpat-0123456789abcdefghij", "glpat-[masked]");
    check("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.SflKxwRJSMeKKF2QT4", "eyJ[masked]");
}

#[test]
fn private_keys_are_masked_whole_or_cut() {
    check(
        "a\n-----BEGIN RSA PRIVATE KEY-----\nMIIE\nowIB\n-----END RSA PRIVATE KEY-----\nb",
        "a\n-----BEGIN RSA PRIVATE KEY-----[masked]-----END RSA PRIVATE KEY-----\nb",
    );
    check("-----BEGIN PRIVATE KEY-----\nMIIE", "-----BEGIN PRIVATE KEY-----[masked]");
    check(
        "a b\nMIIEow+/\nIBAA==\n-----END PRIVATE KEY-----\nb",
        "a b\n[masked]-----END PRIVATE KEY-----\nb",
    );
    let public = "-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----";
    check(public, public);
}

#[test]
fn passwords_and_values_without_order_are_masked_after_their_names() {
    check("postgres://me:se:c@ret@host/db", "postgres://me:[masked]@host/db");
    check("password=hunter2 host=x", "password=[masked] host=x");
    check("\"client_secret\": \"aB3$xyz9\"", "\"client_secret\": \"[masked]\"");
    check("API_TOKEN='q8Zr2Lk9Vt4X'", "API_TOKEN='[masked]'");
    check("Authorization: Bearer q8Zr2Lk9Vt4Xq8Zr2Lk9", "Authorization: Bearer [masked]");
    check("SIGNING_KEY=9f86d081884c7d65", "SIGNING_KEY=[masked]");
}

#[test]
fn what_tests_print_stays_as_it_is() {
    for plain in [
        "assertion failed: key == value",
        "sorted(rows, key=itemgetter(1))",
        "expected token: identifier, found token: number",
        "error: unexpected token=foo at src/parser.rs:12:34",
        "http://localhost:8080/a@b?token=abc",
        "FAILED tests/test_password.py::test_password_is_required",
        "test sk-ip ... ok; ask-me-anything-about-this-thing",
        "left: 0123456789abcdef, right: fedcba9876543210",
        "password: required",
    ] {
        check(plain, plain);
    }
}

/// Texts that would be looked through again and again by a careless search.
#[test]
fn texts_made_to_be_slow_are_not() {
    for piece in
        ["key=", "=", "-----END PRIVATE KEY-----", "PRIVATE KEY-----", "://a:", "y\n", "eyJ."]
    {
        let text = piece.repeat(200_000 / piece.len());
        assert!(redact(&text).len() <= text.len() + 64, "{piece}");
    }
}

proptest! {
    #[test]
    fn no_text_is_too_odd(text in "\\PC{0,80}") {
        let masked = redact(&text).into_owned();
        let again = redact(&masked).into_owned();
        prop_assert!(again.len() <= masked.len() + 64);
    }

    #[test]
    fn a_marked_key_never_survives(
        before in "[ a-z=:\"]{0,12}",
        key in "[A-Za-z0-9]{24,40}",
        after in "[ \n\"',]{0,3}",
    ) {
        let text = format!("{before} ghp_{key}{after}");
        prop_assert!(!redact(&text).contains(&key));
    }
}
