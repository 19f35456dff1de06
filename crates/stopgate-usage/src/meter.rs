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
    // With the place of its last record: a record may hold more calls than can be searched through.
    let mut known: HashMap<u64, (usize, CountedCall)> =
        file.recent.iter().enumerate().map(|(at, call)| (call.id, (at, *call))).collect();
    let before = file.recent.len();
    for (at, call) in calls.into_iter().enumerate() {
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
        let earlier = known.insert(call.id, (before + at, counted));
        spend.count(&counted, earlier.map(|(_, earlier)| earlier).as_ref());
    }
    let mut order: Vec<(usize, CountedCall)> = known.into_values().collect();
    order.sort_unstable_by_key(|(at, _)| *at);
    let surplus = order.len().saturating_sub(RECENT_MAX);
    file.recent = order.split_off(surplus).into_iter().map(|(_, call)| call).collect();
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

#[cfg(test)]
mod tests {
    use stopgate_core::TokenUse;

    use super::*;

    fn call(id: u64) -> UsageCall {
        let tokens = TokenUse { input: 1, ..TokenUse::default() };
        UsageCall { id, model: "m".into(), tokens, ..UsageCall::default() }
    }

    #[test]
    fn the_calls_that_were_recorded_last_are_remembered_however_many_there_are() {
        let (mut spend, mut file) = (Spend::default(), UsageFile::default());
        let now = Timestamp::from_unix_millis(1);
        let by = Counting { prices: &PriceBook::default(), since: None, until: None, now };
        // So many that a search for each of them would take minutes.
        let many = (1..=400_000).map(call).chain([call(7)]).collect();
        absorb(&mut spend, &mut file, many, &by);
        let ids: Vec<u64> = file.recent.iter().map(|call| call.id).collect();
        let wanted: Vec<u64> = (399_970..=400_000).chain([7]).collect();
        assert_eq!(ids, wanted);
        assert_eq!(
            spend.tokens().total(),
            400_000,
            "the second record of a call replaces the first"
        );
        absorb(&mut spend, &mut file, vec![call(399_990)], &by);
        assert_eq!(file.recent.last().map(|call| call.id), Some(399_990));
        assert_eq!(file.recent.len(), RECENT_MAX);
        assert_eq!(spend.tokens().total(), 400_000);
    }
}
