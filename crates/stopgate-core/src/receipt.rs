//! What a check produced.

use alloc::string::String;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

use crate::spend::TokenUse;
use crate::stored::is_default;
use crate::time::Timestamp;

crate::words! {
    /// How a check came out.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Status {
        /// It ran and passed.
        Pass = "pass",
        /// It ran and failed.
        Fail = "fail",
        /// It could not be run, which proves nothing either way.
        Error = "error",
        /// It was killed because it took too long.
        Timeout = "timeout",
        /// What it judges by was changed; only records of earlier versions have it.
        Tampered = "tampered",
        /// It passes as its judges are now, but not as they were at the start: a person decides.
        NeedsApproval = "needs_approval",
    }
}

/// What stopgate saw when it ran one check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Receipt {
    /// The criterion that was checked.
    pub criterion: String,
    /// How it came out.
    pub status: Status,
    /// The exit code, where the command had one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// How long it ran.
    pub duration_ms: u64,
    /// The end of what it printed.
    pub tail: String,
    /// How much it printed in all.
    pub output_bytes: u64,
    /// Where its whole output is kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log: Option<String>,
    /// Why it could not be run, or was cut.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trouble: Option<String>,
    /// When it ended.
    pub at: Timestamp,
    /// What it rests on.
    #[serde(default, skip_serializing_if = "Evidence::is_empty")]
    pub evidence: Evidence,
}

/// What a receipt rests on, and what was read out of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a field of the stored form")]
pub struct Evidence {
    /// The fingerprint of the files that the check depends on, the same before and after.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tree: Option<String>,
    /// The fingerprint of the check itself: what is run, how, and by which program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// The fingerprint of all that it printed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    /// What the tool calls its version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// How often it failed before it came out like this.
    #[serde(skip_serializing_if = "is_default")]
    pub retries: u32,
    /// Whether it is an earlier receipt, used again because nothing had changed.
    #[serde(skip_serializing_if = "is_default")]
    pub reused: bool,
    /// The tests it ran, where that could be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tests: Option<Tests>,
    /// Where the trouble is, as `file:line`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub spots: Vec<String>,
    /// Failures that were there before the work began and are not counted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub known: Vec<String>,
    /// How much the result can be relied on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub strength: Option<Strength>,
    /// What the judges of the start said, where today's differ from them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub original: Option<OriginalRun>,
    /// What makes the result weaker than it could be, one sentence each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Whether it rests on the word of an agent instead of something stopgate saw.
    #[serde(skip_serializing_if = "is_default")]
    pub word: bool,
    /// How many files differ from the last look at them; a stop stores it once, with its facts.
    #[serde(skip)]
    pub changed_files: Option<u32>,
    /// What it cost to ask another agent, as far as its client told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<OpinionCost>,
}

/// What it cost to ask another agent for its opinion.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpinionCost {
    /// The model, or the agent where its client does not tell.
    pub model: String,
    /// Its tokens.
    #[serde(default)]
    pub tokens: TokenUse,
    /// What they cost, in billionths of a dollar; nothing where no price is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nanos: Option<u64>,
}

crate::words! {
    /// How much a result can be relied on; each includes the ones before it.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Strength {
        /// The check ran in the work tree, with the judges as they are.
        Plain = "plain",
        /// The judges of the start accept the work.
        #[default]
        Original = "original",
        /// Every run took place apart from the work tree.
        Clean = "clean",
        /// Every run also had its own processes, home directory and network.
        Hermetic = "hermetic",
    }
}

/// What the judges of the start said about today's work.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OriginalRun {
    /// Their verdict.
    pub verdict: OriginalVerdict,
    /// Identifies the changes of judges that a person is asked about.
    pub digest: String,
    /// The judges that were added, changed or deleted, for people.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<String>,
    /// The tests of the start that fail now, where they could be read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failing: Vec<String>,
}

/// The verdict of the judges of the start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OriginalVerdict {
    /// They accept the work.
    Accepted,
    /// They reject it, and today's judges accept it in the same place.
    Rejected,
    /// They could not be asked, or even today's judges fail where they were asked.
    Undecided,
    /// A person accepted the changed judges.
    Approved,
}

/// How many tests a check ran.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tests {
    /// Found, whatever came of them.
    pub collected: u32,
    /// Failed.
    #[serde(default)]
    pub failed: u32,
    /// Left out.
    #[serde(default)]
    pub skipped: u32,
}

impl Tests {
    /// How many were run to an end, whether they passed or failed.
    pub const fn ran(self) -> u32 {
        self.collected.saturating_sub(self.skipped)
    }
}

impl Evidence {
    /// Whether it says nothing.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl Receipt {
    /// A check that came out like this at `at`, printed nothing and took no time.
    pub fn new(criterion: impl Into<String>, status: Status, at: Timestamp) -> Self {
        Self {
            criterion: criterion.into(),
            status,
            exit_code: None,
            duration_ms: 0,
            tail: String::new(),
            output_bytes: 0,
            log: None,
            trouble: None,
            at,
            evidence: Evidence::default(),
        }
    }

    /// Whether it passed, but not at the first try.
    pub fn is_flaky(&self) -> bool {
        self.status == Status::Pass && self.evidence.retries > 0
    }
}

#[cfg(test)]
mod tests;
