//! Who says whether a criterion is met.

use super::{Criterion, Proof};

/// Who says whether a criterion is met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CriterionJudge {
    /// Stopgate itself.
    Check,
    /// The agent.
    Agent,
    /// A person.
    Person,
    /// Another agent.
    Reviewer,
}

impl Criterion {
    /// Who says whether it is met.
    pub const fn judge(&self) -> CriterionJudge {
        match self.proof {
            Proof::Check { .. }
            | Proof::Run { .. }
            | Proof::Files { .. }
            | Proof::Pattern { .. }
            | Proof::Coverage { .. }
            | Proof::Features { .. }
            | Proof::Git { .. } => CriterionJudge::Check,
            Proof::Review { .. } => CriterionJudge::Reviewer,
            Proof::Attest => CriterionJudge::Agent,
            Proof::Approve => CriterionJudge::Person,
        }
    }

    /// Whether stopgate itself proves it.
    pub const fn is_checked(&self) -> bool {
        matches!(self.judge(), CriterionJudge::Check | CriterionJudge::Reviewer)
    }
}
