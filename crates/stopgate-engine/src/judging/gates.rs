//! Gates of loops that the hook steers: the same gates, asked at a stop.

use std::path::Path;
use std::time::Duration;

use stopgate_core::{Author, GateAction, GateWord, LoopGate, Receipt, State, Timestamp};
use stopgate_gates::{
    AgentContext, Gate, GateKind, LoopGates, detect, evaluate, gate_word, loop_context, loop_gate,
    want_files,
};
use stopgate_verify::{GitFilters, git};

use super::hands::GateHands;
use crate::context::Context;
use crate::failure::Failure;
use crate::observe::HeardMessage;
use crate::view::time_text;
use crate::watchdog;

const GATES_MAX: usize = 16;
const GIT_TIMEOUT: Duration = Duration::from_secs(20);

/// Reads gates as people write them.
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

/// Reads gates of a policy that is tried on loops of any project.
pub(crate) fn read_for_trial(texts: &[String]) -> Result<Vec<LoopGate>, Failure> {
    let read = |text: &String| loop_gate(text, Author::Project).map_err(|why| wrong(text, &why));
    texts.iter().map(read).collect()
}

/// Whether a gate asks for anything to be run.
pub(crate) fn has_command(text: &str) -> bool {
    Gate::of_text(text).is_ok_and(|gate| runs(&gate))
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
    let gate = loop_gate(text, author).map_err(|why| wrong(text, &why))?;
    if want_files(std::slice::from_ref(&gate)) && !project.join(".git").exists() {
        return Err(wrong(text, "filesModified is known only in a git repository"));
    }
    Ok(gate)
}

fn wrong(text: &str, why: &str) -> Failure {
    Failure::usage(format!("could not understand the gate `{text}`: {why}")).hint(
        "write an expression such as `escalate if iteration > 10 and filesModified|length == 0`",
    )
}

/// What the gates of a loop say about this stop. No turn is held meanwhile.
pub(crate) fn ask_loop_gates(
    context: &mut Context,
    state: &State,
    heard: &HeardMessage,
    receipts: &[Receipt],
    now: Timestamp,
) -> GateWord {
    let gates = LoopGates::read(&state.gates);
    let wanted = want_files(&state.gates).then(|| changed_files(Path::new(state.root())));
    let files = match wanted.transpose() {
        Ok(files) => files.unwrap_or_default(),
        Err(why) => {
            return failed(&format!("could not tell which files were changed: {why}"));
        }
    };
    let times = gates.readable().map(gate_time);
    watchdog::allow(times.fold(Duration::ZERO, Duration::saturating_add));
    let agent = AgentContext {
        files_modified: files,
        completion_promises: detect(heard.message.as_deref().unwrap_or_default(), &time_text(now)),
        agent_output: heard.message.clone(),
        ..loop_context(state, receipts)
    };
    let directory = state.root().into();
    let mut hands = GateHands::new(context, state.id.clone(), directory);
    let evaluation = evaluate(&gates.sources(receipts), &agent, &mut hands);
    gate_word(evaluation, &agent)
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
