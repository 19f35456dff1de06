//! Doors for the fuzzer to what only this crate sees. Nothing else uses them.

use crate::glob::Globs;
use crate::tree;

/// The directory above `path` that patterns don't enter although they take the path.
pub fn not_entered<'a>(patterns: &[&str], path: &'a [u8]) -> Option<&'a [u8]> {
    let globs = Globs::new(patterns).ok()?;
    if !globs.takes(path) {
        return None;
    }
    let slashes = path.iter().enumerate().filter(|(_, byte)| **byte == b'/');
    slashes.map(|(at, _)| &path[..at]).find(|above| !globs.enters(above))
}

/// Reads `text` as a file of ignored paths and asks it about `path`.
pub fn ignore_rules(text: &[u8], path: &[u8]) {
    tree::ask_rules(text, path);
}

/// Reads `bytes` as what is kept about a tree, whatever their checksum.
pub fn tree_index(bytes: &[u8]) {
    tree::read_kept(bytes);
}
