//! Runs an iteration's validation rules, each to a result: what can't be run has failed.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::json;
use stopgate_core::{Status, clean, clip_end, fenced};
use stopgate_gates::{
    AgentContext, Enough, PatternTarget, RuleKind, ValidationResult, ValidationRule, pattern_result,
};
use stopgate_verify::{Check, CheckCommand, Run, coverage};

use super::hands::GateHands;

/// All rules of one validation together.
pub(crate) const BUDGET: Duration = Duration::from_mins(20);
const VALIDATOR_TIMEOUT: Duration = Duration::from_mins(1);
/// How much of a program's output a model sees, its fence included.
const TAIL_BYTES_MAX: usize = 480;
const REPORT_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// What rules look at beside the work tree.
pub(crate) struct RuleSight<'a> {
    pub(crate) context: &'a AgentContext,
    pub(crate) notes: &'a str,
    /// The newest work product, where there is one.
    pub(crate) product: Option<&'a str>,
    /// Where people put their validators.
    pub(crate) validators: Option<PathBuf>,
    /// How long all of them together may take.
    pub(crate) budget: Duration,
}

/// Runs the rules that are enabled, in order; commands run side by side.
pub(crate) fn run(
    rules: &[ValidationRule],
    sight: &RuleSight<'_>,
    hands: &mut GateHands<'_>,
) -> Vec<ValidationResult> {
    let asked: Vec<&ValidationRule> = rules.iter().filter(|rule| rule.enabled).collect();
    let mut commands = run_commands(&asked, sight.budget, hands).into_iter();
    let mut results = Vec::new();
    for rule in asked {
        let begun = hands.context.world.micros();
        let found = match &rule.kind {
            RuleKind::Command { exit_codes, .. } => {
                let run = commands.next().unwrap_or_else(|| Err("it was not run".into()));
                results.push(command_result(rule, exit_codes, run));
                continue;
            }
            RuleKind::Pattern { pattern, flags, target, wanted } => {
                let text = text_of(*target, sight);
                pattern_result(pattern, flags, *wanted, text, *target)
            }
            RuleKind::Coverage { floor, format, report, .. } => {
                covered(&hands.directory.join(report), *format, floor)
            }
            RuleKind::Files { paths, enough } => files(&hands.directory, paths, *enough),
            RuleKind::Custom { validator, config } => custom(validator, config, sight, hands),
        };
        let duration_ms = hands.context.world.micros().saturating_sub(begun) / 1000;
        results.push(result(rule, found, duration_ms));
    }
    results
}

fn result(
    rule: &ValidationRule,
    (passed, message): (bool, String),
    duration_ms: u64,
) -> ValidationResult {
    ValidationResult {
        rule_name: rule.name.clone(),
        rule_type: rule.word.into(),
        passed,
        message: clean(&message),
        duration_ms,
    }
}

fn text_of<'a>(target: PatternTarget, sight: &RuleSight<'a>) -> &'a str {
    match target {
        PatternTarget::AgentOutput => sight.context.agent_output.as_deref().unwrap_or_default(),
        PatternTarget::TaskNotes => sight.notes,
        PatternTarget::DraftContent => {
            let draft = sight.context.draft_content.as_deref();
            draft.or(sight.product).unwrap_or_default()
        }
    }
}

fn run_commands(
    rules: &[&ValidationRule],
    budget: Duration,
    hands: &mut GateHands<'_>,
) -> Vec<Result<Run, String>> {
    let logs = hands.context.home.check_logs(&hands.id);
    let directory = hands.directory.clone();
    let check = |rule: &&'_ ValidationRule| match &rule.kind {
        RuleKind::Command { command, timeout_ms, directory: below, set, .. } => {
            let place =
                below.as_ref().map_or_else(|| directory.clone(), |below| directory.join(below));
            let log = logs.join(format!("{}.log", crate::home::file_name(&rule.name)));
            Some((command.clone(), *timeout_ms, place, log, set.clone(), rule.name.clone()))
        }
        RuleKind::Pattern { .. }
        | RuleKind::Coverage { .. }
        | RuleKind::Files { .. }
        | RuleKind::Custom { .. } => None,
    };
    let asked: Vec<_> = rules.iter().filter_map(check).collect();
    let checks: Vec<Check<'_>> = asked
        .iter()
        .map(|(command, timeout_ms, place, log, set, name)| Check {
            timeout: Duration::from_millis(*timeout_ms),
            set,
            ..Check::new(name, CheckCommand::Shell(command), place.clone(), log.clone())
        })
        .collect();
    match hands.run(&checks, budget) {
        Ok(runs) => runs.into_iter().map(Ok).collect(),
        Err(error) => checks.iter().map(|_| Err(error.clone())).collect(),
    }
}

fn command_result(
    rule: &ValidationRule,
    codes: &[i32],
    run: Result<Run, String>,
) -> ValidationResult {
    let run = match run {
        Ok(run) => run.receipt,
        Err(error) => return result(rule, (false, error), 0),
    };
    let passed = run.exit_code.is_some_and(|code| codes.contains(&code));
    let tail = fenced(&run.tail, TAIL_BYTES_MAX);
    let mut message = match (run.status, run.exit_code) {
        (Status::Timeout, _) => format!("Command timed out after {} ms", run.duration_ms),
        (_, Some(code)) if passed => format!("Command exited with code {code}"),
        (_, Some(code)) => {
            let wanted: Vec<String> = codes.iter().map(ToString::to_string).collect();
            format!("Command exited with code {code}, expected {}", wanted.join(" or "))
        }
        (_, None) => run.trouble.unwrap_or_else(|| "Command could not be run".into()),
    };
    if !passed && !tail.is_empty() {
        message = format!("{message}:\n{}", tail.trim_end());
    }
    result(rule, (passed, message), run.duration_ms)
}

fn covered(
    report: &Path,
    format: stopgate_core::CoverageFormat,
    floor: &stopgate_core::Floor,
) -> (bool, String) {
    let unreadable = |why: String| (false, format!("Coverage report {}: {why}", report.display()));
    let text = match stopgate_verify::files::read_text(report, REPORT_BYTES_MAX) {
        Ok(text) => text,
        Err(error) => return unreadable(error.to_string()),
    };
    match coverage::read(&text, Some(format)) {
        Err(error) => unreadable(error),
        Ok(found) => match coverage::judge(&found, floor) {
            coverage::CoverageVerdict::Met => (true, format!("Coverage is high enough: {found}")),
            coverage::CoverageVerdict::Short(why) | coverage::CoverageVerdict::Unproven(why) => {
                (false, why)
            }
        },
    }
}

fn files(directory: &Path, paths: &[String], enough: Enough) -> (bool, String) {
    let (there, missing): (Vec<&str>, Vec<&str>) =
        paths.iter().map(String::as_str).partition(|path| directory.join(path).exists());
    match enough {
        _ if missing.is_empty() => (true, format!("All {} file(s) exist", paths.len())),
        Enough::All => (false, format!("Missing: {}", missing.join(", "))),
        Enough::One if there.is_empty() => {
            (false, format!("None of the files exists: {}", missing.join(", ")))
        }
        Enough::One => (true, format!("Exists: {}", there.join(", "))),
    }
}

/// A person's own program, by name, in the directory that only they write to.
fn custom(
    validator: &str,
    config: &serde_json::Value,
    sight: &RuleSight<'_>,
    hands: &mut GateHands<'_>,
) -> (bool, String) {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let program = sight.validators.as_ref().map(|directory| directory.join(validator));
    let program = program.filter(|program| validator.chars().all(plain) && program.is_file());
    let Some(program) = program else {
        return (false, format!("Custom validator not found: {validator}"));
    };
    let command = format!("'{}'", program.display().to_string().replace('\'', "'\\''"));
    let told = json!({ "context": sight.context, "config": config }).to_string();
    match hands.tell(&command, &told, VALIDATOR_TIMEOUT) {
        Err(error) => (false, format!("Custom validator {validator} failed: {error}")),
        Ok(said) => read_verdict(validator, &said),
    }
}

fn read_verdict(validator: &str, said: &str) -> (bool, String) {
    let value: serde_json::Value = serde_json::from_str(said).unwrap_or_default();
    let message = value.get("message").and_then(serde_json::Value::as_str).unwrap_or_default();
    let Some(passed) = value.get("passed").and_then(serde_json::Value::as_bool) else {
        let why = "must write {\"passed\": true or false, \"message\": …}";
        return (false, format!("Custom validator {validator} {why}"));
    };
    if passed {
        return (true, clip_end(message, TAIL_BYTES_MAX).into());
    }
    let said = fenced(message, TAIL_BYTES_MAX);
    (false, format!("Custom validator {validator} failed:\n{}", said.trim_end()))
}
