//! What kind of program a file is, by its header.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};

const EXECUTABLE: u16 = 2;
const SHARED: u16 = 3;
const INTERPRETER: u32 = 3;
const DYNAMIC: u32 = 2;

/// How a program is loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// At a fixed address, with nothing to load beside it.
    StaticFixed,
    /// Anywhere, with nothing to load beside it.
    StaticPie,
    /// By an interpreter.
    Dynamic,
}

impl Kind {
    /// The kind in words.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::StaticFixed => "static, non-PIE",
            Self::StaticPie => "static, PIE",
            Self::Dynamic => "dynamic",
        }
    }
}

/// Reads the kind of the 64-bit little-endian ELF file at `path`.
pub(crate) fn kind(path: &Path) -> Result<Kind> {
    let bytes = fs::read(path).with_context(|| format!("read {}", path.display()))?;
    if bytes.get(..6) != Some(b"\x7fELF\x02\x01") {
        bail!("understand {}: it is not a 64-bit ELF program", path.display());
    }
    kind_of(&bytes).with_context(|| format!("understand {}: its header is cut", path.display()))
}

fn kind_of(bytes: &[u8]) -> Option<Kind> {
    let kind = half(bytes, 16)?;
    let table = usize::try_from(long(bytes, 32)?).ok()?;
    let size = usize::from(half(bytes, 54)?);
    let count = usize::from(half(bytes, 56)?);
    let segments: Option<Vec<u32>> = (0..count).map(|at| word(bytes, table + at * size)).collect();
    let segments = segments?;
    let has = |wanted| segments.contains(&wanted);
    match kind {
        _ if has(INTERPRETER) => Some(Kind::Dynamic),
        EXECUTABLE if !has(DYNAMIC) => Some(Kind::StaticFixed),
        EXECUTABLE | SHARED => Some(Kind::StaticPie),
        _ => None,
    }
}

fn half(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

fn long(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?))
}

#[cfg(test)]
mod tests;
