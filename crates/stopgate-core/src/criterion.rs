//! One condition of done, as data.

mod judge;

use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::clean::clip_end;
use crate::first_run::FirstRun;
use crate::receipt::{Evidence, Receipt, Status, Strength, Tests};
use crate::stored::is_default;
use crate::time::Timestamp;

pub use self::judge::CriterionJudge;

/// What is kept of a check's output for a receipt that may be used again.
const TAIL_BYTES_MAX: usize = 1024;

/// One condition of done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Criterion {
    /// Its name, as its owner wrote it.
    pub name: String,
    /// What makes it hold.
    pub proof: Proof,
    /// Whether the loop can be done without it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub weight: Weight,
    /// Whether the agent may know which one it is.
    #[serde(default, skip_serializing_if = "is_default")]
    pub visibility: Visibility,
    /// How its check is run.
    #[serde(default, skip_serializing_if = "is_default")]
    pub terms: Terms,
    /// When a person attested it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approved_at: Option<Timestamp>,
    /// The tests that its check ran when they were first counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tests: Option<Tests>,
    /// How long its first run took, where that was long.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub takes_ms: Option<u64>,
    /// Its first run, where that was not over when the loop began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first: Option<FirstRun>,
    /// How it stood when it was last looked at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last: Option<Standing>,
}

/// What makes a criterion hold.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Proof {
    /// A command that stopgate runs itself, by the platform's shell.
    Check {
        /// The command, for the platform's shell.
        command: String,
        /// How long it may take.
        timeout_ms: u64,
    },
    /// A program that stopgate runs itself, without a shell.
    Run {
        /// The program and its arguments.
        argv: Vec<String>,
        /// How long it may take.
        timeout_ms: u64,
    },
    /// Files that must or must not be there.
    Files {
        /// Patterns of which each must match a file.
        exist: Vec<String>,
        /// Patterns of which none may match a file.
        absent: Vec<String>,
    },
    /// What a text must or must not say.
    Pattern {
        /// The text.
        subject: PatternSubject,
        /// Expressions that must match.
        must: Vec<String>,
        /// Expressions that must not match.
        must_not: Vec<String>,
    },
    /// How much of the code the tests reach.
    Coverage {
        /// The report's file.
        report: String,
        /// How the report is written; looked at where it is not said.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        format: Option<CoverageFormat>,
        /// What is asked for.
        floor: Floor,
    },
    /// A list of features that must all pass.
    Features {
        /// The list's file.
        list: String,
    },
    /// How the repository must stand.
    Git {
        /// What is asked for; all of it.
        demands: Vec<GitDemand>,
    },
    /// The opinion of another agent, which sees the goal, the changes and the receipts.
    Review {
        /// The agent that is asked.
        agent: String,
        /// What it is asked, beyond whether the goal is reached.
        ask: String,
        /// The model, where it is not the client's own choice.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        model: Option<String>,
        /// How long it may take.
        timeout_ms: u64,
    },
    /// The agent's word.
    Attest,
    /// A person's word.
    Approve,
}

/// What a criterion has stopgate run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProofCommand<'a> {
    /// A line for the platform's shell.
    Shell(&'a str),
    /// A program and its arguments.
    Argv(&'a [String]),
}

impl Proof {
    /// What is run, where something is.
    pub fn command(&self) -> Option<ProofCommand<'_>> {
        match self {
            Self::Check { command, .. } => Some(ProofCommand::Shell(command)),
            Self::Run { argv, .. } => Some(ProofCommand::Argv(argv)),
            Self::Files { .. }
            | Self::Pattern { .. }
            | Self::Coverage { .. }
            | Self::Features { .. }
            | Self::Git { .. }
            | Self::Review { .. }
            | Self::Attest
            | Self::Approve => None,
        }
    }
}

/// A text that a pattern is looked for in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PatternSubject {
    /// Every file that this pattern names; at least one must be there.
    File(String),
    /// The agent's last message.
    Message,
}

/// How a coverage report is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CoverageFormat {
    /// `SF:`, `DA:`, `LF:` lines.
    Lcov,
    /// XML with `line-rate`.
    Cobertura,
    /// JSON as llvm-cov, coverage.py and istanbul write it.
    Json,
}

/// The least coverage that will do, in hundredths of a percent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Floor {
    /// Of lines.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lines: Option<u32>,
    /// Of branches.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branches: Option<u32>,
    /// Of functions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub functions: Option<u32>,
}

/// How a repository must stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GitDemand {
    /// Nothing uncommitted, nothing untracked.
    Clean,
    /// Every commit of this branch is on its upstream.
    Pushed,
    /// No file has conflict markers, and no merge is under way.
    NoConflicts,
}

/// Whether a loop can be done without a criterion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Weight {
    /// It can't.
    #[default]
    Required,
    /// It can: the criterion is only told.
    Advisory,
}

/// Whether the agent may know which criterion it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Visibility {
    /// It may.
    #[default]
    Open,
    /// It may not: it is only told that something is unmet.
    Hidden,
}

/// How a check is run, beyond what it asks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a field of the stored form")]
pub struct Terms {
    /// How often it may be run again after a failure.
    #[serde(skip_serializing_if = "is_default")]
    pub retries: u32,
    /// The directory it runs in, from the project's root.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// Patterns of the files it depends on; the whole tree where there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub inputs: Vec<String>,
    /// Patterns of the files that it judges by, which the work must not change.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub protect: Vec<String>,
    /// Whether a receipt may be used again while its inputs are the same.
    #[serde(skip_serializing_if = "is_default")]
    pub reuse: Reuse,
    /// Where it runs.
    #[serde(skip_serializing_if = "is_default")]
    pub site: Site,
    /// Ignored paths that a pristine copy borrows from the work tree.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub link: Vec<String>,
    /// Variables that are set for it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub set: Vec<(String, String)>,
    /// Variables that are passed on to it beyond the usual ones.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pass: Vec<String>,
    /// A program whose first line of output says which version the check uses.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub version: Vec<String>,
    /// How much memory each of its processes may use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
    /// How much processor time each of its processes may use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_seconds: Option<u64>,
    /// What failed before the work began and is not counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub baseline: Option<Baseline>,
    /// Who wrote the criterion down.
    #[serde(skip_serializing_if = "is_default")]
    pub author: Author,
    /// Whether the files that judge it are fixed at the start.
    #[serde(skip_serializing_if = "is_default")]
    pub judges: JudgesAre,
    /// Patterns of judges that the work may change.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub may_change: Vec<String>,
    /// The least strength that counts as a pass.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub strength: Option<Strength>,
    /// Whether new and changed tests must fail on the base commit.
    #[serde(skip_serializing_if = "is_default")]
    pub red_first: bool,
    /// Whether a hermetic run may use the network.
    #[serde(skip_serializing_if = "is_default")]
    pub network: bool,
}

/// What the files that judge a criterion are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JudgesAre {
    /// Fixed at the start: today's work is also judged by them as they were then.
    #[default]
    Fixed,
    /// Part of the work: a person said so beforehand.
    Work,
}

/// Whether a receipt may be used again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reuse {
    /// As long as its inputs are the same.
    #[default]
    WhileUnchanged,
    /// Never: it depends on more than files.
    Never,
}

/// Where a check runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Site {
    /// In the work tree.
    #[default]
    Tree,
    /// In a copy of it, with protected files as they were at the start.
    Pristine,
}

/// Who wrote a criterion down.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Author {
    /// The one who began the loop.
    #[default]
    Command,
    /// The project's file.
    Project,
}

impl Author {
    /// Whether it was written on a command line, not in a repository.
    pub const fn is_command(&self) -> bool {
        matches!(self, Self::Command)
    }
}

/// What failed before the work began.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Baseline {
    /// A fingerprint of each failure.
    pub failures: Vec<u64>,
    /// Some of them by name, for people.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<String>,
}

/// How a criterion stood when it was last looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Standing {
    /// How the check came out.
    pub status: Status,
    /// Its exit code, where it had one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// How long it took.
    pub duration_ms: u64,
    /// When it ended.
    pub at: Timestamp,
    /// Where its whole output is kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log: Option<String>,
    /// What a receipt needs to be used again; nothing where it can't be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept: Option<Kept>,
}

/// What is kept of a receipt so that it can be used again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kept {
    /// The end of what the check printed.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub tail: String,
    /// How much it printed in all.
    #[serde(default)]
    pub output_bytes: u64,
    /// What was the matter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trouble: Option<String>,
    /// What it rests on.
    #[serde(default)]
    pub evidence: Evidence,
}

impl Criterion {
    /// A criterion that is required, open, and checked in the usual way.
    pub fn new(name: &str, proof: Proof) -> Self {
        Self {
            name: name.into(),
            proof,
            weight: Weight::default(),
            visibility: Visibility::default(),
            terms: Terms::default(),
            approved_at: None,
            tests: None,
            takes_ms: None,
            first: None,
            last: None,
        }
    }

    /// Whether another agent is asked about it.
    pub const fn is_review(&self) -> bool {
        matches!(self.proof, Proof::Review { .. })
    }

    /// Whether the loop can't be done without it.
    pub fn is_required(&self) -> bool {
        self.weight == Weight::Required
    }

    /// Whether the agent may not know which one it is.
    pub fn is_hidden(&self) -> bool {
        self.visibility == Visibility::Hidden
    }

    /// How long one run of it may take; 0 where nothing is run.
    pub const fn timeout_ms(&self) -> u64 {
        match self.proof {
            Proof::Check { timeout_ms, .. }
            | Proof::Run { timeout_ms, .. }
            | Proof::Review { timeout_ms, .. } => timeout_ms,
            Proof::Files { .. }
            | Proof::Pattern { .. }
            | Proof::Coverage { .. }
            | Proof::Features { .. }
            | Proof::Git { .. }
            | Proof::Attest
            | Proof::Approve => 0,
        }
    }

    /// What to type to see what the check sees, where a command can show it.
    pub fn command(&self) -> Option<String> {
        Some(match self.proof.command()? {
            ProofCommand::Shell(line) => line.into(),
            ProofCommand::Argv(argv) => {
                let words: Vec<String> = argv.iter().map(|word| quoted(word)).collect();
                words.join(" ")
            }
        })
    }
}

impl Proof {
    /// The word that users, JSON and SQL use for the kind.
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Check { .. } | Self::Run { .. } => "run",
            Self::Files { .. } => "files",
            Self::Pattern { .. } => "pattern",
            Self::Coverage { .. } => "coverage",
            Self::Features { .. } => "features",
            Self::Git { .. } => "git",
            Self::Review { .. } => "review",
            Self::Attest => "attest",
            Self::Approve => "approve",
        }
    }
}

impl Standing {
    /// What is remembered of a receipt.
    pub fn of(receipt: &Receipt) -> Self {
        // What waits for a person must still be known when they come.
        let kept = receipt.evidence.tree.is_some() || receipt.status == Status::NeedsApproval;
        Self {
            status: receipt.status,
            exit_code: receipt.exit_code,
            duration_ms: receipt.duration_ms,
            at: receipt.at,
            log: receipt.log.clone(),
            kept: kept.then(|| Kept {
                tail: clip_end(&receipt.tail, TAIL_BYTES_MAX).into(),
                output_bytes: receipt.output_bytes,
                trouble: receipt.trouble.clone(),
                evidence: receipt.evidence.clone(),
            }),
        }
    }
}

/// An argument as a shell reads it back.
fn quoted(word: &str) -> String {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"-_./=:,@%+".contains(&b);
    if !word.is_empty() && word.bytes().all(plain) {
        return word.into();
    }
    let mut text = String::from("'");
    text.push_str(&word.replace('\'', r"'\''"));
    text.push('\'');
    text
}

#[cfg(test)]
mod tests;
