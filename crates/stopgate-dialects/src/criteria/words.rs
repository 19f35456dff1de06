//! What the agent, the person and a new session are told.

use core::fmt::Write as _;

use super::record::{CriteriaRecord, CriteriaStatus, CriterionState, STUCK_MAX};

/// How much of the spec an announcement shows.
const SPEC_CHARS_MAX: usize = 100;

/// Why the agent has to work on.
pub fn blocked(record: &CriteriaRecord) -> String {
    let unmet = record.unmet();
    if unmet.is_empty() {
        return "criteria met but exit_signal not set - verify completion".into();
    }
    let assumed = |(_, mark): &&(String, CriterionState)| *mark == CriterionState::Assumed;
    if record.criteria.iter().filter(assumed).count() == unmet.len() {
        return "criterion verified by assumption only - requires actual verification".into();
    }
    format!("unmet criteria: {}", unmet.join(", "))
}

/// Why the agent may go, where that needs a word.
pub fn let_go(record: &CriteriaRecord) -> Option<String> {
    match record.status {
        CriteriaStatus::Paused => {
            Some("the loop is paused; go on with: stopgate resume --dialect criteria".into())
        }
        CriteriaStatus::InProgress if record.breaker.stuck >= STUCK_MAX => Some(format!(
            "circuit breaker open: \"{}\" stayed unmet for {} iterations; look at it, then go on \
             with: stopgate resume --dialect criteria",
            record.breaker.last_unmet, record.breaker.stuck
        )),
        CriteriaStatus::InProgress if record.criteria.is_empty() => {
            Some("no criteria are listed, so nothing is proven".into())
        }
        CriteriaStatus::InProgress | CriteriaStatus::Completed | CriteriaStatus::Cancelled => None,
    }
}

/// What a session is told when it begins; nothing where no loop waits for it.
pub fn announcement(record: &CriteriaRecord) -> Option<String> {
    let (headline, how) = match record.status {
        CriteriaStatus::InProgress => ("[LOOP RESUME] Active loop detected", ""),
        CriteriaStatus::Paused => (
            "[LOOP RESUME] Paused loop detected",
            "\nIt is paused. Let it go on with: stopgate resume --dialect criteria",
        ),
        CriteriaStatus::Completed | CriteriaStatus::Cancelled => return None,
    };
    let spec: String = one_line(&record.spec).chars().take(SPEC_CHARS_MAX).collect();
    let unmet = record.unmet();
    let unmet = if unmet.is_empty() { "none".into() } else { unmet.join(", ") };
    Some(format!(
        "{headline}\nSpec: {spec}\nProgress: {}/{} steps | Iteration: {}\n\
         Unmet criteria: {unmet}\nNext: {}{how}",
        record.completed.len(),
        record.steps.len(),
        record.iteration,
        next(record)
    ))
}

/// The block that an iteration ends with.
pub fn status_block(record: &CriteriaRecord) -> String {
    let met = record.criteria.len() - record.unmet().len();
    let mut block = String::from("---LOOP_STATUS---\n");
    let _ = writeln!(block, "STATUS: {}", record.status.word().to_uppercase());
    let _ = writeln!(block, "ITERATION: {}", record.iteration);
    let _ = writeln!(block, "STEPS: {}/{}", record.completed.len(), record.steps.len());
    let _ = writeln!(block, "CRITERIA: {met}/{} met", record.criteria.len());
    for (name, mark) in &record.criteria {
        let mark = match mark {
            CriterionState::Met => "x",
            CriterionState::Unmet => " ",
            CriterionState::Assumed => "?",
        };
        let _ = writeln!(block, "- [{mark}] {}", one_line(name));
    }
    let _ = writeln!(block, "STUCK: {}/{STUCK_MAX}", record.breaker.stuck);
    let _ = writeln!(block, "EXIT_SIGNAL: {}", record.exit_signal);
    let _ = writeln!(block, "NEXT: {}", one_line(next(record)));
    block.push_str("---END_LOOP_STATUS---");
    block
}

fn next(record: &CriteriaRecord) -> &str {
    record.remaining.first().map_or("continue work", |step| step)
}

fn one_line(text: &str) -> String {
    text.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ")
}
