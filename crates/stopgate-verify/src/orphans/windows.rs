//! Windows: a check's job object holds all that it started, so nothing has to be looked for.

use std::hash::{BuildHasher, Hasher, RandomState};

use super::{OrphanMark, Strangers, SweepResult};
use crate::proc::RunName;

/// One run of checks, as far as other processes are concerned.
#[derive(Debug)]
pub(crate) struct Keeper {
    /// Begins every token of this run.
    run: String,
}

impl Keeper {
    /// Names the run; who belongs to it is known by jobs.
    pub(crate) fn new(_: Strangers) -> Self {
        let run = format!("{}.", RunName::new(RandomState::new().build_hasher().finish()));
        Self { run }
    }

    /// A name that no other run has.
    pub(crate) fn name(&self) -> &str {
        self.run.trim_end_matches('.')
    }

    /// The token of the check with this number.
    pub(crate) fn token(&self, number: usize) -> String {
        format!("{}{number}.", self.run)
    }

    /// Nobody is left: the check's job was closed.
    #[expect(clippy::unused_self, reason = "other systems look")]
    pub(crate) fn sweep(&mut self, _: &OrphanMark) -> SweepResult {
        SweepResult::Nobody
    }

    /// Nobody is left: all jobs were closed.
    #[expect(clippy::unused_self, reason = "other systems look")]
    pub(crate) fn sweep_all(&mut self) -> SweepResult {
        SweepResult::Nobody
    }
}

/// Nothing to do: the system closes our jobs when this process ends, and so ends everybody.
pub fn end_children() {}
