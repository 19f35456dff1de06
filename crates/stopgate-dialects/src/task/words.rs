//! What a task's hook says.

use stopgate_core::{clean, clip};

use super::mark::Pause;
use super::record::TaskRecord;

/// No step needs more words.
const STEP_BYTES_MAX: usize = 1024;
const WHY_BYTES_MAX: usize = 600;

/// A prompt for those who would rather have a model judge the stop than a record.
pub const JUDGE_PROMPT: &str = "\
You decide whether a coding agent that works in a loop may stop. This is what its client says \
about the stop:

$ARGUMENTS

Answer in this order; the first that holds decides:
1. The last message has a line that begins with <loop-complete>, outside of code and quotes: \
{\"ok\": true, \"reason\": \"complete\"}
2. No task of a loop is in progress: {\"ok\": true, \"reason\": \"no active task\"}
3. stop_hook_active has been true for 3 or more evaluations in a row without a finished step: \
{\"ok\": true, \"reason\": \"paused: no progress\"}
4. The budget or the iterations are used up, or the same error occurred 3 times: \
{\"ok\": true, \"reason\": \"paused: \" and which of them}
5. Else: {\"ok\": false, \"reason\": \"next: \" and the first remaining step, as one specific action}

Print one JSON object with exactly the fields ok and reason. No other text, no Markdown.
JSON ONLY:";

/// What the agent should do next.
pub fn next(record: &TaskRecord) -> String {
    if let Some(error) = record.to_retry() {
        let step = record.remaining.first().map_or(&record.subject, |step| step);
        return format!(
            "next: retry {}, for this may pass by itself: {}",
            line(step, STEP_BYTES_MAX),
            line(&error.message, WHY_BYTES_MAX)
        );
    }
    match record.remaining.iter().map(|step| line(step, STEP_BYTES_MAX)).find(|s| !s.is_empty()) {
        Some(step) => format!("next: {step}"),
        None => format!(
            "next: verify every success criterion of \"{}\"; if all hold, say <loop-complete> on a \
             line of its own and list them",
            line(&record.subject, STEP_BYTES_MAX)
        ),
    }
}

/// Why the task rests, and how it goes on; `resume` is the command for that.
pub fn paused(pause: &Pause, resume: &str) -> String {
    let why = line(&pause.why, WHY_BYTES_MAX);
    let why = if why.is_empty() { "somebody paused it".to_string() } else { why };
    let limit = match pause.rule.as_str() {
        "iterations" => " (iteration limit)",
        "spend" => " (budget)",
        "idle" => " (no progress)",
        _other => "",
    };
    format!("paused{limit}: {why}. Resume: {resume}")
}

/// What became of a task, for the person.
pub fn summary(record: &TaskRecord) -> String {
    let subject = line(&record.subject, STEP_BYTES_MAX);
    let mut parts = vec![match record.max_iterations {
        u32::MAX => format!("{} iterations", record.iteration),
        max => format!("{} of {max} iterations", record.iteration),
    }];
    if let Some(budget) = record.budget_micros {
        parts.push(format!("{} of {} spent", money(record.cost_micros), money(budget)));
    }
    parts.push(format!("{} steps completed", record.completed.len()));
    if !record.remaining.is_empty() {
        parts.push(format!("{} steps never ticked off", record.remaining.len()));
    }
    if !record.errors.is_empty() {
        parts.push(format!("{} errors along the way", record.errors.len()));
    }
    format!("Task \"{subject}\" is complete by the agent's word: {}.", parts.join(", "))
}

fn money(micros: u64) -> String {
    let (whole, cents) = (micros / 1_000_000, micros % 1_000_000 / 10_000);
    format!("{whole}.{cents:02}")
}

fn line(text: &str, bytes_max: usize) -> String {
    clip(&clean(text).split_whitespace().collect::<Vec<_>>().join(" "), bytes_max)
}
