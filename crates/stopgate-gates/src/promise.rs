//! Promises: in an agent's output, and as people name them.

use stopgate_core::Marker;
use stopgate_signals::markers;

use crate::words::{CompletionPromise, PromiseType};

/// How much of the reason behind an honest exit is kept.
const REASON_BYTES_MAX: usize = 2000;

/// The promises said in `output`: each kind once, the first of its kind.
pub fn detect(output: &str, at: &str) -> Vec<CompletionPromise> {
    let mut found: Vec<CompletionPromise> = Vec::new();
    for said in markers::promises(output) {
        let Some(kind) = kind(said.marker) else { continue };
        if found.iter().all(|earlier| earlier.kind != kind) {
            found.push(CompletionPromise {
                kind,
                detected: true,
                content: content(kind, &output[said.end..]),
                detected_at: Some(at.into()),
            });
        }
    }
    found
}

/// The promises that markers on a line of their own make.
pub(crate) fn marked(markers: &[Marker]) -> Vec<CompletionPromise> {
    let promise = |kind: PromiseType| CompletionPromise {
        kind,
        detected: true,
        content: kind.text().into(),
        detected_at: None,
    };
    markers.iter().filter_map(|marker| kind(*marker)).map(promise).collect()
}

/// Reads a promise as people name it: the bare word, or between its tags.
pub fn normalise(text: &str) -> Option<PromiseType> {
    let text = text.trim();
    let strip = |text: &str, tag: &str| {
        let head = text.get(..tag.len())?;
        head.eq_ignore_ascii_case(tag).then(|| text[tag.len()..].to_string())
    };
    let word = strip(text, "<promise>").map_or_else(
        || text.to_string(),
        |inner| inner.to_ascii_lowercase().trim_end_matches("</promise>").to_string(),
    );
    let word = word.trim();
    PromiseType::ALL.into_iter().find(|kind| kind.word().eq_ignore_ascii_case(word))
}

const fn kind(marker: Marker) -> Option<PromiseType> {
    match marker {
        Marker::PromiseComplete => Some(PromiseType::Complete),
        Marker::PromiseBlocked => Some(PromiseType::Blocked),
        Marker::PromiseEscalate => Some(PromiseType::Escalate),
        Marker::LoopDoneComplete
        | Marker::LoopDoneMaxIterations
        | Marker::LoopDoneStuck
        | Marker::IssueComplete
        | Marker::GrindDoneNoMoreIssues
        | Marker::GrindDoneMaxIssues
        | Marker::LoopComplete => None,
    }
}

/// An honest exit keeps its reason: what follows it, up to a blank line.
fn content(kind: PromiseType, after: &str) -> String {
    if kind == PromiseType::Complete {
        return kind.text().into();
    }
    let lines: Vec<&str> = after
        .split('\n')
        .enumerate()
        .take_while(|(at, line)| *at == 0 || !line.trim().is_empty())
        .map(|(_, line)| line.trim_end_matches('\r'))
        .collect();
    let reason = lines.join("\n");
    let reason = stopgate_core::clip(reason.trim_end(), REASON_BYTES_MAX);
    format!("{}{reason}", kind.text())
}

#[cfg(test)]
mod tests;
