//! What an attack found, for people and programs.

use serde::Serialize;

use super::exploit::Ecosystem;

/// What became of one exploit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AttemptResult {
    /// The check passed, and stopgate did not believe it.
    Caught,
    /// It would have ended as done.
    Passed,
    /// It does not fit here, or the check fails all the same.
    NotApplicable,
    /// There was no time left.
    NotTried,
}

/// One exploit, tried on one criterion.
#[derive(Clone, Debug, Serialize)]
pub struct ExploitTrial {
    /// The criterion.
    pub criterion: String,
    /// The exploit.
    pub exploit: &'static str,
    /// Where it belongs.
    pub ecosystem: Ecosystem,
    /// What became of it.
    pub result: AttemptResult,
    /// How it was caught, or why it does not apply.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// Files that it touched.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
}

/// A criterion that was attacked.
#[derive(Clone, Debug, Serialize)]
pub struct AttackedCriterion {
    /// Its name.
    pub criterion: String,
    /// What made its check fail: a file that was broken, or nothing where it failed already.
    pub broken: Option<String>,
    /// Why it could not be attacked, where it could not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skipped: Option<String>,
}

/// A line for the project's file that closes holes.
#[derive(Clone, Debug, Serialize)]
pub struct AttackAdvice {
    /// The criterion it belongs to.
    pub criterion: String,
    /// The exploits that it is against.
    pub exploits: Vec<&'static str>,
    /// The whole line.
    pub line: String,
    /// Those of the exploits that pass in spite of it: it was tried.
    pub still_pass: Vec<&'static str>,
}

/// What an attack found.
#[derive(Clone, Debug, Serialize)]
pub struct AttackReport {
    /// The project.
    pub project: String,
    /// How many exploits got past the checks themselves.
    pub applicable: usize,
    /// How many of those were caught.
    pub caught: usize,
    /// How many there was no time for.
    pub not_tried: usize,
    /// What was attacked.
    pub criteria: Vec<AttackedCriterion>,
    /// Every exploit that fits the project's tools.
    pub attempts: Vec<ExploitTrial>,
    /// What to do about those that passed.
    pub advice: Vec<AttackAdvice>,
}

impl AttackReport {
    /// Counts what was found.
    pub(super) fn count(&mut self) {
        let count = |result| self.attempts.iter().filter(|one| one.result == result).count();
        self.caught = count(AttemptResult::Caught);
        self.not_tried = count(AttemptResult::NotTried);
        self.applicable = self.caught + count(AttemptResult::Passed);
    }
}

/// What is going on, for somebody who waits.
#[derive(Clone, Copy, Debug)]
pub enum AttackStep<'a> {
    /// The project is copied.
    Copied,
    /// A criterion's check is run, and the work broken.
    Began(&'a str),
    /// One exploit was tried.
    Tried(&'a ExploitTrial),
    /// The advice is tried out.
    Advising(&'a str),
}
