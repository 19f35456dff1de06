//! What was proven, in a form that can be signed, carried away and checked elsewhere.

mod definition;
mod inspect;
mod repository;

use std::path::Path;

use serde::{Deserialize, Serialize};
use stopgate_core::{
    Event, Outcome, Party, Receipt, Repository, Ruling, State, Status, Stopped, Tests, Timestamp,
    Vouch, apply,
};
use stopgate_store::{JournalEntry, Stored};
use stopgate_verify::{Fit, fits};

use self::definition::definition_of;
pub use self::inspect::{Inspection, ReceiptDemands};
use crate::context::{Context, LoopTarget};
use crate::failure::Failure;
use crate::judging::known_keys::{KnownKeys, known_keys};
use crate::view::time_text;

/// Version 1 named no definitions, no repository and nobody who began the loop.
const VERSION: u32 = 2;

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
    /// The fingerprint of the project's file at the start, where there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project_file: Option<String>,
    /// The repository that it was proven in, where it was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repository: Option<ProvenRepository>,
    /// Who began the loop: `person`, `agent` or `unknown`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub begun_by: Option<String>,
    /// What showed that an agent began it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub begun_shown_by: Option<String>,
    /// Who vouched for it later: `person`, where one approved it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approved_by: Option<String>,
    /// Earlier loops of the session that were put aside for it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub replaced: Vec<ProvenReplaced>,
    /// What was checked.
    pub criteria: Vec<ProvenCriterion>,
}

/// The repository that something was proven in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProvenRepository {
    /// The commits that it begins with.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub roots: Vec<String>,
    /// Where its remotes are, without credentials.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remotes: Vec<String>,
    /// The commit that was checked out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head: Option<String>,
}

/// An earlier loop that was put aside.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProvenReplaced {
    /// The loop.
    #[serde(rename = "loop")]
    pub id: String,
    /// Who ended it.
    pub by: String,
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
    /// The fingerprint of how it is defined, as `receipt check` compares it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub definition: Option<String>,
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
    /// Further directories it depends on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub roots: Vec<String>,
    /// The fingerprint of those files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tree: Option<String>,
    /// When it ended.
    pub at: String,
}

/// What can be said about a signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Signed {
    /// It fits, and its key is one of those that are known here.
    Genuine,
    /// It fits, and nobody here said whose key that is.
    UnknownSigner,
    /// It does not fit what is signed.
    Forged,
}

impl Signed {
    /// The words that people read.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Genuine => "genuine",
            Self::UnknownSigner => "unknown signer",
            Self::Forged => "forged",
        }
    }
}

impl Certificate {
    /// What can be said about its signature, where these keys are known.
    pub(crate) fn signed(&self, known: &KnownKeys) -> Signed {
        let Ok(text) = text(&self.proven) else { return Signed::Forged };
        match fits(&self.key, text.as_bytes(), &self.signature) {
            Fit::Differs => Signed::Forged,
            Fit::Fits if known.has(&self.key) => Signed::Genuine,
            Fit::Fits => Signed::UnknownSigner,
        }
    }
}

/// Signs what was proven; without a signature nothing is done.
pub(crate) fn certify(
    context: &Context,
    state: &State,
    receipts: &[Receipt],
    at: Timestamp,
) -> Result<Event, Failure> {
    let key = context.world.key(context.home.directory()).map_err(|error| {
        Failure::fault("could not sign what was proven, so it is not done").because(error)
    })?;
    let repository = repository::at(Path::new(state.root()));
    let text = text(&proven(state, receipts, at, VERSION, repository.as_ref()))?;
    let signature = key.sign(text.as_bytes());
    Ok(Event::Certified { key: key.public(), signature, repository })
}

/// What can be said about the signature of a loop that is said to be done.
pub(crate) fn signed(context: &mut Context, stored: &Stored) -> Result<Signed, Failure> {
    let known = known_keys(context)?;
    let found = certificate_of(context, stored)?;
    Ok(found.map_or(Signed::Forged, |certificate| certificate.signed(&known)))
}

/// What the journal says was proven, with the signature that it keeps.
fn certificate_of(context: &mut Context, stored: &Stored) -> Result<Option<Certificate>, Failure> {
    let history = context.journal.history(&stored.state.id)?;
    let mut state: Option<State> = None;
    let mut done: Option<(State, Vec<Receipt>, Timestamp)> = None;
    let mut found = None;
    for JournalEntry { recorded, .. } in &history {
        match (&recorded.event, &state, &done) {
            (Event::Stopped(stopped), Some(before), _) if is_done(stopped) => {
                done = Some((before.clone(), stopped.receipts.clone(), recorded.at));
            }
            (Event::Certified { key, signature, repository }, _, Some(done)) => {
                found = Some(certificate(done, key, signature, repository.as_ref()));
            }
            _other => {}
        }
        state = apply(state, &recorded.event, recorded.at);
    }
    Ok(found)
}

/// Signed receipts, and the keys whose signatures count.
pub struct Certificates<'a> {
    pub(crate) context: &'a mut Context,
}

impl Certificates<'_> {
    /// The signed receipt of a loop that is done.
    pub fn certificate(&mut self, target: &LoopTarget) -> Result<Certificate, Failure> {
        let stored = self.context.resolve(target)?;
        let id = &stored.state.id;
        if stored.state.outcome() != Some(Outcome::Done) {
            return Err(Failure::usage(format!("loop {id} is not done, so nothing is signed"))
                .hint("a receipt is signed when every check has passed: stopgate status"));
        }
        let known = known_keys(self.context)?;
        let found = certificate_of(self.context, &stored)?;
        found.filter(|found| found.signed(&known) != Signed::Forged).ok_or_else(|| {
            Failure::usage(format!(
                "the record of loop {id} was edited: its signature does not fit"
            ))
        })
    }
}

/// What a signature stands under. The version before said less, and signed what it said.
fn certificate(
    (state, receipts, at): &(State, Vec<Receipt>, Timestamp),
    key: &str,
    signature: &str,
    repository: Option<&Repository>,
) -> Certificate {
    let of = |version| Certificate {
        proven: proven(state, receipts, *at, version, repository),
        key: key.into(),
        signature: signature.into(),
    };
    let newest = of(VERSION);
    let fits_text = |certificate: &Certificate| {
        text(&certificate.proven)
            .is_ok_and(|text| fits(key, text.as_bytes(), signature) == Fit::Fits)
    };
    if fits_text(&newest) {
        return newest;
    }
    let old = of(1);
    if fits_text(&old) { old } else { newest }
}

fn text(proven: &Proven) -> Result<String, Failure> {
    serde_json::to_string(proven)
        .map_err(|error| Failure::fault("could not write down what was proven").because(error))
}

fn is_done(stopped: &Stopped) -> bool {
    stopped.ruling == Ruling::Complete(Outcome::Done)
}

fn proven(
    state: &State,
    receipts: &[Receipt],
    at: Timestamp,
    version: u32,
    repository: Option<&Repository>,
) -> Proven {
    let said = Proven {
        stopgate_receipt: version,
        id: state.id.as_str().into(),
        goal: state.goal.clone(),
        outcome: Outcome::Done.word().into(),
        seal: state.ground.seal.clone(),
        started_at: time_text(state.started_at),
        proven_at: time_text(at),
        project_file: None,
        repository: None,
        begun_by: None,
        begun_shown_by: None,
        approved_by: None,
        replaced: Vec::new(),
        criteria: criteria(state, receipts, version),
    };
    if version < 2 {
        return said;
    }
    let origin = &state.origin;
    let approved = origin.vouched == Some(Vouch::Approved);
    Proven {
        project_file: state.ground.source.as_ref().map(|source| source.content.clone()),
        repository: repository.map(|found| ProvenRepository {
            roots: found.roots.clone(),
            remotes: found.remotes.clone(),
            head: found.head.clone(),
        }),
        begun_by: Some(origin.by.word().into()),
        begun_shown_by: origin.shown_by.clone(),
        approved_by: approved.then(|| Party::Person.word().into()),
        replaced: origin
            .replaced
            .iter()
            .map(|earlier| ProvenReplaced {
                id: earlier.id.as_str().into(),
                by: earlier.by.word().into(),
            })
            .collect(),
        ..said
    }
}

fn criteria(state: &State, receipts: &[Receipt], version: u32) -> Vec<ProvenCriterion> {
    let criteria = state.criteria.iter().filter_map(|criterion| {
        let receipt = receipts.iter().find(|receipt| receipt.criterion == criterion.name)?;
        let evidence = &receipt.evidence;
        let definition = definition_of(criterion);
        Some(ProvenCriterion {
            name: criterion.name.clone(),
            kind: criterion.proof.word().into(),
            required: criterion.is_required(),
            status: status(receipt.status).into(),
            definition: (version >= 2).then_some(definition),
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
    criteria.collect()
}

const fn status(status: Status) -> &'static str {
    status.word()
}

#[cfg(test)]
mod tests;
