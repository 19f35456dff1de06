//! Models whose price nobody knows, as far as that can be told before they are used.

use stopgate_store::{EndedFilter, Filter};

use super::Metering;
use crate::config::Config;

/// Loops of the project that are looked at, the newest first.
const LOOPS_MAX: usize = 8;

impl Metering<'_> {
    /// Those of `models` that have no price, and those without one that this project's last
    /// loops used.
    pub fn unpriced_models(&mut self, project: &str, models: &[&str]) -> Vec<String> {
        let prices = Config::read(self.context.settings).unwrap_or_default().prices;
        let newest =
            Filter { project: Some(project), standing: EndedFilter::Any, limit: LOOPS_MAX };
        // What can't be looked up is not warned of: the loop says so when it is counted.
        let found = self.context.journal.list(&newest).unwrap_or_default();
        let spends = found.into_iter().filter_map(|stored| stored.state.spend);
        let used = spends.flat_map(|spend| spend.models).map(|model| model.model);
        let named = models.iter().map(|model| (*model).to_owned());
        let mut unpriced: Vec<String> =
            named.chain(used).filter(|model| !model.is_empty() && !prices.knows(model)).collect();
        unpriced.sort();
        unpriced.dedup();
        unpriced
    }
}
