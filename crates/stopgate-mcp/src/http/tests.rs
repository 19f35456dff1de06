use http::HeaderValue;

use super::*;

const SECRET: &str = "0123456789abcdef";

fn token() -> Token {
    Token::new(SECRET).expect("a token")
}

fn is_let_in(shown: &[&str]) -> bool {
    let mut headers = HeaderMap::new();
    for value in shown {
        headers.append(AUTHORIZATION, HeaderValue::from_str(value).expect("a value"));
    }
    token().is_shown_in(&headers)
}

#[test]
fn only_the_token_lets_in() {
    assert!(is_let_in(&["Bearer 0123456789abcdef"]));
    assert!(is_let_in(&["bearer 0123456789abcdef"]));
    let others: [&[&str]; 7] = [
        &[],
        &["0123456789abcdef"],
        &["Basic 0123456789abcdef"],
        &["Bearer 0123456789abcdeg"],
        &["Bearer 0123456789abcde"],
        &["Bearer "],
        &["Bearer 0123456789abcdef", "Bearer 0123456789abcdef"],
    ];
    for other in others {
        assert!(!is_let_in(other), "{other:?}");
    }
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
