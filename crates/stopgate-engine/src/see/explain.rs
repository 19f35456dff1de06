//! Why a stop was decided so.

use serde::Serialize;
use stopgate_core::{Event, Order, Outcome, RulingWord, Stopped};

use crate::context::LoopTarget;
use crate::failure::Failure;
use crate::see::Records;
use crate::veil::veil;
use crate::view::time_text;

/// Everything that led to one answer.
#[derive(Clone, Debug, Serialize)]
pub struct Explanation {
    /// The loop.
    pub id: String,
    /// The stop's number within the loop, from 1.
    pub stop: usize,
    /// How many stops the loop has had.
    pub stops: usize,
    /// When it happened.
    pub at: String,
    /// What was answered.
    pub verdict: RulingWord,
    /// How the loop ended by it.
    pub outcome: Option<Outcome>,
    /// The rule that answered.
    pub rule: &'static str,
    /// Why, in a sentence.
    pub why: String,
    /// The rules in the order they were asked.
    pub rules: Vec<RuleView>,
    /// What was seen and counted, and the text that was sent.
    pub stopped: Stopped,
}

/// One rule and whether it answered.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct RuleView {
    /// Its word.
    pub rule: &'static str,
    /// What it asks.
    pub question: &'static str,
    /// Whether it was the one that answered.
    pub answered: bool,
}

impl Records<'_> {
    /// Explains the stop with this number, or the last one.
    pub fn explain(
        &mut self,
        target: &LoopTarget,
        number: Option<usize>,
    ) -> Result<Explanation, Failure> {
        let stored = self.context.resolve(target)?;
        let veil = veil(self.context, &stored.state);
        let id = stored.state.id;
        let entries = self.context.journal.history(&id)?;
        let stops: Vec<_> = entries
            .into_iter()
            .filter_map(|entry| match entry.recorded.event {
                Event::Stopped(stopped) => Some((entry.recorded.at, *stopped)),
                _other => None,
            })
            .collect();
        let count = stops.len();
        if count == 0 {
            return Err(Failure::no_loop(format!("loop {id} has had no stop yet")).hint(
                "the hook answers when the agent is about to stop; stopgate doctor checks it",
            ));
        }
        let number = number.unwrap_or(count);
        let chosen = number.checked_sub(1).and_then(|index| stops.into_iter().nth(index));
        let (at, mut stopped) = chosen.ok_or_else(|| {
            Failure::no_loop(format!("loop {id} has no stop {number}"))
                .hint(format!("its stops are 1 to {count}"))
        })?;
        veil.draw_receipts(&mut stopped.receipts);
        Ok(Explanation {
            id: id.as_str().into(),
            stop: number,
            stops: count,
            at: time_text(at),
            verdict: stopped.ruling.word(),
            outcome: stopped.ruling.outcome(),
            rule: stopped.rule.word(),
            why: stopped.why.clone(),
            rules: asked(stored.state.policy.order, &stopped),
            stopped,
        })
    }
}

fn asked(order: Order, stopped: &Stopped) -> Vec<RuleView> {
    let mut asked = Vec::new();
    for rule in order.rules() {
        let answered = *rule == stopped.rule;
        asked.push(RuleView { rule: rule.word(), question: rule.question(), answered });
        if answered {
            break;
        }
    }
    asked
}
