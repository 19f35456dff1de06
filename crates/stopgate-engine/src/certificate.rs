//! What was proven, in a form that can be signed, carried away and checked elsewhere.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use stopgate_core::{
    Event, Outcome, Receipt, Ruling, State, Status, Stopped, Tests, Timestamp, apply,
};
use stopgate_store::{Entry, Stored};
use stopgate_verify::{Fit, Key, Scope, fingerprint, fits};

use crate::engine::Engine;
use crate::failure::Failure;
use crate::target::Target;
use crate::view::time_text;

const VERSION: u32 = 1;

/// A signed receipt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Certificate {
    /// What is said.
    pub proven: Proven,
    /// The public half of the key that signed it.
    pub key: String,
    /// The signature under the compact JSON of `proven`.
    pub signature: String,
}

/// What was proven, when, and in which state of the files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Proven {
    /// The version of this form.
    pub stopgate_receipt: u32,
    /// The loop.
    #[serde(rename = "loop")]
    pub id: String,
    /// What it was for.
    pub goal: String,
    /// How it ended.
    pub outcome: String,
    /// What was noted at the start about that which the checks are judged by.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seal: Option<String>,
    /// When it began.
    pub started_at: String,
    /// When it was proven.
    pub proven_at: String,
    /// What was checked.
    pub criteria: Vec<ProvenCriterion>,
}

/// One criterion that was proven, or was only told.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProvenCriterion {
    /// Its name.
    pub name: String,
    /// Its kind.
    pub kind: String,
    /// Whether the loop could not be done without it.
    pub required: bool,
    /// How it came out.
    pub status: String,
    /// The fingerprint of the check itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// The exit code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// How long it took.
    pub duration_ms: u64,
    /// The fingerprint of what it printed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    /// What the tool calls its version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The tests it ran.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tests: Option<Tests>,
    /// How often it failed before it passed.
    pub retries: u32,
    /// Failures that were there before and are not counted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub known: Vec<String>,
    /// Patterns of the files it depends on; the whole tree where there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inputs: Vec<String>,
    /// Further folders it depends on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub roots: Vec<String>,
    /// The fingerprint of those files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tree: Option<String>,
    /// When it ended.
    pub at: String,
}

/// What a check of a certificate found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Inspection {
    /// [`crate::SCHEMA_VERSION`]
    pub schema_version: u32,
    /// Whether everything that was asked for holds.
    pub valid: bool,
    /// What does not hold, in sentences.
    pub faults: Vec<String>,
    /// What it says.
    pub proven: Proven,
    /// Who signed it.
    pub key: String,
}

/// Whether a loop's record of being done is what was proven.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Record {
    /// It is signed, and the signature fits.
    Genuine,
    /// It is not.
    Edited,
}

impl Engine {
    /// Signs what was proven; without a signature nothing is done.
    pub(crate) fn certify(
        &self,
        state: &State,
        receipts: &[Receipt],
        at: Timestamp,
    ) -> Result<Event, Failure> {
        let key = Key::of(self.home.folder()).map_err(|error| {
            Failure::fault("could not sign what was proven, so it is not done").because(error)
        })?;
        let text = text(&proven(state, receipts, at))?;
        Ok(Event::Certified { key: key.public(), signature: key.sign(text.as_bytes()) })
    }

    /// The signed receipt of a loop that is done.
    pub fn certificate(&mut self, target: &Target) -> Result<Certificate, Failure> {
        let stored = self.resolve(target)?;
        let id = &stored.state.id;
        if stored.state.outcome() != Some(Outcome::Done) {
            return Err(Failure::usage(format!("loop {id} is not done, so nothing is signed"))
                .hint("a receipt is signed when every check has passed: stopgate status"));
        }
        let found = self.certificate_of(&stored)?;
        found.filter(|c| holds(c) == Fit::Fits).ok_or_else(|| {
            Failure::usage(format!(
                "the record of loop {id} was edited: its signature does not fit"
            ))
        })
    }

    /// Whether a loop that is said to be done was signed so.
    pub(crate) fn record_of(&mut self, stored: &Stored) -> Result<Record, Failure> {
        let found = self.certificate_of(stored)?;
        Ok(match found.map(|certificate| holds(&certificate)) {
            Some(Fit::Fits) => Record::Genuine,
            Some(Fit::Differs) | None => Record::Edited,
        })
    }

    /// What the journal says was proven, with the signature that it keeps.
    fn certificate_of(&mut self, stored: &Stored) -> Result<Option<Certificate>, Failure> {
        let history = self.journal.history(&stored.state.id)?;
        let mut state: Option<State> = None;
        let mut done: Option<Proven> = None;
        let mut signed: Option<(String, String)> = None;
        for Entry { recorded, .. } in &history {
            match (&recorded.event, &state) {
                (Event::Stopped(stopped), Some(before)) if is_done(stopped) => {
                    done = Some(proven(before, &stopped.receipts, recorded.at));
                }
                (Event::Certified { key, signature }, _) => {
                    signed = Some((key.clone(), signature.clone()));
                }
                _other => {}
            }
            state = apply(state, &recorded.event, recorded.at);
        }
        let own = Key::existing(self.home.folder()).map(|key| key.public()).ok();
        Ok(match (done, signed) {
            // A signature by any other key proves nothing here.
            (Some(proven), Some((key, signature))) if own.is_none_or(|own| own == key) => {
                Some(Certificate { proven, key, signature })
            }
            (_, _) => None,
        })
    }
}

/// Looks at a certificate; `key` is the one that is trusted, `project` the files it is about.
pub fn inspect(
    certificate: Certificate,
    key: Option<&str>,
    project: Option<&Path>,
    home: &Path,
) -> Inspection {
    let mut faults = Vec::new();
    if certificate.proven.stopgate_receipt != VERSION {
        faults
            .push(format!("its version is {}, not {VERSION}", certificate.proven.stopgate_receipt));
    }
    if holds(&certificate) == Fit::Differs {
        faults.push("the signature does not fit: it was changed after it was signed".into());
    }
    let own = || Key::existing(home).ok().map(|key| key.public());
    match key.map(String::from).or_else(own) {
        Some(key) if key == certificate.key => {}
        Some(_) => faults.push("another key signed it than the one that is trusted".into()),
        None => faults.push("no key is trusted here: give the signer's with --key".into()),
    }
    if certificate.proven.outcome != Outcome::Done.word() {
        faults.push(format!("it says {}, not done", certificate.proven.outcome));
    }
    if let Some(project) = project {
        faults.extend(other_files(&certificate.proven, project, home));
    }
    let Certificate { proven, key, .. } = certificate;
    Inspection {
        schema_version: crate::SCHEMA_VERSION,
        valid: faults.is_empty(),
        faults,
        proven,
        key,
    }
}

/// Which criteria were proven for other files than those that lie here.
fn other_files(proven: &Proven, project: &Path, home: &Path) -> Vec<String> {
    let trees = home.join("trees");
    let differs = |criterion: &&ProvenCriterion| {
        let Some(tree) = &criterion.tree else { return true };
        let scope = match criterion.inputs.as_slice() {
            [] => Scope::Whole,
            inputs => Scope::Globs(inputs),
        };
        let more: Vec<PathBuf> = criterion.roots.iter().map(|root| project.join(root)).collect();
        let roots: Vec<&Path> =
            std::iter::once(project).chain(more.iter().map(PathBuf::as_path)).collect();
        fingerprint(&roots, scope, &trees).map_or(true, |now| now.hash() != tree)
    };
    let required = proven.criteria.iter().filter(|criterion| criterion.required);
    required
        .filter(differs)
        .map(|criterion| format!("\"{}\" was proven for other files than these", criterion.name))
        .collect()
}

fn holds(certificate: &Certificate) -> Fit {
    let Ok(text) = text(&certificate.proven) else { return Fit::Differs };
    fits(&certificate.key, text.as_bytes(), &certificate.signature)
}

fn text(proven: &Proven) -> Result<String, Failure> {
    serde_json::to_string(proven)
        .map_err(|error| Failure::fault("could not write down what was proven").because(error))
}

fn is_done(stopped: &Stopped) -> bool {
    stopped.ruling == Ruling::Complete(Outcome::Done)
}

fn proven(state: &State, receipts: &[Receipt], at: Timestamp) -> Proven {
    let criteria = state.criteria.iter().filter_map(|criterion| {
        let receipt = receipts.iter().find(|receipt| receipt.criterion == criterion.name)?;
        let evidence = &receipt.evidence;
        Some(ProvenCriterion {
            name: criterion.name.clone(),
            kind: criterion.proof.word().into(),
            required: criterion.is_required(),
            status: status(receipt.status).into(),
            command: evidence.command.clone(),
            exit_code: receipt.exit_code,
            duration_ms: receipt.duration_ms,
            output: evidence.output.clone(),
            version: evidence.version.clone(),
            tests: evidence.tests,
            retries: evidence.retries,
            known: evidence.known.clone(),
            inputs: criterion.terms.inputs.clone(),
            roots: state.ground.roots.clone(),
            tree: evidence.tree.clone(),
            at: time_text(receipt.at),
        })
    });
    Proven {
        stopgate_receipt: VERSION,
        id: state.id.as_str().into(),
        goal: state.goal.clone(),
        outcome: Outcome::Done.word().into(),
        seal: state.ground.seal.clone(),
        started_at: time_text(state.started_at),
        proven_at: time_text(at),
        criteria: criteria.collect(),
    }
}

const fn status(status: Status) -> &'static str {
    status.word()
}
