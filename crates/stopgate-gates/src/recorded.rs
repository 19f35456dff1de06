//! What gates would have said at a stop that already happened.
//!
//! Nothing is run and nothing is guessed: where an answer hangs on a fact that nobody wrote down,
//! that fact is named instead.

use stopgate_core::{
    GateAction, GateTrace, GateWord, Leave, LoopGate, Receipt, Ruling, State, Stopped,
};

use crate::evaluate::{NOBODY, evaluate_in};
use crate::expression::ExpressionContext;
use crate::gate::CommandGate;
use crate::hands::Hands;
use crate::loop_gates::{KEPT_BYTES_MAX, LoopGates, loop_context, want_files};
use crate::missing::{ContextFact, MissingFacts};
use crate::words::AgentContext;

/// A stop that already happened, and the loop whose gates are asked about it.
#[derive(Clone, Copy, Debug)]
pub struct RecordedStop<'a> {
    /// The loop, with the gates and the criteria that are tried.
    pub state: &'a State,
    /// The gates that the loop had.
    pub had: &'a [LoopGate],
    /// The stop as it was recorded.
    pub stopped: &'a Stopped,
    /// What the checks came to, as far as it counts for the criteria that are tried.
    pub receipts: &'a [Receipt],
}

/// What the loop's gates would have said; the first fact that is missing for it, where one is.
pub fn ask_recorded(stop: &RecordedStop<'_>) -> Result<GateWord, ContextFact> {
    let (context, missing) = stop.context();
    let gates = LoopGates::read(&stop.state.gates);
    let mut heard = nobody();
    for (gate, source) in stop.state.gates.iter().zip(gates.sources(stop.receipts)) {
        let answered = if let Some(trace) = stop.said_then(gate) {
            trace.action.map(|action| (action, trace.reason.clone()))
        } else {
            let missing = MissingFacts::new(missing.clone());
            let scene = ExpressionContext::with_missing(&context, missing.clone());
            let evaluated = evaluate_in(&[source], &scene, &mut NoHands(missing.clone()));
            if let Some(fact) = missing.looked_at() {
                return Err(fact);
            }
            let judged = evaluated.gate != NOBODY;
            judged.then_some((evaluated.answer.action, evaluated.answer.reason))
        };
        let Some((action, reason)) = answered else { continue };
        heard = GateWord { gate: gate.name.clone(), action, reason, ..nobody() };
        if action != GateAction::Continue {
            break;
        }
    }
    Ok(heard)
}

fn nobody() -> GateWord {
    GateWord {
        gate: NOBODY.into(),
        action: GateAction::Continue,
        reason: String::new(),
        next_prompt: None,
        asked: Vec::new(),
    }
}

impl RecordedStop<'_> {
    /// What this very gate said then, where it judged by the same results.
    fn said_then(&self, gate: &LoopGate) -> Option<&GateTrace> {
        let same =
            self.had.iter().any(|had| had.definition == gate.definition && had.name == gate.name);
        if !same || self.receipts != self.stopped.receipts {
            return None;
        }
        self.stopped.gates.iter().flat_map(|word| &word.asked).find(|trace| trace.gate == gate.name)
    }

    /// What gates would have seen, and what of it is missing.
    fn context(&self) -> (AgentContext, Vec<ContextFact>) {
        let mut context = loop_context(self.state, self.receipts);
        let mut missing = Vec::new();
        let noted = self.noted();
        match &noted {
            Some(noted) if want_files(self.had) => {
                context.files_modified.clone_from(&noted.files_modified);
            }
            Some(_) | None => missing.push(ContextFact::FilesModified),
        }
        if self.is_silent() {
            return (context, missing);
        }
        let output = noted.as_ref().and_then(|noted| noted.agent_output.as_ref());
        match output.filter(|text| text.len() < KEPT_BYTES_MAX) {
            Some(text) => context.agent_output = Some(text.clone()),
            None => missing.push(ContextFact::AgentOutput),
        }
        if let Some(noted) = noted {
            context.completion_promises = noted.completion_promises;
        } else {
            context.completion_promises = crate::promise::marked(&self.stopped.facts.markers);
            missing.push(ContextFact::Promises);
        }
        (context, missing)
    }

    /// What gates that were asked then saw, where all of it was kept.
    fn noted(&self) -> Option<AgentContext> {
        let asked = self.stopped.gates.iter().flat_map(|word| &word.asked);
        asked.into_iter().find_map(|trace| serde_json::from_str(&trace.inputs).ok())
    }

    /// Whether the agent said nothing at all.
    fn is_silent(&self) -> bool {
        let counted = match self.stopped.ruling {
            Ruling::Continue | Ruling::Complete(_) | Ruling::Escalate(_) => true,
            Ruling::Allow(leave) => leave == Leave::Popped,
        };
        counted && self.stopped.tally.message.is_none() && self.stopped.facts.message.is_none()
    }
}

/// Hands that run nothing.
struct NoHands(MissingFacts);

impl Hands for NoHands {
    fn ask(&mut self, _gate: &CommandGate, _context: &str) -> Result<String, String> {
        self.0.note(ContextFact::CommandAnswer);
        Err(ContextFact::CommandAnswer.what().into())
    }

    fn micros(&mut self) -> u64 {
        0
    }
}
