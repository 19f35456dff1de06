//! Ticks from seconds.

/// Ticks of `seconds`.
pub fn ticks(seconds: u64) -> u64 {
    seconds * 10
}
