//! The gates of a loop that the hook steers: what they see at a stop, and what they said there.

use serde_json::Value;
use stopgate_core::{
    Author, GateTrace, GateWord, LoopGate, Receipt, State, Status, clip, clip_end,
};

use crate::evaluate::{Evaluation, GateSource};
use crate::gate::{Gate, GateKind};
use crate::words::{AgentContext, ValidationResult};

/// How much of an output or a message is kept.
pub(crate) const KEPT_BYTES_MAX: usize = 400;
const NAME_BYTES_MAX: usize = 80;
const INPUTS_BYTES_MAX: usize = 2000;
const FILES: &str = "filesModified";

/// The gates of a loop, read from their definitions.
#[derive(Clone, Debug)]
pub struct LoopGates<'a> {
    gates: Vec<(&'a LoopGate, Option<Gate>)>,
}

impl<'a> LoopGates<'a> {
    /// Reads definitions; a gate whose definition can't be read answers with a failure.
    pub fn read(gates: &'a [LoopGate]) -> Self {
        let read = |gate: &LoopGate| {
            let value: Value = serde_json::from_str(&gate.definition).ok()?;
            Gate::read(&value).ok()
        };
        Self { gates: gates.iter().map(|gate| (gate, read(gate))).collect() }
    }

    /// The gates that could be read.
    pub fn readable(&self) -> impl Iterator<Item = &Gate> {
        self.gates.iter().filter_map(|(_, gate)| gate.as_ref())
    }

    /// Each gate as it is asked where the checks came to `receipts`.
    pub fn sources(&self, receipts: &[Receipt]) -> Vec<GateSource<'_>> {
        // A template judges by results; without any check it has nothing to judge.
        let waits = |gate: &Gate| matches!(gate.kind, GateKind::Template(_)) && receipts.is_empty();
        let mut sources = Vec::new();
        for (named, gate) in &self.gates {
            let gate = gate.as_ref();
            sources.push(GateSource { id: &named.name, enabled: !gate.is_some_and(waits), gate });
        }
        sources
    }
}

/// A loop's gate as people write it; see [`Gate::of_text`].
pub fn loop_gate(text: &str, author: Author) -> Result<LoopGate, String> {
    let definition = Gate::of_text(text)?.definition().to_string();
    Ok(LoopGate { name: clip(text.trim(), NAME_BYTES_MAX), definition, author })
}

/// Whether one of `gates` looks at which files were changed.
pub fn want_files(gates: &[LoopGate]) -> bool {
    gates.iter().any(|gate| gate.definition.contains(FILES))
}

/// What the gates of a loop see at a stop, as far as the loop and its checks tell it.
pub fn loop_context(state: &State, receipts: &[Receipt]) -> AgentContext {
    // What a gate saw is told to the caller, so it sees nothing that is hidden.
    let hidden = |name: &str| state.criteria.iter().any(|c| c.name == name && c.is_hidden());
    let shown = receipts.iter().filter(|receipt| !hidden(&receipt.criterion));
    AgentContext {
        task_id: state.id.as_str().into(),
        iteration: state.frames.first().map_or(1, |frame| frame.iteration.saturating_add(1)),
        validation_results: shown.map(result).collect(),
        ..AgentContext::default()
    }
}

fn result(receipt: &Receipt) -> ValidationResult {
    let tail = || clip_end(&receipt.tail, KEPT_BYTES_MAX).trim().to_string();
    ValidationResult {
        rule_name: receipt.criterion.clone(),
        rule_type: "command".into(),
        passed: receipt.status == Status::Pass,
        message: receipt.trouble.clone().unwrap_or_else(tail),
        duration_ms: receipt.duration_ms,
    }
}

/// What the gates of a loop said, as it is stored with the stop.
pub fn gate_word(evaluation: Evaluation, context: &AgentContext) -> GateWord {
    let inputs = inputs(context);
    let asked = evaluation.traces.into_iter();
    GateWord {
        asked: asked.map(|trace| GateTrace { inputs: inputs.clone(), ..trace }).collect(),
        gate: evaluation.gate,
        action: evaluation.answer.action,
        reason: evaluation.answer.reason,
        next_prompt: evaluation.answer.next_prompt,
    }
}

/// What the gates saw, for later questions; of a long message only its beginning.
fn inputs(context: &AgentContext) -> String {
    let mut shown = context.clone();
    shown.agent_output = shown.agent_output.map(|text| clip(&text, KEPT_BYTES_MAX));
    clip(&serde_json::to_string(&shown).unwrap_or_default(), INPUTS_BYTES_MAX)
}
