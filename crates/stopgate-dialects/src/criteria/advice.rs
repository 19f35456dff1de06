//! Why a loop stops too early, never stops, or is not announced: answers by its file.

use super::record::{CriteriaRecord, CriteriaStatus, CriterionState, RecordError, STUCK_MAX};
use crate::json_text::{Document, Node};

/// One thing that is odd about a state file, and what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Advice {
    /// What is odd, and what comes of it.
    pub text: String,
    /// What to do.
    pub hint: String,
}

const RESUME: &str = "stopgate resume --dialect criteria";

/// Everything that is odd about a state file; nothing where all is well.
pub fn advice(text: &str) -> Vec<Advice> {
    let record = match CriteriaRecord::read(text) {
        Ok(record) => record,
        Err(error) => return vec![unreadable(&error)],
    };
    let mut found = Vec::new();
    if let Ok(document) = Document::read(text) {
        types(document.root(), &mut found);
    }
    match record.status {
        CriteriaStatus::InProgress => running(&record, &mut found),
        CriteriaStatus::Paused => {
            found.push(say("the loop is paused: every stop is allowed", RESUME));
        }
        CriteriaStatus::Completed | CriteriaStatus::Cancelled => {}
    }
    found
}

fn running(record: &CriteriaRecord, found: &mut Vec<Advice>) {
    let unmet = record.unmet();
    if record.criteria.is_empty() {
        found.push(say(
            "the loop stops too early: it lists no criteria, so every stop is allowed",
            "list them under \"criteria\", or start anew with --criterion NAME",
        ));
    }
    if record.exit_signal && !unmet.is_empty() {
        found.push(say(
            &format!(
                "the loop may stop too early: exit_signal is true{} although {} unmet; it ends \
                 without a last look as soon as they are marked as met",
                if record.iteration == 0 { " at the start" } else { "" },
                named(&unmet)
            ),
            "set exit_signal to false; stopgate iterate --dialect criteria does it by itself",
        ));
    }
    if record.all_met() && !record.exit_signal {
        found.push(say(
            "the loop runs on although all criteria are met: exit_signal is not set",
            "look once more, then: stopgate complete --dialect criteria",
        ));
    }
    if record.breaker.stuck >= STUCK_MAX {
        let (last, count) = (&record.breaker.last_unmet, record.breaker.stuck);
        found.push(say(
            &format!("the circuit breaker is open: \"{last}\" stayed unmet for {count} iterations"),
            &format!("is it achievable, and is its check right? Then: {RESUME}"),
        ));
    }
    if unmet.iter().any(|name| mark(record, name) == CriterionState::Assumed) {
        found.push(say(
            "a criterion is met by assumption only, which counts as unmet",
            "verify it, then: stopgate iterate --dialect criteria --met NAME",
        ));
    }
    if record.iteration > 0 && record.completed.is_empty() && unmet.len() == record.criteria.len() {
        found.push(say(
            &format!("nothing was marked as met or done in {} iterations", record.iteration),
            "after each step: stopgate iterate --dialect criteria --met NAME --step-done STEP",
        ));
    }
}

/// Values of the wrong kind, which count as if they were not there.
fn types(root: Node<'_>, found: &mut Vec<Advice>) {
    let status = root.key("status").and_then(Node::text);
    let known = ["in_progress", "paused", "completed", "cancelled"];
    if let Some(word) = status.filter(|word| !known.contains(word)) {
        found.push(say(
            &format!("the status \"{word}\" is unknown and counts as in_progress"),
            "use in_progress, paused, completed or cancelled",
        ));
    }
    let listed: Vec<&str> =
        root.key("criteria").into_iter().flat_map(Node::elements).filter_map(Node::text).collect();
    let marks = root.key("criteriaStatus");
    for (name, node) in marks.into_iter().flat_map(Node::members) {
        if !listed.is_empty() && !listed.contains(&name) {
            found.push(say(
                &format!("criteriaStatus has \"{name}\", which is not listed under criteria"),
                "is it a typo? Both names must be exactly the same",
            ));
        }
        if node.flag().is_none() && !node.is_object() {
            found.push(say(
                &format!("the status of \"{name}\" is neither true nor false, and counts as unmet"),
                "write true or false, without quotes",
            ));
        }
    }
    for (name, _) in root.key("checks").into_iter().flat_map(Node::members) {
        if !listed.contains(&name) {
            found.push(say(
                &format!(
                    "checks has \"{name}\", which is not listed under criteria: it never runs"
                ),
                "is it a typo? Both names must be exactly the same",
            ));
        }
    }
    if root.key("exit_signal").is_some_and(|signal| signal.flag().is_none()) {
        found.push(say(
            "exit_signal is neither true nor false, and counts as false",
            "write true or false, without quotes",
        ));
    }
}

fn mark(record: &CriteriaRecord, name: &str) -> CriterionState {
    let found = record.criteria.iter().find(|(known, _)| known == name);
    found.map_or(CriterionState::Unmet, |(_, mark)| *mark)
}

fn unreadable(error: &RecordError) -> Advice {
    say(
        &format!("the loop stops too early: nobody could {error}, so every stop is allowed"),
        "repair the JSON; stopgate keeps copies in its home, under backups",
    )
}

fn named(names: &[&str]) -> String {
    match names {
        [only] => format!("\"{only}\" is"),
        several => format!("{} criteria are", several.len()),
    }
}

fn say(text: &str, hint: &str) -> Advice {
    Advice { text: text.into(), hint: hint.into() }
}
