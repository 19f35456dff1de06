//! What is counted of gates, over all tasks.

use std::collections::BTreeMap;

use serde::Serialize;
use stopgate_core::{Event, Surface};
use stopgate_gates::{Gate, Metrics, Step, Task};
use stopgate_store::Filter;

use super::MetricsView;
use crate::engine::Engine;
use crate::failure::Failure;
use crate::view::SCHEMA_VERSION;

/// What is counted of all gates.
#[derive(Clone, Debug, Serialize)]
pub struct StatsView {
    /// [`SCHEMA_VERSION`]
    pub schema_version: u32,
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

impl Engine {
    /// What is counted of gates, over all tasks of the journal.
    pub fn gate_stats(&mut self) -> Result<StatsView, Failure> {
        let mut counts: BTreeMap<String, Count> = BTreeMap::new();
        for stored in self.journal.list(&Filter::default())? {
            if stored.state.surface == Surface::Tools {
                self.count_task(&stored.state.id, &mut counts)?;
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
        Ok(StatsView { schema_version: SCHEMA_VERSION, gates })
    }

    fn count_task(
        &mut self,
        id: &stopgate_core::LoopId,
        counts: &mut BTreeMap<String, Count>,
    ) -> Result<(), Failure> {
        let mut names: BTreeMap<String, String> = BTreeMap::new();
        let mut task = None;
        for entry in self.journal.history(id)? {
            let Event::Task(note) = &entry.recorded.event else { continue };
            // A step of a later version counts for nothing here.
            for step in note.steps.iter().filter_map(|text| serde_json::from_str::<Step>(text).ok())
            {
                if let Step::Registered(gate) = &step {
                    let name = called(&gate.definition);
                    counts.entry(name.clone()).or_default().registered += 1;
                    names.insert(gate.id.clone(), name);
                }
                task = Task::apply(task, &step, entry.recorded.at);
            }
        }
        for (gate, metrics) in task.map(|task| task.metrics).unwrap_or_default() {
            let name = names.get(&gate).cloned().unwrap_or_else(|| "session".into());
            counts.entry(name).or_default().metrics.add(&metrics);
        }
        Ok(())
    }
}

fn called(definition: &serde_json::Value) -> String {
    match Gate::read(definition) {
        Ok(gate) if gate.when.is_none() && gate.word() != "custom" => gate.word().into(),
        Ok(_) | Err(_) => definition.to_string(),
    }
}
