//! `pyproject.toml`: settings of the tools that the check uses.

use std::collections::BTreeSet;

use toml_edit::DocumentMut;

use super::toml_tree::{Keys, canonical, document, item, keys, keys_below, put, take};
use super::{Judging, SectionReach};

const PYTEST: &str = "pytest py.test tox nox coverage";

/// Tables of `tool` that belong to a tool as a whole.
const TOOLS: [(&str, &str); 24] = [
    ("pytest", PYTEST),
    ("pytest-enabler", PYTEST),
    ("coverage", PYTEST),
    ("ruff", "ruff pre-commit"),
    ("flake8", "flake8 pre-commit"),
    ("mypy", "mypy dmypy pre-commit"),
    ("pyright", "pyright"),
    ("basedpyright", "basedpyright"),
    ("ty", "ty"),
    ("pyre", "pyre"),
    ("pylint", "pylint"),
    ("black", "black pre-commit"),
    ("isort", "isort pre-commit"),
    ("bandit", "bandit"),
    ("pydocstyle", "pydocstyle"),
    ("pycodestyle", "pycodestyle"),
    ("vulture", "vulture"),
    ("tox", "tox"),
    ("nox", "nox"),
    ("behave", "behave"),
    ("robot", "robot"),
    ("ward", "ward"),
    ("poe", "poe"),
    ("taskipy", "task"),
];

/// Tables that belong to a tool below something that is work.
const PARTS: [(&[&str], &str); 8] = [
    (&["tool", "hatch", "envs"], "hatch"),
    (&["tool", "pdm", "scripts"], "pdm"),
    (&["tool", "rye", "scripts"], "rye"),
    (&["tool", "pixi", "tasks"], "pixi"),
    (&["tool", "uv", "override-dependencies"], "uv"),
    (&["tool", "poetry", "plugins", "pytest11"], PYTEST),
    (&["project", "entry-points", "pytest11"], PYTEST),
    (&["tool", "setuptools", "entry-points", "pytest11"], PYTEST),
];

/// Tools that manage packages: a script that reads their tables reads about the work.
const MANAGERS: [&str; 8] =
    ["poetry", "setuptools", "hatch", "pdm", "flit", "uv", "rye", "setuptools_scm"];

pub(super) fn judging(text: &str, reach: &SectionReach) -> Result<Judging, String> {
    let document = document(text)?;
    let mut judging = Judging::default();
    for path in paths(&document, reach) {
        let text = item(&document, &path).map(canonical).unwrap_or_default();
        if !text.is_empty() {
            judging.sections.push(format!("[{}] {text}", path.join(".")));
        }
    }
    Ok(judging)
}

pub(super) fn restore(original: &str, today: &str, reach: &SectionReach) -> Option<String> {
    let original = document(original).ok()?;
    let mut today = document(today).ok()?;
    for path in paths(&today, reach) {
        take(&mut today, &path);
    }
    for path in paths(&original, reach) {
        put(&mut today, &path, item(&original, &path)?.clone())?;
    }
    Some(today.to_string())
}

/// The judging paths that the document has.
fn paths(document: &DocumentMut, reach: &SectionReach) -> BTreeSet<Keys> {
    let is_used = |key: &String| {
        let is_manager = MANAGERS.contains(&key.as_str());
        reach.names.contains(key)
            || (reach.settings.contains(key) && !is_manager)
            || TOOLS.iter().any(|(name, tools)| name == key && reach.uses(tools))
    };
    let (whole, others): (Vec<String>, Vec<String>) =
        keys_below(document, &["tool"]).into_iter().partition(is_used);
    let mut found: BTreeSet<Keys> = whole.iter().map(|key| keys(&["tool", key])).collect();
    // `[tool.span.test]`, which only tests look up.
    let is_own = |key: &&String| {
        !MANAGERS.contains(&key.as_str()) && TOOLS.iter().all(|(name, _)| name != key)
    };
    for own in others.iter().filter(is_own) {
        let below = keys_below(document, &["tool", own]).into_iter();
        let of_tests = below.filter(|key| reach.settings.contains(&format!(".{key}")));
        found.extend(of_tests.map(|key| keys(&["tool", own, &key])));
    }
    let parts = PARTS.iter().filter(|(_, tools)| reach.uses(tools)).map(|(path, _)| keys(path));
    found.extend(parts.filter(|path| item(document, path).is_some()));
    found
}
