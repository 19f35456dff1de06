//! What follows a session that failed: one table, without a clock and without chance.
//!
//! Four kinds of trouble: the service is busy (wait), the connection or the service broke (try
//! again after a pause), a person must act (park), nobody knows (a few more tries, then give up).

use std::time::Duration;

use stopgate_agents::FailureClass;

#[cfg(test)]
mod tests;

/// How often a rate limit is waited for in a row.
const LIMITS_MAX: u32 = 12;
/// An outage may last longer than a client that crashes is given tries.
const OUTAGE_FACTOR: u32 = 4;
/// The longest pause between two tries.
const PAUSE_MAX: Duration = Duration::from_mins(10);
/// The first pause after a rate limit that tells no time, and the longest.
const LIMIT_PAUSE: Duration = Duration::from_mins(1);
const LIMIT_PAUSE_MAX: Duration = Duration::from_mins(30);
/// Services are asked again a little after they said, and not all at once.
const SLACK: Duration = Duration::from_secs(2);
const JITTER_MAX: Duration = Duration::from_secs(30);

/// A session that failed, and those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FailedSession {
    /// Why.
    pub class: FailureClass,
    /// The how-many-th failure of this class in a row it is, from 1.
    pub in_row: u32,
    /// The how-many-th failure of any class in a row it is, rate limits aside, from 1.
    pub failures: u32,
    /// How long until the time that the client named.
    pub reset_in: Option<Duration>,
    /// What can be done with the session.
    pub session: FailedSessionState,
    /// A number from 0 to 255 that spreads pauses.
    pub chance: u8,
}

/// What can be done with a session that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailedSessionState {
    /// It is lost.
    Lost,
    /// It can be resumed.
    Stored,
    /// It can be resumed, and then makes room in its context by itself.
    Compacting,
}

/// What the person allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FailureLimits {
    /// Failures in a row without progress.
    pub max_failures: u32,
    /// The first pause after a failure of the service; it doubles.
    pub retry_after: Duration,
    /// Whether a rate limit is waited for.
    pub waits: Waits,
}

/// Whether the driver waits for a limit to be over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waits {
    /// It does.
    ForReset,
    /// It leaves at once, and says when to come back.
    Never,
}

/// What to do after a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextStep {
    /// Resume the session after this pause, with a short word and never the prompt again.
    Resume(Duration),
    /// Begin a fresh session after this pause.
    Fresh(Duration),
    /// A person must act: the loop ends as `needs_input`.
    Person,
    /// It can't go on: the loop ends as `infra_error`.
    GiveUp,
    /// The limit is not waited for: the loop ends as `rate_limited`.
    Leave,
}

/// How an error of the older taxonomy is handled here: the same table serves it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// Passes by itself: network, time-outs, load.
    Transient,
    /// In the work: a test or lint that fails. The loop's own checks and breakers handle it.
    Logic,
    /// Needs a person: a login, a permission.
    Blocking,
    /// Nobody knows.
    Unknown,
}

/// The kind of a class.
pub const fn kind(class: FailureClass) -> ErrorKind {
    match class {
        FailureClass::RateLimit
        | FailureClass::Overloaded
        | FailureClass::Server
        | FailureClass::Network
        | FailureClass::Hang => ErrorKind::Transient,
        FailureClass::Auth => ErrorKind::Blocking,
        FailureClass::Context => ErrorKind::Logic,
        FailureClass::Killed | FailureClass::Unknown => ErrorKind::Unknown,
    }
}

/// What follows `failed`.
pub fn next_step(failed: FailedSession, limits: FailureLimits) -> NextStep {
    match failed.class {
        FailureClass::RateLimit => rate_limit(failed, limits),
        FailureClass::Overloaded | FailureClass::Server | FailureClass::Network => {
            let most = limits.max_failures.saturating_mul(OUTAGE_FACTOR);
            again(failed, most, spread(pause(limits.retry_after, failed.in_row), failed.chance))
        }
        FailureClass::Auth => NextStep::Person,
        FailureClass::Context => context(failed),
        FailureClass::Hang => again(failed, 2.min(limits.max_failures), Duration::ZERO),
        FailureClass::Killed | FailureClass::Unknown => {
            let wait = if failed.in_row == 1 { Duration::ZERO } else { limits.retry_after };
            again(failed, limits.max_failures, wait)
        }
    }
}

/// Not a failure of anybody: waited for once per announcement.
fn rate_limit(failed: FailedSession, limits: FailureLimits) -> NextStep {
    if limits.waits == Waits::Never || failed.in_row > LIMITS_MAX {
        return NextStep::Leave;
    }
    let unknown = || {
        let doubled = LIMIT_PAUSE.saturating_mul(1 << (failed.in_row.saturating_sub(1)).min(10));
        doubled.min(LIMIT_PAUSE_MAX)
    };
    let wait = failed.reset_in.map_or_else(unknown, |reset| reset + SLACK);
    go_on(failed, spread(wait, failed.chance))
}

/// A conversation that is too long is not sent again as it is.
const fn context(failed: FailedSession) -> NextStep {
    match (failed.in_row, failed.session) {
        (0 | 1, FailedSessionState::Compacting) => NextStep::Resume(Duration::ZERO),
        (0 | 1, _) | (2, FailedSessionState::Compacting) => NextStep::Fresh(Duration::ZERO),
        _ => NextStep::GiveUp,
    }
}

/// Tries again unless it was the last of `most` failures.
fn again(failed: FailedSession, most: u32, wait: Duration) -> NextStep {
    // A mixture of failures counts together, each class by itself too.
    if failed.in_row >= most || failed.failures >= most.max(1).saturating_mul(2) {
        return NextStep::GiveUp;
    }
    go_on(failed, wait)
}

const fn go_on(failed: FailedSession, wait: Duration) -> NextStep {
    match failed.session {
        FailedSessionState::Lost => NextStep::Fresh(wait),
        FailedSessionState::Stored | FailedSessionState::Compacting => NextStep::Resume(wait),
    }
}

fn pause(first: Duration, in_row: u32) -> Duration {
    first.saturating_mul(1 << in_row.saturating_sub(1).min(16)).min(PAUSE_MAX)
}

/// A tenth more at most, and never more than half a minute.
fn spread(wait: Duration, chance: u8) -> Duration {
    let most = (wait / 10).min(JITTER_MAX);
    wait + most * u32::from(chance) / 255
}
