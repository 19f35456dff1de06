//! Files that configure runners, linters, type checkers, transformers, tool versions and CI.
//!
//! Such a file counts only for a check that uses one of its tools.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::files::name_of;
use super::role::CheckConduct;
use crate::glob::name_matches;

/// Tools of one language that load code through its own hooks.
const PYTHON: &str = "pytest py.test unittest nose2 nosetests tox nox behave robot trial stestr \
    ward coverage python";
const NODE_TESTS: &str = "jest vitest mocha ava tap tape jasmine karma playwright cypress \
    node-test qunit uvu wdio testcafe web-test-runner wtr nightwatch react-scripts-test ng-test \
    cucumber-js bun-test";

/// Names (`*` stands for anything), and the tools that read such files. A name with a slash
/// names the end of a path; `python`, `node`, `npm`… are programs, the rest are tools.
const TABLE: [(&str, &str); 77] = [
    (".gitattributes", "git"),
    ("pytest.ini .pytest.ini pytest.toml .pytest.toml", "pytest py.test tox nox"),
    ("conftest.py", "pytest py.test tox nox coverage"),
    ("sitecustomize.py usercustomize.py *.pth", PYTHON),
    (".coveragerc", "coverage pytest py.test tox nox"),
    ("noxfile.py", "nox"),
    ("tox.toml", "tox"),
    ("behave.ini .behaverc", "behave"),
    ("tasks.py", "invoke inv"),
    ("ruff.toml .ruff.toml", "ruff pre-commit"),
    (".flake8", "flake8 pre-commit"),
    ("mypy.ini .mypy.ini", "mypy dmypy pre-commit"),
    ("pyrightconfig.json", "pyright basedpyright"),
    (".pylintrc pylintrc .pylintrc.toml", "pylint"),
    (".isort.cfg", "isort"),
    (".bandit", "bandit"),
    (".pre-commit-config.yaml", "pre-commit"),
    (".python-version runtime.txt", "python pytest py.test tox nox uv poetry pdm hatch rye"),
    ("uv.toml", "uv"),
    (
        "jest.config.* jest.setup.* jest-setup.* setupTests.* jest.preset.* jest-preset.*",
        "jest react-scripts-test",
    ),
    ("vitest.config.* vitest.setup.* vitest.workspace.* vite.config.*", "vitest"),
    // Vite runs them in its own process, whatever it is asked for.
    ("postcss.config.* .postcssrc*", "vitest"),
    (".mocharc* mocha.opts", "mocha nyc c8"),
    ("ava.config.*", "ava"),
    (".taprc", "tap"),
    ("jasmine.json jasmine.mjs", "jasmine"),
    ("karma.conf.* karma.conf", "karma ng-test"),
    ("playwright.config.* playwright-ct.config.*", "playwright"),
    ("cypress.config.* cypress.json cypress.env.json", "cypress"),
    (
        "wdio.conf.* nightwatch.conf.* .testcaferc* web-test-runner.config.*",
        "wdio nightwatch testcafe web-test-runner wtr",
    ),
    ("cucumber.js cucumber.json cucumber.yml cucumber.yaml", "cucumber cucumber-js"),
    (".nycrc* nyc.config.* .c8rc*", "nyc c8 mocha ava tap node-test"),
    ("babel.config.* .babelrc* .swcrc", NODE_TESTS),
    ("tsconfig*.json jsconfig.json", "tsc vue-tsc tsd ts-jest tsx ts-node"),
    ("eslint.config.* .eslintrc* .eslintignore", "eslint xo pre-commit"),
    (".prettierrc* prettier.config.* .prettierignore", "prettier pre-commit"),
    ("biome.json biome.jsonc", "biome"),
    (".stylelintrc* stylelint.config.* .stylelintignore", "stylelint"),
    (".oxlintrc.json .jshintrc", "oxlint jshint"),
    (".npmrc", "npm npx node"),
    (".yarnrc .yarnrc.yml", "yarn"),
    ("pnpm-workspace.yaml .pnpmfile.cjs", "pnpm"),
    ("bunfig.toml", "bun bunx bun-test"),
    ("deno.json deno.jsonc", "deno deno-test deno-lint deno-check"),
    (".nvmrc .node-version", "node npm npx yarn pnpm"),
    ("turbo.json", "turbo"),
    ("nx.json project.json", "nx"),
    ("lerna.json", "lerna"),
    ("angular.json", "ng ng-test"),
    ("rust-toolchain rust-toolchain.toml", "cargo rustc"),
    (".cargo/config .cargo/config.toml", "cargo"),
    (".config/nextest.toml", "cargo-nextest"),
    (".config/insta.yaml insta.yaml", "cargo-test cargo-nextest cargo-insta"),
    ("clippy.toml .clippy.toml", "cargo-clippy"),
    ("rustfmt.toml .rustfmt.toml", "cargo-fmt rustfmt"),
    ("deny.toml", "cargo-deny"),
    ("tarpaulin.toml .tarpaulin.toml", "cargo-tarpaulin"),
    ("Makefile.toml", "cargo-make"),
    ("go.env .go-version", "go go-test gotestsum ginkgo golangci-lint"),
    (".golangci.*", "golangci-lint"),
    ("staticcheck.conf revive.toml", "staticcheck revive golangci-lint"),
    (".rspec .simplecov", "rspec"),
    ("Rakefile rakefile Rakefile.rb", "rake"),
    (".rubocop.yml .rubocop_todo.yml", "rubocop"),
    (".ruby-version", "ruby rspec rake bundle cucumber"),
    ("phpunit.xml phpunit.xml.dist phpunit.dist.xml", "phpunit pest"),
    ("codeception.yml behat.yml", "codecept behat"),
    (
        "phpstan.neon phpstan.neon.dist psalm.xml phpcs.xml .php-cs-fixer*",
        "phpstan psalm phpcs php-cs-fixer",
    ),
    (".shellcheckrc .shellspec", "shellcheck shellspec"),
    (
        ".yamllint* .markdownlint* .hadolint.yaml",
        "yamllint markdownlint markdownlint-cli2 hadolint",
    ),
    (".clang-tidy .clang-format", "clang-tidy clang-format"),
    ("CMakePresets.json CMakeUserPresets.json", "cmake ctest"),
    (
        "CTestConfig.cmake CTestCustom.cmake junit-platform.properties",
        "ctest mvn gradle gradlew mvnw",
    ),
    (".swiftlint.yml .swiftformat detekt.yml checkstyle.xml", "swiftlint detekt checkstyle"),
    ("Taskfile.yml Taskfile.yaml Taskfile.dist.yml Taskfile.dist.yaml", "task"),
    ("taskfile.yml taskfile.yaml taskfile.dist.yml taskfile.dist.yaml", "task"),
    (".proverc .busted", "prove busted"),
];

/// Tool versions that every program obeys which such a manager put on the path.
const VERSIONS: [&str; 3] = [".tool-versions", "mise.toml", ".mise.toml"];

/// Directories that belong to a tool as a whole.
const DIRECTORIES: [(&str, &str); 4] = [
    (".github/workflows", "act"),
    (".github/actions", "act"),
    (".circleci", "circleci"),
    (".husky", "husky"),
];

/// The configuration files of the tools that one check uses.
#[derive(Clone, Debug, Default)]
pub(super) struct ToolConfiguration {
    exact: BTreeMap<&'static str, &'static str>,
    patterns: Vec<(&'static str, &'static str)>,
    ends: Vec<(&'static str, &'static str)>,
    directories: Vec<(&'static str, &'static str)>,
}

impl ToolConfiguration {
    /// The files of these tools; of all tools where it is not known which are used.
    pub(super) fn of(tools: &BTreeSet<String>, conduct: CheckConduct) -> Self {
        let mut found = Self::default();
        for (names, users) in TABLE {
            let Some(tool) = used(users, tools, conduct) else { continue };
            names.split(' ').for_each(|name| found.add(name, tool));
        }
        if conduct == CheckConduct::Unknown || !tools.is_empty() {
            found.exact.extend(VERSIONS.map(|name| (name, "tool versions")));
        }
        for (directory, users) in DIRECTORIES {
            let tool = used(users, tools, CheckConduct::Looks);
            found.directories.extend(tool.map(|tool| (directory, tool)));
        }
        found
    }

    fn add(&mut self, name: &'static str, tool: &'static str) {
        if name.contains('/') {
            self.ends.push((name, tool));
        } else if name.contains('*') {
            self.patterns.push((name, tool));
        } else {
            self.exact.insert(name, tool);
        }
    }

    /// The tool that the file configures.
    pub(super) fn tool_of(&self, path: &Path) -> Option<&'static str> {
        let name = name_of(path);
        if let Some(tool) = self.exact.get(name) {
            return Some(tool);
        }
        let fits = |(pattern, _): &&(&str, &str)| name_matches(pattern.as_bytes(), name.as_bytes());
        let in_it = |(directory, _): &&(&str, &str)| path.starts_with(directory);
        let ends = |(end, _): &&(&str, &str)| path.ends_with(end);
        let found = self.patterns.iter().find(fits);
        let found = found.or_else(|| self.ends.iter().find(ends));
        found.or_else(|| self.directories.iter().find(in_it)).map(|(_, tool)| *tool)
    }
}

/// The first of the users that the check uses.
fn used(
    users: &'static str,
    tools: &BTreeSet<String>,
    conduct: CheckConduct,
) -> Option<&'static str> {
    let mut names = users.split_whitespace();
    let found = names.clone().find(|user| tools.contains(*user));
    found.or_else(|| names.next().filter(|_| conduct == CheckConduct::Unknown))
}
