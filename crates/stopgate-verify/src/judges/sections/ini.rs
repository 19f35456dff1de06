//! `setup.cfg` and `tox.ini`: sections of the tools that the check uses.

use std::collections::BTreeMap;

use super::blocks::{TextBlock, appended, push, sorted_sections};
use super::{Judging, SectionReach};
use crate::judges::role::MixedKind;

const PYTEST: &str = "pytest py.test tox nox coverage";

/// Beginnings of sections, and who reads them; in `setup.cfg` pytest's has a name of its own.
const SECTIONS: [(&str, &str); 19] = [
    ("tool:pytest", PYTEST),
    ("pytest", PYTEST),
    ("coverage:", PYTEST),
    ("tox", "tox"),
    ("testenv", "tox"),
    ("flake8", "flake8 pre-commit"),
    ("pycodestyle", "pycodestyle"),
    ("pep8", "pycodestyle"),
    ("pydocstyle", "pydocstyle"),
    ("mypy", "mypy dmypy pre-commit"),
    ("pylint", "pylint"),
    ("isort", "isort pre-commit"),
    ("settings", "isort"),
    ("behave", "behave"),
    ("nosetests", "nosetests"),
    ("unittest", "nose2"),
    ("bandit", "bandit"),
    ("gh-actions", "tox"),
    ("aliases", "python"),
];

/// The section that names plugins, and the key by which pytest finds its own.
const ENTRY_POINTS: (&str, &str) = ("options.entry_points", "pytest11");

pub(super) fn judging(kind: MixedKind, text: &str, reach: &SectionReach) -> Judging {
    let sections = sorted_sections(&blocks(kind, text, reach));
    Judging { sections, ..Judging::default() }
}

pub(super) fn restore(
    kind: MixedKind,
    original: &str,
    today: &str,
    reach: &SectionReach,
) -> String {
    merged(&appended(&blocks(kind, original, reach), &blocks(kind, today, reach)))
}

fn blocks(kind: MixedKind, text: &str, reach: &SectionReach) -> Vec<TextBlock> {
    let text = text.trim_start_matches('\u{feff}');
    let mut found = Vec::new();
    for (name, lines) in parts(text) {
        if name == ENTRY_POINTS.0 && reach.uses(PYTEST) {
            found.extend(entry_points(&lines));
            continue;
        }
        let key = judges(kind, &name, reach).then(|| format!("[{name}]"));
        let says = if key.is_some() { said(&lines[1..]) } else { String::new() };
        // A section that says nothing decides nothing.
        let key = key.filter(|_| !says.is_empty());
        found.push(TextBlock { key, says, text: lines.concat() });
    }
    found
}

/// The sections of a text: their names, and their lines with the one that names them.
fn parts(text: &str) -> Vec<(String, Vec<String>)> {
    let mut found: Vec<(String, Vec<String>)> = Vec::new();
    for line in text.split_inclusive('\n') {
        let name = line.trim_end().strip_prefix('[').and_then(|rest| rest.split_once(']'));
        match (name, found.last_mut()) {
            (Some((name, _)), _) => found.push((name.trim().into(), vec![line.into()])),
            (None, Some((_, lines))) => lines.push(line.into()),
            (None, None) => found.push((String::new(), vec![line.into()])),
        }
    }
    found
}

fn judges(kind: MixedKind, name: &str, reach: &SectionReach) -> bool {
    let is_it = |(begin, tools): &(&str, &str)| {
        let fits = name == *begin
            || (begin.ends_with(':') && name.starts_with(begin))
            || ["mypy-", "testenv:", "tox:", "pylint", "flake8:"]
                .iter()
                .any(|own| own.starts_with(begin) && name.starts_with(own));
        let is_elsewhere = *begin == "pytest" && kind == MixedKind::SetupCfg;
        fits && !is_elsewhere && reach.uses(tools)
    };
    let is_packaging = name == "metadata" || name.starts_with("options");
    SECTIONS.iter().any(is_it) || (reach.settings.contains(name) && !is_packaging)
}

/// The entry points: pytest's judge, the others are work.
fn entry_points(lines: &[String]) -> Vec<TextBlock> {
    let header = lines.first().cloned().unwrap_or_default();
    let mut work = vec![header.clone()];
    let mut own: Vec<String> = Vec::new();
    let mut is_own = false;
    for line in &lines[1..] {
        let begins = !line.starts_with([' ', '\t', '\n', '\r', '#', ';']);
        if begins {
            is_own = line.split(['=', ':']).next().map(str::trim) == Some(ENTRY_POINTS.1);
        }
        if is_own { own.push(line.clone()) } else { work.push(line.clone()) }
    }
    let says = said(&own);
    let mut blocks = vec![TextBlock { key: None, says: String::new(), text: work.concat() }];
    if !says.is_empty() {
        let text = [header, own.concat()].concat();
        blocks.push(TextBlock { key: Some(format!("[{}]", ENTRY_POINTS.0)), says, text });
    }
    blocks
}

/// The text with the entry points in one section: twice the same header is an error to its reader.
fn merged(text: &str) -> String {
    let all = parts(text);
    let is_it = |name: &str| name == ENTRY_POINTS.0;
    let mut bodies = all.iter().filter(|(name, _)| is_it(name)).map(|(_, lines)| &lines[1..]);
    let body: Vec<String> = bodies.by_ref().flatten().cloned().collect();
    let mut found = String::new();
    let mut is_done = false;
    for (name, lines) in &all {
        if !is_it(name) {
            push(&mut found, &lines.concat());
        } else if !std::mem::replace(&mut is_done, true) {
            push(&mut found, &lines[0]);
            push(&mut found, &body.concat());
        }
    }
    found
}

/// Keys and values in one form, sorted.
fn said(lines: &[String]) -> String {
    let mut values: BTreeMap<String, String> = BTreeMap::new();
    let mut last: Option<String> = None;
    for line in lines {
        let text = line.trim();
        if text.is_empty() || text.starts_with(['#', ';']) {
            continue;
        }
        let continues = line.starts_with([' ', '\t']);
        if let Some(value) = last.as_ref().filter(|_| continues).and_then(|key| values.get_mut(key))
        {
            value.push('\n');
            value.push_str(text);
        } else {
            let (key, value) = text.split_once(['=', ':']).unwrap_or((text, ""));
            let key = key.trim().to_lowercase();
            values.insert(key.clone(), value.trim().to_string());
            last = Some(key);
        }
    }
    let texts: Vec<String> = values
        .iter()
        .map(|(key, value)| format!("{key}={:?}", value.trim_start_matches('\n')))
        .collect();
    texts.join(",")
}
