//! Small statistics.

use std::time::Duration;

/// A sample of durations, sorted.
#[derive(Clone, Debug)]
pub(crate) struct Sample {
    sorted: Vec<Duration>,
}

impl Sample {
    /// The sample of `taken`.
    pub(crate) fn new(mut taken: Vec<Duration>) -> Self {
        taken.sort_unstable();
        Self { sorted: taken }
    }

    /// The value that `percent` of the sample do not exceed.
    pub(crate) fn percentile(&self, percent: usize) -> Duration {
        let last = self.sorted.len().saturating_sub(1);
        let at = (last * percent + 50) / 100;
        self.sorted.get(at).copied().unwrap_or_default()
    }

    /// The middle one.
    pub(crate) fn median(&self) -> Duration {
        self.percentile(50)
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.sorted.len()
    }
}

/// One duration as a multiple of another.
pub(crate) fn ratio(of: Duration, to: Duration) -> f64 {
    of.as_secs_f64() / to.as_secs_f64().max(f64::MIN_POSITIVE)
}

/// One count as a multiple of another.
#[expect(clippy::cast_precision_loss, reason = "counts of one stop are far below 2^52")]
pub(crate) fn count_ratio(of: u64, to: u64) -> f64 {
    of as f64 / to.max(1) as f64
}

/// Microseconds, whole.
pub(crate) fn micros(duration: Duration) -> String {
    format!("{}", duration.as_micros())
}

/// Milliseconds, to a tenth.
pub(crate) fn millis(duration: Duration) -> String {
    format!("{:.1}", duration.as_secs_f64() * 1000.0)
}

/// Chance from a seed, the same everywhere.
#[derive(Clone, Debug)]
pub(crate) struct Chance(u64);

impl Chance {
    /// The chance that begins with `seed`.
    pub(crate) const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A number below `bound`; 0 where the bound is 0.
    pub(crate) const fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^= mixed >> 31;
        if bound == 0 { 0 } else { mixed % bound }
    }
}

#[cfg(test)]
mod tests;
