//! Programs of the project that are built to be run: `cargo run --bin verify`, `go run ./tools/check`.
//!
//! One whose name says that it checks something judges, or one that makes of a runner's results
//! what it likes: `go test -json ./... | go run ./tools/report`. Every other one is under test.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::super::files::{below, directory_of, extension_of, inner};
use super::super::names::{is_foreign, name_says_judge, says_judge};
use super::super::role::Why;
use super::super::shell::{Joint, OutputFate, ScriptPart, is_open};
use super::super::tools::{Trade, plain_name, trade_of};
use super::does::makes_tests;
use super::programs::after_options;
use super::{Stand, Tracer};

/// So many sources are searched for what makes others.
const SOURCES_MAX: usize = 2_000;
/// So many programs that make others are looked at.
const MAKERS_MAX: usize = 100;

/// What a command reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PipedInput {
    /// What a test runner prints.
    TestResults,
    /// What another program prints.
    Output,
    Other,
}

impl PipedInput {
    /// What a command behind these reads.
    pub(super) fn of(before: &[ScriptPart]) -> Self {
        let Some(ScriptPart::Step(step)) = before.last() else { return Self::Other };
        let is_runner = |word: &String| {
            let known = [
                "test", "nextest", "pytest", "ctest", "jest", "vitest", "mocha", "unittest",
                "prove", "bats", "--test",
            ];
            known.contains(&plain_name(word))
        };
        // `echo test | python3 app.py`
        let program = step.words.first().map_or("", |word| plain_name(word));
        if step.joint != Joint::Pipe || trade_of(program) == Trade::Plain {
            return Self::Other;
        }
        if step.words.iter().take(4).any(is_runner) { Self::TestResults } else { Self::Output }
    }
}

impl Tracer<'_> {
    /// Follows the sources of a program that judges.
    pub(super) fn project_program(
        &mut self,
        tool: &str,
        verb: &str,
        rest: &[&str],
        fate: OutputFate,
        stand: &Stand,
    ) {
        if fate == OutputFate::Taken {
            return;
        }
        let found = match (tool, verb) {
            ("cargo", "xtask") if after_options(rest).iter().any(|word| name_says_judge(word)) => {
                self.sources_of_crate("xtask", stand)
            }
            ("cargo", "run") => self.run_by_cargo(rest, stand),
            ("go", "run") => self.run_by_go(rest, stand),
            ("go", "generate") => self.makers_by_go(),
            _ => Vec::new(),
        };
        for path in found {
            self.follow(&path, Why::Script, stand);
        }
    }

    fn run_by_cargo(&self, rest: &[&str], stand: &Stand) -> Vec<PathBuf> {
        let own = rest.split(|word| *word == "--").next().unwrap_or_default();
        let value = |names: &[&str]| {
            let at = own.iter().position(|word| names.contains(word))?;
            own.get(at + 1).copied()
        };
        let joined = own.iter().find_map(|word| word.strip_prefix("--bin="));
        if let Some(name) = value(&["--bin", "--example"]).or(joined) {
            let places = ["src/bin", "examples"].map(|place| stand.directory.join(place));
            let files = places.iter().flat_map(|place| {
                let file = place.join(format!("{name}.rs"));
                below(self.files, place)
                    .filter(move |path| **path == file || path.starts_with(place.join(name)))
            });
            let judges = self.input == PipedInput::TestResults || name_says_judge(name);
            return if judges { files.cloned().collect() } else { Vec::new() };
        }
        let judges = |name: &&str| self.input == PipedInput::TestResults || name_says_judge(name);
        let package = value(&["-p", "--package"]).filter(judges);
        package.map(|name| self.sources_of_crate(name, stand)).unwrap_or_default()
    }

    /// The sources of a crate in a directory of its own name.
    fn sources_of_crate(&self, name: &str, stand: &Stand) -> Vec<PathBuf> {
        let places = ["", "crates", "tools"].map(|place| stand.directory.join(place).join(name));
        let files = places.iter().flat_map(|place| below(self.files, place));
        files.filter(|path| extension_of(path) == "rs").cloned().collect()
    }

    /// Programs of the project that `//go:generate go run …` runs and that write tests.
    fn makers_by_go(&self) -> Vec<PathBuf> {
        let mut places = BTreeSet::new();
        let sources = self.scanned().filter(|path| extension_of(path) == "go" && !is_foreign(path));
        for source in sources.take(SOURCES_MAX) {
            let text = self.files.text(source).unwrap_or_default();
            let commands = text.lines().filter_map(|line| line.strip_prefix("//go:generate "));
            for command in commands {
                let mut words =
                    command.split_whitespace().skip_while(|word| *word != "run").skip(1);
                let program = words.find(|word| !word.starts_with('-'));
                let place = program.and_then(|word| inner(self.root, &directory_of(source), word));
                places.extend(place.filter(|place| !place.as_os_str().is_empty()));
            }
        }
        let places = places.iter().take(MAKERS_MAX);
        let mut found: Vec<PathBuf> = places.flat_map(|place| self.go_sources(place)).collect();
        let makes = |path: &PathBuf| self.files.text(path).is_some_and(|text| makes_tests(&text));
        found.retain(makes);
        found
    }

    /// A source in Go, or those of a package.
    fn go_sources(&self, path: &Path) -> Vec<PathBuf> {
        let is_own = |file: &&PathBuf| {
            *file == path || (file.parent() == Some(path) && extension_of(file) == "go")
        };
        below(self.files, path).filter(is_own).cloned().collect()
    }

    fn run_by_go(&self, rest: &[&str], stand: &Stand) -> Vec<PathBuf> {
        let words = after_options(rest);
        let named =
            words.iter().take_while(|word| extension_of(Path::new(word)) == "go").count().max(1);
        let paths = words.iter().take(named).filter(|word| !is_open(word));
        let paths = paths.filter_map(|word| inner(self.root, &stand.directory, word));
        let judges = |path: &PathBuf| self.input == PipedInput::TestResults || says_judge(path);
        paths.filter(judges).flat_map(|path| self.go_sources(&path)).collect()
    }
}
