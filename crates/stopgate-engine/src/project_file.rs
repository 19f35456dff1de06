//! The project's own file, `stopgate.toml`: what done means here, reviewed like code.
//!
//! Reading it runs nothing. It may ask for less than a person allows, never for more, and
//! its commands run only after a person trusted this very content.

mod grants;

mod wire;

use std::path::Path;

use stopgate_core::{Criterion, ProjectSource};
use stopgate_verify::files::{is_missing, read_text};

use crate::failure::Failure;
use crate::limits::RequestedLimits;

pub use self::grants::Grant;
pub(crate) use self::grants::of_criterion;

/// The file's name, at the project's root.
pub(crate) const FILE_NAME: &str = "stopgate.toml";
const BYTES_MAX: u64 = 1024 * 1024;

/// What a project's file says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProjectFile {
    /// Where it lies, and the fingerprint of its content.
    pub source: ProjectSource,
    /// The limits it asks for.
    pub limits: RequestedLimits,
    /// What must hold before a loop here is done.
    pub criteria: Vec<CriterionDraft>,
    /// Further directories whose files the checks depend on.
    pub roots: Vec<String>,
    /// How many checks run side by side; 0 is the usual number.
    pub jobs: u32,
    /// Gates of every loop here, as people write them; `None` where the file does not speak of
    /// them.
    pub gates: Option<Vec<String>>,
}

/// A criterion as the file has it, before anything was run for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CriterionDraft {
    /// The criterion.
    pub criterion: Criterion,
    /// Whether what fails at the start is counted.
    pub start: AtStart,
}

/// What is done with a check when a loop begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AtStart {
    /// Nothing.
    Rest,
    /// It is tried, and what it shows is only told.
    Try,
    /// It is run, so that its tests can be counted.
    Count,
    /// It is run, and what fails then is not counted later.
    Baseline,
}

impl CriterionDraft {
    /// A criterion for which nothing is run at the start.
    pub const fn at_rest(criterion: Criterion) -> Self {
        Self { criterion, start: AtStart::Rest }
    }
}

impl ProjectFile {
    /// The file of `project`; nothing where it has none.
    pub fn read(project: &Path) -> Result<Option<Self>, Failure> {
        let path = project.join(FILE_NAME);
        let Some(text) = text_of(&path)? else { return Ok(None) };
        let read = wire::parse(&text).map_err(|why| {
            Failure::usage(format!("could not understand {}: {why}", path.display()))
                .hint("every key is explained by: stopgate help toml")
        })?;
        let source = ProjectSource {
            path: path.display().to_string(),
            content: content(&text),
            accepted: None,
        };
        Ok(Some(Self { source, ..read }))
    }

    /// What a file with this text says.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        wire::parse(text)
    }
}

/// The fingerprint of a file's content.
fn content(text: &str) -> String {
    stopgate_verify::content_fingerprint(text.as_bytes())
}

/// The fingerprint of the file at `path` as it is now; nothing where it can't be read.
pub(crate) fn content_at(path: &Path) -> Option<String> {
    text_of(path).ok().flatten().map(|text| content(&text))
}

fn text_of(path: &Path) -> Result<Option<String>, Failure> {
    let unreadable =
        |error| Failure::usage(format!("could not read {}", path.display())).because(error);
    match read_text(path, BYTES_MAX) {
        Ok(text) => Ok(Some(text)),
        Err(error) if is_missing(&error) => Ok(None),
        Err(error) => Err(unreadable(error)),
    }
}

#[cfg(test)]
mod tests;
