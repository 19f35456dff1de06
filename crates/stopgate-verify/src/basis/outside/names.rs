//! Names of files that runners read by themselves, outside the project.

use std::path::Path;

use super::{linters, login};

/// What a runner reads in every directory above the project.
pub(super) const ABOVE: [&str; 54] = [
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
pub(super) const AT_HOME: [&str; 38] = [
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
pub(super) const NODE_PACKAGES: [&str; 2] = [".node_modules", ".node_libraries"];
pub(super) const NODE_ENTRIES: [&str; 3] = ["package.json", "index.js", "index.cjs"];

/// Where Python's packages of one person are, in the home directory.
pub(super) const USER_PACKAGES: &str = ".local/lib";

/// Whether a program reads the file of this name, relative to the home directory, as a person's
/// settings.
pub(crate) fn is_read_at_home(name: &Path) -> bool {
    AT_HOME.iter().chain(&login::LOGIN).any(|own| name == Path::new(own))
        || name.starts_with(USER_PACKAGES)
        || NODE_PACKAGES.iter().any(|own| name.starts_with(own))
}

/// The directory from which programs in those below it find this file, if they look upwards.
pub(crate) fn directory_of_above(path: &Path) -> Option<&Path> {
    // npm reads the one beside a package's manifest, and the person's own.
    let upwards = ABOVE.iter().filter(|name| **name != ".npmrc");
    let upwards = upwards.copied().chain(linters::all());
    let found = upwards.filter(|name| path.ends_with(name)).max_by_key(|name| name.len())?;
    path.ancestors().nth(Path::new(found).components().count())
}
