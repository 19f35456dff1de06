//! Which kind an error is.

use stopgate_core::ErrorClass;

/// Beginnings of words that tell the kind of an error that nobody classed; in this order,
/// for what blocks must not be taken for something that a retry repairs.
const TELLING: [(ErrorClass, &[&str]); 3] = [
    (
        ErrorClass::Blocking,
        &[
            "permission",
            "denied",
            "forbidden",
            "unauthori",
            "credential",
            "missing dep",
            "not installed",
            "command not found",
            "no space left",
        ],
    ),
    (
        ErrorClass::Transient,
        &[
            "timeout",
            "timed out",
            "time-out",
            "network",
            "connection",
            "econn",
            "rate limit",
            "temporar",
            "unavailable",
        ],
    ),
    (
        ErrorClass::Logic,
        &["test", "lint", "assert", "compil", "syntax", "type error", "build fail", "expected"],
    ),
];

/// The class of an error: the one it was given, else what its message tells.
pub fn class_of(given: Option<&str>, message: &str) -> ErrorClass {
    match given.map(str::to_ascii_lowercase).as_deref() {
        Some("transient") => ErrorClass::Transient,
        Some("logic") => ErrorClass::Logic,
        Some("blocking") => ErrorClass::Blocking,
        Some(_unknown) => ErrorClass::Unknown,
        None => told_by(message),
    }
}

fn told_by(message: &str) -> ErrorClass {
    let message = message.to_ascii_lowercase();
    let tells = |words: &[&str]| words.iter().any(|word| message.contains(word));
    let class = TELLING.iter().find(|(_, words)| tells(words)).map(|(class, _)| *class);
    class.unwrap_or(ErrorClass::Unknown)
}
