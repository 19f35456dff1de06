//! Files that must or must not be there.

use std::path::Path;

use super::places::{self, Want};
use super::{KindFinding, PathRule, few};

const SHOWN_MAX: usize = 20;

/// Each of `exist` must name a regular file, and none of `absent` anything at all.
pub fn files(root: &Path, exist: &[String], absent: &[String], rule: PathRule) -> KindFinding {
    if exist.is_empty() && absent.is_empty() {
        return KindFinding::error("nothing is asked for: set exist or absent");
    }
    match (missing(root, exist, rule), present(root, absent, rule)) {
        (Err(trouble), _) | (_, Err(trouble)) => KindFinding::error(trouble),
        (Ok(missing), Ok(present)) => judge(exist, absent, &missing, &present),
    }
}

fn judge(exist: &[String], absent: &[String], missing: &[&str], present: &[String]) -> KindFinding {
    let mut parts = Vec::new();
    if !missing.is_empty() {
        parts.push(format!("missing: {}", few(missing, SHOWN_MAX)));
    }
    if !present.is_empty() {
        parts.push(format!("must not be there: {}", few(present, SHOWN_MAX)));
    }
    if !parts.is_empty() {
        return KindFinding::fail(parts.join("\n"));
    }
    if !exist.is_empty() {
        parts.push(format!("there: {}", few(exist, SHOWN_MAX)));
    }
    if !absent.is_empty() {
        parts.push(format!("not there: {}", few(absent, SHOWN_MAX)));
    }
    KindFinding::pass(parts.join("\n"))
}

fn missing<'a>(root: &Path, exist: &'a [String], rule: PathRule) -> Result<Vec<&'a str>, String> {
    let mut missing = Vec::new();
    for pattern in exist {
        let named = places::find(root, pattern, rule, Want::Files, 1)?;
        match (named.paths.is_empty(), named.unread) {
            (false, _) => {}
            (true, Some(unread)) => {
                return Err(format!("could not look for {pattern:?}: {unread}"));
            }
            (true, None) => missing.push(pattern.as_str()),
        }
    }
    Ok(missing)
}

fn present(root: &Path, absent: &[String], rule: PathRule) -> Result<Vec<String>, String> {
    let mut present = Vec::new();
    for pattern in absent {
        let named = places::find(root, pattern, rule, Want::Anything, SHOWN_MAX + 1)?;
        if let (true, Some(unread)) = (named.paths.is_empty(), named.unread) {
            return Err(format!("could not look for {pattern:?}: {unread}"));
        }
        present.extend(named.paths.iter().map(|path| places::shown(root, path)));
    }
    Ok(present)
}
