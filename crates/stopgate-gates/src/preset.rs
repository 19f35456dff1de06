//! The three gates that everybody needs, in exactly their order.

use stopgate_core::GateAction;

use crate::expression::ExpressionContext;
use crate::words::{AgentContext, GateAnswer, PromiseType};

stopgate_core::words! {
    /// A gate whose judgement is fixed.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Preset {
        /// Promises first, then validation.
        Default = "default",
        /// Only validation.
        Validation = "validation",
        /// Only promises.
        Promise = "promise",
    }
}

impl Preset {
    /// What it answers.
    pub(crate) fn answer(self, scene: &ExpressionContext<'_>) -> GateAnswer {
        let context = scene.context();
        match self {
            Self::Default => promised(scene)
                .or_else(|| validated(context))
                .unwrap_or_else(|| GateAnswer::silent("Iteration in progress")),
            Self::Validation => validated(context)
                .unwrap_or_else(|| GateAnswer::silent("No validation rules configured")),
            Self::Promise => promised(scene)
                .unwrap_or_else(|| GateAnswer::silent("No completion promise detected")),
        }
    }
}

fn promised(scene: &ExpressionContext<'_>) -> Option<GateAnswer> {
    let order = [PromiseType::Complete, PromiseType::Escalate, PromiseType::Blocked];
    let kind = order.into_iter().find(|kind| scene.promised(*kind))?;
    let (action, what) = match kind {
        PromiseType::Complete => (GateAction::Complete, "completion"),
        PromiseType::Escalate => (GateAction::Escalate, "escalation"),
        PromiseType::Blocked => (GateAction::Escalate, "blocked"),
    };
    Some(GateAnswer::new(action, format!("Agent signaled {what} via {}", kind.text())))
}

fn validated(context: &AgentContext) -> Option<GateAnswer> {
    let results = &context.validation_results;
    if results.is_empty() {
        return None;
    }
    let failed: Vec<String> = results
        .iter()
        .filter(|result| !result.passed)
        .map(|result| format!("- {}: {}", result.rule_name, result.message))
        .collect();
    if failed.is_empty() {
        return Some(GateAnswer::new(GateAction::Complete, "All validation rules passed"));
    }
    let reason = format!("{} validation rule(s) failed", failed.len());
    let mut answer = GateAnswer::new(GateAction::Continue, reason);
    answer.next_prompt =
        Some(format!("Fix the following validation failures:\n{}", failed.join("\n")));
    Some(answer)
}
