//! The play as a timeline.

use stopgate_core::Outcome;

use super::play::Played;
use super::script::ScriptedLoop;
use crate::output::{self, BOLD, DIM, GOOD, WAITS, styled};

const LABEL_COLUMNS: usize = 11;

/// What is about to be seen.
pub(super) fn curtain() {
    output::line(&styled(
        BOLD,
        "A scripted agent, the real hook, and a project that is thrown away.",
    ));
}

/// How a scene begins.
pub(super) fn scene(scene: &ScriptedLoop, told: &str) {
    output::line(&format!("\n{}", styled(BOLD, &format!("── {} ──", scene.title))));
    let check = scene.check.map(|check| format!(" --check {}", quoted(check))).unwrap_or_default();
    let protect = scene.protect.map(|file| format!(" --protect {file}")).unwrap_or_default();
    row("you type", &styled(BOLD, &format!("stopgate start \"{}\"{check}{protect}", scene.goal)));
    row("agent hears", told.lines().next().unwrap_or_default());
}

/// One turn.
pub(super) fn step(number: usize, played: &Played) {
    output::line(&format!("\n{}", styled(BOLD, &format!("{number}  {}", played.step))));
    row("agent does", &played.did);
    let said = played.said.lines().filter(|line| !line.is_empty());
    for (at, line) in said.enumerate() {
        row(if at == 0 { "agent says" } else { "" }, line);
    }
    let answer = match played.outcome {
        Some(Outcome::Done) => styled(GOOD, "✓ lets it stop:"),
        Some(_) => styled(WAITS, "~ lets it stop:"),
        None => styled(WAITS, "↩ sends it back:"),
    };
    row("stopgate", &format!("{answer} {}", head(&played.answer)));
    row("because", &format!("{} {}", played.why, styled(DIM, &format!("(rule: {})", played.rule))));
}

/// The first line of an answer, without the greeting and the reading matter.
fn head(answer: &str) -> &str {
    let line = answer.lines().next().unwrap_or_default();
    let line = line.strip_prefix("stopgate: ").unwrap_or(line);
    line.split(" More: ").next().unwrap_or(line)
}

/// What was seen, and what to do now.
pub(super) fn end(steps: &[Played]) {
    let back = steps.iter().filter(|played| played.outcome.is_none()).count();
    output::line(&format!(
        "\n{} {} stops, {back} sent back: one loop is {}, proven by its check; the other is only {}, on the agent's word.",
        styled(GOOD, "✓"),
        steps.len(),
        styled(GOOD.bold(), "done"),
        styled(WAITS.bold(), "attested"),
    ));
    output::line("\nNow with your own agent:");
    output::line(&format!("  {}", styled(BOLD, "stopgate install claude")));
    output::line(&format!(
        "  {}",
        styled(BOLD, "stopgate start \"all tests pass\" --check tests='cargo test'")
    ));
}

fn row(label: &str, text: &str) {
    output::row(label, LABEL_COLUMNS, text);
}

/// A word as a shell wants it.
fn quoted(word: &str) -> String {
    format!("\"{word}\"")
}
