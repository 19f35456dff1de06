//! What is counted of gates, over all tasks.

use std::collections::BTreeMap;

use serde::Serialize;
use stopgate_core::{Event, GateAction, GateWord, Outcome, State, Surface, Timestamp};
use stopgate_gates::{Gate, Metrics, Task, TaskStep};
use stopgate_store::{Filter, JournalEntry};

use super::MetricsView;
use crate::context::Context;
use crate::failure::Failure;

/// What is counted of all gates.
#[derive(Clone, Debug, Serialize)]
pub struct StatsView {
    /// The gates, by how often they judged.
    pub gates: Vec<GateStatsView>,
}

/// What is counted of gates that judge in the same way.
#[derive(Clone, Debug, Serialize)]
pub struct GateStatsView {
    /// A preset, a template, or how a custom gate judges.
    pub gate: String,
    /// How many there were.
    pub registered: u64,
    /// What is counted of them.
    pub metrics: MetricsView,
}

#[derive(Default)]
struct Count {
    registered: u64,
    metrics: Metrics,
}

/// What happened to tasks and their gates.
pub struct TaskRecords<'a> {
    pub(crate) context: &'a mut Context,
}

impl TaskRecords<'_> {
    /// What is counted of gates, over all tasks of the journal.
    pub fn gate_stats(&mut self) -> Result<StatsView, Failure> {
        let mut counts: BTreeMap<String, Count> = BTreeMap::new();
        for stored in self.context.journal.list(&Filter::default())? {
            match stored.state.surface {
                Surface::Tools => self.count_task(&stored.state.id, &mut counts)?,
                Surface::Hook => self.count_loop(&stored.state, &mut counts)?,
            }
        }
        let mut gates: Vec<GateStatsView> = counts
            .into_iter()
            .map(|(gate, count)| GateStatsView {
                gate,
                registered: count.registered,
                metrics: MetricsView::of(&count.metrics),
            })
            .collect();
        gates.sort_by_key(|gate| std::cmp::Reverse(gate.metrics.evaluations));
        Ok(StatsView { gates })
    }

    /// A loop that a person cancelled although its gate wanted it to go on contradicts the gate.
    fn count_loop(
        &mut self,
        state: &State,
        counts: &mut BTreeMap<String, Count>,
    ) -> Result<(), Failure> {
        if state.gates.is_empty() {
            return Ok(());
        }
        for gate in &state.gates {
            counts.entry(gate.name.clone()).or_default().registered += 1;
        }
        let mut last: Option<(String, GateAction)> = None;
        for entry in self.context.journal.history(&state.id)? {
            let event = entry.recorded.event;
            let cancelled = matches!(event, Event::Ended { outcome: Outcome::Cancelled, .. });
            match (event, last.take()) {
                (Event::Stopped(stopped), before) => {
                    last = stopped.gates.map(|word| count_word(&word, counts)).or(before);
                }
                // A person put an end to what a gate wanted to go on.
                (_ended, Some((gate, GateAction::Continue))) if cancelled => {
                    counts.entry(gate).or_default().metrics.false_continue += 1;
                }
                (_other, before) => last = before,
            }
        }
        Ok(())
    }

    fn count_task(
        &mut self,
        id: &stopgate_core::LoopId,
        counts: &mut BTreeMap<String, Count>,
    ) -> Result<(), Failure> {
        let mut names: BTreeMap<String, String> = BTreeMap::new();
        let mut task = None;
        for (step, at) in steps(self.context.journal.history(id)?) {
            if let TaskStep::Registered(gate) = &step {
                let name = called(&gate.definition);
                counts.entry(name.clone()).or_default().registered += 1;
                names.insert(gate.id.clone(), name);
            }
            task = Task::apply(task, &step, at);
        }
        for (gate, metrics) in task.map(|task| task.metrics).unwrap_or_default() {
            let name = names.get(&gate).cloned().unwrap_or_else(|| "session".into());
            counts.entry(name).or_default().metrics.add(&metrics);
        }
        Ok(())
    }
}

/// The steps of a task; those of a later version count for nothing here.
fn steps(entries: Vec<JournalEntry>) -> impl Iterator<Item = (TaskStep, Timestamp)> {
    entries.into_iter().flat_map(|entry| {
        let texts = match entry.recorded.event {
            Event::Task(note) => note.steps,
            _other => Vec::new(),
        };
        let at = entry.recorded.at;
        texts.into_iter().filter_map(move |text| Some((serde_json::from_str(&text).ok()?, at)))
    })
}

/// Counts what was said at a stop; who was heard, and what they wanted.
fn count_word(word: &GateWord, counts: &mut BTreeMap<String, Count>) -> (String, GateAction) {
    for asked in &word.asked {
        counts.entry(asked.gate.clone()).or_default().metrics.count(asked);
    }
    (word.gate.clone(), word.action)
}

fn called(definition: &serde_json::Value) -> String {
    match Gate::read(definition) {
        Ok(gate) if gate.when.is_none() && gate.word() != "custom" => gate.word().into(),
        Ok(_) | Err(_) => definition.to_string(),
    }
}
