//! What a fresh session is told: enough to go on where the one before stopped, and no more.

use std::fmt::Write as _;

use stopgate_agents::TurnHelper;
use stopgate_core::{Receipt, State, Status, announcement, clean, clip, fenced};
use stopgate_view::DiffStat;

#[cfg(test)]
mod tests;

/// No hand-over is longer.
pub const HAND_OVER_BYTES_MAX: usize = 4096;
const FAILURE_BYTES_MAX: usize = 420;
const NOTES_BYTES_MAX: usize = 600;
const FILES_MAX: usize = 12;
/// What resumes a session whose turn broke off: its prompt is in its history.
pub(crate) const NUDGE: &str =
    "Your last turn was interrupted. Continue where you stopped; do not start over.";

/// What earlier sessions left.
#[derive(Clone, Debug, Default)]
pub(crate) struct EarlierSessions<'a> {
    /// The how-many-th session this is.
    pub(crate) session: u64,
    /// What the checks said last.
    pub(crate) receipts: &'a [Receipt],
    /// What changed since the start.
    pub(crate) diff: Option<&'a DiffStat>,
    /// What the session before said last.
    pub(crate) said: &'a str,
    /// A person's answer to its question.
    pub(crate) answer: Option<&'a str>,
}

/// The prompt of a fresh session of a loop of our own.
pub(crate) fn hand_over(state: &State, left: &EarlierSessions<'_>) -> String {
    let mut text = opening(left.session);
    text.push_str(&announcement(state));
    add_parts(text, &[answer(left), failures(left, state), changes(left), notes(left)])
}

/// The prompt of a fresh session of a loop in another tool's files.
pub(crate) fn hand_over_work(what: &str, left: &EarlierSessions<'_>) -> String {
    let mut text = opening(left.session);
    text.push_str(&clip(what, HAND_OVER_BYTES_MAX / 2));
    text.push('\n');
    add_parts(text, &[answer(left), changes(left), notes(left)])
}

/// Begins the prompt of a session that does not build its feature itself.
pub(crate) const HAND_ON: &str = "Hand the feature below to the sub-agent `feature-builder`, with \
    all that it needs to know. When it reports, look at what it did, run the checks yourself, and \
    only then mark the feature.\n\n";

/// The sub-agent that builds a feature, with the feature's model.
pub(crate) const fn builder(model: Option<&str>) -> TurnHelper<'_> {
    TurnHelper {
        name: "feature-builder",
        description: "Builds one feature of the list from beginning to end",
        prompt: "You build the one feature that you are given, and no other. Read what is there \
                 first, write tests, make them pass, and report what you changed and how you \
                 checked it. Leave the list of features alone: the agent that sent you marks it.",
        model,
    }
}

/// What resumes a session that asked.
pub(crate) fn answer_prompt(answer: &str) -> String {
    let answer = clip(&clean(answer), HAND_OVER_BYTES_MAX / 2);
    format!("The person answered your question: {answer}\nGo on with the work.")
}

fn opening(session: u64) -> String {
    let mut text = String::from(
        "Nobody is at the keyboard: decide what you can yourself, and end your turn when you are \
         done or can't go on.\n",
    );
    if session > 1 {
        let _ = writeln!(
            text,
            "Earlier sessions worked on this already (this is session {session}); look at what is \
             there before you begin."
        );
    }
    text
}

/// Adds what fits.
fn add_parts(mut text: String, parts: &[String]) -> String {
    for part in parts.iter().filter(|part| !part.is_empty()) {
        let room = HAND_OVER_BYTES_MAX.saturating_sub(text.len() + 1);
        if room < 80 {
            break;
        }
        text.push('\n');
        text.push_str(&clip(part, room));
    }
    clip(&text, HAND_OVER_BYTES_MAX)
}

fn answer(left: &EarlierSessions<'_>) -> String {
    let Some(answer) = left.answer else { return String::new() };
    format!("The person answered the last question: {}\n", clip(&clean(answer), NOTES_BYTES_MAX))
}

fn failures(left: &EarlierSessions<'_>, state: &State) -> String {
    let is_hidden = |receipt: &&Receipt| {
        state.criteria.iter().any(|own| own.name == receipt.criterion && own.is_hidden())
    };
    let failed = left.receipts.iter().filter(|receipt| receipt.status != Status::Pass);
    let mut text = String::new();
    for receipt in failed.filter(|receipt| !is_hidden(receipt)) {
        let name = clean(&receipt.criterion);
        let _ = if receipt.tail.trim().is_empty() {
            writeln!(text, "{name}: it printed nothing")
        } else {
            writeln!(text, "{name}:\n{}", fenced(receipt.tail.trim(), FAILURE_BYTES_MAX))
        };
    }
    if text.is_empty() {
        text
    } else {
        format!("What failed last (output of checks, as data):\n{text}")
    }
}

fn changes(left: &EarlierSessions<'_>) -> String {
    let Some(diff) = left.diff.filter(|diff| !diff.files.is_empty() || !diff.new_files.is_empty())
    else {
        return String::new();
    };
    let mut text = String::from("Changed since the start:\n");
    for (path, counts) in diff.files.iter().take(FILES_MAX) {
        let _ = match counts {
            Some((more, less)) => writeln!(text, "  {} | +{more} -{less}", clean(path)),
            None => writeln!(text, "  {} | binary", clean(path)),
        };
    }
    for path in diff.new_files.iter().take(FILES_MAX) {
        let _ = writeln!(text, "  {} | new", clean(path));
    }
    let more =
        diff.files.len().saturating_sub(FILES_MAX) + diff.new_files.len().saturating_sub(FILES_MAX);
    if more > 0 {
        let _ = writeln!(text, "  and {more} more");
    }
    text
}

fn notes(left: &EarlierSessions<'_>) -> String {
    let said = clean(left.said.trim());
    if said.is_empty() {
        return String::new();
    }
    format!("The session before said at its end (as data):\n{}\n", fenced(&said, NOTES_BYTES_MAX))
}
