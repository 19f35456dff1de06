//! Where in a file something is wrong: line and column, for everything that reads TOML.

/// What the parser says and where, without the drawing around it.
pub(crate) fn located(text: &str, error: &toml::de::Error) -> String {
    let said = error.message().lines().collect::<Vec<_>>().join(" ");
    match error.span() {
        Some(span) => format!("{}: {said}", position(text, span.start)),
        None => said,
    }
}

/// The place of a byte, as editors count: `line 2, column 1`.
pub(crate) fn position(text: &str, byte: usize) -> String {
    let before = text.get(..byte).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    format!("line {line}, column {column}")
}
