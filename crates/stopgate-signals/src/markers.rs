//! The markers an agent spoke in its last message.
//!
//! A marker counts where it is *said*. What stands in a fence, in indented or
//! inline code, in a block quote or in an HTML comment is shown, not said, and
//! is never reported. The message is read as `CommonMark`; where that leaves a
//! doubt, the answer is "not said", since a missed marker costs one more turn
//! and a misread one ends a loop too early.
//!
//! Time and memory are linear in the message, and a message without a marker is
//! never parsed as Markdown at all.

mod exits;
mod html;
mod promised;
mod promises;
mod quoted;
mod tags;

#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;

use stopgate_core::Marker;

pub use self::exits::spoken_exit;
pub use self::promised::promised;
pub use self::promises::{Promise, promises};
use self::quoted::Quoted;
use self::tags::MarkerTag;

/// One marker that was said, and where on its line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spoken {
    /// What was said.
    pub marker: Marker,
    /// Where it stood.
    pub place: MarkerPlace,
}

/// Where on its line a marker stood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MarkerPlace {
    /// Alone on its line, from column 0; trailing blanks are fine.
    OwnLine,
    /// From column 0, with more text after it on the line.
    LineStart,
    /// Anywhere else: indented, in a sentence, in a list item or a heading.
    Prose,
}

/// The markers said in `message`, in order of appearance.
pub fn read(message: &str) -> Vec<Spoken> {
    let message = message.strip_prefix('\u{feff}').unwrap_or(message);
    let tags = tags::find(message);
    if tags.is_empty() {
        return Vec::new();
    }
    let quoted = Quoted::find(&tags::disarm(message));
    tags.iter().filter_map(|tag| spoken(message, tag, &quoted)).collect()
}

/// What native loops listen to: markers on a line of their own, and a
/// `<loop-complete>` that opens a line.
pub fn own_line(spoken: &[Spoken]) -> impl Iterator<Item = Marker> {
    spoken.iter().copied().filter(|spoken| spoken.is_heard()).map(|spoken| spoken.marker)
}

impl Spoken {
    fn is_heard(self) -> bool {
        match self.place {
            MarkerPlace::OwnLine => true,
            MarkerPlace::LineStart => self.marker == Marker::LoopComplete,
            MarkerPlace::Prose => false,
        }
    }
}

fn spoken(message: &str, tag: &MarkerTag, quoted: &Quoted) -> Option<Spoken> {
    if quoted.hides(tag.start) || is_escaped(&message[..tag.start]) {
        return None;
    }
    let place = place(&message[..tag.start], &message[tag.end..]);
    if place == MarkerPlace::Prose && quoted.is_html(tag.start) {
        return None;
    }
    Some(Spoken { marker: tag.marker, place })
}

/// An odd number of backslashes before a tag makes it literal text.
fn is_escaped(before: &str) -> bool {
    before.bytes().rev().take_while(|byte| *byte == b'\\').count() % 2 == 1
}

/// Only `\n` and `\r` end a line, as in `CommonMark`; U+2028 and the like don't.
fn place(before: &str, after: &str) -> MarkerPlace {
    if !(before.is_empty() || before.ends_with(['\n', '\r'])) {
        return MarkerPlace::Prose;
    }
    let rest = after.trim_start_matches([' ', '\t']);
    if rest.is_empty() || rest.starts_with(['\n', '\r']) {
        return MarkerPlace::OwnLine;
    }
    MarkerPlace::LineStart
}
