//! Whose word stands behind an end: proof ends a loop as done only where a person, or a file
//! that a person trusts, said what is to be proven, and where the record of it is sound.

use alloc::format;
use alloc::string::String;

use crate::outcome::Outcome;
use crate::seen::Seen;
use crate::soundness::Soundness;
use crate::state::State;

/// How a loop ends whose checks all pass, and why.
pub(crate) fn proven(_state: &State, seen: &Seen, checks: String) -> (Outcome, String) {
    match unconfirmed(seen.soundness) {
        Some(why) => (Outcome::Attested, format!("{checks}; {why}")),
        None => (Outcome::Done, checks),
    }
}

/// Why a record can't be relied on, where it can't.
const fn unconfirmed(soundness: Soundness) -> Option<&'static str> {
    match soundness {
        Soundness::Sound => None,
        Soundness::Unchained => Some("its record has parts without a seal, so it is not confirmed"),
        Soundness::UnknownWriter => {
            Some("part of its record is by a writer whose key is not here, so it is not confirmed")
        }
        Soundness::Forged => Some("its record was changed outside of stopgate"),
    }
}
