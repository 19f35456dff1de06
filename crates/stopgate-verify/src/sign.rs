//! Signatures under what was proven.
//!
//! The key is in the person's state directory, readable by them alone. A signature says that this
//! program, with this key, saw it; a record that was edited afterwards does not fit it.

use std::io;
use std::path::{Path, PathBuf};

use ring::signature::{ED25519, Ed25519KeyPair, KeyPair, UnparsedPublicKey};

use crate::files::read_text;
use crate::secret::{place, secret};

const SEED_BYTES: usize = 32;

/// The name and the key with which the records of this home's journal are sealed; made where
/// there are none yet, and nothing where they can't be made.
pub fn record_key(home: &Path) -> Option<[u8; 48]> {
    secret(&home.join("keys").join("journal.key")).ok()
}

/// A key that signs.
pub struct Key {
    pair: Ed25519KeyPair,
}

/// Whether a signature fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fit {
    /// It does.
    Fits,
    /// It does not: the text, the key or the signature was changed.
    Differs,
}

impl Key {
    /// The key of this home; made where there is none yet.
    pub fn of(home: &Path) -> io::Result<Self> {
        let path = key_path(home);
        match Self::read(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                make(&path)?;
                Self::read(&path)
            }
            read => read,
        }
    }

    /// The key of this home; nothing where there is none.
    pub fn existing(home: &Path) -> io::Result<Self> {
        Self::read(&key_path(home))
    }

    /// Puts a new key in the place of this home's.
    pub fn replace(home: &Path) -> io::Result<()> {
        let path = key_path(home);
        let new = path.with_extension(format!("{}.new", std::process::id()));
        make(&new)?;
        std::fs::rename(&new, &path)
    }

    /// The half that others check signatures with.
    pub fn public(&self) -> String {
        hex(self.pair.public_key().as_ref())
    }

    /// The signature under `text`.
    pub fn sign(&self, text: &[u8]) -> String {
        hex(self.pair.sign(text).as_ref())
    }

    fn read(path: &Path) -> io::Result<Self> {
        let text = read_text(path, 1024)?;
        let broken = || {
            io::Error::new(io::ErrorKind::InvalidData, format!("{} holds no key", path.display()))
        };
        let seed = unhex(text.trim()).ok_or_else(broken)?;
        let pair = Ed25519KeyPair::from_seed_unchecked(&seed).map_err(|_| broken())?;
        Ok(Self { pair })
    }
}

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Key").field("public", &self.public()).finish()
    }
}

/// Whether `signature` is that of `public` under `text`.
pub fn fits(public: &str, text: &[u8], signature: &str) -> Fit {
    let (Some(public), Some(signature)) = (unhex(public), unhex(signature)) else {
        return Fit::Differs;
    };
    match UnparsedPublicKey::new(&ED25519, public).verify(text, &signature) {
        Ok(()) => Fit::Fits,
        Err(_) => Fit::Differs,
    }
}

fn key_path(home: &Path) -> PathBuf {
    home.join("keys").join("receipts.ed25519")
}

fn make(path: &Path) -> io::Result<()> {
    let mut seed = [0; SEED_BYTES];
    getrandom::fill(&mut seed).map_err(|error| io::Error::other(error.to_string()))?;
    place(path, hex(&seed).as_bytes())
}

fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |half: u8| char::from(DIGITS[usize::from(half & 15)]);
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(*byte)]).collect()
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    if !text.is_ascii() || !text.len().is_multiple_of(2) {
        return None;
    }
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::{Fit, Key, fits};

    #[test]
    fn a_signature_fits_its_text_and_key_only() {
        let home = tempfile::tempdir().unwrap();
        let key = Key::of(home.path()).unwrap();
        let signature = key.sign(b"done");
        assert_eq!(fits(&key.public(), b"done", &signature), Fit::Fits);
        assert_eq!(fits(&key.public(), b"Done", &signature), Fit::Differs);
        let other = tempfile::tempdir().unwrap();
        let other = Key::of(other.path()).unwrap();
        assert_eq!(fits(&other.public(), b"done", &signature), Fit::Differs);
        for broken in ["", "zz", "ab", &signature[2..], "é"] {
            assert_eq!(fits(&key.public(), b"done", broken), Fit::Differs);
        }
    }

    #[test]
    fn a_key_is_made_once_and_for_its_owner_alone() {
        use std::os::unix::fs::PermissionsExt;
        let home = tempfile::tempdir().unwrap();
        assert!(Key::existing(home.path()).is_err());
        let publics: Vec<String> = std::thread::scope(|scope| {
            let threads: Vec<_> =
                (0..8).map(|_| scope.spawn(|| Key::of(home.path()).unwrap().public())).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert!(publics.iter().all(|public| *public == publics[0]), "{publics:?}");
        let path = home.path().join("keys/receipts.ed25519");
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        std::fs::write(&path, "not a key").unwrap();
        assert!(Key::of(home.path()).is_err());
    }
}
