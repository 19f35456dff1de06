//! Comments that switch a tool off for a whole file: `# shellcheck disable=all`, `# flake8: noqa`.

use super::Directive;

/// Also files without an ending.
const SHELL: &str = "sh bash ksh dash bats ";
const SCRIPTS: &str = "js mjs cjs jsx ts mts cts tsx vue svelte";
const PYTHON: &str = "py pyi";
const TYPES: &str = "mypy dmypy pyright basedpyright ty pyre";

/// How far a comment holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Holds {
    /// Wherever it is.
    Anywhere,
    /// Where nothing but comments comes before it.
    FromHead,
    /// Up to one that says this, if there is one.
    Until(&'static str),
}

/// Comments by which some tools pass over what they are in.
struct Switch {
    tools: &'static str,
    ends: &'static str,
    /// What a comment says, in one form; with a `*` only how it begins.
    says: &'static [&'static str],
    holds: Holds,
}

const SWITCHES: [Switch; 27] = [
    Switch::new("shellcheck", SHELL, &["shellcheck disable=all"], Holds::FromHead),
    Switch::new(
        "eslint xo standard oxlint",
        SCRIPTS,
        &["eslint-disable"],
        Holds::Until("eslint-enable"),
    ),
    Switch::new("oxlint", SCRIPTS, &["oxlint-disable"], Holds::Until("oxlint-enable")),
    Switch::new("jshint", SCRIPTS, &["jshint ignore:start"], Holds::Until("jshint ignore:end")),
    Switch::new(
        "biome",
        SCRIPTS,
        &["biome-ignore-all lint:*", "biome-ignore-all format:*"],
        Holds::FromHead,
    ),
    Switch::new("deno-lint", SCRIPTS, &["deno-lint-ignore-file"], Holds::Anywhere),
    Switch::new(
        "tsc vue-tsc tsd deno-check",
        SCRIPTS,
        &["@ts-nocheck", "@ts-nocheck *"],
        Holds::FromHead,
    ),
    Switch::new(
        "stylelint",
        "css scss less sass",
        &["stylelint-disable"],
        Holds::Until("stylelint-enable"),
    ),
    Switch::new("flake8 ruff", PYTHON, &["flake8:noqa"], Holds::Anywhere),
    Switch::new("ruff", PYTHON, &["ruff:noqa"], Holds::Anywhere),
    Switch::new("pylint", PYTHON, &["pylint:skip-file", "pylint:disable=all"], Holds::Anywhere),
    Switch::new(
        "mypy dmypy",
        PYTHON,
        &["mypy:ignore-errors", "mypy:ignore-errors=true"],
        Holds::Anywhere,
    ),
    Switch::new(TYPES, PYTHON, &["type:ignore"], Holds::FromHead),
    Switch::new("pyre", PYTHON, &["pyre-ignore-all-errors"], Holds::Anywhere),
    Switch::new("black ruff", PYTHON, &["fmt:off"], Holds::Until("fmt:on")),
    Switch::new("isort", PYTHON, &["isort:skip_file"], Holds::Anywhere),
    Switch::new("golangci-lint", "go", &["nolint", "nolint:all"], Holds::FromHead),
    Switch::new("revive golangci-lint", "go", &["revive:disable"], Holds::Until("revive:enable")),
    Switch::new("rubocop", "rb rake", &["rubocop:disable all"], Holds::Until("rubocop:enable all")),
    Switch::new(
        "phpcs",
        "php",
        &["phpcs:ignorefile", "@codingstandardsignorefile"],
        Holds::Anywhere,
    ),
    Switch::new("phpcs", "php", &["phpcs:disable"], Holds::Until("phpcs:enable")),
    Switch::new(
        "markdownlint markdownlint-cli2",
        "md markdown",
        &["markdownlint-disable"],
        Holds::Until("markdownlint-enable"),
    ),
    Switch::new(
        "markdownlint markdownlint-cli2",
        "md markdown",
        &["markdownlint-disable-file"],
        Holds::Anywhere,
    ),
    Switch::new("yamllint", "yml yaml", &["yamllint disable"], Holds::Until("yamllint enable")),
    Switch::new("yamllint", "yml yaml", &["yamllint disable-file"], Holds::FromHead),
    Switch::new(
        "swiftlint",
        "swift",
        &["swiftlint:disable all"],
        Holds::Until("swiftlint:enable all"),
    ),
    Switch::new("clang-tidy", "c cc cpp cxx h hpp", &["nolintbegin"], Holds::Until("nolintend")),
];

impl Switch {
    const fn new(
        tools: &'static str,
        ends: &'static str,
        says: &'static [&'static str],
        holds: Holds,
    ) -> Self {
        Self { tools, ends, says, holds }
    }

    fn is_for(&self, end: &str, uses: &dyn Fn(&str) -> bool) -> bool {
        self.ends.split(' ').any(|own| own == end) && uses(self.tools)
    }

    fn is_said(&self, said: &str) -> bool {
        self.says.iter().any(|own| match own.strip_suffix('*') {
            Some(start) => said.starts_with(start),
            None => said == *own,
        })
    }
}

/// Whether a tool in use reads such comments in files with this ending.
pub(super) fn are_read(end: &str, uses: &dyn Fn(&str) -> bool) -> bool {
    SWITCHES.iter().any(|own| own.is_for(end, uses))
}

/// The comments of a text that switch a tool in use off for all of it.
pub(super) fn directives(end: &str, text: &str, uses: &dyn Fn(&str) -> bool) -> Vec<Directive> {
    let switches: Vec<&Switch> = SWITCHES.iter().filter(|own| own.is_for(end, uses)).collect();
    let mut found = Vec::new();
    if switches.is_empty() {
        return found;
    }
    let lines: Vec<&str> = text.lines().collect();
    let (mut is_head, mut is_inner, mut quotes) = (true, false, Quotes::default());
    for (at, line) in lines.iter().enumerate() {
        if is_inner {
            is_inner = !line.contains("*/");
            continue;
        }
        let comment = Comment::of(line).filter(|_| !quotes.is_open());
        if let Some(comment) = &comment {
            let is_on = |own: &&&Switch| match own.holds {
                Holds::Anywhere => true,
                Holds::FromHead => is_head,
                Holds::Until(end) => !ends_early(&lines[at + 1..], end),
            };
            let mut said = switches.iter().filter(|own| own.is_said(&comment.says));
            if said.any(|own| is_on(&own)) && !comment.is_local {
                let mut directive = Directive::new(&comment.says, at..at + 1, super::WEIGHT_MIN);
                directive.rest = Some(comment.behind.to_string()).filter(|rest| !rest.is_empty());
                found.push(directive);
            }
            is_inner = line.trim().starts_with("/*") && !line.contains("*/");
        }
        is_head &= line.trim().is_empty() || comment.is_some_and(|own| own.behind.is_empty());
        quotes.read(end, line);
    }
    found
}

/// Whether a comment switches the tool on again, with something below it.
fn ends_early(following: &[&str], end: &str) -> bool {
    let is_end = |line: &str| Comment::of(line).is_some_and(|own| own.says.starts_with(end));
    let is_code = |line: &str| {
        !line.trim().is_empty() && Comment::of(line).is_none_or(|own| !own.behind.is_empty())
    };
    let at = following.iter().position(|line| is_end(line));
    at.is_some_and(|at| following[at + 1..].iter().any(|line| is_code(line)))
}

/// A comment at the beginning of a line.
struct Comment<'a> {
    /// What it says, in one form: small letters, single spaces, no reason behind it.
    says: String,
    /// What follows on the line.
    behind: &'a str,
    /// It holds for the block that it is in.
    is_local: bool,
}

impl<'a> Comment<'a> {
    fn of(whole: &'a str) -> Option<Self> {
        let line = whole.trim();
        for (start, end) in [("/*", "*/"), ("<!--", "-->")] {
            if let Some(inner) = line.strip_prefix(start) {
                let (inner, behind) = inner.split_once(end).unwrap_or((inner, ""));
                return Some(Self {
                    says: one_form(inner),
                    behind: behind.trim(),
                    is_local: false,
                });
            }
        }
        let inner = line.strip_prefix("//").or_else(|| line.strip_prefix('#'))?;
        let says = one_form(inner);
        let is_local = whole.starts_with([' ', '\t']) && says.starts_with("pylint:disable");
        Some(Self { says, behind: "", is_local })
    }
}

fn one_form(comment: &str) -> String {
    let words: Vec<&str> = comment.split_whitespace().collect();
    let mut said = words.join(" ").to_lowercase();
    for (loose, close) in [(": ", ":"), (" :", ":"), (" = ", "="), ("= ", "="), (" =", "=")] {
        said = said.replace(loose, close);
    }
    let reasons = [" -- ", " // ", " # "];
    let end = reasons.iter().filter_map(|sign| said.find(sign)).min().unwrap_or(said.len());
    said.truncate(end);
    silenced_shell(&said).unwrap_or(said)
}

/// `shellcheck shell=sh disable=all`, `shellcheck disable=SC1000-SC9999`.
fn silenced_shell(said: &str) -> Option<String> {
    let mut words = said.strip_prefix("shellcheck ")?.split(' ');
    let is_all = |code: &str| code == "all" || code.contains('-');
    let disables = words.any(|word| {
        word.strip_prefix("disable=").is_some_and(|codes| codes.split(',').any(is_all))
    });
    disables.then(|| "shellcheck disable=all".into())
}

/// Texts over many lines, in which a comment is none.
#[derive(Default)]
struct Quotes {
    signs: usize,
}

impl Quotes {
    fn is_open(&self) -> bool {
        self.signs % 2 == 1
    }

    fn read(&mut self, end: &str, line: &str) {
        let count = |sign: &str| line.matches(sign).count();
        self.signs += match end {
            "py" | "pyi" => count("\"\"\"") + count("'''"),
            "md" | "markdown" => usize::from(line.trim_start().starts_with("```")),
            "js" | "mjs" | "cjs" | "jsx" | "ts" | "mts" | "cts" | "tsx" => {
                count("`") - count("\\`").min(count("`"))
            }
            _ => 0,
        };
    }
}
