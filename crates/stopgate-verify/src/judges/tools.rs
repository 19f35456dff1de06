//! What is known about programs by their names: which run tests, which lint, which only look.

/// What a program does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Trade {
    /// It runs tests; files that it is given are tests.
    Runner,
    /// It judges source by rules of its own and its configuration.
    Linter,
    /// It builds, or manages packages.
    Builder,
    /// It looks at files or moves them.
    Plain,
    /// Nobody here knows it.
    Unknown,
}

const RUNNERS: [&str; 67] = [
    "pytest",
    "py.test",
    "unittest",
    "doctest",
    "nose2",
    "nosetests",
    "tox",
    "nox",
    "behave",
    "robot",
    "trial",
    "stestr",
    "ward",
    "coverage",
    "jest",
    "vitest",
    "mocha",
    "ava",
    "tap",
    "tape",
    "jasmine",
    "karma",
    "playwright",
    "cypress",
    "node-test",
    "qunit",
    "uvu",
    "wdio",
    "testcafe",
    "web-test-runner",
    "wtr",
    "nightwatch",
    "cargo-test",
    "cargo-nextest",
    "cargo-llvm-cov",
    "cargo-tarpaulin",
    "cargo-mutants",
    "cargo-insta",
    "go-test",
    "gotestsum",
    "ginkgo",
    "rspec",
    "minitest",
    "cucumber",
    "cucumber-js",
    "phpunit",
    "pest",
    "codecept",
    "behat",
    "bats",
    "prove",
    "shunit2",
    "shellspec",
    "ctest",
    "dotnet-test",
    "mix-test",
    "swift-test",
    "deno-test",
    "bun-test",
    "flutter-test",
    "dart-test",
    "bazel-test",
    "act",
    "react-scripts-test",
    "ng-test",
    "busted",
    "rake",
];

const LINTERS: [&str; 58] = [
    "ruff",
    "flake8",
    "mypy",
    "dmypy",
    "pyright",
    "basedpyright",
    "pyre",
    "ty",
    "pylint",
    "black",
    "isort",
    "bandit",
    "pyflakes",
    "pycodestyle",
    "pydocstyle",
    "vulture",
    "eslint",
    "prettier",
    "biome",
    "tsc",
    "vue-tsc",
    "tsd",
    "stylelint",
    "oxlint",
    "xo",
    "standard",
    "jshint",
    "cargo-clippy",
    "cargo-fmt",
    "rustfmt",
    "cargo-deny",
    "golangci-lint",
    "gofmt",
    "goimports",
    "go-vet",
    "staticcheck",
    "revive",
    "rubocop",
    "phpstan",
    "psalm",
    "phpcs",
    "php-cs-fixer",
    "shellcheck",
    "shfmt",
    "yamllint",
    "markdownlint",
    "markdownlint-cli2",
    "hadolint",
    "pre-commit",
    "swiftlint",
    "ktlint",
    "detekt",
    "checkstyle",
    "clang-tidy",
    "clang-format",
    "deno-lint",
    "deno-check",
    "actionlint",
];

/// What a check uses that runs the benches of a Cargo package, too.
pub(super) const BENCHES: &str = "cargo-bench";

const BUILDERS: [&str; 48] = [
    "cargo",
    "cargo-build",
    "cargo-check",
    "cargo-run",
    "cargo-doc",
    "rustc",
    "go",
    "go-build",
    "go-run",
    "go-mod",
    "go-generate",
    "gcc",
    "g++",
    "cc",
    "c++",
    "clang",
    "clang++",
    "ld",
    "ar",
    "cmake",
    "ninja",
    "meson",
    "npm",
    "pnpm",
    "yarn",
    "bun",
    "corepack",
    "pip",
    "pip3",
    "uv",
    "poetry",
    "pdm",
    "hatch",
    "rye",
    "pipenv",
    "conda",
    "bundle",
    "gem",
    "composer",
    "dotnet",
    "mix",
    "swift",
    "deno",
    "vite",
    "webpack",
    "rollup",
    "esbuild",
    "javac",
];

const PLAIN: [&str; 93] = [
    "grep",
    "egrep",
    "fgrep",
    "rg",
    "ag",
    "git",
    "diff",
    "cmp",
    "comm",
    "cat",
    "head",
    "tail",
    "tee",
    "jq",
    "yq",
    "sed",
    "awk",
    "gawk",
    "sort",
    "uniq",
    "wc",
    "cut",
    "tr",
    "find",
    "fd",
    "ls",
    "cp",
    "mv",
    "rm",
    "ln",
    "mkdir",
    "rmdir",
    "touch",
    "curl",
    "wget",
    "sleep",
    "date",
    "basename",
    "dirname",
    "readlink",
    "realpath",
    "mktemp",
    "which",
    "file",
    "stat",
    "chmod",
    "md5sum",
    "sha1sum",
    "sha256sum",
    "tar",
    "gzip",
    "gunzip",
    "unzip",
    "zip",
    "xmllint",
    "sqlite3",
    "psql",
    "seq",
    "yes",
    "nproc",
    "uname",
    "hostname",
    "id",
    "whoami",
    "kill",
    "ps",
    "nc",
    "paste",
    "column",
    "expr",
    "test",
    "[",
    "[[",
    "echo",
    "cd",
    "true",
    "false",
    "exit",
    "set",
    "export",
    ":",
    "printf",
    "read",
    "pwd",
    "wait",
    "unset",
    "ulimit",
    "trap",
    "shift",
    "local",
    "return",
    "type",
    "let",
];

const MORE_PLAIN: [&str; 16] = [
    "eval", "declare", "readonly", "break", "continue", "case", "in", "for", "function", "select",
    "hash", "umask", "getopts", "pushd", "popd", "fi",
];

/// What a program does, by its name without directory and version.
pub(super) fn trade_of(name: &str) -> Trade {
    if RUNNERS.contains(&name) {
        Trade::Runner
    } else if LINTERS.contains(&name) {
        Trade::Linter
    } else if BUILDERS.contains(&name) {
        Trade::Builder
    } else if PLAIN.contains(&name) || MORE_PLAIN.contains(&name) || name.starts_with("git-") {
        Trade::Plain
    } else {
        Trade::Unknown
    }
}

/// The program's name without its directory and without a version at the end.
pub(super) fn plain_name(program: &str) -> &str {
    let name = program.rsplit('/').next().unwrap_or(program);
    let plain = name.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '.');
    let versioned = ["python", "pypy", "pip", "ruby", "perl", "php", "node", "lua"];
    if versioned.contains(&plain) { plain } else { name }
}

/// Whether the program runs scripts in its language.
pub(super) fn is_interpreter(name: &str) -> bool {
    const NAMES: [&str; 14] = [
        "python",
        "pypy",
        "node",
        "nodejs",
        "ruby",
        "perl",
        "php",
        "tsx",
        "ts-node",
        "lua",
        "Rscript",
        "julia",
        "osascript",
        "pwsh",
    ];
    NAMES.contains(&name)
}

/// Whether the program is a shell.
pub(super) fn is_shell(name: &str) -> bool {
    ["sh", "bash", "dash", "zsh", "ksh", "ash", "fish"].contains(&name)
}

/// Tools that a text in another language mentions, by their names as whole words.
pub(super) fn mentioned(text: &str) -> Vec<&'static str> {
    let is_letter = |letter: char| letter.is_ascii_alphanumeric() || "_-.".contains(letter);
    let words: std::collections::BTreeSet<&str> = text.split(|letter| !is_letter(letter)).collect();
    let tools = RUNNERS.iter().chain(&LINTERS).copied();
    let says = |tool: &&'static str| {
        words.contains(tool)
            || tool.split_once('-').is_some_and(|(program, inner)| {
                ["cargo", "go"].contains(&program)
                    && words.contains(program)
                    && words.contains(inner)
            })
    };
    // These are ordinary words of other texts as well.
    let ordinary = ["black", "robot", "trial", "ward", "standard", "tap", "act", "prove", "ty"];
    tools.filter(says).filter(|tool| !ordinary.contains(tool)).collect()
}
