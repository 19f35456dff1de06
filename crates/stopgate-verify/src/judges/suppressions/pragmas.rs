//! Pragmas of C by which warnings are switched off up to the end of a file.

use super::{Directive, WEIGHT_MIN};

pub(super) const ENDS: [&str; 9] = ["c", "cc", "cpp", "cxx", "h", "hh", "hpp", "hxx", "m"];
pub(super) const TOOLS: &str =
    "make gcc g++ cc c++ clang clang++ cmake ctest ninja meson clang-tidy";

/// Warnings that stand for many.
const GROUPS: [&str; 4] = ["-Wall", "-Wextra", "-Weverything", "-W"];

/// What a line says about warnings.
enum Pragma {
    Push,
    Pop,
    Ignores(String),
    SystemHeader,
}

/// The pragmas that hold to the end: not between `push` and `pop`, with code outside of them.
pub(super) fn directives(text: &str) -> Vec<Directive> {
    let lines: Vec<Option<Pragma>> = text.lines().map(pragma_of).collect();
    if lines.iter().all(Option::is_none) {
        return Vec::new();
    }
    let inner = scoped(&lines);
    let is_code = |line: &str| !line.is_empty() && !line.starts_with(['#', '/', '*']);
    let mut outside = text.lines().enumerate().filter(|(at, _)| !inner[*at]);
    let has_outside = outside.any(|(_, line)| is_code(line.trim()));
    let mut found = Vec::new();
    for (at, pragma) in lines.iter().enumerate().filter(|(at, _)| !(has_outside && inner[*at])) {
        match pragma {
            Some(Pragma::Ignores(name)) => {
                let weight = if GROUPS.contains(&name.as_str()) { WEIGHT_MIN } else { 1 };
                found.push(Directive::new(&format!("ignored {name}"), at..at + 1, weight));
            }
            Some(Pragma::SystemHeader) => {
                found.push(Directive::new("system_header", at..at + 1, WEIGHT_MIN));
            }
            Some(Pragma::Push | Pragma::Pop) | None => {}
        }
    }
    found
}

/// Which lines are between a `push` and its `pop`.
fn scoped(lines: &[Option<Pragma>]) -> Vec<bool> {
    let mut inner = vec![false; lines.len()];
    let mut open = Vec::new();
    for (at, pragma) in lines.iter().enumerate() {
        match pragma {
            Some(Pragma::Push) => open.push(at),
            Some(Pragma::Pop) => {
                if let Some(from) = open.pop().filter(|_| open.is_empty()) {
                    inner[from..=at].fill(true);
                }
            }
            Some(Pragma::Ignores(_) | Pragma::SystemHeader) | None => {}
        }
    }
    inner
}

/// `#pragma GCC diagnostic ignored "-Wall"`, also as `_Pragma("…")`.
fn pragma_of(line: &str) -> Option<Pragma> {
    let line = line.trim();
    let hash = line.strip_prefix('#').and_then(|rest| rest.trim_start().strip_prefix("pragma"));
    let said = hash.or_else(|| line.strip_prefix("_Pragma(\""))?.replace('\\', "");
    let mut words = said.split_whitespace();
    if !["GCC", "clang"].contains(&words.next()?) {
        return None;
    }
    match words.next()? {
        "system_header" => return Some(Pragma::SystemHeader),
        "diagnostic" => {}
        _ => return None,
    }
    match words.next()?.trim_end_matches(['"', ')', ';']) {
        "push" => Some(Pragma::Push),
        "pop" => Some(Pragma::Pop),
        "ignored" | "warning" => {
            let name = words.next()?.trim_matches(['"', ')', ';']);
            Some(Pragma::Ignores(name.into()))
        }
        _ => None,
    }
}
