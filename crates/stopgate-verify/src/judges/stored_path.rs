//! Paths in stored texts, also those that are not Unicode.

use std::borrow::Borrow;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use stopgate_system::ffi::OsStrExt;

/// Begins the text of a path that is not Unicode; its bytes follow.
const BYTES: char = '\u{0}';

/// A path that can be stored as text.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct StoredPath(pub(crate) PathBuf);

impl Borrow<Path> for StoredPath {
    fn borrow(&self) -> &Path {
        &self.0
    }
}

impl From<PathBuf> for StoredPath {
    fn from(path: PathBuf) -> Self {
        Self(path)
    }
}

impl Serialize for StoredPath {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if let Some(text) = self.0.to_str().filter(|text| !text.starts_with(BYTES)) {
            return serializer.serialize_str(text);
        }
        let bytes = self.0.as_os_str().as_bytes();
        serializer.serialize_str(&format!("{BYTES}{}", crate::tree::hex(bytes)))
    }
}

impl<'de> Deserialize<'de> for StoredPath {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let Some(digits) = text.strip_prefix(BYTES) else { return Ok(Self(text.into())) };
        let byte = |pair: &[u8]| {
            std::str::from_utf8(pair).ok().and_then(|pair| u8::from_str_radix(pair, 16).ok())
        };
        let bytes: Vec<u8> = digits.as_bytes().chunks(2).filter_map(byte).collect();
        Ok(Self(PathBuf::from(OsStr::from_bytes(&bytes))))
    }
}
