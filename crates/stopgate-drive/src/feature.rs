//! One feature of a list as the work of a loop of its own.
//!
//! The session finds the list in its worktree and marks its feature there, as it would anywhere:
//! that is its claim. The list that counts is changed by stopgate alone, with the merge.

use std::fs;
use std::path::{Path, PathBuf};

use stopgate_dialects::Dialect;
use stopgate_engine::{
    DialectCall, DialectRequest, Failure, FeatureFiles, NextFeature, OkForm, Settings, Stores,
};
use stopgate_verify::files::read_text;
use stopgate_verify::{KeptApart, LoopBranch};

use crate::loops::LoopWork;

const LIST_BYTES_MAX: u64 = 4 << 20;
const PROMPT_FILE_BYTES_MAX: u64 = 64 * 1024;
const OWN_PROMPT_BYTES_MAX: usize = 1400;

/// The list that a run is about.
#[derive(Clone, Debug)]
pub(crate) struct FeatureDesk {
    pub(crate) settings: Settings,
    pub(crate) stores: Stores,
    pub(crate) directory: PathBuf,
}

impl FeatureDesk {
    /// A desk reads the time once, so each look has its own.
    pub(crate) fn open(&self) -> Result<DialectCall, Failure> {
        let form = OkForm::default();
        let request = DialectRequest { dialect: Dialect::Features, task_file: None, form };
        DialectCall::new(self.settings, self.stores, request, self.directory.clone())
    }
}

/// The feature that a loop builds.
#[derive(Clone, Debug)]
pub(crate) struct FeaturePart {
    pub(crate) feature: NextFeature,
    pub(crate) files: FeatureFiles,
    pub(crate) desk: FeatureDesk,
}

impl FeaturePart {
    /// What the session works on.
    pub(crate) fn work(&self) -> LoopWork {
        LoopWork {
            part: Some(format!("feature {}", self.feature.id)),
            model: self.feature.model.clone(),
            category: self.feature.category.clone(),
        }
    }

    /// What the session reads first.
    pub(crate) fn prompt(&self) -> String {
        let NextFeature { id, description, .. } = &self.feature;
        let own = read_text(&self.files.prompt, PROMPT_FILE_BYTES_MAX).unwrap_or_default();
        let own = stopgate_core::clip(own.trim(), OWN_PROMPT_BYTES_MAX);
        format!(
            "Your feature: {id} - {description}. Build only this one: others are built beside you, in \
             worktrees of their own. Verify it, set its \"passes\" to true in {}, and end your turn.\n\
             {own}\n",
            self.files.list_below.display()
        )
    }

    /// Puts the list into the worktree where git did not.
    pub(crate) fn make_ready(&self, directory: &Path) -> Result<(), Failure> {
        let list = directory.join(&self.files.list_below);
        if list.exists() {
            return Ok(());
        }
        let copied = read_text(&self.files.list, LIST_BYTES_MAX).and_then(|text| {
            list.parent().map_or(Ok(()), fs::create_dir_all)?;
            fs::write(&list, text)
        });
        copied.map_err(|error| {
            Failure::fault(format!("could not copy the list to {}", list.display())).because(error)
        })
    }

    /// Whether the session says that its feature passes.
    pub(crate) fn is_claimed(&self, directory: &Path) -> bool {
        FeatureFiles::says_passes(&directory.join(&self.files.list_below), &self.feature.id)
    }

    /// The loop's own files stay as the target has them, but for this feature's mark.
    pub(crate) fn kept_apart(&self, branch: &LoopBranch<'_>) -> Result<KeptApart, Failure> {
        let list = &self.files.list_below;
        let written: Vec<(PathBuf, String)> = match branch.text_at_target(list) {
            Some(text) => {
                let marked = FeatureFiles::with_passing(&text, &self.feature.id)?;
                vec![(list.clone(), marked)]
            }
            None => Vec::new(),
        };
        Ok(KeptApart { paths: self.files.apart.clone(), written })
    }

    /// Marks the feature in a list that git does not have; with a list in git, the merge did.
    pub(crate) fn mark(&self) -> Result<(), Failure> {
        FeatureFiles::mark(&self.desk.open()?, &self.feature.id)
    }
}
