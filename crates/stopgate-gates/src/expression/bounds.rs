//! How large an expression can make things.
//!
//! Fuel bounds steps, not bytes: one step can make a text a million times as long. What could
//! do so is left out of the language or measured first, so that what a source can hold in
//! memory stays within a multiple of its own length.

use minijinja::{Environment, Error, ErrorKind, Value};

/// More than this is not made of texts.
const MADE_BYTES_MAX: usize = 1024 * 1024;

/// Filters and functions that make much of little.
const FILTERS_LEFT_OUT: [&str; 9] =
    ["indent", "format", "pprint", "batch", "slice", "groupby", "chain", "zip", "urlencode"];
const FUNCTIONS_LEFT_OUT: [&str; 2] = ["namespace", "debug"];

/// Statements that a text may have. Those that name values could build one upon the other.
const STATEMENTS: [&str; 6] = ["if", "elif", "else", "endif", "raw", "endraw"];

/// Names of numbers, for `*`.
const NUMBERS: [&str; 5] = ["iteration", "length", "count", "round", "int"];

/// Takes out what is unbounded, and puts measured filters in the place of two.
pub(super) fn restrict(environment: &mut Environment<'static>) {
    for name in FILTERS_LEFT_OUT {
        environment.remove_filter(name);
    }
    for name in FUNCTIONS_LEFT_OUT {
        environment.remove_global(name);
    }
    environment.add_filter("replace", replace);
    environment.add_filter("join", join);
}

fn replace(value: &str, from: &str, to: &str) -> Result<String, Error> {
    let found = value.matches(from).count();
    let grown = found.checked_mul(to.len()).and_then(|more| more.checked_add(value.len()));
    if grown.is_none_or(|grown| grown > MADE_BYTES_MAX) {
        return Err(too_large());
    }
    Ok(value.replace(from, to))
}

fn join(value: &Value, joiner: Option<&str>) -> Result<String, Error> {
    let mut text = String::new();
    for (at, item) in value.try_iter()?.enumerate() {
        if at > 0 {
            text.push_str(joiner.unwrap_or_default());
        }
        match item.as_str() {
            Some(own) => text.push_str(own),
            None => text.push_str(&item.to_string()),
        }
        if text.len() > MADE_BYTES_MAX {
            return Err(too_large());
        }
    }
    Ok(text)
}

fn too_large() -> Error {
    Error::new(ErrorKind::InvalidOperation, "the text would be longer than 1 MiB")
}

/// Says what in an expression is unbounded.
pub(super) fn check_expression(source: &str) -> Result<(), String> {
    let tokens = tokens(source);
    for (at, token) in tokens.iter().enumerate() {
        let is_number = |at: Option<usize>| at.is_some_and(|at| is_number(&tokens, at));
        match token {
            Token::Sign('*') if !(is_number(at.checked_sub(1)) && is_number(Some(at + 1))) => {
                return Err(format!(
                    "`*` is for numbers: write it between literals, iteration and |length, \
                     in `{source}`"
                ));
            }
            Token::Sign(_) | Token::Word(_) | Token::Text => {}
        }
    }
    Ok(())
}

/// Says what in a text with `{{ … }}` is unbounded.
pub(super) fn check_text(source: &str) -> Result<(), String> {
    let mut rest = source;
    while let Some(at) = rest.find('{') {
        let (open, inside) = (&rest[at..], rest.get(at + 2..).unwrap_or_default());
        rest = if open.starts_with("{{") {
            let (expression, after) = inside.split_once("}}").unwrap_or((inside, ""));
            check_expression(expression)?;
            after
        } else if open.starts_with("{%") {
            let (statement, after) = inside.split_once("%}").unwrap_or((inside, ""));
            check_statement(statement)?;
            if word_of(statement) == "raw" { after_raw(after) } else { after }
        } else {
            &open[1..]
        };
    }
    Ok(())
}

fn check_statement(statement: &str) -> Result<(), String> {
    let word = word_of(statement);
    if !STATEMENTS.contains(&word) {
        return Err(format!("`{{% {word} %}}` can't be used here: only if and raw can"));
    }
    check_expression(statement)
}

fn word_of(statement: &str) -> &str {
    let text = statement.trim_start_matches(['-', '+']).trim_start();
    text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next().unwrap_or_default()
}

/// What follows a raw part, whose content means nothing.
fn after_raw(text: &str) -> &str {
    let end = text.match_indices("{%").find(|(at, _)| word_of(&text[at + 2..]) == "endraw");
    end.map_or("", |(at, _)| &text[at..])
}

#[derive(Debug, PartialEq, Eq)]
enum Token<'a> {
    Word(&'a str),
    Sign(char),
    /// A literal text.
    Text,
}

fn is_number(tokens: &[Token<'_>], at: usize) -> bool {
    let Some(Token::Word(word)) = tokens.get(at) else { return false };
    let is_literal = word.bytes().all(|byte| byte.is_ascii_digit());
    // A filter's result, not an attribute of that name.
    let is_filtered = at > 0 && tokens[at - 1] == Token::Sign('|');
    let is_followed = matches!(tokens.get(at + 1), Some(Token::Sign('.' | '[' | '(' | '|')));
    let is_attribute = at > 0 && tokens[at - 1] == Token::Sign('.');
    let is_named = NUMBERS.contains(word) && (is_filtered || *word == "iteration");
    !is_attribute && !is_followed && (is_literal || is_named)
}

fn tokens(source: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    let mut rest = source.trim_start();
    while let Some(first) = rest.chars().next() {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let length = match first {
            '\'' | '"' => {
                tokens.push(Token::Text);
                text_length(rest, first)
            }
            _ if is_word(first) => {
                let length = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
                tokens.push(Token::Word(&rest[..length]));
                length
            }
            _ => {
                tokens.push(Token::Sign(first));
                first.len_utf8()
            }
        };
        rest = rest[length..].trim_start();
    }
    tokens
}

/// The length of a literal text, its quotes included.
fn text_length(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, letter) in text.char_indices().skip(1) {
        match letter {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if letter == quote => return at + 1,
            _ => {}
        }
    }
    text.len()
}
