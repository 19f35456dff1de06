//! A report over one loop or many: what needs a person first, then what happened and why.

use stopgate_core::{Outcome, Timestamp};

use crate::story::{LoopStory, MustAct};
use crate::when::utc_minute;

/// What a report is about.
#[derive(Clone, Debug)]
pub struct LoopReport {
    /// When it was made.
    pub made_at: Timestamp,
    /// Since when loops are told; `None` for loops that were named.
    pub since: Option<Timestamp>,
    /// The loops, in no order.
    pub loops: Vec<ReportedLoop>,
}

/// One loop of a report.
#[derive(Clone, Debug)]
pub struct ReportedLoop {
    /// What happened.
    pub story: LoopStory,
    /// What the seals under its record say.
    pub record: &'static str,
    /// What can be said about the signature of its end, where it ended as done.
    pub signature: Option<&'static str>,
    /// What the work tree has beyond the commit of the start, where that is known.
    pub diff: Option<DiffStat>,
}

/// How a work tree differs from the commit that a loop began with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DiffStat {
    /// The commit.
    pub commit: String,
    /// Files that differ: path, lines added, lines removed; `None` for binary files.
    pub files: Vec<(String, Option<(u64, u64)>)>,
    /// Files that git does not know yet.
    pub new_files: Vec<String>,
}

impl LoopReport {
    /// How many loops it is about, since when, and when it was made.
    pub(crate) fn heading(&self) -> String {
        let since = self.since.map(|at| format!(", since {} UTC", utc_minute(at)));
        let loops = match self.loops.len() {
            1 => "1 loop".into(),
            count => format!("{count} loops"),
        };
        format!("{loops}{}. Made {} UTC.", since.unwrap_or_default(), utc_minute(self.made_at))
    }

    /// The loops in the order of the report: those that need a person, then the newest first.
    pub(crate) fn in_order(&self) -> Vec<&ReportedLoop> {
        let mut loops: Vec<&ReportedLoop> = self.loops.iter().collect();
        loops.sort_by_key(|told| {
            let turn = usize::from(!told.needs_person());
            (turn, std::cmp::Reverse(told.story.started_at), told.story.id.clone())
        });
        loops
    }

    /// How loops ended or stand, and how many each.
    pub(crate) fn outcomes(&self) -> Vec<(&'static str, usize)> {
        let mut counts = std::collections::BTreeMap::new();
        for told in &self.loops {
            *counts.entry(told.word()).or_insert(0) += 1;
        }
        counts.into_iter().collect()
    }
}

impl ReportedLoop {
    /// Whether a person must act.
    pub(crate) fn needs_person(&self) -> bool {
        matches!(self.story.act, MustAct::Person(_)) || self.is_doubtful()
    }

    /// Whether the record or the signature of its end is not what stopgate wrote.
    pub(crate) fn is_doubtful(&self) -> bool {
        self.record == "forged" || self.signature == Some("forged")
    }

    /// Its state or outcome in a word; a record that was changed is not believed.
    pub(crate) fn word(&self) -> &'static str {
        if self.is_doubtful() { Outcome::Tampered.word() } else { self.story.word() }
    }

    /// What a person has to do, where they have to do something.
    pub(crate) fn advice(&self) -> Option<String> {
        if self.is_doubtful() {
            return Some("its record was changed outside of stopgate: stopgate store check".into());
        }
        match self.story.act {
            MustAct::Person(turn) => Some(format!("{} {}", turn.advice(), self.story.id)),
            MustAct::Agent | MustAct::Nobody => None,
        }
    }

    /// What the signature and the record are worth, in a sentence.
    pub(crate) fn soundness(&self) -> String {
        let signature = match (self.signature, self.story.outcome) {
            (Some("genuine"), _) => "signed, and the signature holds",
            (Some("forged"), _) => "the signature does not hold",
            (Some(_other), _) => "signed with a key that is not known here",
            (None, Some(Outcome::Done)) => "not looked at",
            (None, _) => "not signed: only a proven end is",
        };
        format!("record {}; {signature}", self.record)
    }
}

impl DiffStat {
    /// Reads `git diff --numstat -z`.
    pub fn parse(commit: &str, numstat: &str) -> Self {
        let mut files = Vec::new();
        let mut fields = numstat.split_terminator('\0');
        while let Some(field) = fields.next() {
            let mut parts = field.splitn(3, '\t');
            let (Some(added), Some(removed), Some(path)) =
                (parts.next(), parts.next(), parts.next())
            else {
                continue;
            };
            // A renamed file has its two names behind an empty one.
            let path = if path.is_empty() {
                let _before = fields.next();
                fields.next().unwrap_or_default()
            } else {
                path
            };
            let lines = added.parse().ok().zip(removed.parse().ok());
            files.push((path.to_string(), lines));
        }
        Self { commit: commit.into(), files, new_files: Vec::new() }
    }

    /// Adds files that git does not know yet, as `git ls-files -z` lists them.
    #[must_use]
    pub fn with_new_files(mut self, listed: &str) -> Self {
        self.new_files = listed.split_terminator('\0').map(String::from).collect();
        self
    }

    /// How many files differ, in a sentence.
    pub(crate) fn sentence(&self) -> String {
        let (added, removed) = self.lines();
        let count = self.files.len();
        let files = if count == 1 { "1 file".into() } else { format!("{count} files") };
        let new = match self.new_files.len() {
            0 => String::new(),
            new => format!(", and {new} that git does not know"),
        };
        format!("{files}, +{added} -{removed}{new}")
    }

    /// Lines added and removed in all.
    pub fn lines(&self) -> (u64, u64) {
        let lines = self.files.iter().filter_map(|(_, lines)| *lines);
        lines.fold((0, 0), |(added, removed), (a, r)| (added + a, removed + r))
    }
}

#[cfg(test)]
pub(crate) mod tests;
