use http::HeaderValue;

use super::*;

const SECRET: &str = "0123456789abcdef";

fn token() -> Token {
    Token::new(SECRET).expect("a token")
}

#[track_caller]
fn check(shown: &[&str], is_let_in: bool) {
    let mut headers = HeaderMap::new();
    for value in shown {
        headers.append(AUTHORIZATION, HeaderValue::from_str(value).expect("a value"));
    }
    assert_eq!(token().is_shown_in(&headers), is_let_in, "{shown:?}");
}

#[test]
fn only_the_token_lets_in() {
    check(&["Bearer 0123456789abcdef"], true);
    check(&["bearer 0123456789abcdef"], true);
    check(&[], false);
    check(&["0123456789abcdef"], false);
    check(&["Basic 0123456789abcdef"], false);
    check(&["Bearer 0123456789abcdeg"], false);
    check(&["Bearer 0123456789abcde"], false);
    check(&["Bearer "], false);
    check(&["Bearer 0123456789abcdef", "Bearer 0123456789abcdef"], false);
}

#[test]
fn a_token_can_be_guessed_neither_nor_seen() {
    assert!(Token::new("short").is_none());
    assert!(Token::new("has spaces in the middle").is_none());
    assert!(Token::new("").is_none());
    let one = Token::generate().expect("a token");
    let other = Token::generate().expect("a token");
    assert_eq!(one.reveal().len(), 64);
    assert_ne!(one.reveal(), other.reveal());
    assert!(Token::new(one.reveal()).is_some());
    assert_eq!(format!("{one:?}"), "Token(…)");
}
