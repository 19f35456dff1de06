//! Paths and arguments as bytes: UTF-8, and what is like it where a name is not Unicode.

use std::ffi::{OsStr, OsString};

/// What a name that can't be one stands for: no file is called so.
const NO_NAME: &str = "\u{fffd}";

/// An `OsStr` as bytes.
pub trait OsStrExt {
    /// The text of these bytes. What is not UTF-8 gives a name that no file has.
    fn from_bytes(bytes: &[u8]) -> &Self;
    /// The bytes of this text.
    fn as_bytes(&self) -> &[u8];
}

impl OsStrExt for OsStr {
    fn from_bytes(bytes: &[u8]) -> &Self {
        Self::new(std::str::from_utf8(bytes).unwrap_or(NO_NAME))
    }

    fn as_bytes(&self) -> &[u8] {
        self.as_encoded_bytes()
    }
}

/// An `OsString` as bytes.
pub trait OsStringExt {
    /// The text of these bytes. What is not UTF-8 gives a name that no file has.
    fn from_vec(bytes: Vec<u8>) -> Self;
    /// The bytes of this text.
    fn into_vec(self) -> Vec<u8>;
}

impl OsStringExt for OsString {
    fn from_vec(bytes: Vec<u8>) -> Self {
        String::from_utf8(bytes).map_or_else(|_| NO_NAME.into(), Self::from)
    }

    fn into_vec(self) -> Vec<u8> {
        self.into_encoded_bytes()
    }
}
