//! Why a use case could not be carried out, in words for the person who asked.

use std::error::Error;
use std::fmt;

use stopgate_store::StoreError;

/// Why something could not be done, and what to do about it.
#[derive(Debug)]
pub struct Failure {
    /// What kind of trouble it is; decides the exit code.
    pub kind: Kind,
    /// What went wrong, in a sentence without its full stop.
    pub message: String,
    /// What the person can do.
    pub hint: Option<String>,
    source: Option<Box<dyn Error + Send + Sync>>,
}

/// Kinds of trouble.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// What was asked makes no sense here.
    Usage,
    /// There is no such loop.
    NoLoop,
    /// The journal can't be used.
    Store,
    /// Something else broke.
    Fault,
}

impl Failure {
    /// What was asked makes no sense here.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::of(Kind::Usage, message)
    }

    /// There is no such loop.
    pub fn no_loop(message: impl Into<String>) -> Self {
        Self::of(Kind::NoLoop, message)
    }

    /// Something broke.
    pub fn fault(message: impl Into<String>) -> Self {
        Self::of(Kind::Fault, message)
    }

    /// Adds what the person can do.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Adds what caused it.
    #[must_use]
    pub fn because(mut self, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        self.source = Some(source.into());
        self
    }

    /// The whole story on one line, for a log.
    pub fn story(&self) -> String {
        chain(self)
    }

    fn of(kind: Kind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), hint: None, source: None }
    }
}

/// An error and what caused it, on one line.
pub(crate) fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        next = cause.source();
    }
    text
}

impl Kind {
    /// The exit code of a command that failed so.
    pub const fn exit_code(self) -> u8 {
        match self {
            Self::Usage => 2,
            Self::NoLoop => 66,
            Self::Fault => 70,
            Self::Store => 74,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for Failure {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source.as_ref().map(|source| &**source as &(dyn Error + 'static))
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        let message = format!("could not {error}");
        let mut failure = Self::of(Kind::Store, message);
        failure.source = match error {
            StoreError::Open { source, .. }
            | StoreError::Corrupt { source, .. }
            | StoreError::Engine { source, .. } => Some(Box::new(source)),
            StoreError::Lock { source, .. } => Some(Box::new(source)),
            StoreError::Record { source, .. } | StoreError::Encode { source, .. } => {
                Some(Box::new(source))
            }
            StoreError::Busy { .. } | StoreError::Empty { .. } | StoreError::Newer { .. } => None,
        };
        failure
    }
}
