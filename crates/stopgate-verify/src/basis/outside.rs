//! Files outside the project that steer a check's runner.
//!
//! Only names that a runner reads by itself are looked at. Whether they were there, and what
//! they said, is noted at the start; what changed since is masked where the judges of the start
//! are asked, and else a person is.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use stopgate_system::CanonicalPath;

use super::keep::ContentStore;
use super::text::{path_text, text_path};
use crate::files::{read_regular, read_text};
use crate::tree::{hash_of, hex};

/// More than this of one file is told apart by its beginning and its size.
const BYTES_MAX: u64 = 1024 * 1024;
/// More installed packages than this are not looked through.
const ENTRIES_MAX: usize = 20_000;

/// Judges longer than this are not searched for paths.
const NAMED_IN: u64 = 256 * 1024;
/// How many files one judge may name.
const NAMED_MAX: usize = 20;

/// What a runner reads in every directory above the project.
const ABOVE: [&str; 54] = [
    "conftest.py",
    "pytest.ini",
    ".pytest.ini",
    "pyproject.toml",
    "setup.cfg",
    "tox.ini",
    "package.json",
    ".npmrc",
    ".cargo/config",
    ".cargo/config.toml",
    "rust-toolchain",
    "rust-toolchain.toml",
    "Cargo.toml",
    "go.work",
    "tsconfig.json",
    "babel.config.js",
    "babel.config.json",
    "jest.config.js",
    "vitest.config.ts",
    ".mocharc.json",
    ".eslintrc.json",
    ".eslintrc.js",
    ".rspec",
    ".tool-versions",
    "pytest.toml",
    ".pytest.toml",
    ".python-version",
    ".coveragerc",
    ".mocharc.js",
    ".mocharc.cjs",
    ".mocharc.mjs",
    ".mocharc.jsonc",
    ".mocharc.yaml",
    ".mocharc.yml",
    ".nycrc",
    ".nycrc.json",
    ".c8rc.json",
    "eslint.config.js",
    "eslint.config.mjs",
    "eslint.config.cjs",
    ".nvmrc",
    ".node-version",
    "pnpm-workspace.yaml",
    ".taskrc.yml",
    "clippy.toml",
    "mise.toml",
    ".mise.toml",
    // Package scripts look for programs in every such directory.
    "node_modules/.bin/node",
    "node_modules/.bin/npm",
    "node_modules/.bin/npx",
    "node_modules/.bin/sh",
    "node_modules/.bin/jest",
    "node_modules/.bin/vitest",
    "node_modules/.bin/mocha",
];

/// What a runner reads in the home directory.
const AT_HOME: [&str; 38] = [
    ".config/git/attributes",
    ".jq",
    ".sqliterc",
    ".psqlrc",
    ".shellcheckrc",
    ".config/shellcheckrc",
    ".config/yamllint/config",
    ".flake8",
    ".config/flake8",
    ".config/pycodestyle",
    ".config/pylintrc",
    ".config/mypy/config",
    ".perlcriticrc",
    ".jshintrc",
    ".gradle/init.gradle",
    ".gradle/gradle.properties",
    ".m2/settings.xml",
    ".curlrc",
    ".config/curlrc",
    ".wgetrc",
    ".proverc",
    ".taskrc.yml",
    ".mypy.ini",
    ".pylintrc",
    ".config/ruff/ruff.toml",
    ".config/uv/uv.toml",
    ".cargo/config",
    ".cargo/config.toml",
    ".npmrc",
    ".yarnrc",
    ".yarnrc.yml",
    ".config/go/env",
    ".config/pip/pip.conf",
    ".pydistutils.cfg",
    ".pythonrc.py",
    ".rspec",
    ".config/nextest.toml",
    ".mocharc.json",
];

/// Where Node looks for a person's packages, in the home directory, and where one begins.
const NODE_PACKAGES: [&str; 2] = [".node_modules", ".node_libraries"];
const NODE_ENTRIES: [&str; 3] = ["package.json", "index.js", "index.cjs"];

/// Where Python's packages of one person are, in the home directory.
const USER_PACKAGES: &str = ".local/lib";

/// One file outside the project, as it was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct OutsideFile {
    pub(crate) path: String,
    /// Nothing where there was no such file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) content: Option<String>,
}

/// A file outside the project that is not as it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OutsideChange {
    pub(crate) path: PathBuf,
    /// What it said at the start; nothing where it was not there.
    pub(crate) original: Option<Vec<u8>>,
    /// The fingerprint of what it says now; empty where it is not there.
    pub(crate) now: String,
}

/// Notes every such file and those that judges are links to, and keeps what they say.
pub(crate) fn note(
    root: &Path,
    variables: &Variables,
    linked: Vec<PathBuf>,
    keep: &mut ContentStore<'_>,
) -> Vec<OutsideFile> {
    let mut found = Vec::new();
    let linked = linked.into_iter().filter(|path| !path.starts_with(root));
    for path in candidates(root, variables).into_iter().chain(linked) {
        let content = read(&path);
        let kept = content.as_ref().map(|content| {
            let hash = hex(&hash_of(content));
            // What can't be kept can still be told apart.
            let _ = keep.put(&hash, content);
            hash
        });
        // What is absent is told by its absence, unless its name is fixed.
        found.push(OutsideFile { path: path_text(&path), content: kept });
    }
    found
}

/// Files outside the project that a judge names by their paths, such as expected output.
pub(crate) fn named_by(root: &Path, judge: &Path) -> Vec<PathBuf> {
    let path = root.join(judge);
    let text = read_text(&path, NAMED_IN).unwrap_or_default();
    let is_end = |c: char| c.is_whitespace() || "\"'`;|&()<>,=$".contains(c);
    let words = text.split(is_end).filter(|word| word.starts_with("../"));
    let beside = path.parent().unwrap_or(root).to_path_buf();
    let mut found: Vec<PathBuf> = words
        .flat_map(|word| [root.join(word), beside.join(word)])
        .filter_map(|path| path.canonical().ok())
        .filter(|path| !path.starts_with(root) && path.is_file())
        .collect();
    found.sort();
    found.dedup();
    found.truncate(NAMED_MAX);
    found
}

/// Where a judge that puts a directory of the home before others on the path would find the tools:
/// `export PATH := $(HOME)/go/bin:$(PATH)`.
pub(crate) fn on_path_of(
    root: &Path,
    judge: &Path,
    home: Option<&Path>,
    tools: &BTreeSet<&String>,
) -> Vec<PathBuf> {
    const HOMES: [&str; 4] = ["$(HOME)/", "${HOME}/", "$HOME/", "~/"];
    let text = read_text(&root.join(judge), NAMED_IN).unwrap_or_default();
    let Some(home) = home.filter(|_| text.contains("PATH")) else { return Vec::new() };
    let is_end = |c: char| c.is_whitespace() || "\"':;".contains(c);
    let lines = text.lines().filter(|line| line.contains("PATH"));
    let words = lines.flat_map(|line| line.split(is_end).flat_map(|word| word.split('=')));
    let inner = |word: &str| HOMES.iter().find_map(|own| word.strip_prefix(own).map(String::from));
    let places: BTreeSet<String> = words.filter_map(inner).take(NAMED_MAX).collect();
    let named = |place: &String| {
        let place = home.join(place);
        tools.iter().map(move |tool| place.join(tool)).collect::<Vec<_>>()
    };
    places.iter().flat_map(named).collect()
}

/// Whether a program reads the file of this name, relative to the home directory, as a person's
/// settings.
pub(crate) fn is_read_at_home(name: &Path) -> bool {
    AT_HOME.iter().any(|own| name == Path::new(own))
        || name.starts_with(USER_PACKAGES)
        || NODE_PACKAGES.iter().any(|own| name.starts_with(own))
}

/// The directory from which programs in those below it find this file, if they look upwards.
pub(crate) fn directory_of_above(path: &Path) -> Option<&Path> {
    // npm reads the one beside a package's manifest, and the person's own.
    let upwards = ABOVE.iter().filter(|name| **name != ".npmrc");
    let found = upwards.filter(|name| path.ends_with(name)).max_by_key(|name| name.len())?;
    path.ancestors().nth(Path::new(found).components().count())
}

/// What is not as it was noted.
pub(crate) fn changes(
    noted: &[OutsideFile],
    root: &Path,
    variables: &Variables,
    keep: &ContentStore<'_>,
) -> Vec<OutsideChange> {
    let mut known: BTreeMap<PathBuf, Option<&String>> =
        noted.iter().map(|file| (text_path(&file.path), file.content.as_ref())).collect();
    for path in candidates(root, variables) {
        known.entry(path).or_insert(None);
    }
    let differs = |(path, was): (PathBuf, Option<&String>)| {
        let now = read(&path).map(|content| hex(&hash_of(&content)));
        if now.as_ref() == was {
            return None;
        }
        let original = was.and_then(|hash| keep.get(hash).ok());
        Some(OutsideChange { path, original, now: now.unwrap_or_default() })
    };
    known.into_iter().filter_map(differs).collect()
}

/// Where checks find their home and their Python.
#[derive(Clone, Debug, Default)]
pub(crate) struct Variables {
    pub(crate) home: Option<PathBuf>,
    pub(crate) cargo_home: Option<PathBuf>,
    pub(crate) virtual_env: Option<PathBuf>,
    pub(crate) pythons: Vec<PathBuf>,
}

fn candidates(root: &Path, variables: &Variables) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for above in root.ancestors().skip(1) {
        found.extend(ABOVE.iter().map(|name| above.join(name)));
    }
    if let Some(home) = &variables.home {
        found.extend(AT_HOME.iter().map(|name| home.join(name)));
        for place in NODE_PACKAGES.map(|name| home.join(name)) {
            let packages = children(&place, |_| true).into_iter();
            found.extend(packages.flat_map(|own| NODE_ENTRIES.map(|name| own.join(name))));
        }
        let user_sites = children(&home.join(USER_PACKAGES), |name| name.starts_with("python"));
        for site in user_sites {
            found.extend(steering_in(&site.join("site-packages")));
        }
    }
    if let Some(cargo) = &variables.cargo_home {
        found.extend(["config", "config.toml"].map(|name| cargo.join(name)));
    }
    let mut prefixes: Vec<&PathBuf> = variables.virtual_env.iter().collect();
    prefixes.extend(&variables.pythons);
    for prefix in prefixes {
        let libraries = children(&prefix.join("lib"), |name| name.starts_with("python"));
        for library in libraries {
            found.extend(steering_in(&library.join("site-packages")));
        }
    }
    found.sort();
    found.dedup();
    // What is in the project is looked at with the project's other files.
    found.retain(|path| !path.starts_with(root) || is_installed(path, root));
    found
}

/// Whether a file in the project belongs to an installed environment, which git ignores.
fn is_installed(path: &Path, root: &Path) -> bool {
    path.strip_prefix(root)
        .is_ok_and(|inner| inner.components().any(|part| part.as_os_str() == "site-packages"))
}

/// What changes how Python starts, in one directory of installed packages.
pub(super) fn steering_in(site: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> =
        ["sitecustomize.py", "usercustomize.py"].map(|name| site.join(name)).into();
    for entry in children(site, |_| true) {
        let name = entry.file_name().map(|name| name.to_string_lossy().into_owned());
        let name = name.unwrap_or_default();
        if name.rsplit_once('.').is_some_and(|(_, end)| end == "pth") {
            found.push(entry);
        } else if name.ends_with(".dist-info") || name.ends_with(".egg-info") {
            let plugins = entry.join("entry_points.txt");
            let declares =
                read(&plugins).is_some_and(|text| text.windows(8).any(|part| part == b"pytest11"));
            if declares {
                found.push(plugins);
            }
        }
    }
    found
}

pub(super) fn children(directory: &Path, wanted: impl Fn(&str) -> bool) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten().take(ENTRIES_MAX);
    let mut found: Vec<PathBuf> = entries
        .filter(|entry| wanted(&entry.file_name().to_string_lossy()))
        .map(|entry| entry.path())
        .collect();
    found.sort();
    found
}

/// The content of a regular file, followed through links; nothing where there is none.
pub(super) fn read(path: &Path) -> Option<Vec<u8>> {
    let metadata = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
    if metadata.len() > BYTES_MAX {
        return Some(format!("{} bytes", metadata.len()).into_bytes());
    }
    read_regular(path, BYTES_MAX).ok()
}

#[cfg(test)]
mod tests;
