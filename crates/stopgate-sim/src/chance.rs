//! Chance that can be had again: the same seed, the same draws.

use std::cell::Cell;

/// A stream of draws. Shared by everybody in a history, in the order of their steps.
#[derive(Debug)]
pub(crate) struct Chance(Cell<u64>);

impl Chance {
    pub(crate) const fn new(seed: u64) -> Self {
        Self(Cell::new(seed))
    }

    /// The next number.
    pub(crate) fn draw(&self) -> u64 {
        let state = self.0.get().wrapping_add(0x9e37_79b9_7f4a_7c15);
        self.0.set(state);
        mix(state)
    }

    /// A number below `end`.
    pub(crate) fn below(&self, end: u64) -> u64 {
        self.draw() % end.max(1)
    }

    /// Whether something happens that does once in `times`.
    pub(crate) fn once_in(&self, times: u64) -> bool {
        self.below(times) == 0
    }

    /// One of `these`.
    pub(crate) fn of<'a, T>(&self, these: &'a [T]) -> Option<&'a T> {
        let at = self.below(u64::try_from(these.len()).unwrap_or(1));
        these.get(usize::try_from(at).unwrap_or(0))
    }
}

/// Spreads a number's bits, so that neighbours have nothing in common.
pub(crate) const fn mix(number: u64) -> u64 {
    let mut z = number;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
