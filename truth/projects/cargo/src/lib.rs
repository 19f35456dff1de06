//! Leases that run out.

pub mod clock;

/// A lease from `from` on, for `ticks`.
pub struct Lease {
    pub from: u64,
    pub ticks: u64,
}

impl Lease {
    /// Whether the lease holds at `now`.
    pub fn holds(&self, now: u64) -> bool {
        now >= self.from
    }

    /// How long it holds from `now` on.
    pub fn left(&self, now: u64) -> u64 {
        self.from + self.ticks - now
    }
}

#[cfg(test)]
mod tests {
    use super::Lease;

    #[test]
    fn holds_from_its_beginning() {
        let lease = Lease { from: 5, ticks: 10 };
        assert!(lease.holds(5));
        assert!(!lease.holds(4));
    }

    #[test]
    fn runs_out() {
        assert!(!Lease { from: 5, ticks: 10 }.holds(15));
    }
}
