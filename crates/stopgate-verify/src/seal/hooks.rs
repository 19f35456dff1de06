//! Files that change how tests are found or run without being named by a command.
//!
//! Only such files: a manifest (`package.json`, `pyproject.toml`, `Cargo.toml`) and a build
//! script are part of ordinary work and are not among them.

use std::collections::BTreeSet;

use crate::program::is_builtin;

/// Folders of installed things, in which such files are somebody else's.
const FOREIGN: [&str; 12] = [
    ".git",
    "node_modules",
    ".venv",
    "venv",
    ".tox",
    ".nox",
    "site-packages",
    "__pycache__",
    ".direnv",
    ".yarn",
    ".pnpm-store",
    ".gradle",
];

/// Folders that tools fill and that no runner collects tests from.
const FILLED: [&str; 4] = ["target", ".mypy_cache", ".pytest_cache", ".ruff_cache"];

/// Whose runner listens to such a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Family {
    Python,
    Node,
    Rust,
    Go,
    Ruby,
}

/// Whose runner listens to the file, if any does.
pub(super) fn family_of(path: &[u8]) -> Option<Family> {
    if path.split(|byte| *byte == b'/').any(is_skipped) {
        return None;
    }
    let path = std::str::from_utf8(path).ok()?;
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let is_in_cargo = folder == ".cargo" || folder.ends_with("/.cargo");
    match name {
        "conftest.py" | "sitecustomize.py" | "usercustomize.py" | "pytest.ini" | ".pytest.ini"
        | "pytest.toml" | ".pytest.toml" | "tox.ini" | "setup.cfg" => Some(Family::Python),
        ".npmrc" | ".yarnrc" | ".yarnrc.yml" | ".taprc" | ".nycrc" | "bunfig.toml" => {
            Some(Family::Node)
        }
        "rust-toolchain" | "rust-toolchain.toml" => Some(Family::Rust),
        "config" | "config.toml" if is_in_cargo => Some(Family::Rust),
        "nextest.toml" if folder == ".config" || folder.ends_with("/.config") => Some(Family::Rust),
        "go.work" => Some(Family::Go),
        ".rspec" => Some(Family::Ruby),
        name => family_by_shape(name),
    }
}

fn family_by_shape(name: &str) -> Option<Family> {
    const NODE: [&str; 9] = [
        "jest.config.",
        "jest.setup.",
        "vitest.config.",
        "vitest.setup.",
        "vitest.workspace.",
        ".mocharc",
        "ava.config.",
        "playwright.config.",
        "karma.conf",
    ];
    // Python asks for exactly these letters.
    if name.rsplit_once('.').is_some_and(|(_, end)| end == "pth") {
        return Some(Family::Python);
    }
    NODE.iter().any(|begin| name.starts_with(begin)).then_some(Family::Node)
}

/// Whether such files in a folder of this name do not matter.
pub(super) fn is_skipped(name: &[u8]) -> bool {
    FOREIGN.iter().chain(&FILLED).any(|own| own.as_bytes() == name)
}

/// Whose files steer these programs; everybody's where it is not known what is started.
pub(super) fn families<'a>(programs: impl Iterator<Item = &'a str>) -> BTreeSet<Family> {
    let all = [Family::Python, Family::Node, Family::Rust, Family::Go, Family::Ruby];
    let mut found = BTreeSet::new();
    let mut programs = programs.peekable();
    if programs.peek().is_none() {
        return all.into();
    }
    for program in programs {
        let name = program.rsplit('/').next().unwrap_or(program);
        let plain = name.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '.');
        match plain {
            "python" | "pypy" | "pytest" | "py.test" | "tox" | "nox" | "uv" | "poetry" | "pdm"
            | "pipenv" | "hatch" | "rye" | "ruff" | "mypy" | "pyright" | "coverage" => {
                found.insert(Family::Python);
            }
            "node" | "npm" | "npx" | "yarn" | "pnpm" | "bun" | "bunx" | "jest" | "vitest"
            | "mocha" | "ava" | "tsc" | "eslint" | "playwright" | "deno" => {
                found.insert(Family::Node);
            }
            "rustc" | "rustfmt" => drop(found.insert(Family::Rust)),
            name if name == "cargo" || name.starts_with("cargo-") => {
                found.insert(Family::Rust);
            }
            "go" | "gofmt" | "gotestsum" | "golangci-lint" => drop(found.insert(Family::Go)),
            "ruby" | "rspec" | "rake" | "bundle" => drop(found.insert(Family::Ruby)),
            "grep" | "git" | "diff" | "cat" | "env" | "timeout" | "head" | "tail" | "tee" => {}
            name if is_builtin(name) || name.starts_with("git-") => {}
            _ => return all.into(),
        }
    }
    found
}
