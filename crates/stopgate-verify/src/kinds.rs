//! Proofs without a command: files, patterns, coverage, feature lists, the repository.
//!
//! Each answers with a finding, whatever it meets. What can't be looked at proves
//! nothing: it is an error, never a pass. Nothing here leaves the project's directory
//! unless a person wrote an absolute path, or a link that they may follow.

mod coverage;

mod features;

mod files;

mod git;

mod pattern;

mod places;

mod text;

use stopgate_core::{Author, Status};

pub use self::coverage::{ReportTimes, coverage};
pub use self::features::features;
pub use self::files::files;
pub use self::git::{GitBasis, git};
pub use self::pattern::pattern;

/// What was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KindFinding {
    /// How it came out.
    pub status: Status,
    /// What was seen, for a receipt.
    pub text: String,
    /// Why it could not be told.
    pub trouble: Option<String>,
    /// Where the trouble is, as `file:line`.
    pub spots: Vec<String>,
    /// Whether stopgate saw it itself.
    pub basis: FindingBasis,
}

/// Whether stopgate saw something itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FindingBasis {
    /// It did.
    #[default]
    Seen,
    /// Someone says so: in a message, a list of features, or a report that no check of this
    /// stop wrote.
    Word,
}

/// Which files a criterion may name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathRule {
    /// Those in the project: a repository's own file must not read a person's other files.
    ProjectOnly,
    /// Any: a person wrote the criterion.
    Anywhere,
}

impl PathRule {
    /// What a criterion by this author may name.
    pub const fn of(author: Author) -> Self {
        match author {
            Author::Command => Self::Anywhere,
            Author::Project => Self::ProjectOnly,
        }
    }
}

impl KindFinding {
    fn new(status: Status) -> Self {
        Self {
            status,
            text: String::new(),
            trouble: None,
            spots: Vec::new(),
            basis: FindingBasis::Seen,
        }
    }

    fn pass(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::new(Status::Pass) }
    }

    fn fail(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::new(Status::Fail) }
    }

    /// What can't be told, and why.
    pub fn error(trouble: impl Into<String>) -> Self {
        Self { trouble: Some(trouble.into()), ..Self::new(Status::Error) }
    }

    /// The same, as somebody's word.
    fn into_word(mut self) -> Self {
        self.basis = FindingBasis::Word;
        self
    }

    fn at(mut self, spots: Vec<String>) -> Self {
        self.spots = spots;
        self
    }
}

/// The first few of a list, and how many more there are.
fn few<T: AsRef<str>>(names: &[T], max: usize) -> String {
    let shown: Vec<&str> = names.iter().take(max).map(AsRef::as_ref).collect();
    let more = names.len().saturating_sub(max);
    let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{rest}", shown.join(", "))
}

#[cfg(test)]
mod strict_tests;

#[cfg(test)]
mod tests;
