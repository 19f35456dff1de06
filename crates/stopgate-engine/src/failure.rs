//! Why a use case could not be carried out, in words for the person who asked.

use std::error::Error;
use std::fmt;
use std::io::ErrorKind;

use stopgate_store::StoreError;
use stopgate_store::transfer::TransferError;

/// Why something could not be done, and what to do about it.
#[derive(Debug)]
pub struct Failure {
    /// What kind of trouble it is; decides the exit code.
    pub kind: FailureKind,
    /// What went wrong, in a sentence without its full stop.
    pub message: String,
    /// What the person can do.
    pub hint: Option<String>,
    source: Source,
}

/// What caused a failure.
#[derive(Debug)]
enum Source {
    Nothing,
    Error(Box<dyn Error + Send + Sync>),
    /// What lies beneath an error whose own words are the failure's.
    Beneath(Box<dyn Error + Send + Sync>),
}

/// Kinds of trouble.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureKind {
    /// What was asked makes no sense here.
    Usage,
    /// A loop holds the session already.
    SessionTaken,
    /// There is no such loop.
    NoLoop,
    /// The journal can't be used.
    Store,
    /// Something else broke.
    Fault,
    /// The person interrupted it.
    Interrupted,
}

impl Failure {
    /// What was asked makes no sense here.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::of(FailureKind::Usage, message)
    }

    /// A loop holds the session already.
    pub(crate) fn session_taken(message: impl Into<String>) -> Self {
        Self::of(FailureKind::SessionTaken, message)
    }

    /// There is no such loop.
    pub fn no_loop(message: impl Into<String>) -> Self {
        Self::of(FailureKind::NoLoop, message)
    }

    /// The journal can't be used.
    pub fn store(message: impl Into<String>) -> Self {
        Self::of(FailureKind::Store, message)
    }

    /// The person interrupted it.
    pub fn interrupted(message: impl Into<String>) -> Self {
        Self::of(FailureKind::Interrupted, message)
    }

    /// Something broke.
    pub fn fault(message: impl Into<String>) -> Self {
        Self::of(FailureKind::Fault, message)
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
        self.source = Source::Error(source.into());
        self
    }

    /// The whole story on one line, for a log.
    pub fn story(&self) -> String {
        chain(self)
    }

    fn of(kind: FailureKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), hint: None, source: Source::Nothing }
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

impl FailureKind {
    /// The exit code of a command that failed so.
    pub const fn exit_code(self) -> u8 {
        match self {
            Self::Usage | Self::SessionTaken => 2,
            Self::NoLoop => 66,
            Self::Fault => 70,
            Self::Store => 74,
            Self::Interrupted => 130,
        }
    }

    /// The word that programs read.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Usage | Self::SessionTaken => "usage",
            Self::NoLoop => "no_loop",
            Self::Store => "store",
            Self::Fault => "fault",
            Self::Interrupted => "interrupted",
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
        match &self.source {
            Source::Nothing => None,
            Source::Error(source) => Some(&**source),
            Source::Beneath(error) => error.source(),
        }
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        let mut failure = Self::of(FailureKind::Store, format!("could not {error}"));
        failure.hint = remedy(&error).map(String::from);
        failure.source = Source::Beneath(Box::new(error));
        failure
    }
}

/// What helps where the system refuses access to the journal.
fn remedy(error: &StoreError) -> Option<&'static str> {
    let StoreError::Lock { source, .. } = error else { return None };
    match source.kind() {
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem | ErrorKind::NotFound => Some(
            "set STOPGATE_HOME to a directory that you may write to; stopgate doctor tells more",
        ),
        _other => None,
    }
}

impl From<TransferError> for Failure {
    fn from(error: TransferError) -> Self {
        let kind = match &error {
            TransferError::Store(_) => FailureKind::Store,
            TransferError::Read(_) | TransferError::Write(_) | TransferError::Encode { .. } => {
                FailureKind::Fault
            }
            TransferError::Foreign { .. }
            | TransferError::Newer { .. }
            | TransferError::Damaged { .. }
            | TransferError::CutOff { .. }
            | TransferError::Altered { .. }
            | TransferError::Gap { .. }
            | TransferError::NoStart { .. }
            | TransferError::Exists { .. }
            | TransferError::Conflict { .. }
            | TransferError::SessionTaken { .. } => FailureKind::Usage,
        };
        let mut failure = Self::of(kind, format!("could not {error}"));
        failure.hint = match &error {
            TransferError::Exists { .. } => {
                Some("nothing was written; leave those loops as they are: --skip-existing".into())
            }
            TransferError::SessionTaken { .. } => {
                Some("nothing was written; cancel one of the two loops first".into())
            }
            _other => None,
        };
        failure.source = Source::Beneath(Box::new(error));
        failure
    }
}
