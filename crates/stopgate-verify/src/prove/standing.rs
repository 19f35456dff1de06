//! Whether what was noted at the start is still there, and still what was noted.

use super::{Files, ProofRequest};
use crate::basis::Basis;
use crate::files::read_text;

/// No basis is longer.
const BASIS_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// What became of the basis.
pub(super) enum BasisFound {
    /// It is as it was taken.
    Sound(Box<Basis>),
    /// None was taken.
    None,
    /// It is gone, or can't be read.
    Gone(String),
    /// It was edited.
    Forged(String),
}

/// Finds the basis that the loop's record names.
pub(super) fn find_basis(request: &ProofRequest<'_>) -> BasisFound {
    let Some(fingerprint) = &request.ground.seal else { return BasisFound::None };
    if request.files == Files::TooMany {
        return BasisFound::None;
    }
    let path = request.place.basis(fingerprint);
    let Ok(text) = read_text(&path, BASIS_BYTES_MAX) else {
        return BasisFound::Gone(format!(
            "what was noted at the start is gone from {}: start the loop again",
            path.display()
        ));
    };
    if content_fingerprint(text.as_bytes()) != *fingerprint {
        return BasisFound::Forged(format!("{} was edited", path.display()));
    }
    match Basis::from_text(&text) {
        Ok(basis) => BasisFound::Sound(Box::new(basis)),
        Err(error) => BasisFound::Gone(error.to_string()),
    }
}

/// The fingerprint of some content.
pub fn content_fingerprint(content: &[u8]) -> String {
    blake3::hash(content).to_hex()[..32].to_string()
}
