//! Gates for common work, written with the same expressions that anybody can write.

use stopgate_core::GateAction;

use crate::gate::GateRule;
use crate::words::CheckpointData;

stopgate_core::words! {
    /// A ready-made gate.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Template {
        /// Tests first: complete when the rule `tests_pass` passes.
        Tdd = "tdd",
        /// Until `vulns_fixed` and `sast_clean` pass, ten iterations at most.
        SecurityRemediation = "security-remediation",
        /// A checkpoint at the fifth iteration.
        MidpointCheckpoint = "midpoint-checkpoint",
    }
}

impl Template {
    /// The validation rules that it waits for, by name.
    pub const fn waits_for(self) -> &'static [&'static str] {
        match self {
            Self::Tdd => &["tests_pass"],
            Self::SecurityRemediation => &["vulns_fixed", "sast_clean"],
            Self::MidpointCheckpoint => &[],
        }
    }

    /// The rules that it stands for.
    pub fn rules(self) -> Vec<GateRule> {
        match self {
            Self::Tdd => vec![
                rule("passed('tests_pass')", GateAction::Complete, "All tests pass"),
                GateRule {
                    next_prompt: Some("Fix failing tests and run again".into()),
                    ..otherwise("Tests still failing")
                },
            ],
            Self::SecurityRemediation => vec![
                rule(
                    "passed('vulns_fixed') and passed('sast_clean')",
                    GateAction::Complete,
                    "All vulnerabilities remediated",
                ),
                rule(
                    "iteration >= 10",
                    GateAction::Escalate,
                    "Max iterations reached - complex vulnerabilities may require manual review",
                ),
                otherwise("Vulnerabilities remain"),
            ],
            Self::MidpointCheckpoint => vec![GateRule {
                checkpoint_data: Some(CheckpointData {
                    execution_phase: Some("midpoint".into()),
                    agent_context: Some(serde_json::json!({ "milestone": "halfway" })),
                    ..CheckpointData::default()
                }),
                ..rule("iteration == 5", GateAction::Continue, "Halfway checkpoint")
            }],
        }
    }
}

fn rule(condition: &str, action: GateAction, reason: &str) -> GateRule {
    GateRule {
        condition: Some(condition.into()),
        action,
        reason: reason.into(),
        next_prompt: None,
        checkpoint_data: None,
    }
}

fn otherwise(reason: &str) -> GateRule {
    GateRule { condition: None, ..rule("", GateAction::Continue, reason) }
}
