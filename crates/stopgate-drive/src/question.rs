//! Whether the last message of a session is a question to a person.
//!
//! Without a person a client can't ask: what it wants to know stands at the end of what it said.

use crate::record::PlanWord;

/// More of a question is not shown.
const QUESTION_BYTES_MAX: usize = 600;

/// The question that a message ends with, if it does.
///
/// Only the last paragraph counts, and code, quotes and markers are not questions.
pub fn trailing_question(message: &str) -> Option<String> {
    let is_blank = |line: &str| line.trim().is_empty();
    let lines: Vec<&str> = message.trim_end().lines().collect();
    let fences = lines.iter().filter(|line| line.trim_start().starts_with("```")).count();
    let last = lines.last()?.trim();
    if fences % 2 == 1 || last.starts_with("```") || last.starts_with('>') {
        return None;
    }
    let end = last.trim_end_matches(['*', '_', '`', ')', '"', ' ']);
    if !end.ends_with('?') && !end.ends_with('\u{ff1f}') {
        return None;
    }
    let begin = lines.iter().rposition(|line| is_blank(line)).map_or(0, |at| at + 1);
    let paragraph = lines[begin..].join("\n");
    Some(shown_question(&paragraph))
}

/// A question as a person is shown it.
pub(crate) fn shown_question(question: &str) -> String {
    stopgate_core::clip(&stopgate_core::clean(question), QUESTION_BYTES_MAX)
}

/// What an answer says of a plan.
pub(crate) fn plan_word(answer: Option<&str>) -> PlanWord {
    if answer.is_some_and(approves) { PlanWord::Approved } else { PlanWord::Open }
}

/// Whether an answer to a plan is a yes.
fn approves(answer: &str) -> bool {
    let letters = |letter: char| !letter.is_alphanumeric();
    let first = answer.split(letters).find(|word| !word.is_empty()).unwrap_or_default();
    let yes =
        ["yes", "y", "ok", "okay", "approve", "approved", "go", "sure", "agreed", "ja", "oui"];
    yes.contains(&first.to_lowercase().as_str())
}

#[cfg(test)]
mod tests {
    use super::{approves, trailing_question};

    #[test]
    fn a_plan_is_approved_by_a_yes() {
        for yes in ["yes", "Yes, go on.", "OK", "approved", "Go ahead"] {
            assert!(approves(yes), "{yes:?}");
        }
        for no in ["", "no", "Not yet", "Use SQLite instead", "goat"] {
            assert!(!approves(no), "{no:?}");
        }
    }

    #[test]
    fn the_last_paragraph_is_asked() {
        let said = "I looked at both.\n\nWhich database should I use,\nSQLite or PostgreSQL?";
        let asked = trailing_question(said);
        assert_eq!(asked.as_deref(), Some("Which database should I use,\nSQLite or PostgreSQL?"));
        assert!(trailing_question("**Shall I go on with this plan?**\n").is_some());
    }

    #[test]
    fn what_only_looks_like_a_question_is_none() {
        for said in [
            "",
            "Done.",
            "Why did it fail? The port was taken. I fixed it.",
            "```\nis it so?\n```",
            "```\nis it so?",
            "> is it so?",
            "Was it right?\n\n<promise>COMPLETE</promise>",
        ] {
            assert_eq!(trailing_question(said), None, "{said:?}");
        }
    }
}
