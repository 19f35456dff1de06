//! A list of features and a progress file: what they say, and how they change.
//!
//! The list's `passes` are the agent's, and stopgate's only where it merges what was built. Of the progress file
//! the first `Iteration:` and `Status:` lines change, and everything else stays byte for byte.

mod list;
mod progress;
mod words;

#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;

pub use self::list::{Feature, FeatureList, ListError, passing, template as list_template};
pub use self::progress::{
    ProgressFile, ProgressStanding, advanced, ended, template as progress_template,
};
pub use self::words::{
    HandOverReason, complete, continue_with, handed_over, log_line, nothing_listed,
    prompt_template, reached_limit,
};

/// The window that a client has where nothing else is known.
const WINDOW_TOKENS: u64 = 200_000;
/// The next larger one that clients offer.
const WINDOW_TOKENS_LARGE: u64 = 1_000_000;

/// The context window that is about to overflow, if `used` tokens do that.
///
/// `limit` is what the progress file says; 0 turns the question off. Where it says nothing,
/// more tokens than a window holds are proof of a larger one.
pub fn overflowing(used: u64, limit: Option<u64>) -> Option<u64> {
    let guess = if used > WINDOW_TOKENS { WINDOW_TOKENS_LARGE } else { WINDOW_TOKENS };
    let window = limit.unwrap_or(guess);
    // The last twentieth is what an agent needs to hand over at all.
    (window > 0 && used >= window - window / 20).then_some(window)
}

/// Whether a session that found `before` features complete has done its batch of `size`.
pub const fn batch_is_done(complete: usize, before: usize, size: u32) -> bool {
    size > 0 && complete.saturating_sub(before) >= size as usize
}
