//! What the server or the network said, as something a person can act on.

use std::time::Duration;

use stopgate_store::StoreError;
use tokio_postgres::Error;
use tokio_postgres::error::SqlState;

/// Why a server did not let us in.
pub(crate) fn connecting(address: &str, error: Error) -> StoreError {
    let address = address.to_string();
    match error.code() {
        Some(&(SqlState::INVALID_PASSWORD | SqlState::INVALID_AUTHORIZATION_SPECIFICATION)) => {
            StoreError::Login { address, source: cause(error) }
        }
        Some(&SqlState::INVALID_CATALOG_NAME) => {
            StoreError::Database { address, source: cause(error) }
        }
        Some(&SqlState::CANNOT_CONNECT_NOW | &SqlState::ADMIN_SHUTDOWN) => {
            StoreError::NotReady { address, source: cause(error) }
        }
        Some(&SqlState::TOO_MANY_CONNECTIONS) => StoreError::Full { address, source: cause(error) },
        Some(_) => StoreError::Server { doing: "log in", address, source: cause(error) },
        None => unheard(address, error),
    }
}

/// No answer of the server is at hand; the library says only in words what failed.
fn unheard(address: String, error: Error) -> StoreError {
    let said = error.to_string();
    if said.starts_with("error performing TLS") {
        StoreError::Tls { address, source: cause(error) }
    } else if said.starts_with("authentication error") || said.starts_with("invalid configuration")
    {
        StoreError::Login { address, source: cause(error) }
    } else {
        StoreError::Unreachable { address, source: cause(error) }
    }
}

/// Why a statement failed.
pub(crate) fn asking(
    doing: &'static str,
    address: &str,
    deadline: Duration,
    error: Error,
) -> StoreError {
    let address = address.to_string();
    match error.code() {
        None => StoreError::Lost { doing, address, source: cause(error) },
        Some(code) if is_loss(code) => StoreError::Lost { doing, address, source: cause(error) },
        Some(&SqlState::READ_ONLY_SQL_TRANSACTION) => StoreError::ReadOnly { address },
        Some(&SqlState::INSUFFICIENT_PRIVILEGE) => {
            StoreError::Privilege { doing, address, source: cause(error) }
        }
        Some(&SqlState::QUERY_CANCELED | &SqlState::LOCK_NOT_AVAILABLE) => {
            StoreError::Late { address, deadline }
        }
        Some(_) => StoreError::Server { doing, address, source: cause(error) },
    }
}

/// Whether the tables are not there.
pub(crate) fn is_missing(error: &Error) -> bool {
    let code = error.code();
    [SqlState::UNDEFINED_TABLE, SqlState::INVALID_SCHEMA_NAME, SqlState::UNDEFINED_COLUMN]
        .iter()
        .any(|missing| code == Some(missing))
}

/// Whether another process wrote first, as a strict server says it.
pub(crate) fn is_conflict(error: &Error) -> bool {
    let code = error.code();
    code == Some(&SqlState::T_R_SERIALIZATION_FAILURE)
        || code == Some(&SqlState::T_R_DEADLOCK_DETECTED)
}

/// Whether a unique index of this name was about to be broken.
pub(crate) fn breaks(error: &Error, index: &str) -> bool {
    let said = error.as_db_error();
    said.is_some_and(|said| {
        *said.code() == SqlState::UNIQUE_VIOLATION && said.constraint() == Some(index)
    })
}

/// Whether the connection is of no more use.
pub(crate) fn ends_connection(error: &Error) -> bool {
    error.code().is_none_or(is_loss)
}

fn is_loss(code: &SqlState) -> bool {
    let ends = [
        SqlState::ADMIN_SHUTDOWN,
        SqlState::CRASH_SHUTDOWN,
        SqlState::CANNOT_CONNECT_NOW,
        SqlState::IDLE_SESSION_TIMEOUT,
    ];
    ends.contains(code) || code.code().starts_with("08")
}

/// The server's own words where there are any, for the library's are only "db error".
fn cause(error: Error) -> stopgate_store::Cause {
    match error.as_db_error() {
        Some(said) => format!("{} ({})", said.message(), said.code().code()).into(),
        None => Box::new(error),
    }
}
