//! What other loops use of a limit that all of them share.

use std::collections::BTreeSet;

use stopgate_core::{BudgetKind, SharedBudget, Spend, State, Timestamp};
use stopgate_store::{EndedFilter, Filter};
use stopgate_usage::day_of;

use crate::config::SharedLimits;
use crate::metering::Metering;

/// Ended loops that are looked at for a limit per day, the newest first.
const LOOPS_MAX: usize = 256;
const NANOS_PER_MICRO: u64 = 1000;

impl Metering<'_> {
    /// The limits that the loop shares, and what the others have used of them.
    pub(super) fn shared_budgets(
        &mut self,
        state: &State,
        limits: SharedLimits,
        now: Timestamp,
    ) -> Vec<SharedBudget> {
        if !limits.is_any() {
            return Vec::new();
        }
        let day = day_of(now);
        let of_day = self.others(state, None, LOOPS_MAX);
        let of_project = self.others(state, Some(&state.project), 0);
        let sum = |spends: &[Spend], of: &dyn Fn(&Spend) -> u64| {
            spends.iter().fold(0_u64, |sum, spend| sum.saturating_add(of(spend)))
        };
        let micros = |micros: u64| micros.saturating_mul(NANOS_PER_MICRO);
        let shared = [
            SharedBudget {
                kind: BudgetKind::TokensPerDay,
                others: sum(&of_day, &|spend| spend.on_day(day).tokens),
                limit: limits.tokens_per_day,
            },
            SharedBudget {
                kind: BudgetKind::CostPerDay,
                others: sum(&of_day, &|spend| spend.on_day(day).nanos),
                limit: micros(limits.cost_micros_per_day),
            },
            SharedBudget {
                kind: BudgetKind::TokensPerProject,
                others: sum(&of_project, &|spend| spend.tokens().total()),
                limit: limits.tokens_per_project,
            },
            SharedBudget {
                kind: BudgetKind::CostPerProject,
                others: sum(&of_project, &Spend::nanos),
                limit: micros(limits.cost_micros_per_project),
            },
        ];
        shared.into_iter().filter(|budget| budget.limit > 0).collect()
    }

    /// What the other loops have used: all that run, and so many of those that ended.
    fn others(&mut self, state: &State, project: Option<&str>, limit: usize) -> Vec<Spend> {
        let running = Filter { project, standing: EndedFilter::Running, limit: 0 };
        let newest = Filter { project, standing: EndedFilter::Any, limit };
        // A limit that can't be looked up must not end a turn: the loop's own still hold.
        let mut found = self.context.journal.list(&running).unwrap_or_default();
        found.extend(self.context.journal.list(&newest).unwrap_or_default());
        let mut seen = BTreeSet::from([state.id.clone()]);
        found.retain(|stored| seen.insert(stored.state.id.clone()));
        found.into_iter().filter_map(|stored| stored.state.spend).map(|spend| *spend).collect()
    }
}
