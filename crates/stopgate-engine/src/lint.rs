//! How clear a goal is: points for five questions, and what is weak about it.
//!
//! A goal is read as text, so the points are an estimate that a person may overrule. Nothing
//! here asks a model.

use serde::Serialize;
use stopgate_dialects::task::{Rubric, Shape};

/// Words that people judge and checks can't.
const SUBJECTIVE: [&str; 24] = [
    "better",
    "nice",
    "nicer",
    "clean",
    "cleaner",
    "good",
    "great",
    "beautiful",
    "elegant",
    "modern",
    "intuitive",
    "simple",
    "simpler",
    "improve",
    "polish",
    "proper",
    "properly",
    "user-friendly",
    "readable",
    "maintainable",
    "robust",
    "appropriate",
    "reasonable",
    "fast",
];

/// Words for what an agent in a repository can't reach by itself.
const OUT_OF_REACH: [&str; 12] = [
    "deploy",
    "deployed",
    "production",
    "customer",
    "customers",
    "email",
    "meeting",
    "phone",
    "users like",
    "app store",
    "go live",
    "marketing",
];

/// Words that bound what belongs to a goal.
const BOUNDS: [&str; 14] = [
    "only", "without", "except", "must not", "don't", "do not", "keep", "in src", "in the",
    "every", "all", "module", "file", "function",
];

/// What is known about a goal before it is begun.
#[derive(Clone, Debug, Serialize)]
pub struct GoalReview {
    /// All points together, of ten.
    pub score: u8,
    /// How an agent should take it: `tool`, `colleague` or `clarify`.
    pub shape: &'static str,
    /// Points by question.
    pub points: Rubric,
    /// What is weak about it, a sentence each.
    pub findings: Vec<String>,
}

impl GoalReview {
    /// Whether the goal should be made clearer before a loop begins.
    pub fn needs_clarity(&self) -> bool {
        self.shape == Shape::Clarify.word()
    }
}

/// Reviews a goal that `checks` checks and `attested` attested criteria stand behind.
pub fn review_goal(goal: &str, checks: usize, attested: usize) -> GoalReview {
    let text = goal.to_lowercase();
    let words: Vec<&str> = text.split(|c: char| !is_part(c)).filter(|w| !w.is_empty()).collect();
    let subjective = hits(&text, &words, &SUBJECTIVE);
    let remote = hits(&text, &words, &OUT_OF_REACH);
    let bounded = hits(&text, &words, &BOUNDS).len();
    let names_thing =
        goal.contains(['/', '.', '_', '`']) || goal.bytes().any(|b| b.is_ascii_digit());
    let points = Rubric {
        outcome: match (words.len(), subjective.is_empty()) {
            (0..=2, _) => 0,
            (3..=4, _) | (_, false) => 1,
            (_, true) => 2,
        },
        scope: u8::from(words.len() > 3) + u8::from(names_thing || bounded > 0),
        constraints: u8::from(checks > 0) + u8::from(bounded > 0 || checks > 1),
        success: match (checks, attested, subjective.is_empty()) {
            (1.., _, _) => 2,
            (0, 1.., true) => 1,
            (0, _, _) => 0,
        },
        done: if checks > 0 { 2 } else { u8::from(attested > 0) },
    };
    let findings = findings(&words, &subjective, &remote, checks);
    GoalReview { score: points.score(), shape: points.shape().word(), points, findings }
}

fn findings(words: &[&str], subjective: &[&str], remote: &[&str], checks: usize) -> Vec<String> {
    let mut found = Vec::new();
    if words.len() < 3 {
        found.push("The goal is very short: say what must be true at the end.".into());
    }
    if !subjective.is_empty() {
        found.push(format!(
            "No check can judge \"{}\": say what would show it, as a number or a command.",
            subjective.join("\", \"")
        ));
    }
    if !remote.is_empty() {
        found.push(format!(
            "\"{}\" may be out of the agent's reach: leave it to a person, or name the command.",
            remote.join("\", \"")
        ));
    }
    if checks == 0 {
        found.push(
            "Nothing proves it: without a check the agent's word ends the loop (as attested)."
                .into(),
        );
    }
    found
}

fn is_part(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '-' || letter == '\''
}

/// The words or phrases of a list that stand in the text.
fn hits<'w>(text: &str, words: &[&str], list: &[&'w str]) -> Vec<&'w str> {
    let stands = |word: &&&str| {
        if word.contains(' ') { text.contains(**word) } else { words.contains(*word) }
    };
    list.iter().filter(stands).copied().collect()
}

#[cfg(test)]
mod tests {
    use super::review_goal;

    #[test]
    fn a_goal_with_a_check_is_a_tools_and_a_vague_one_must_be_made_clearer() {
        let clear = review_goal("Every test in src/parser passes without new dependencies", 1, 0);
        assert_eq!(clear.shape, "tool", "{clear:?}");
        let vague = review_goal("make it better", 0, 0);
        assert!(vague.needs_clarity(), "{vague:?}");
        assert!(vague.findings.iter().any(|text| text.contains("\"better\"")), "{vague:?}");
        let middle = review_goal("Improve the error messages of the parser in src/parse.rs", 1, 0);
        assert_eq!(middle.shape, "tool", "a check makes up for a vague word: {middle:?}");
        let attested = review_goal("Document every public function in src/lib.rs", 0, 1);
        assert_eq!(attested.shape, "colleague", "{attested:?}");
    }

    #[test]
    fn what_is_out_of_reach_is_named() {
        let review = review_goal("Deploy the service to production", 1, 0);
        assert!(review.findings.iter().any(|text| text.contains("out of the agent's reach")));
    }
}
