//! A list whose features are built side by side: where its files are, what is open, and the one
//! change that stopgate makes to it, once a feature is merged.

use std::path::{Path, PathBuf};

use stopgate_dialects::features::{Feature, FeatureList, passing};

use super::{DIRECTORY, Place};
use crate::dialect::{DialectCall, files};
use crate::failure::{Failure, chain};

/// The part of a feature list that a fresh session works on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NextFeature {
    /// Its id.
    pub id: String,
    /// What it is.
    pub description: String,
    /// The model that the list names for it: its own, that of its category, or the list's default.
    pub model: Option<String>,
    /// Its category, where it has one.
    pub category: Option<String>,
}

impl NextFeature {
    pub(crate) fn of(list: &FeatureList, feature: &Feature) -> Self {
        Self {
            id: feature.id.clone(),
            description: feature.description.clone(),
            model: list.model_of(feature).map(String::from),
            category: feature.category.clone(),
        }
    }
}

/// The files of a loop over features, in the project and in any worktree of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FeatureFiles {
    /// The list in the project.
    pub list: PathBuf,
    /// The list's path from the root of a worktree.
    pub list_below: PathBuf,
    /// All files that are the loop's and not the work's, from the root of a worktree.
    pub apart: Vec<PathBuf>,
    /// What every session reads, where the loop has such a text.
    pub prompt: PathBuf,
}

impl FeatureFiles {
    /// Where the files of the loop over features are, below the project's `root`.
    pub fn of(desk: &DialectCall, root: &Path) -> Self {
        let place = Place::of(desk);
        // The directory may be a link to the loop that is worked on.
        let list = files::canonical(&place.list);
        let directory = list.parent().unwrap_or(root).to_path_buf();
        let below = directory.strip_prefix(files::canonical(root));
        let below = below.map_or_else(|_| DIRECTORY.into(), Path::to_path_buf);
        let names = ["feature_list.json", "progress.txt", "hook.log"];
        Self {
            list_below: below.join("feature_list.json"),
            apart: names.iter().map(|name| below.join(name)).collect(),
            prompt: place.directory.join("RALPH_PROMPT.md"),
            list,
        }
    }

    /// All features, and whether each passes, in the list's order; refused where two have one id.
    pub fn listed(desk: &DialectCall) -> Result<Vec<(NextFeature, bool)>, Failure> {
        let Some(text) = desk.feature_list()? else { return Ok(Vec::new()) };
        let list = read(&text)?;
        for (at, feature) in list.features.iter().enumerate() {
            if list.features[..at].iter().any(|earlier| earlier.id == feature.id) {
                return Err(Failure::usage(format!("two features have the id {}", feature.id))
                    .hint("give each feature an id of its own"));
            }
        }
        let all = list.features.iter();
        Ok(all.map(|feature| (NextFeature::of(&list, feature), feature.passes)).collect())
    }

    /// Notes in the project's list that a feature passes.
    pub fn mark(desk: &DialectCall, id: &str) -> Result<(), Failure> {
        let place = Place::of(desk);
        let _held = desk.hold(&place.progress)?;
        let Some(text) = files::read(&place.list)? else { return Ok(()) };
        let marked = Self::with_passing(&text, id)?;
        if marked == text { Ok(()) } else { files::write(&files::canonical(&place.list), &marked) }
    }

    /// Whether the list at `path` says that a feature passes; one that can't be read says nothing.
    pub fn says_passes(path: &Path, id: &str) -> bool {
        let list = files::read(path).ok().flatten().and_then(|text| FeatureList::read(&text).ok());
        list.is_some_and(|list| list.features.iter().any(|own| own.id == id && own.passes))
    }

    /// The text of a list in which a feature passes.
    pub fn with_passing(text: &str, id: &str) -> Result<String, Failure> {
        passing(text, id).map_err(|error| {
            Failure::fault(format!("could not change the list of features: {}", chain(&error)))
        })
    }
}

fn read(text: &str) -> Result<FeatureList, Failure> {
    FeatureList::read(text)
        .map_err(|error| Failure::fault("could not use the list of features").because(error))
}
