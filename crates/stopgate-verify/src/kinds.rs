//! Proofs without a command: files, patterns, coverage, feature lists, the repository.
//!
//! Each answers with a finding, whatever it meets. What can't be looked at proves
//! nothing: it is an error, never a pass. Nothing here leaves the project's folder
//! unless its owner wrote an absolute path.

mod coverage;

mod features;

mod files;

mod git;

mod pattern;

mod places;

use stopgate_core::Status;

pub use self::coverage::coverage;
pub use self::features::features;
pub use self::files::files;
pub use self::git::git;
pub use self::pattern::pattern;

/// What was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// How it came out.
    pub status: Status,
    /// What was seen, for a receipt.
    pub text: String,
    /// Why it could not be told.
    pub trouble: Option<String>,
    /// Where the trouble is, as `file:line`.
    pub spots: Vec<String>,
}

impl Finding {
    fn pass(text: impl Into<String>) -> Self {
        Self { status: Status::Pass, text: text.into(), trouble: None, spots: Vec::new() }
    }

    fn fail(text: impl Into<String>) -> Self {
        Self { status: Status::Fail, text: text.into(), trouble: None, spots: Vec::new() }
    }

    fn error(trouble: impl Into<String>) -> Self {
        let trouble = Some(trouble.into());
        Self { status: Status::Error, text: String::new(), trouble, spots: Vec::new() }
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
mod tests;
