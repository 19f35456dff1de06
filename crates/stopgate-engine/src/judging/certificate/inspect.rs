//! What a receipt is worth here: its signature first, then what it had to prove, then the files.

use std::path::{Path, PathBuf};

use serde::Serialize;
use stopgate_core::{Outcome, Repository, Status};
use stopgate_verify::{TreeScope, fingerprint};

use super::definition::definition_of_draft;
use super::{Certificate, Proven, ProvenCriterion, Signed, VERSION, repository};
use crate::context::Context;
use crate::failure::Failure;
use crate::judging::certificate::Certificates;
use crate::judging::known_keys::{KnownKeys, known_keys};
use crate::project_file::ProjectFile;

/// What is asked of a receipt.
#[derive(Clone, Debug, Default)]
pub struct ReceiptDemands {
    /// The signer's public keys; where there are none, those that are known here.
    pub keys: Vec<String>,
    /// Criteria that must have been proven, and the fingerprints of their definitions.
    pub require: Vec<(String, String)>,
    /// The files that it must be about; its signature alone is looked at where there are none.
    pub project: Option<PathBuf>,
}

/// What a look at a receipt found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Inspection {
    /// Whether everything that was asked for holds.
    pub valid: bool,
    /// What can be said about its signature.
    pub signature: Signed,
    /// What does not hold, in sentences.
    pub faults: Vec<String>,
    /// What it says.
    pub proven: Proven,
    /// Who signed it.
    pub key: String,
}

impl Certificates<'_> {
    /// Looks at a receipt; nothing that it names is looked at unless its signer is known.
    pub fn inspect(
        &self,
        certificate: Certificate,
        demands: &ReceiptDemands,
    ) -> Result<Inspection, Failure> {
        let known = match demands.keys.as_slice() {
            [] => known_keys(self.context)?,
            keys => KnownKeys::of(keys),
        };
        let signature = certificate.signed(&known);
        let faults = match signature {
            Signed::Forged => {
                vec!["the signature does not fit: it was changed after it was signed".into()]
            }
            Signed::UnknownSigner if known.is_empty() => {
                vec![
                    "no key is known here: give the signer's with --key, or once with \
                      `stopgate receipt keys add`"
                        .into(),
                ]
            }
            Signed::UnknownSigner => {
                vec![format!("it was signed by a key that is not known here: {}", certificate.key)]
            }
            Signed::Genuine => faults(self.context, &certificate.proven, demands),
        };
        let Certificate { proven, key, .. } = certificate;
        Ok(Inspection { valid: faults.is_empty(), signature, faults, proven, key })
    }
}
fn faults(context: &Context, proven: &Proven, demands: &ReceiptDemands) -> Vec<String> {
    let mut faults = Vec::new();
    if proven.outcome != Outcome::Done.word() {
        faults.push(format!("it says {}, not done", proven.outcome));
    }
    for (name, definition) in &demands.require {
        faults.extend(missing(proven, name, definition));
    }
    let Some(project) = &demands.project else { return faults };
    if proven.stopgate_receipt < VERSION {
        faults.push(format!(
            "it is an old receipt (version {}): it does not say how its criteria were \
             defined, in which repository, and who began the loop",
            proven.stopgate_receipt
        ));
        return faults;
    }
    faults.extend(owed(proven, project));
    faults.extend(elsewhere(proven, project));
    // Files are compared last: it takes longest.
    if faults.is_empty() {
        faults.extend(other_files(proven, project, &context.home.directory().join("trees")));
    }
    faults
}

/// What the project's file demands and the receipt does not have.
fn owed(proven: &Proven, project: &Path) -> Vec<String> {
    let file = match ProjectFile::read(project) {
        Ok(Some(file)) => file,
        Ok(None) => return Vec::new(),
        Err(failure) => return vec![failure.story()],
    };
    let required = file.criteria.iter().filter(|d| d.criterion.is_required());
    required
        .filter(|draft| draft.criterion.is_checked())
        .filter_map(|draft| missing(proven, &draft.criterion.name, &definition_of_draft(draft)))
        .collect()
}

/// Why a criterion was not proven as it is asked for, if it was not.
fn missing(proven: &Proven, name: &str, definition: &str) -> Option<String> {
    let Some(found) = proven.criteria.iter().find(|criterion| criterion.name == name) else {
        return Some(format!("\"{name}\" was not among its criteria"));
    };
    if found.definition.as_deref().is_none_or(|known| !known.eq_ignore_ascii_case(definition)) {
        return Some(format!("\"{name}\" was defined otherwise when it was proven"));
    }
    let passed = found.required && found.status == Status::Pass.word();
    (!passed).then(|| format!("\"{name}\" was not required, or did not pass"))
}

/// Why the files here are of another repository, if they are.
fn elsewhere(proven: &Proven, project: &Path) -> Option<String> {
    let here = repository::at(project);
    match (&proven.repository, here) {
        (None, None) => None,
        (None, Some(_)) => Some("it was proven outside of any repository".into()),
        (Some(_), None) => {
            Some("it was proven in a repository, and this directory is not in one".into())
        }
        (Some(proven), Some(here)) => {
            let proven = Repository {
                roots: proven.roots.clone(),
                remotes: proven.remotes.clone(),
                head: proven.head.clone(),
            };
            // Without a commit and a remote there is nothing to tell repositories apart by.
            let nameless = proven == Repository::default() && here == Repository::default();
            (!nameless && !repository::are_same(&proven, &here))
                .then(|| "it was proven in another repository".into())
        }
    }
}

/// Which criteria were proven for other files than those that are here.
fn other_files(proven: &Proven, project: &Path, trees: &Path) -> Vec<String> {
    let differs = |criterion: &&ProvenCriterion| {
        let Some(tree) = &criterion.tree else { return true };
        let scope = match criterion.inputs.as_slice() {
            [] => TreeScope::Whole,
            inputs => TreeScope::Globs(inputs),
        };
        let more: Vec<PathBuf> = criterion.roots.iter().map(|root| project.join(root)).collect();
        let roots: Vec<&Path> =
            std::iter::once(project).chain(more.iter().map(PathBuf::as_path)).collect();
        fingerprint(&roots, scope, trees).map_or(true, |now| now.hash() != tree)
    };
    let required = proven.criteria.iter().filter(|criterion| criterion.required);
    required
        .filter(differs)
        .map(|criterion| format!("\"{}\" was proven for other files than these", criterion.name))
        .collect()
}
