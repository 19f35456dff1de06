//! Arguments that name files: tests, settings, and what an output is compared with.

use std::path::{Path, PathBuf};

use super::super::files::{below, directory_of, extension_of, inner, name_of};
use super::super::names::{
    NameSays, directories, is_code, is_foreign, is_in_judging_place, said, says_answer,
    says_reference, words,
};
use super::super::role::{CheckConduct, Why};
use super::super::shell::{Joint, OutputFate, ScriptPart, ShellStep, is_open};
use super::project_programs::PipedInput;
use super::{Rank, Stand, Tracer};

/// Options of runners that say where something is written, not what is read.
const OUTPUTS: [&str; 14] = [
    "-o",
    "--output",
    "--outputFile",
    "--output-file",
    "--junitxml",
    "--junit-xml",
    "--log-file",
    "--report",
    "--reporter-options",
    "--cov",
    "--cov-report",
    "--basetemp",
    "--cache-dir",
    "--resultlog",
];

/// How many commands later an output may be compared.
const STEPS_MAX: usize = 40;

/// How many files of a list of sums are looked at.
const SUMS_MAX: usize = 1_000;

impl Tracer<'_> {
    /// A program that looks at files: what it compares with is a judge, what it looks at is not.
    pub(super) fn looked_at(&mut self, name: &str, rest: &[&str], fate: OutputFate, stand: &Stand) {
        if ["diff", "cmp", "comm"].contains(&name) {
            self.mentions(rest, stand);
            // `app | diff - answers.txt`
            let is_output = rest.iter().any(|word| ["-", "/dev/stdin"].contains(word));
            let is_judge = |path: &PathBuf| {
                said(path).is_some() || says_reference(path) || is_output && says_answer(path)
            };
            let words = rest.iter().filter(|word| !word.starts_with('-'));
            for path in
                words.filter_map(|word| self.file(stand, word)).filter(is_judge).collect::<Vec<_>>()
            {
                self.judge(path, Why::TestData);
            }
        }
        // `sha256sum -c SHA256SUMS`
        let compares_sums = name.ends_with("sum")
            && rest.iter().any(|word| ["-c", "--check"].contains(word) || word.starts_with("-c"));
        if compares_sums {
            let words = rest.iter().filter(|word| !word.starts_with('-'));
            let lists: Vec<PathBuf> = words.filter_map(|word| self.file(stand, word)).collect();
            for path in lists {
                // What should come out changes together with its sums.
                let is_new = self.seen.insert(format!("sums {}", path.display()));
                let text = self.files.text(&path).filter(|_| is_new).unwrap_or_default();
                let listed = text.lines().filter_map(|line| line.split_whitespace().nth(1));
                let listed: Vec<&str> = listed.take(SUMS_MAX).collect();
                self.references(&listed, stand);
                self.judge(path, Why::TestData);
            }
        }
        if name == "jq" {
            self.references(rest, stand);
        }
        if stand.rank == Rank::Judge {
            self.data_of_judge(rest, stand);
        }
        if name == "jq" && fate == OutputFate::Shown {
            self.libraries_of_jq(rest, stand);
        }
        // `grep -f patterns`, `jq -f program`; `awk -f convert.awk data | jq …` is under test.
        let decides = ["grep", "egrep", "fgrep", "rg"].contains(&name)
            || fate == OutputFate::Shown && ["jq", "awk", "gawk", "sed"].contains(&name);
        if let Some(at) = rest.iter().position(|word| names_program(word))
            && decides
            && let Some(path) = rest.get(at + 1).and_then(|word| self.file(stand, word))
        {
            self.judge(path, Why::Named);
        }
    }

    /// Whether a script compares: it reads what another program prints, or is told where that is,
    /// and is told what should come out. `report | python tools/close.py expected.txt`
    pub(super) fn is_given_answers(&self, rest: &[&str], stand: &Stand) -> bool {
        let words = rest.iter().filter(|word| !word.starts_with('-') && !is_open(word));
        let (answers, others): (Vec<_>, Vec<_>) = words.partition(|word| {
            let file = self.file(stand, word);
            file.is_some_and(|path| said(&path) == Some(NameSays::Data) || says_reference(&path))
        });
        let is_output = |word: &&&str| !extension_of(Path::new(word)).is_empty();
        let reads = self.input == PipedInput::Output || others.iter().any(is_output);
        !answers.is_empty() && reads
    }

    /// `python report.py data/sales.csv | diff - expected.txt`: what should come out was written
    /// for this input, and no other.
    pub(super) fn compared_input(&mut self, step: &ShellStep, next: &[ScriptPart], stand: &Stand) {
        let compared = comparison_of(step, next);
        let Some(compared) = compared.filter(|words| self.has_answers(words, stand)) else {
            return;
        };
        // What is compared itself is the output.
        let named = step.words.iter().skip(1);
        let named = named.filter(|word| !word.starts_with('-') && !compared.contains(word));
        let inputs = named.chain(&step.input).filter_map(|word| self.file(stand, word));
        let inputs: Vec<PathBuf> = inputs.filter(|path| is_input(path)).collect();
        for path in inputs {
            self.judge(path, Why::TestData);
        }
    }

    pub(super) fn has_answers(&self, words: &[String], stand: &Stand) -> bool {
        let is_answer = |path: PathBuf| {
            said(&path).is_some() || says_reference(&path) || is_in_judging_place(&path)
        };
        let files = |word: &String| match self.file(stand, word) {
            None if word.contains('*') => self.files_of(stand, word),
            file => file.into_iter().collect(),
        };
        words.iter().flat_map(files).any(is_answer)
    }

    /// Files whose names say that they hold what should come out: `jq .rows ref/totals.json`.
    fn references(&mut self, words: &[&str], stand: &Stand) {
        let found = words.iter().filter_map(|word| self.file(stand, word));
        for path in found.filter(|path| says_reference(path)).collect::<Vec<_>>() {
            self.judge(path, Why::TestData);
        }
    }

    /// `jq -L ci/lib -f ci/valid.jq`: what the program includes.
    fn libraries_of_jq(&mut self, rest: &[&str], stand: &Stand) {
        let places = rest.windows(2).filter(|pair| pair[0] == "-L").map(|pair| pair[1]);
        let found = places.flat_map(|place| self.files_of(stand, place));
        let own: Vec<PathBuf> = found.filter(|path| extension_of(path) == "jq").collect();
        for path in own {
            self.judge(path, Why::Named);
        }
    }

    /// `comm -13 tools/known.txt -`, `jq .limit ci/limits.json`: what a judging script goes by.
    fn data_of_judge(&mut self, rest: &[&str], stand: &Stand) {
        let words = rest.iter().filter(|word| !word.starts_with('-') && word.contains(['.', '/']));
        let files = words.filter_map(|word| self.file(stand, word));
        for path in files.collect::<Vec<_>>() {
            if self.is_data_of_judge(&path, stand) {
                self.judge(path, Why::UsedByScript);
            } else {
                self.trace.lists.insert(path);
            }
        }
    }

    /// Files with which a text is compared, as their names say: of others it is not known which of
    /// the two is the output.
    pub(super) fn compared_with(&mut self, words: &[&str], stand: &Stand) {
        let words = words.iter().filter(|word| !word.starts_with('-'));
        let is_judge = |path: &PathBuf| said(path).is_some() || says_reference(path);
        let found: Vec<PathBuf> =
            words.filter_map(|word| self.file(stand, word)).filter(is_judge).collect();
        for path in found {
            self.judge(path, Why::TestData);
        }
    }

    /// Cases that a loop lists, and what lies beside each with the same name: inputs and outputs.
    pub(super) fn compared_cases(&mut self, words: &[&str], stand: &Stand) {
        let cases: Vec<PathBuf> =
            words.iter().flat_map(|word| self.files_of(stand, word)).collect();
        let is_case = |path: &&PathBuf| !is_code(extension_of(path)) && !is_foreign(path);
        let stem = |path: &PathBuf| path.with_extension("");
        if let Some(script) = stand.script.clone().filter(|_| cases.iter().any(|own| is_case(&own)))
        {
            self.judge(script, Why::Script);
        }
        for case in cases.iter().filter(is_case) {
            let directory = directory_of(case);
            let beside = below(self.files, &directory).filter(|path| stem(path) == stem(case));
            let beside: Vec<PathBuf> = beside.filter(is_case).cloned().collect();
            for path in beside {
                self.trace.conduct = CheckConduct::Tests;
                self.judge(path, Why::TestData);
            }
        }
    }

    /// Arguments of a test runner: files are tests or settings.
    pub(super) fn runner_arguments(&mut self, name: &str, rest: &[&str], stand: &Stand) {
        if ["pytest", "py.test", "nose2", "nosetests", "behave"].contains(&name) {
            self.trace.import_roots.insert(stand.directory.clone());
        }
        if name == "prove" {
            let is_named = rest.iter().any(|word| !word.starts_with('-'));
            self.places_of_prove(if is_named { rest } else { &["t"] }, stand);
        }
        self.settings(rest, stand);
        let runs_examples = rest.iter().any(|word| word.starts_with("--doctest-"));
        if runs_examples {
            self.tool("doctest");
        }
        if name == "unittest"
            && let Some(at) = rest.iter().position(|word| *word == "-p")
        {
            self.trace.test_patterns.extend(rest.get(at + 1).map(ToString::to_string));
        }
        let mut previous = "";
        for word in rest {
            let is_value = previous.starts_with('-') && previous.len() > 1 && takes_file(previous);
            previous = word;
            if word.starts_with('-') || is_value || is_open(word) {
                continue;
            }
            // `pytest @suite.txt`
            if let Some(path) = word.strip_prefix('@').and_then(|own| self.file(stand, own)) {
                self.judge(path, Why::Named);
            }
            let file = word.split("::").next().unwrap_or(word);
            if name == "unittest" {
                self.unittest_module(file, stand);
            }
            // Source that is named for its examples is work.
            let is_test = |path: &PathBuf| !runs_examples || said(path).is_some();
            for path in self.files_of(stand, file).into_iter().filter(is_test) {
                self.named_test(path, stand, file);
            }
        }
    }

    /// Helpers and data of Perl's tests are where the tests are.
    pub(super) fn places_of_prove(&mut self, words: &[&str], stand: &Stand) {
        let named = words.iter().filter(|word| !word.starts_with('-') && !is_open(word));
        let named = named.filter_map(|word| inner(self.root, &stand.directory, word));
        // `t/*.t`, or the directory itself.
        let places = named.filter_map(|path| match extension_of(&path) {
            "t" => path.parent().map(Path::to_path_buf),
            "" => Some(path),
            _ => None,
        });
        let inner = places.filter(|place| !place.as_os_str().is_empty());
        self.trace.test_patterns.extend(inner.map(|place| format!("{}/**", place.display())));
    }

    fn named_test(&mut self, path: PathBuf, stand: &Stand, word: &str) {
        let is_named = inner(self.root, &stand.directory, word).as_deref() == Some(&path);
        let is_pattern = word.contains(['*', '?', '{']);
        // A directory is searched for names that say so; a file is named on purpose.
        if (is_named || is_pattern) && is_code(extension_of(&path)) {
            self.judge(path, Why::Named);
        }
    }

    /// Files that options name: settings, plugins, files that are loaded first.
    pub(super) fn settings(&mut self, rest: &[&str], stand: &Stand) {
        for (at, word) in rest.iter().enumerate().filter(|(_, word)| word.starts_with('-')) {
            let (option, value) = match word.split_once('=') {
                Some((option, value)) => (option, Some(value)),
                None => (*word, rest.get(at + 1).copied()),
            };
            if let Some(value) = value.filter(|value| !value.starts_with('-')) {
                self.setting(option, value, stand);
            }
        }
    }

    fn setting(&mut self, option: &str, value: &str, stand: &Stand) {
        const MANIFESTS: [&str; 6] =
            ["Cargo.toml", "package.json", "pyproject.toml", "setup.cfg", "tox.ini", "go.mod"];
        if OUTPUTS.contains(&option) {
            return;
        }
        if names_tests(option) {
            self.trace.test_patterns.insert(value.trim_matches(['"', '\'']).into());
            return;
        }
        if option == "-p" {
            self.plugin(value, stand);
        }
        let path = self.file(stand, value).filter(|_| takes_file(option));
        let path = path.filter(|path| !MANIFESTS.contains(&name_of(path)));
        if let Some(path) = path.filter(|path| self.files.paths().contains(path)) {
            self.load(path, stand);
        }
    }
}

/// The comparison that takes what a command prints: at the end of its pipe, or further on where a
/// file takes it, or where the command was told the file that is compared.
fn comparison_of<'p>(step: &ShellStep, next: &'p [ScriptPart]) -> Option<&'p [String]> {
    let steps = next.iter().map_while(|part| match part {
        ScriptPart::Step(step) => Some(step),
        ScriptPart::Enter | ScriptPart::Leave => None,
    });
    let mut is_piped = step.joint == Joint::Pipe;
    let is_taken = step.fate == OutputFate::Taken;
    for later in steps.take(STEPS_MAX) {
        let is_told =
            || later.words.iter().any(|word| is_output(word) && step.words.contains(word));
        let compares = matches!(later.words.first().map(String::as_str), Some("diff" | "cmp"));
        if compares && (is_piped || is_taken || is_told()) {
            return Some(&later.words);
        }
        is_piped = is_piped && later.joint == Joint::Pipe;
    }
    None
}

/// Whether a word names a file.
fn is_output(word: &str) -> bool {
    !word.starts_with('-') && !extension_of(Path::new(word)).is_empty()
}

/// Whether an option is followed by a file with patterns or a program: `-f`, also among others.
fn names_program(word: &str) -> bool {
    let is_short = word.len() > 1 && !word.starts_with("--");
    let letters = word.strip_prefix('-').filter(|_| is_short);
    ["--file", "--from-file"].contains(&word)
        || letters.is_some_and(|own| {
            own.ends_with('f') && own.bytes().all(|byte| byte.is_ascii_lowercase())
        })
}

/// Whether a file holds rows or lines that a program is fed with: a table, or a text whose name or
/// directory says so.
pub(super) fn is_input(path: &Path) -> bool {
    const WORDS: [&str; 8] =
        ["data", "input", "inputs", "in", "sample", "samples", "case", "cases"];
    let says = |part: &str| words(part).iter().any(|word| WORDS.contains(&word.as_str()));
    match extension_of(path) {
        "csv" | "tsv" | "jsonl" | "ndjson" | "in" => !is_foreign(path),
        "txt" | "log" | "dat" => {
            !is_foreign(path) && (says(name_of(path)) || directories(path).any(says))
        }
        _ => false,
    }
}

/// Options that say which tests are meant, not which file is read.
fn names_tests(option: &str) -> bool {
    [
        "-k",
        "--pattern",
        "-t",
        "--testNamePattern",
        "--testMatch",
        "--testPathPattern",
        "--grep",
        "-g",
        "--doctest-glob",
    ]
    .contains(&option)
}

/// Options of runners and linters whose value is a file that decides.
fn takes_file(option: &str) -> bool {
    const NAMES: [&str; 37] = [
        "--test-reporter",
        "-c",
        "--config",
        "--config-file",
        "--configuration",
        "--conf",
        "--rcfile",
        "--rc",
        "--settings",
        "-r",
        "--require",
        "--import",
        "--file",
        "--setup",
        "--setupFilesAfterEnv",
        "--preload",
        "--loader",
        "--project",
        "-p",
        "-f",
        "--rules",
        "--rulesdir",
        "--opts",
        "--bootstrap",
        "--env-file",
        "--baseline",
        "--config-path",
        "--manifest-path",
        "--ignore-path",
        "--reporter",
        "--globalSetup",
        "-W",
        "-s",
        "-t",
        "--cov-config",
        "-k",
        "-m",
    ];
    NAMES.contains(&option)
}
