//! Whether what judges the work is still what it was when the loop began.

use std::path::Path;

use stopgate_core::{Author, Criterion, Source};

use super::Request;
use crate::seal::{Change, Seal};

/// What was found changed.
#[derive(Debug, Default)]
pub(super) struct Tampering {
    changes: Vec<Change>,
    /// Why it could not be told, where it could not.
    unknown: Option<String>,
    seal: Option<Seal>,
}

/// What tampering means for one criterion.
pub(super) enum Found {
    /// Nothing was changed.
    Sound,
    /// This was.
    Changed(String),
    /// It can't be told, for this reason.
    Unknown(String),
}

impl Tampering {
    pub(super) fn look(request: &Request<'_>) -> Self {
        let mut found = Self::default();
        if let Some(source) = &request.ground.source
            && !is_known(source, content_at(Path::new(&source.path)).as_deref())
        {
            let name =
                Path::new(&source.path).file_name().unwrap_or_default().display().to_string();
            for criterion in request.criteria.iter().filter(|c| c.terms.author == Author::Project) {
                let text = format!("{name} is not what it was at the start");
                found.changes.push(Change { criterion: Some(criterion.name.clone()), text });
            }
        }
        let Some(fingerprint) = &request.ground.seal else { return found };
        match read_seal(request, fingerprint) {
            // Nothing tells what it was: that is no change, and no pass either.
            Err(why) => found.unknown = Some(why),
            Ok(seal) => {
                match seal.changes(request.root, request.criteria, &request.place.trees()) {
                    Ok(changes) => found.changes.extend(changes),
                    Err(error) => found.unknown = Some(error.to_string()),
                }
                found.seal = Some(seal);
            }
        }
        found
    }

    pub(super) const fn seal(&self) -> Option<&Seal> {
        self.seal.as_ref()
    }

    pub(super) fn of(&self, criterion: &Criterion) -> Found {
        let concerns: Vec<&str> = self
            .changes
            .iter()
            .filter(|change| change.concerns(&criterion.name))
            .map(|change| change.text.as_str())
            .collect();
        match (concerns.as_slice(), &self.unknown) {
            ([], None) => Found::Sound,
            ([], Some(why)) => Found::Unknown(why.clone()),
            ([first], _) => Found::Changed((*first).into()),
            ([first, rest @ ..], _) => Found::Changed(format!("{first}, and {} more", rest.len())),
        }
    }
}

/// What was changed of that which the checks are judged by; the reason where it can't be told.
pub fn changes(request: &Request<'_>) -> Result<Vec<String>, String> {
    let found = Tampering::look(request);
    if let Some(why) = found.unknown {
        return Err(why);
    }
    let mut texts: Vec<String> = found.changes.into_iter().map(|change| change.text).collect();
    texts.dedup();
    Ok(texts)
}

/// The seal as it was taken; one that was edited or is gone seals nothing.
fn read_seal(request: &Request<'_>, fingerprint: &str) -> Result<Seal, String> {
    let gone = "what was noted at the start about the checks is gone";
    let text =
        std::fs::read_to_string(request.place.seal(fingerprint)).map_err(|_| gone.to_string())?;
    if content_fingerprint(text.as_bytes()) != fingerprint {
        return Err("what was noted at the start about the checks was edited".into());
    }
    Seal::from_text(&text).map_err(|error| error.to_string())
}

/// Whether a project's file is as it was at the start, or as a person accepted it.
fn is_known(source: &Source, now: Option<&str>) -> bool {
    now == Some(&*source.content) || (now.is_some() && now == source.accepted.as_deref())
}

/// The fingerprint of some content.
pub fn content_fingerprint(content: &[u8]) -> String {
    blake3::hash(content).to_hex()[..32].to_string()
}

fn content_at(path: &Path) -> Option<String> {
    std::fs::read(path).ok().map(|content| content_fingerprint(&content))
}
