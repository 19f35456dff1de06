//! Promises wherever they are said in prose, in any case of letters.
//!
//! Tools that take an agent's whole output are more lenient than a stop hook: a
//! promise in the middle of a sentence counts. What is shown still does not.

use std::borrow::Cow;

use stopgate_core::Marker;

use super::quoted::Quoted;
use super::{spoken, tags};

const OPEN: &str = "<promise>";
const CLOSE: &str = "</promise>";
const WORDS: [&str; 3] = ["COMPLETE", "BLOCKED", "ESCALATE"];

/// One promise that was said, and its bytes in the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Promise {
    /// What was said.
    pub marker: Marker,
    /// Where it begins.
    pub start: usize,
    /// Where it ends.
    pub end: usize,
}

/// The promises said in `message`, in order of appearance.
pub fn promises(message: &str) -> Vec<Promise> {
    let plain = spelled(message);
    let found: Vec<_> =
        tags::find(&plain).into_iter().filter(|tag| is_promise(tag.marker)).collect();
    if found.is_empty() {
        return Vec::new();
    }
    let quoted = Quoted::find(&tags::disarm(&plain));
    let said = found.iter().filter(|tag| spoken(&plain, tag, &quoted).is_some());
    said.map(|tag| Promise { marker: tag.marker, start: tag.start, end: tag.end }).collect()
}

const fn is_promise(marker: Marker) -> bool {
    match marker {
        Marker::PromiseComplete | Marker::PromiseBlocked | Marker::PromiseEscalate => true,
        Marker::LoopDoneComplete
        | Marker::LoopDoneMaxIterations
        | Marker::LoopDoneStuck
        | Marker::IssueComplete
        | Marker::GrindDoneNoMoreIssues
        | Marker::GrindDoneMaxIssues
        | Marker::LoopComplete => false,
    }
}

/// The message, byte for byte as long, with every promise in its usual letters.
fn spelled(message: &str) -> Cow<'_, str> {
    let mut plain = Cow::Borrowed(message);
    for (at, _) in message.match_indices('<') {
        if let Some(text) = spelled_at(&message[at..]) {
            plain.to_mut().replace_range(at..at + text.len(), &text);
        }
    }
    plain
}

fn spelled_at(rest: &str) -> Option<String> {
    let inner = without(rest, OPEN)?;
    let word = inner.trim_start_matches([' ', '\t']);
    let (name, after) = WORDS.into_iter().find_map(|name| Some((name, without(word, name)?)))?;
    let close = after.trim_start_matches([' ', '\t']);
    without(close, CLOSE)?;
    let before = &inner[..inner.len() - word.len()];
    let between = &after[..after.len() - close.len()];
    Some(format!("{OPEN}{before}{name}{between}{CLOSE}"))
}

fn without<'a>(text: &'a str, begin: &str) -> Option<&'a str> {
    let head = text.get(..begin.len())?;
    head.eq_ignore_ascii_case(begin).then(|| &text[begin.len()..])
}
