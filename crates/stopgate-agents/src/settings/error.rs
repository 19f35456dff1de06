//! Why a settings file was left alone.

use std::fmt;

use jsonc_parser::errors::ParseError;

/// A spot in a text, as editors count: both from one, columns in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextPosition {
    /// The line.
    pub line: usize,
    /// The column.
    pub column: usize,
}

impl TextPosition {
    pub(super) fn of(text: &str, offset: usize) -> Self {
        let before = text.get(..offset).unwrap_or(text);
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        Self {
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
        }
    }
}

impl fmt::Display for TextPosition {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}:{}", self.line, self.column)
    }
}

/// Why the settings could not be read or changed. Nothing was changed.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// The text is not JSON, even with comments allowed.
    #[error("read the settings: they stop being JSON at {at}; correct that and try again")]
    NotJson {
        /// Where it goes wrong.
        at: TextPosition,
        /// What is wrong there.
        source: ParseError,
    },
    /// The text is not TOML.
    #[error("read the settings: they stop being TOML at {at}; correct that and try again")]
    NotToml {
        /// Where it goes wrong.
        at: TextPosition,
        /// What is wrong there.
        source: Box<toml_edit::TomlError>,
    },
    /// A value of the wrong kind stands where ours would go.
    #[error("use the settings: {key} at {at} is {found}, not {wanted}; correct that and try again")]
    WrongKind {
        /// The value's path: `hooks.Stop`.
        key: String,
        /// Where it stands.
        at: TextPosition,
        /// What it is.
        found: &'static str,
        /// What it should be.
        wanted: &'static str,
    },
    /// A key stands there twice, so that an edit could change the one that doesn't count.
    #[error("use the settings: {key} stands there again at {at}; remove one and try again")]
    Twice {
        /// The key's path: `hooks.Stop`.
        key: String,
        /// Where it stands the second time.
        at: TextPosition,
    },
}
