//! The exact bytes of the markers, wherever they stand.
//!
//! Case counts, and so does every letter; only blanks around the word between
//! two tags are tolerated. Whether a marker found here was said or merely shown
//! is decided elsewhere.

use std::borrow::Cow;

use stopgate_core::Marker;

/// One marker's bytes in a message.
#[derive(Debug)]
pub(super) struct MarkerTag {
    pub(super) marker: Marker,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// The markers that are a word between two tags.
const PAIRS: [(&str, &str, Marker); 9] = [
    ("promise", "COMPLETE", Marker::PromiseComplete),
    ("promise", "BLOCKED", Marker::PromiseBlocked),
    ("promise", "ESCALATE", Marker::PromiseEscalate),
    ("loop-done", "COMPLETE", Marker::LoopDoneComplete),
    ("loop-done", "MAX_ITERATIONS", Marker::LoopDoneMaxIterations),
    ("loop-done", "STUCK", Marker::LoopDoneStuck),
    ("issue-complete", "DONE", Marker::IssueComplete),
    ("grind-done", "NO_MORE_ISSUES", Marker::GrindDoneNoMoreIssues),
    ("grind-done", "MAX_ISSUES", Marker::GrindDoneMaxIssues),
];

/// The marker that is a tag of its own.
const ALONE: &str = "loop-complete";

const BLANKS: [char; 2] = [' ', '\t'];

/// Every marker in `message`, in order.
pub(super) fn find(message: &str) -> Vec<MarkerTag> {
    message.match_indices('<').filter_map(|(start, _)| tag_at(message, start)).collect()
}

/// A copy of `message`, byte for byte as long, that reads the same as Markdown
/// but where no marker's tag is an HTML tag, every line ends in `\n` and no line
/// in a tab (the parser leaves a fence open whose end has a tab behind it).
///
/// To `CommonMark` a `<loop-complete>` alone on a line opens an HTML block, in
/// which no fence, quote or code span is one any more. Here a marker is text. A
/// per cent sign is inert: it opens no block, and no attribute can begin with it.
pub(super) fn disarm(message: &str) -> String {
    let mut plain = String::with_capacity(message.len());
    let mut done = 0;
    for (at, found) in message.match_indices(['<', '\r']) {
        let rest = &message[at + 1..];
        let instead = match found {
            "<" if opens_tag(rest) => "%",
            "\r" if !rest.starts_with('\n') => "\n",
            _ => continue,
        };
        plain.push_str(&message[done..at]);
        plain.push_str(instead);
        done = at + 1;
    }
    plain.push_str(&message[done..]);
    plain.split_inclusive('\n').flat_map(without_last_tabs).collect()
}

fn without_last_tabs(line: &str) -> [Cow<'_, str>; 2] {
    let (text, blanks) = line.split_at(line.trim_end_matches([' ', '\t', '\r', '\n']).len());
    let blanks =
        if blanks.contains('\t') { blanks.replace('\t', " ").into() } else { blanks.into() };
    [text.into(), blanks]
}

fn tag_at(message: &str, start: usize) -> Option<MarkerTag> {
    let rest = &message[start + 1..];
    let (marker, after) = alone(rest).or_else(|| pair(rest))?;
    Some(MarkerTag { marker, start, end: message.len() - after.len() })
}

/// Reads a word between two tags, after the first `<`; gives what follows it.
fn pair(rest: &str) -> Option<(Marker, &str)> {
    let read = |(name, word, marker): (&str, &str, Marker)| {
        let inner = rest.strip_prefix(name)?.strip_prefix('>')?.trim_start_matches(BLANKS);
        let close = inner.strip_prefix(word)?.trim_start_matches(BLANKS);
        let after = close.strip_prefix("</")?.strip_prefix(name)?.strip_prefix('>')?;
        Some((marker, after))
    };
    PAIRS.into_iter().find_map(read)
}

/// Reads `loop-complete>`, self-closed, empty or with content still to come.
fn alone(rest: &str) -> Option<(Marker, &str)> {
    let rest = rest.strip_prefix(ALONE)?;
    if let Some(after) = rest.trim_start_matches(BLANKS).strip_prefix("/>") {
        return Some((Marker::LoopComplete, after));
    }
    let after = rest.strip_prefix('>')?;
    Some((Marker::LoopComplete, after_empty(after).unwrap_or(after)))
}

fn after_empty(inner: &str) -> Option<&str> {
    inner.trim_start_matches(BLANKS).strip_prefix("</")?.strip_prefix(ALONE)?.strip_prefix('>')
}

/// Whether a `<` before `rest` opens or closes a marker's tag.
fn opens_tag(rest: &str) -> bool {
    let name = rest.strip_prefix('/').unwrap_or(rest);
    let names = PAIRS.into_iter().map(|(name, _, _)| name).chain([ALONE]);
    names.into_iter().any(|tag| name.strip_prefix(tag).is_some_and(closes_tag))
}

fn closes_tag(rest: &str) -> bool {
    rest.starts_with('>') || rest.trim_start_matches(BLANKS).starts_with("/>")
}
