//! Which contents of which project files a person trusts.
//!
//! A repository can say what is to be run; only a person can say that it may be. The word
//! is about one file with one content, and is kept in the person's own state.

mod hash;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use serde::Serialize;
use stopgate_core::{Author, Criterion, ProjectSource, State};
use stopgate_verify::files::{append_private, read_text};

use crate::config::Config;
use crate::context::Context;
use crate::failure::Failure;
use crate::home::{Home, below, file_name};
use crate::limits::{LimitSetting, RequestedLimits, settle};
use crate::project_file::{FILE_NAME, Grant, ProjectFile, of_criterion};
use crate::view::{CriterionView, criterion_view};

const NOTE_BYTES_MAX: u64 = 1024 * 1024;

/// The person's word on project files.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Trust<'a> {
    home: &'a Home,
}

impl<'a> Trust<'a> {
    /// Every stop asks, and hardly one has to look: nothing is put together before it does.
    pub(crate) const fn of(home: &'a Home) -> Self {
        Self { home }
    }

    /// Whether a person trusts this file with this content.
    pub(crate) fn has(self, source: &ProjectSource) -> bool {
        let kept = read_text(&self.note(&source.path), NOTE_BYTES_MAX).unwrap_or_default();
        kept.lines().any(|line| line == source.content)
    }

    /// Remembers that a person trusts it; other contents that they trusted stay so.
    pub(crate) fn add(self, source: &ProjectSource) -> Result<(), Failure> {
        if self.has(source) {
            return Ok(());
        }
        let note = self.note(&source.path);
        let written = append_private(&note)
            .and_then(|mut file| file.write_all(format!("{}\n", source.content).as_bytes()));
        written.map_err(|error| {
            Failure::fault(format!("could not write {}", note.display())).because(error)
        })
    }

    /// Forgets every content of that file; says whether there was any.
    pub(crate) fn remove(self, path: &Path) -> Result<bool, Failure> {
        match fs::remove_file(self.note(&path.display().to_string())) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(Failure::fault("could not remove the trust in it").because(error)),
        }
    }

    /// Whether a loop rests on something of a project's file that needs a person's word, and
    /// has none.
    pub(crate) fn lacks(self, state: &State) -> bool {
        let mut criteria = state.criteria.iter();
        let needs_trust = !state.ground.roots.is_empty()
            || state.gates.iter().any(|gate| gate.author == Author::Project)
            || criteria.any(|criterion| {
                criterion.terms.author == Author::Project && !of_criterion(criterion).is_empty()
            });
        needs_trust && state.ground.source.as_ref().is_some_and(|source| !self.has(source))
    }

    fn note(self, path: &str) -> PathBuf {
        below(self.home.directory(), ["trust", &file_name(path)])
    }
}

/// A project's file, what it asks to be run, and whether a person trusts it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TrustView {
    /// The file.
    pub path: String,
    /// The fingerprint of its content.
    pub content: String,
    /// What it asks to be run, by criterion.
    pub commands: Vec<CommandView>,
    /// Everything that trust allows.
    pub allows: Vec<Grant>,
    /// Whether a person trusts it.
    pub trusted: bool,
}

/// A command that a project's file asks for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CommandView {
    /// The criterion.
    pub criterion: String,
    /// The command.
    pub command: String,
}

/// A person's trust in the files of projects.
pub struct ProjectTrust<'a> {
    pub(crate) context: &'a mut Context,
}

impl ProjectTrust<'_> {
    /// The project's file and how it stands.
    pub fn trust_view(&self, project: &Path) -> Result<TrustView, Failure> {
        let Some(file) = ProjectFile::read(project)? else {
            return Err(Failure::usage(format!(
                "there is no stopgate.toml in {}",
                project.display()
            ))
            .hint("stopgate init writes one at the project's root"));
        };
        let command = |criterion: &Criterion| {
            let command = criterion.command()?;
            Some(CommandView { criterion: criterion.name.clone(), command })
        };
        let commands = file.criteria.iter().filter_map(|draft| command(&draft.criterion)).collect();
        let trusted = Trust::of(&self.context.home).has(&file.source);
        let allows = file.grants();
        let ProjectSource { path, content, .. } = file.source;
        Ok(TrustView { path, content, commands, allows, trusted })
    }

    /// A person trusts the project's file with the content that they were shown.
    pub fn trust(&mut self, shown: &TrustView) -> Result<(), Failure> {
        self.context.as_person("trust a project's file")?;
        self.context.prepare()?;
        let TrustView { path, content, .. } = shown.clone();
        Trust::of(&self.context.home).add(&ProjectSource { path, content, accepted: None })
    }

    /// A person takes their word back, for every content of the file.
    pub fn untrust(&mut self, project: &Path) -> Result<bool, Failure> {
        Trust::of(&self.context.home).remove(&project.join(FILE_NAME))
    }

    /// The limits that a loop begun here would have, and who set them.
    pub fn rules(&self, project: &Path) -> Result<BindingRules, Failure> {
        let file = ProjectFile::read(project)?;
        let config = Config::read(self.context.settings)?;
        let wished = file.as_ref().map(|file| file.limits).unwrap_or_default();
        let (_, settings) = settle(&RequestedLimits::default(), &config.limits, &wished);
        let trust = Trust::of(&self.context.home);
        Ok(BindingRules {
            user_file: self.context.settings.config_file().map(|path| path.display().to_string()),
            project_file: file.as_ref().map(|file| file.source.path.clone()),
            trusted: file.as_ref().map(|file| trust.has(&file.source)),
            settings,
            criteria: file
                .map(|file| file.criteria.into_iter().map(|d| d.criterion).collect::<Vec<_>>())
                .unwrap_or_default()
                .iter()
                .map(|criterion| criterion_view(criterion, None))
                .collect(),
        })
    }
}

/// What a loop begun here would be bound by.
#[derive(Clone, Debug, Serialize)]
pub struct BindingRules {
    /// The person's own settings, whether or not the file is there.
    pub user_file: Option<String>,
    /// The project's file, where there is one.
    pub project_file: Option<String>,
    /// Whether a person trusts it.
    pub trusted: Option<bool>,
    /// The limits.
    pub settings: Vec<LimitSetting>,
    /// The project's criteria.
    pub criteria: Vec<CriterionView>,
}

/// The refusal to run what nobody trusts.
pub(crate) fn untrusted() -> Failure {
    Failure::usage("this project's stopgate.toml is not trusted, so its checks are not run")
        .hint("read it, then: stopgate trust")
}
