//! Which loop builds which feature, until the feature is marked in the list.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use stopgate_engine::{Failure, NextFeature};
use stopgate_verify::files::{Durable, read_text, replace_private};

const BYTES_MAX: u64 = 4 << 20;

/// The features that were begun and are not marked yet.
#[derive(Debug)]
pub(super) struct JobLedger {
    file: PathBuf,
    entries: Vec<JobEntry>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct JobEntry {
    feature: String,
    description: String,
    #[serde(rename = "loop")]
    id: String,
}

impl JobEntry {
    fn is_of(&self, feature: &NextFeature) -> bool {
        self.feature == feature.id && self.description == feature.description
    }
}

impl JobLedger {
    /// What was noted; nothing where it can't be read.
    pub(super) fn read(file: PathBuf) -> Self {
        let text = read_text(&file, BYTES_MAX).unwrap_or_default();
        Self { file, entries: serde_json::from_str(&text).unwrap_or_default() }
    }

    /// Forgets what is not in the list any more.
    pub(super) fn keep_only(&mut self, listed: &[(NextFeature, bool)]) {
        self.entries.retain(|entry| listed.iter().any(|(feature, _)| entry.is_of(feature)));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The ids of the features.
    pub(super) fn features(&self) -> Vec<String> {
        self.entries.iter().map(|entry| entry.feature.clone()).collect()
    }

    /// The loop that builds a feature.
    pub(super) fn loop_of(&self, feature: &NextFeature) -> Option<String> {
        self.entries.iter().find(|entry| entry.is_of(feature)).map(|entry| entry.id.clone())
    }

    /// Notes which loop builds a feature, before it does.
    pub(super) fn note(&mut self, feature: &NextFeature, id: &str) -> Result<(), Failure> {
        self.entries.retain(|entry| !entry.is_of(feature));
        self.entries.push(JobEntry {
            feature: feature.id.clone(),
            description: feature.description.clone(),
            id: id.into(),
        });
        self.write()
    }

    /// The feature is marked.
    pub(super) fn forget(&mut self, feature: &NextFeature) -> Result<(), Failure> {
        self.entries.retain(|entry| !entry.is_of(feature));
        self.write()
    }

    fn write(&self) -> Result<(), Failure> {
        let text = serde_json::to_vec(&self.entries).unwrap_or_default();
        replace_private(&self.file, &text, Durable::Synced).map_err(|error| {
            Failure::store(format!("could not write {}", self.file.display())).because(error)
        })
    }
}
