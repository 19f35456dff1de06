//! Commits as work: how often is an honest person asked?

use anyhow::{Result, bail};

use super::options::TruthPlan;
use crate::Verdict;

pub(crate) fn run(_plan: &TruthPlan) -> Result<Verdict> {
    bail!("later")
}
