//! Calls, each counted once, at the price of its model.

use std::collections::HashMap;

use stopgate_core::{CountedCall, ModelSpend, Spend, Timestamp, UsageFile};

use crate::prices::PriceBook;
use crate::reader::UsageCall;

const MS_PER_DAY: i64 = 24 * 60 * 60 * 1000;
/// Calls of a file that are remembered, in case they are written again.
const RECENT_MAX: usize = 32;
/// Models that are told apart; more than that share one name.
const MODELS_MAX: usize = 64;

/// By what calls are counted.
#[derive(Clone, Copy, Debug)]
pub struct Counting<'a> {
    /// What models cost.
    pub prices: &'a PriceBook,
    /// Calls that were recorded before this are not counted.
    pub since: Option<Timestamp>,
    /// Nor are those that were recorded after this.
    pub until: Option<Timestamp>,
    /// When a call is counted whose record has no time.
    pub now: Timestamp,
}

/// Counts `calls` of `file`; the last record of a call wins.
pub fn absorb(spend: &mut Spend, file: &mut UsageFile, calls: Vec<UsageCall>, by: &Counting<'_>) {
    let mut known: HashMap<u64, CountedCall> =
        file.recent.iter().map(|call| (call.id, *call)).collect();
    let mut order: Vec<u64> = file.recent.iter().map(|call| call.id).collect();
    for call in calls {
        let early = by.since.zip(call.at).is_some_and(|(since, at)| at < since);
        let late = by.until.zip(call.at).is_some_and(|(until, at)| at > until);
        if early || late {
            continue;
        }
        let counted = CountedCall {
            id: call.id,
            model: model_index(spend, &call.model),
            nanos: by.prices.nanos(&call.model, &call.tokens).or(call.nanos),
            tokens: call.tokens,
            day: day_of(call.at.unwrap_or(by.now)),
        };
        let earlier = known.insert(call.id, counted);
        spend.count(&counted, earlier.as_ref());
        order.retain(|id| *id != call.id || earlier.is_none());
        order.push(call.id);
    }
    let surplus = order.len().saturating_sub(RECENT_MAX);
    file.recent = order[surplus..].iter().filter_map(|id| known.get(id).copied()).collect();
}

/// Days since 1970, UTC.
pub fn day_of(at: Timestamp) -> u32 {
    u32::try_from(at.unix_millis().div_euclid(MS_PER_DAY)).unwrap_or(0)
}

fn model_index(spend: &mut Spend, model: &str) -> u32 {
    let found = spend.models.iter().position(|known| known.model == model);
    let index = found.unwrap_or_else(|| {
        if spend.models.len() >= MODELS_MAX {
            return MODELS_MAX - 1;
        }
        spend.models.push(ModelSpend { model: model.into(), ..ModelSpend::default() });
        spend.models.len() - 1
    });
    u32::try_from(index).unwrap_or(0)
}
