//! What gates answer, one by one and in order.
//!
//! The first `complete` or `escalate` ends the evaluation; where all say `continue` the
//! last one that judged is heard. A gate that fails escalates: it never lets a task pass.

use serde::{Deserialize, Serialize};
use stopgate_core::{GateAction, GateTrace};

use crate::expression::ExpressionContext;
use crate::gate::{CommandGate, Gate, GateKind, GateRule};
use crate::hands::Hands;
use crate::words::{AgentContext, GateAnswer};

/// The id of the answer that no gate gave.
pub(crate) const NOBODY: &str = "default";
const REASON_BYTES_MAX: usize = 8192;

/// One gate as it is to be evaluated.
#[derive(Clone, Debug)]
pub struct GateSource<'a> {
    /// Its name.
    pub id: &'a str,
    /// Whether it judges.
    pub enabled: bool,
    /// How; nothing where its definition can't be read.
    pub gate: Option<&'a Gate>,
}

/// What came of evaluating gates.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evaluation {
    /// The gate that was heard; `default` where none was.
    pub gate: String,
    /// What it answered.
    pub answer: GateAnswer,
    /// Why a promise of completion is not to be believed, where a gate objected to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub objection: Option<String>,
    /// What each gate that was looked at did.
    pub traces: Vec<GateTrace>,
}

/// Asks `gates` in order.
pub fn evaluate(
    gates: &[GateSource<'_>],
    context: &AgentContext,
    hands: &mut dyn Hands,
) -> Evaluation {
    evaluate_in(gates, &ExpressionContext::new(context), hands)
}

/// Asks `gates` in order, in a scene that may lack facts.
pub(crate) fn evaluate_in(
    gates: &[GateSource<'_>],
    scene: &ExpressionContext<'_>,
    hands: &mut dyn Hands,
) -> Evaluation {
    let mut traces = Vec::new();
    let mut last = None;
    let mut objection = None;
    for source in gates {
        let begun = hands.micros();
        let answered = match source.gate {
            _disabled if !source.enabled => Ok(None),
            Some(gate) => answer(gate, scene, hands),
            None => Err("this version can't read the hook's definition".into()),
        };
        let micros = hands.micros().saturating_sub(begun);
        let failed = answered.is_err();
        let answer = answered.unwrap_or_else(|error| Some(GateAnswer::failed(&error)));
        traces.push(GateTrace {
            gate: source.id.into(),
            action: answer.as_ref().map(|answer| answer.action),
            reason: answer.as_ref().map_or_else(String::new, |answer| answer.reason.clone()),
            failed,
            micros,
            inputs: String::new(),
        });
        let Some(answer) = answer else { continue };
        let ends = answer.action != GateAction::Continue;
        if !ends && !answer.silent {
            objection = Some(answer.reason.clone());
        }
        last = Some((source.id, answer));
        if ends {
            break;
        }
    }
    match last {
        Some((gate, answer)) => Evaluation { gate: gate.into(), answer, objection, traces },
        None => Evaluation { gate: NOBODY.into(), answer: nobody(gates), objection, traces },
    }
}

fn nobody(gates: &[GateSource<'_>]) -> GateAnswer {
    GateAnswer::new(
        GateAction::Continue,
        if gates.is_empty() {
            "No hooks registered for this task"
        } else {
            "No hook applies: each is disabled or its condition does not hold"
        },
    )
}

/// What `gate` answers; nothing where its condition does not hold.
fn answer(
    gate: &Gate,
    scene: &ExpressionContext<'_>,
    hands: &mut dyn Hands,
) -> Result<Option<GateAnswer>, String> {
    if let Some(when) = &gate.when
        && !scene.holds(when)?
    {
        return Ok(None);
    }
    match &gate.kind {
        GateKind::Preset(preset) => Ok(Some(preset.answer(scene))),
        GateKind::Template(template) => by_rules(&template.rules(), scene).map(Some),
        GateKind::Rules(rules) => by_rules(rules, scene).map(Some),
        GateKind::Command(command) => by_command(command, scene, hands).map(Some),
        GateKind::All(parts) => all(parts, scene, hands),
        GateKind::Any(parts) => any(parts, scene, hands),
        GateKind::First(parts) => first(parts, scene, hands),
        GateKind::Not(part) => Ok(answer(part, scene, hands)?.map(inverse)),
    }
}

fn by_rules(rules: &[GateRule], scene: &ExpressionContext<'_>) -> Result<GateAnswer, String> {
    for rule in rules {
        let holds = rule.condition.as_ref().map_or(Ok(true), |source| scene.holds(source))?;
        if holds {
            let mut answer = GateAnswer::new(rule.action, scene.render(&rule.reason)?);
            answer.next_prompt =
                rule.next_prompt.as_ref().map(|text| scene.render(text)).transpose()?;
            answer.checkpoint_data.clone_from(&rule.checkpoint_data);
            // To take a checkpoint is not an objection.
            answer.silent = rule.action == GateAction::Continue && rule.checkpoint_data.is_some();
            return Ok(answer);
        }
    }
    Ok(GateAnswer::silent("Iteration in progress"))
}

fn by_command(
    gate: &CommandGate,
    scene: &ExpressionContext<'_>,
    hands: &mut dyn Hands,
) -> Result<GateAnswer, String> {
    let context = serde_json::to_string(scene.context()).map_err(|error| error.to_string())?;
    let said = hands.ask(gate, &context)?;
    let mut answer: GateAnswer = serde_json::from_str(said.trim()).map_err(|error| {
        format!(
            "the command must write {{\"action\": …, \"reason\": …}}, and nothing else: {error}"
        )
    })?;
    answer.reason = fit(&answer.reason);
    answer.next_prompt = answer.next_prompt.map(|text| fit(&text));
    Ok(answer)
}

/// What a program said, fit to be shown to a model.
fn fit(text: &str) -> String {
    stopgate_core::clip(&stopgate_core::clean(text), REASON_BYTES_MAX)
}

/// One part that does not say complete holds all back; an escalation at once.
fn all(
    parts: &[Gate],
    scene: &ExpressionContext<'_>,
    hands: &mut dyn Hands,
) -> Result<Option<GateAnswer>, String> {
    gathered(parts, scene, hands, GateAction::Escalate, |earlier, later| {
        earlier == GateAction::Complete && later == GateAction::Continue
    })
}

/// One part that says complete is enough; an escalation is heard only where none does.
fn any(
    parts: &[Gate],
    scene: &ExpressionContext<'_>,
    hands: &mut dyn Hands,
) -> Result<Option<GateAnswer>, String> {
    gathered(parts, scene, hands, GateAction::Complete, |earlier, _later| {
        earlier == GateAction::Continue
    })
}

/// The first answer with the action `at_once`, else the one that no other beats.
fn gathered(
    parts: &[Gate],
    scene: &ExpressionContext<'_>,
    hands: &mut dyn Hands,
    at_once: GateAction,
    beats: fn(GateAction, GateAction) -> bool,
) -> Result<Option<GateAnswer>, String> {
    let mut heard: Option<GateAnswer> = None;
    for part in parts {
        let Some(answer) = answer(part, scene, hands)? else { continue };
        if answer.action == at_once {
            return Ok(Some(answer));
        }
        if heard.as_ref().is_none_or(|earlier| beats(earlier.action, answer.action)) {
            heard = Some(answer);
        }
    }
    Ok(heard)
}

fn first(
    parts: &[Gate],
    scene: &ExpressionContext<'_>,
    hands: &mut dyn Hands,
) -> Result<Option<GateAnswer>, String> {
    let mut heard = None;
    for part in parts {
        let Some(answer) = answer(part, scene, hands)? else { continue };
        if answer.action != GateAction::Continue {
            return Ok(Some(answer));
        }
        heard = Some(answer);
    }
    Ok(heard)
}

/// A call for a person stays one.
fn inverse(mut answer: GateAnswer) -> GateAnswer {
    answer.action = match answer.action {
        GateAction::Complete => GateAction::Continue,
        GateAction::Continue => GateAction::Complete,
        GateAction::Escalate => return answer,
    };
    answer.reason = format!("not: {}", answer.reason);
    answer.next_prompt = None;
    answer.silent = false;
    answer
}

#[cfg(test)]
mod tests;
