//! A promise in words of its owner's choice.

use super::quoted::Quoted;
use super::{MarkerPlace, is_escaped, place, tags};

const OPEN: &str = "<promise>";
const CLOSE: &str = "</promise>";

/// Whether `promise` was said between two `promise` tags, on a line of its own and outside
/// of all that is only shown; blanks within it count as one.
pub fn promised(message: &str, promise: &str) -> bool {
    let message = message.strip_prefix('\u{feff}').unwrap_or(message);
    let words = |text: &str| text.split_whitespace().map(String::from).collect::<Vec<_>>();
    let wanted = words(promise);
    if wanted.is_empty() || !message.contains(OPEN) {
        return false;
    }
    let quoted = Quoted::find(&tags::disarm(message));
    message.match_indices(OPEN).any(|(start, _)| {
        let inner = &message[start + OPEN.len()..];
        let Some(length) = inner.find(CLOSE) else { return false };
        let end = start + OPEN.len() + length + CLOSE.len();
        let is_said = !quoted.hides(start) && !is_escaped(&message[..start]);
        is_said
            && words(&inner[..length]) == wanted
            && place(&message[..start], &message[end..]) == MarkerPlace::OwnLine
    })
}

#[cfg(test)]
mod tests;
