//! Variables that steer test runners, compilers and interpreters.

/// Variables that change what a runner does or which code it loads.
const NAMES: [&str; 67] = [
    "BASH_ENV",
    "BUNDLE_GEMFILE",
    "BUN_OPTIONS",
    "CARGO_BUILD_RUSTFLAGS",
    "CARGO_ENCODED_RUSTFLAGS",
    "CARGO_HOME",
    "CARGO_TARGET_DIR",
    "CC",
    "CDPATH",
    "CFLAGS",
    "CLASSPATH",
    "CLIPPY_ARGS",
    "COVERAGE_FILE",
    "COVERAGE_PROCESS_START",
    "COVERAGE_RCFILE",
    "CXX",
    "CXXFLAGS",
    "DYLD_INSERT_LIBRARIES",
    "DYLD_LIBRARY_PATH",
    "ENV",
    "GEM_HOME",
    "GEM_PATH",
    "GNUMAKEFLAGS",
    "GOENV",
    "GOEXPERIMENT",
    "GOFLAGS",
    "GOPATH",
    "GOTOOLCHAIN",
    "GOWORK",
    "GTEST_FILTER",
    "HYPOTHESIS_PROFILE",
    "INSTA_UPDATE",
    "JAVA_TOOL_OPTIONS",
    "JUST_JUSTFILE",
    "LDFLAGS",
    "LD_LIBRARY_PATH",
    "LD_PRELOAD",
    "MAKEFILES",
    "MAKEFLAGS",
    "MAVEN_OPTS",
    "MFLAGS",
    "MYPYPATH",
    "MYPY_CONFIG_FILE_DIR",
    "NODE_OPTIONS",
    "NODE_PATH",
    "NODE_TEST_CONTEXT",
    "PERL5LIB",
    "PERL5OPT",
    "PYLINTRC",
    "PYTEST_ADDOPTS",
    "PYTEST_DISABLE_PLUGIN_AUTOLOAD",
    "PYTEST_PLUGINS",
    "PYTHONBREAKPOINT",
    "PYTHONHOME",
    "PYTHONINSPECT",
    "PYTHONOPTIMIZE",
    "PYTHONPATH",
    "PYTHONSTARTUP",
    "PYTHONWARNINGS",
    "RUBYLIB",
    "RUBYOPT",
    "RUSTC_WRAPPER",
    "RUSTFLAGS",
    "SHELLCHECK_OPTS",
    "SHELLOPTS",
    "SPEC_OPTS",
    "TESTOPTS",
];

/// Beginnings of names of such variables.
const BEGINNINGS: [&str; 19] = [
    "BATS_",
    "CARGO_PROFILE_",
    "CARGO_TARGET_",
    "CARGO_UNSTABLE_",
    "HARNESS_",
    "JEST_",
    "MOCHA_",
    "NEXTEST_",
    "NPM_CONFIG_",
    "NYC_",
    "PHPUNIT_",
    "PLAYWRIGHT_",
    "RUFF_",
    "RUSTC_",
    "RUSTDOC",
    "RUSTUP_TOOLCHAIN",
    "RUST_TEST_",
    "TOX_",
    "VITEST_",
];

/// The names among `names` that steer runners, sorted.
pub(crate) fn steering<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut found: Vec<&str> = names.filter(|name| steers(name)).collect();
    found.sort_unstable();
    found.dedup();
    found
}

pub(super) fn steers(name: &str) -> bool {
    let upper = name.to_ascii_uppercase();
    NAMES.contains(&upper.as_str()) || BEGINNINGS.iter().any(|begin| upper.starts_with(begin))
}
