//! Filters and tests that an expression names: each must exist, wherever it stands.
//!
//! The engine beneath looks a filter up only when it gets there, which may be long after the
//! gate was stored. So each name is tried by itself, when the gate is read.

use minijinja::{Environment, ErrorKind};

/// The first filter or test in `code` that does not exist.
pub(super) fn unknown(environment: &Environment<'_>, code: &str) -> Option<String> {
    let bare = without_texts(code);
    let fails = |source: String, kind: ErrorKind| {
        environment.render_str(&source, ()).is_err_and(|error| error.kind() == kind)
    };
    let filter = after(&bare, "|")
        .into_iter()
        .find(|name| fails(format!("{{{{ 0|{name} }}}}"), ErrorKind::UnknownFilter));
    let test = || {
        let named = after(&bare, " is not ").into_iter().chain(after(&bare, " is "));
        named
            .filter(|name| name != "not")
            .find(|name| fails(format!("{{{{ 0 is {name} }}}}"), ErrorKind::UnknownTest))
    };
    let filter = filter.map(|name| format!("unknown filter `{name}`"));
    filter.or_else(|| test().map(|name| format!("unknown test `{name}`")))
}

/// The parts of a text that are code: what stands in `{{ … }}` and `{% … %}`.
pub(super) fn code_of(text: &str) -> String {
    let mut code = String::new();
    for (open, close) in [("{{", "}}"), ("{%", "%}")] {
        let mut rest = text;
        while let Some((_, after)) = rest.split_once(open) {
            let (inside, left) = after.split_once(close).unwrap_or((after, ""));
            code.push_str(inside);
            code.push(' ');
            rest = left;
        }
    }
    code
}

/// The names that stand after each `sign`.
fn after(code: &str, sign: &str) -> Vec<String> {
    code.split(sign)
        .skip(1)
        .map(|rest| {
            let letter = |c: &char| c.is_alphanumeric() || *c == '_';
            rest.trim_start().chars().take_while(letter).collect::<String>()
        })
        .filter(|name| name.starts_with(|c: char| c.is_alphabetic() || c == '_'))
        .collect()
}

/// The code with its texts emptied: what is quoted is not a name.
fn without_texts(code: &str) -> String {
    let mut bare = String::new();
    let mut open = None;
    let mut letters = code.chars();
    while let Some(letter) = letters.next() {
        match open {
            Some(_) if letter == '\\' => {
                letters.next();
            }
            Some(quote) if letter == quote => {
                open = None;
                bare.push(letter);
            }
            Some(_) => {}
            None => {
                if matches!(letter, '\'' | '"') {
                    open = Some(letter);
                }
                bare.push(letter);
            }
        }
    }
    bare
}
