//! Gates of loops that the hook steers: the same gates, asked at a stop.

use std::path::Path;
use std::time::Duration;

use serde_json::Value;
use stopgate_core::{
    Author, GateAction, GateTrace, GateWord, LoopGate, Receipt, State, Status, Timestamp, clip,
    clip_end,
};
use stopgate_gates::{
    Action, AgentContext, Gate, GateKind, GateSource, ValidationResult, detect, evaluate,
};
use stopgate_verify::{GitFilters, git};

use super::hands::GateHands;
use crate::context::Context;
use crate::failure::Failure;
use crate::observe::HeardMessage;
use crate::view::time_text;
use crate::watchdog;

const GATES_MAX: usize = 16;
const NAME_BYTES_MAX: usize = 80;
const TAIL_BYTES_MAX: usize = 400;
const INPUTS_BYTES_MAX: usize = 2000;
const GIT_TIMEOUT: Duration = Duration::from_secs(20);

/// Reads gates as people write them.
///
/// `tdd`, `escalate if iteration > 10`, `complete if …`, `continue if …`, a bare expression
/// (which escalates where it holds), or a definition in JSON.
pub(crate) fn read<'a>(
    texts: impl Iterator<Item = (&'a String, Author)>,
    project: &Path,
) -> Result<Vec<LoopGate>, Failure> {
    let read: Result<Vec<LoopGate>, Failure> =
        texts.map(|(text, author)| read_one(text, author, project)).collect();
    match read {
        Ok(gates) if gates.len() > GATES_MAX => {
            Err(Failure::usage(format!("more than {GATES_MAX} gates")))
        }
        read => read,
    }
}

/// Whether a gate asks for anything to be run.
pub(crate) fn has_command(text: &str) -> bool {
    parse(text).is_ok_and(|gate| runs(&gate))
}

fn runs(gate: &Gate) -> bool {
    match &gate.kind {
        GateKind::Command(_) => true,
        GateKind::All(parts) | GateKind::Any(parts) | GateKind::First(parts) => {
            parts.iter().any(runs)
        }
        GateKind::Not(part) => runs(part),
        GateKind::Preset(_) | GateKind::Template(_) | GateKind::Rules(_) => false,
    }
}

fn read_one(text: &str, author: Author, project: &Path) -> Result<LoopGate, Failure> {
    let wrong = |why: String| {
        Failure::usage(format!("could not understand the gate `{text}`: {why}")).hint(
            "write an expression such as `escalate if iteration > 10 and filesModified|length == 0`",
        )
    };
    let gate = parse(text).map_err(wrong)?;
    let definition = gate.definition().to_string();
    if definition.contains("filesModified") && !project.join(".git").exists() {
        return Err(wrong("filesModified is known only in a git repository".into()));
    }
    Ok(LoopGate { name: clip(text.trim(), NAME_BYTES_MAX), definition, author })
}

fn parse(text: &str) -> Result<Gate, String> {
    let text = text.trim();
    if text.starts_with('{') {
        let value: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
        return Gate::read(&value);
    }
    if let Some(gate) = Gate::named(text) {
        return Ok(gate);
    }
    let (action, condition) = match text.split_once(" if ") {
        Some((word, condition)) if Action::read(word.trim()).is_some() => {
            (Action::read(word.trim()).unwrap_or(Action::Escalate), condition.trim())
        }
        Some(_) | None => (Action::Escalate, text),
    };
    // The reason is data: what stands in it is not filled in.
    let reason = format!("{{% raw %}}`{condition}` holds{{% endraw %}}");
    Gate::condition(condition, action, &reason)
}

/// What the gates of a loop say about this stop. No turn is held meanwhile.
pub(crate) fn ask_loop_gates(
    context: &mut Context,
    state: &State,
    heard: &HeardMessage,
    receipts: &[Receipt],
    now: Timestamp,
) -> GateWord {
    let read = |gate: &LoopGate| {
        serde_json::from_str(&gate.definition).ok().and_then(|value: Value| Gate::read(&value).ok())
    };
    let gates: Vec<Option<Gate>> = state.gates.iter().map(read).collect();
    let sources: Vec<GateSource<'_>> = state
        .gates
        .iter()
        .zip(&gates)
        .map(|(named, gate)| {
            // A template judges by results; without any check it has nothing to judge.
            let waits = gate.as_ref().is_some_and(|g| matches!(g.kind, GateKind::Template(_)));
            let enabled = !(waits && receipts.is_empty());
            GateSource { id: &named.name, enabled, gate: gate.as_ref() }
        })
        .collect();
    let wants_files = state.gates.iter().any(|gate| gate.definition.contains("filesModified"));
    let files = if wants_files { changed_files(Path::new(state.root())) } else { Ok(Vec::new()) };
    let files = match files {
        Ok(files) => files,
        Err(why) => {
            return failed(&format!("could not tell which files were changed: {why}"));
        }
    };
    let times = gates.iter().flatten().map(gate_time);
    watchdog::allow(times.fold(Duration::ZERO, Duration::saturating_add));
    let agent = agent_context(state, heard, receipts, files, now);
    let directory = state.root().into();
    let mut hands = GateHands::new(context, state.id.clone(), directory);
    let evaluation = evaluate(&sources, &agent, &mut hands);
    let inputs = inputs(&agent);
    let asked: Vec<GateTrace> = evaluation
        .traces
        .iter()
        .map(|trace| GateTrace {
            gate: trace.gate.clone(),
            action: trace.action.map(core_action),
            reason: trace.reason.clone(),
            failed: trace.failed,
            micros: trace.micros,
            inputs: inputs.clone(),
        })
        .collect();
    GateWord {
        gate: evaluation.gate,
        action: core_action(evaluation.answer.action),
        reason: evaluation.answer.reason,
        next_prompt: evaluation.answer.next_prompt,
        asked,
    }
}

/// How long the commands of a gate may take.
fn gate_time(gate: &Gate) -> Duration {
    match &gate.kind {
        GateKind::Command(command) => Duration::from_millis(command.timeout_ms),
        GateKind::All(parts) | GateKind::Any(parts) | GateKind::First(parts) => {
            parts.iter().map(gate_time).fold(Duration::ZERO, Duration::saturating_add)
        }
        GateKind::Not(part) => gate_time(part),
        GateKind::Preset(_) | GateKind::Template(_) | GateKind::Rules(_) => Duration::ZERO,
    }
}

fn failed(why: &str) -> GateWord {
    GateWord {
        gate: "gates".into(),
        action: GateAction::Escalate,
        reason: format!("Hook evaluation failed: {why}"),
        next_prompt: None,
        asked: Vec::new(),
    }
}

const fn core_action(action: Action) -> GateAction {
    match action {
        Action::Complete => GateAction::Complete,
        Action::Continue => GateAction::Continue,
        Action::Escalate => GateAction::Escalate,
    }
}

fn agent_context(
    state: &State,
    heard: &HeardMessage,
    receipts: &[Receipt],
    files: Vec<String>,
    now: Timestamp,
) -> AgentContext {
    let message = heard.message.as_deref().unwrap_or_default();
    // What a gate saw is told to the caller, so it sees nothing that is hidden.
    let hidden = |name: &str| state.criteria.iter().any(|c| c.name == name && c.is_hidden());
    let shown = receipts.iter().filter(|receipt| !hidden(&receipt.criterion));
    AgentContext {
        task_id: state.id.as_str().into(),
        iteration: state.frames.first().map_or(1, |frame| frame.iteration.saturating_add(1)),
        execution_phase: None,
        files_modified: files,
        validation_results: shown.map(result).collect(),
        completion_promises: detect(message, &time_text(now)),
        agent_output: heard.message.clone(),
        draft_content: None,
        draft_type: None,
    }
}

fn result(receipt: &Receipt) -> ValidationResult {
    let tail = || clip_end(&receipt.tail, TAIL_BYTES_MAX).trim().to_string();
    ValidationResult {
        rule_name: receipt.criterion.clone(),
        rule_type: "command".into(),
        passed: receipt.status == Status::Pass,
        message: receipt.trouble.clone().unwrap_or_else(tail),
        duration_ms: receipt.duration_ms,
    }
}

/// What the gates saw, for later questions; of a long message only its beginning.
fn inputs(context: &AgentContext) -> String {
    let mut shown = context.clone();
    shown.agent_output = shown.agent_output.map(|text| clip(&text, TAIL_BYTES_MAX));
    clip(&serde_json::to_string(&shown).unwrap_or_default(), INPUTS_BYTES_MAX)
}

/// What differs from the last commit, untracked files included.
fn changed_files(project: &Path) -> Result<Vec<String>, String> {
    let words = [
        "status",
        "--porcelain=v1",
        "-z",
        "--untracked-files=all",
        "--no-renames",
        // A repository within has settings of its own, which are not looked through here.
        "--ignore-submodules=dirty",
    ];
    let ran = git(&words, project, GitFilters::OwnOnly, GIT_TIMEOUT);
    let ran = ran.map_err(|error| error.to_string())?;
    if ran.status_code != Some(0) {
        return Err(String::from_utf8_lossy(&ran.stderr).trim().into());
    }
    let text = String::from_utf8_lossy(&ran.stdout);
    Ok(text.split('\0').filter_map(|line| line.get(3..)).map(String::from).collect())
}

#[cfg(test)]
mod tests;
