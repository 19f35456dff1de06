//! Settings that linters look for in every directory above what they look at.

use std::collections::BTreeSet;
use std::path::Path;

/// Tools, and what they read above the project; what every project may have is looked for anyway.
const SETTINGS: [(&str, &str); 37] = [
    ("shellcheck", ".shellcheckrc shellcheckrc"),
    ("shfmt eclint ec editorconfig-checker ktlint", ".editorconfig .ecrc"),
    ("yamllint", ".yamllint .yamllint.yaml .yamllint.yml"),
    (
        "markdownlint markdownlint-cli2 mdl",
        ".markdownlint.json .markdownlint.jsonc .markdownlint.yaml .markdownlint.yml \
         .markdownlint.cjs .markdownlint.mjs .markdownlintrc .markdownlint-cli2.jsonc \
         .markdownlint-cli2.yaml .markdownlint-cli2.cjs .markdownlint-cli2.mjs .mdlrc",
    ),
    (
        "eslint xo",
        ".eslintrc .eslintrc.cjs .eslintrc.yaml .eslintrc.yml .eslintrc.json .eslintrc.js \
         eslint.config.ts eslint.config.mts eslint.config.cts",
    ),
    (
        "prettier",
        ".prettierrc .prettierrc.json .prettierrc.json5 .prettierrc.yaml .prettierrc.yml \
         .prettierrc.toml .prettierrc.js .prettierrc.cjs .prettierrc.mjs .prettierrc.ts \
         prettier.config.js prettier.config.cjs prettier.config.mjs prettier.config.ts \
         .editorconfig",
    ),
    ("biome", "biome.json biome.jsonc"),
    ("oxlint", ".oxlintrc.json"),
    ("jshint", ".jshintrc .jshintignore"),
    ("tslint", "tslint.json"),
    (
        "stylelint",
        ".stylelintrc .stylelintrc.json .stylelintrc.yaml .stylelintrc.yml .stylelintrc.js \
         .stylelintrc.cjs .stylelintrc.mjs stylelint.config.js stylelint.config.cjs \
         stylelint.config.mjs",
    ),
    ("ruff", "ruff.toml .ruff.toml"),
    ("flake8 pycodestyle", ".flake8 .pycodestyle"),
    ("pylint", ".pylintrc pylintrc .pylintrc.toml pylintrc.toml"),
    ("mypy dmypy", "mypy.ini .mypy.ini"),
    ("pyright basedpyright", "pyrightconfig.json"),
    ("ty", "ty.toml"),
    ("isort", ".isort.cfg"),
    ("bandit", ".bandit"),
    ("pydocstyle", ".pydocstyle .pydocstyle.ini .pydocstylerc .pydocstylerc.ini"),
    ("golangci-lint", ".golangci.yml .golangci.yaml .golangci.toml .golangci.json"),
    ("staticcheck", "staticcheck.conf"),
    ("rubocop", ".rubocop.yml"),
    ("clang-tidy", ".clang-tidy"),
    ("clang-format", ".clang-format _clang-format"),
    ("cpplint", "CPPLINT.cfg"),
    ("hadolint", ".hadolint.yaml .hadolint.yml"),
    ("cargo-fmt rustfmt", "rustfmt.toml .rustfmt.toml"),
    ("cargo-clippy", "clippy.toml .clippy.toml"),
    ("swiftlint", ".swiftlint.yml"),
    ("luacheck", ".luacheckrc"),
    ("stylua", "stylua.toml .stylua.toml"),
    ("typos", "typos.toml _typos.toml .typos.toml"),
    ("taplo", "taplo.toml .taplo.toml"),
    ("sqlfluff", ".sqlfluff"),
    ("vale", ".vale.ini"),
    ("deno deno-lint deno-check", "deno.json deno.jsonc"),
];

/// Tools that run whatever linters a project asks for.
const RUN_OTHERS: [&str; 6] = ["pre-commit", "prek", "lefthook", "lint-staged", "trunk", "treefmt"];

/// The names that these tools look for.
pub(super) fn settings_of(tools: &BTreeSet<&String>) -> impl Iterator<Item = &'static str> {
    let has = |name: &str| tools.iter().any(|tool| tool.as_str() == name);
    let is_any = RUN_OTHERS.iter().any(|own| has(own));
    let used = |own: &&(&str, &str)| is_any || own.0.split(' ').any(has);
    let used: Vec<&'static str> = SETTINGS.iter().filter(used).map(|own| own.1).collect();
    used.into_iter().flat_map(str::split_ascii_whitespace)
}

/// The names that any of them looks for.
pub(super) fn all() -> impl Iterator<Item = &'static str> {
    SETTINGS.iter().flat_map(|own| own.1.split_ascii_whitespace())
}

/// Whether only tools other than these read the file.
pub(super) fn is_for_others(path: &Path, tools: &BTreeSet<&String>, home: Option<&Path>) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let at_home = home.and_then(|home| path.strip_prefix(home).ok());
    let is_general = super::ABOVE.iter().any(|own| path.ends_with(own))
        || at_home.is_some_and(super::is_read_at_home);
    !is_general && all().any(|own| own == name) && !settings_of(tools).any(|own| own == name)
}

/// What settings say that say nothing, where an empty file is not understood.
pub(super) fn nothing_in(path: &Path) -> Option<Vec<u8>> {
    let name = path.file_name()?.to_str()?;
    if name.starts_with(".yamllint") {
        return Some(b"extends: default\n".into());
    }
    [".json", ".jsonc"].iter().any(|end| name.ends_with(end)).then(|| b"{}\n".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_tools_that_are_used_look_for_their_settings() {
        let names = ["shellcheck", "pytest"].map(String::from);
        let tools: BTreeSet<&String> = names.iter().collect();
        assert!(settings_of(&tools).any(|name| name == ".shellcheckrc"));
        assert!(is_for_others(Path::new("/a/.rubocop.yml"), &tools, None));
        assert!(!is_for_others(Path::new("/a/.shellcheckrc"), &tools, None));
        assert!(!is_for_others(Path::new("/a/golden/two.txt"), &tools, None));
        let any = "pre-commit".to_string();
        assert_eq!(settings_of(&BTreeSet::from([&any])).count(), all().count());
    }

    #[test]
    fn nothing_is_said_so_that_the_tool_understands_it() {
        assert_eq!(nothing_in(Path::new("/a/biome.json")).unwrap(), b"{}\n");
        assert_eq!(nothing_in(Path::new("/a/.shellcheckrc")), None);
    }
}
