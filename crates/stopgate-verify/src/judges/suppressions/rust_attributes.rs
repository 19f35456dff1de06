//! Attributes of Rust that allow whole groups of lints in a file: `allow(clippy::all)` at its top.

use super::{Directive, WEIGHT_MIN};

pub(super) const TOOLS: &str = "cargo cargo-clippy cargo-check cargo-build cargo-test rustc";

/// So many lines an attribute may have.
const LINES_MAX: usize = 40;

/// Lints that stand for many.
const GROUPS: [&str; 11] = [
    "warnings",
    "unused",
    "clippy::all",
    "clippy::pedantic",
    "clippy::nursery",
    "clippy::correctness",
    "clippy::suspicious",
    "clippy::style",
    "clippy::complexity",
    "clippy::perf",
    "clippy::restriction",
];

/// The attributes at the beginning of a line, each with the lints that it allows besides.
pub(super) fn directives(text: &str) -> Vec<Directive> {
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let Some(level) =
            [concat!("#![", "allow("), "#![expect("].into_iter().find(|own| line.starts_with(own))
        else {
            continue;
        };
        let rest = lines[at..].iter().take(LINES_MAX);
        let Some(end) = rest.clone().position(|line| line.contains(")]")) else { continue };
        let whole: Vec<&str> = rest.take(end + 1).copied().collect();
        let whole = whole.join(" ");
        let Some((inner, _)) = whole[level.len()..].split_once(")]") else { continue };
        let names = inner.split(',').map(str::trim).filter(|name| !name.is_empty());
        let (groups, others): (Vec<&str>, Vec<&str>) =
            names.partition(|name| GROUPS.contains(name));
        if groups.is_empty() {
            continue;
        }
        let mut directive =
            Directive::new(&format!("allow({})", groups.join(", ")), at..at + end + 1, WEIGHT_MIN);
        directive.rest = (!others.is_empty()).then(|| format!("{level}{})]", others.join(", ")));
        found.push(directive);
    }
    found
}
