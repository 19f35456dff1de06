//! What a check's command leads to: tools, scripts, package scripts, make targets, named tests.
//!
//! Nothing is run. Files are read only where the command leads to them.

mod arguments;
mod does;
mod examples;
mod exceptions;
mod git;
mod goes_by;
mod interpreters;
mod just_reach;
mod linked_programs;
mod lists;
mod make_reach;
mod makefiles;
mod node;
mod own_settings;
mod preparing;
mod programs;
mod project_programs;
mod scripts;
mod stamps;
mod watched;
mod within;

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use stopgate_core::{Criterion, ProofCommand};

use super::files::{ProjectFiles, below, inner};
use super::names::{purpose_says_judge, said};
use super::role::{CheckConduct, Why};
use super::shell::{OutputFate, ScriptPart, ShellScript, ShellStep, assignment, is_open};
use super::tools::{Trade, trade_of};
use crate::glob::Globs;

pub(super) use self::just_reach::JUSTFILES;
pub(super) use self::make_reach::MAKEFILES;
pub(super) use self::scripts::is_of_tools;

/// Commands within commands are followed this far.
const DEPTH_MAX: usize = 12;

/// How often all paths of the project are looked through for one that fits.
const SCANS_MAX: usize = 100;

/// How many commands are followed in all.
const STEPS_MAX: usize = 4_000;

impl Stand {
    /// The stand of commands that have a name of their own: a package script, a target, a recipe.
    fn named(&self, name: &str, directory: &Path, commands: usize) -> Self {
        let rank = match self.rank {
            Rank::Sole | Rank::Command if !purpose_says_judge(name) => Rank::Command,
            Rank::Sole | Rank::Command if commands == 1 => Rank::Sole,
            Rank::Judge | Rank::Sole | Rank::Command => Rank::Judge,
        };
        let depth = self.depth + 1;
        Self { directory: directory.into(), others: Vec::new(), script: None, rank, depth }
    }

    /// Every directory that it may be in, the likeliest first.
    fn places(&self) -> impl Iterator<Item = &PathBuf> {
        std::iter::once(&self.directory).chain(&self.others)
    }
}

/// What a command leads to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct CommandTrace {
    /// Tools that it uses, also through scripts.
    pub(super) tools: BTreeSet<String>,
    /// Programs by name, as they are looked for on the path.
    pub(super) programs: BTreeSet<String>,
    /// Variables of the environment that the command and what judges expand.
    pub(super) variables: BTreeSet<String>,
    pub(super) conduct: CheckConduct,
    /// Files that decide as a whole.
    pub(super) judges: BTreeMap<PathBuf, Why>,
    /// Programs under test.
    pub(super) work: BTreeSet<PathBuf>,
    /// Scripts of the package in each directory that are reached.
    pub(super) packages: BTreeMap<PathBuf, BTreeSet<String>>,
    /// Targets and variables of each makefile that are reached.
    pub(super) makefiles: BTreeMap<PathBuf, BTreeSet<String>>,
    /// Recipes and variables of each justfile that are reached.
    pub(super) justfiles: BTreeMap<PathBuf, BTreeSet<String>>,
    /// Directories from which Python imports.
    pub(super) import_roots: BTreeSet<PathBuf>,
    /// Directories of the project that scripts put on the path.
    pub(super) path_directories: BTreeSet<PathBuf>,
    /// Targets that make would skip if a file had their name.
    pub(super) file_like_targets: BTreeSet<PathBuf>,
    /// Patterns of test files, beyond the usual names.
    pub(super) test_patterns: BTreeSet<String>,
    /// Files by which the check knows that it need not run.
    pub(super) stamps: BTreeSet<PathBuf>,
    /// Pages whose examples judging scripts try out, and the languages of those.
    pub(super) pages: BTreeMap<PathBuf, BTreeSet<String>>,
    /// Patterns and directories by which it finds what it reads.
    pub(super) watched: BTreeSet<String>,
    /// Files that a judging script reads and that may list what it looks at.
    pub(super) lists: BTreeSet<PathBuf>,
    /// Files of the project that make would make.
    pub(super) made: BTreeSet<PathBuf>,
    /// Whether git is to say that files are as they were committed.
    pub(super) compares_by_git: bool,
}

/// Where a command stands.
#[derive(Clone, Debug)]
struct Stand {
    /// The directory, from the project's root; `None` outside.
    directory: PathBuf,
    /// Where else it may be, where only the shell knows: behind `cd "$ROOT"`.
    others: Vec<PathBuf>,
    /// The script that has it, where one does.
    script: Option<PathBuf>,
    /// Whether what has it is a judge.
    rank: Rank,
    depth: usize,
}

/// What is known about the text that a command is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rank {
    /// The criterion's whole command, and the criterion's name says that it checks.
    Sole,
    /// The criterion's command, or something that it leads to.
    Command,
    /// A script that judges.
    Judge,
}

struct Tracer<'a> {
    root: &'a Path,
    files: &'a dyn ProjectFiles,
    trace: CommandTrace,
    seen: BTreeSet<String>,
    steps: usize,
    functions: BTreeSet<String>,
    unknown: BTreeSet<String>,
    /// The criterion's name says that it checks something.
    says_judge: bool,
    /// What the loop that begins does with what it lists.
    loop_body: lists::LoopBody,
    /// Directories that the loop lists.
    listed: Vec<PathBuf>,
    input: project_programs::PipedInput,
    /// How often all paths of the project were looked through.
    scans: Cell<usize>,
    /// How many files were searched for a name.
    reads: Cell<usize>,
}

/// What the criterion's command leads to; nothing where it has none.
pub(super) fn trace(root: &Path, criterion: &Criterion, files: &dyn ProjectFiles) -> CommandTrace {
    let mut tracer = Tracer {
        root,
        files,
        trace: CommandTrace::default(),
        seen: BTreeSet::new(),
        steps: 0,
        functions: BTreeSet::new(),
        unknown: BTreeSet::new(),
        says_judge: purpose_says_judge(&criterion.name),
        loop_body: lists::LoopBody::Other,
        listed: Vec::new(),
        input: project_programs::PipedInput::Other,
        scans: Cell::new(0),
        reads: Cell::new(0),
    };
    let directory = criterion.terms.cwd.as_deref().and_then(|cwd| inner(root, Path::new(""), cwd));
    let mut stand = Stand {
        directory: directory.unwrap_or_default(),
        others: Vec::new(),
        script: None,
        rank: Rank::Command,
        depth: 0,
    };
    for (name, value) in &criterion.terms.set {
        tracer.variable(&stand, name, value);
    }
    let says = tracer.says_judge;
    match criterion.proof.command() {
        Some(ProofCommand::Shell(command)) => {
            tracer.trace.variables.extend(expanded(command));
            let script = ShellScript::parse(command);
            if says && preparing::has_sole_judge(&script) {
                stand.rank = Rank::Sole;
            }
            tracer.script(&script, &stand);
        }
        Some(ProofCommand::Argv(argv)) => {
            if says {
                stand.rank = Rank::Sole;
            }
            let words: Vec<&str> = argv.iter().map(String::as_str).collect();
            tracer.words(&words, OutputFate::Shown, &stand);
        }
        None => {}
    }
    tracer.finish()
}

/// Names in `$NAME`, `${NAME}` and `${NAME:-…}`, as variables of the environment are called.
fn expanded(text: &str) -> impl Iterator<Item = String> {
    let is_letter = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    text.split('$').skip(1).filter_map(move |rest| {
        let rest = rest.strip_prefix('{').unwrap_or(rest);
        let name = &rest[..rest.find(|letter| !is_letter(letter)).unwrap_or(rest.len())];
        let is_name =
            name.len() > 1 && name.starts_with(|letter: char| letter.is_ascii_uppercase());
        is_name.then(|| name.to_string())
    })
}

impl Tracer<'_> {
    fn finish(mut self) -> CommandTrace {
        let trace = &mut self.trace;
        let is_known = |tool: &String| matches!(trade_of(tool), Trade::Runner | Trade::Linter);
        let unknown = self.unknown.difference(&self.functions).next().is_some();
        if unknown && !trace.tools.iter().any(is_known) {
            trace.conduct = CheckConduct::Unknown;
        } else if trace.tools.iter().any(|tool| trade_of(tool) == Trade::Runner) {
            trace.conduct = CheckConduct::Tests;
        }
        let judges: Vec<PathBuf> = trace.judges.keys().cloned().collect();
        trace.work.retain(|path| !judges.contains(path));
        self.trace
    }

    /// Follows the commands of a text, with the directory that each runs in.
    fn script(&mut self, script: &ShellScript, stand: &Stand) {
        self.functions.extend(script.functions.iter().cloned());
        let mut stands = vec![stand.clone()];
        for (at, part) in script.parts.iter().enumerate() {
            let Some(mut own) = stands.last().cloned() else { return };
            match part {
                ScriptPart::Enter => stands.push(own),
                ScriptPart::Leave if stands.len() > 1 => drop(stands.pop()),
                ScriptPart::Leave => {}
                ScriptPart::Step(step) => {
                    let following = &script.parts[at + 1..];
                    self.lists(step, following, &own);
                    self.loop_body = lists::loop_body(following);
                    self.input = project_programs::PipedInput::of(&script.parts[..at]);
                    self.listed_places(step, following, &own);
                    watched::watch_lists(self, step, following, &own);
                    self.compared_input(step, following, &own);
                    self.step(step, &mut own);
                    stands.pop();
                    stands.push(own);
                }
            }
        }
    }

    fn text(&mut self, text: &str, stand: &Stand) {
        if stand.depth < DEPTH_MAX {
            if stand.rank != Rank::Command {
                self.trace.variables.extend(expanded(text));
            }
            let deeper = Stand { depth: stand.depth + 1, ..stand.clone() };
            self.script(&ShellScript::parse(text), &deeper);
        }
    }

    fn step(&mut self, step: &ShellStep, stand: &mut Stand) {
        for (name, value) in &step.assigned {
            self.variable(stand, name, value);
        }
        let words: Vec<&str> = step.words.iter().map(String::as_str).collect();
        if words == ["done"] {
            return;
        }
        if words.first() == Some(&"export") {
            for (name, value) in words.iter().filter_map(|word| assignment(word)) {
                self.variable(stand, name, value);
            }
        }
        if let ["cd" | "pushd", to, ..] = words.as_slice() {
            return self.enter(to, stand);
        }
        if let (Rank::Judge, Some(input)) = (stand.rank, &step.input) {
            exceptions::data_in_judging_places(self, &[input.as_str()], stand);
        }
        self.words(&words, step.fate, stand);
    }

    fn variable(&mut self, stand: &Stand, name: &str, value: &str) {
        match name {
            "PYTHONPATH" => {
                for part in value.split(':').filter(|part| !is_open(part)) {
                    self.trace.import_roots.extend(inner(self.root, &stand.directory, part));
                }
            }
            "PATH" => {
                // Of `$PWD/tools` only the end is known.
                let known = |part: &str| match part.rsplit_once(super::shell::UNKNOWN) {
                    Some((_, end)) => end.trim_start_matches('/').to_string(),
                    None => part.to_string(),
                };
                let parts = value.split(':').map(known).filter(|part| !part.is_empty());
                let places = parts.filter_map(|part| inner(self.root, &stand.directory, &part));
                self.trace.path_directories.extend(places);
            }
            "PYTEST_ADDOPTS" => {
                let words: Vec<&str> = value.split_whitespace().collect();
                self.runner_arguments("pytest", &words, stand);
            }
            _ => {}
        }
    }

    /// Follows one program and its arguments.
    fn words(&mut self, words: &[&str], fate: OutputFate, stand: &Stand) {
        self.steps += 1;
        let Some((program, arguments)) = words.split_first() else { return };
        if stand.depth > DEPTH_MAX || self.steps > STEPS_MAX {
            return;
        }
        let deeper = Stand { depth: stand.depth + 1, ..stand.clone() };
        if stand.rank == Rank::Judge {
            exceptions::listed_exceptions(self, arguments, stand);
            exceptions::data_in_judging_places(self, arguments, stand);
            if *program == "cat" {
                exceptions::optional_files(self, arguments, stand);
            }
        }
        self.program(program, arguments, fate, &deeper);
    }

    /// A word that names a test or its data says that tests decide.
    fn mentions(&mut self, words: &[&str], stand: &Stand) {
        for word in words.iter().filter(|word| !word.starts_with('-') && !is_open(word)) {
            let path = word.split("::").next().unwrap_or(word);
            let found = inner(self.root, &stand.directory, path);
            let Some(path) = found.filter(|path| !path.as_os_str().is_empty()) else { continue };
            let is_test = said(&path).is_some() && self.files.paths().contains(&path);
            let is_place = said(&path.join("x")).is_some() && self.has_below(&path);
            if is_test || is_place {
                self.trace.conduct = CheckConduct::Tests;
            }
        }
    }

    fn has_below(&self, directory: &Path) -> bool {
        below(self.files, directory).next().is_some()
    }

    /// The file of the project that a word names, where there is one.
    fn file(&self, stand: &Stand, word: &str) -> Option<PathBuf> {
        if is_open(word) {
            return self.open_file(stand, word);
        }
        let is_file =
            |path: &PathBuf| self.files.paths().contains(path) || self.files.text(path).is_some();
        let mut found = stand.places().filter_map(|place| inner(self.root, place, word));
        found.find(is_file)
    }

    /// The file that a word names whose beginning only the shell knows: `$DIR/lib.sh`.
    fn open_file(&self, stand: &Stand, word: &str) -> Option<PathBuf> {
        let known = word.rsplit(super::shell::UNKNOWN).next()?.trim_start_matches('/');
        if known.is_empty() {
            return None;
        }
        let own = stand.script.as_deref().map(super::files::directory_of);
        let places = [own, Some(stand.directory.clone()), Some(PathBuf::new())];
        let found = places
            .into_iter()
            .flatten()
            .filter_map(|place| inner(self.root, &place, known))
            .find(|path| self.files.paths().contains(path));
        found.or_else(|| {
            let mut fitting = self.scanned().filter(|path| path.ends_with(known));
            fitting.next().filter(|_| fitting.next().is_none()).cloned()
        })
    }

    /// Every path of the project, as long as that was not asked for too often.
    fn scanned(&self) -> impl Iterator<Item = &PathBuf> {
        self.scans.set(self.scans.get() + 1);
        let is_allowed = self.scans.get() <= SCANS_MAX;
        self.files.paths().iter().take_while(move |_| is_allowed)
    }

    /// Files that a word names, also by a pattern or as a directory.
    fn files_of(&self, stand: &Stand, word: &str) -> Vec<PathBuf> {
        if is_open(word) {
            return self.open_file(stand, word).into_iter().collect();
        }
        let found = stand.places().map(|place| self.files_at(place, word));
        found.into_iter().find(|found| !found.is_empty()).unwrap_or_default()
    }

    /// The same, as seen from one directory.
    fn files_at(&self, directory: &Path, word: &str) -> Vec<PathBuf> {
        let Some(path) = inner(self.root, directory, word) else { return Vec::new() };
        if word.contains(['*', '?', '[', '{']) {
            let pattern = path.to_string_lossy().into_owned();
            let Ok(globs) = Globs::new(&[pattern]) else { return Vec::new() };
            let fits = |path: &&PathBuf| globs.takes(path.as_os_str().as_encoded_bytes());
            return self.scanned().filter(fits).cloned().collect();
        }
        if self.files.paths().contains(&path) {
            return vec![path];
        }
        if path.as_os_str().is_empty() {
            return Vec::new();
        }
        below(self.files, &path).cloned().collect()
    }

    fn tool(&mut self, name: &str) {
        self.trace.tools.insert(name.into());
    }

    fn judge(&mut self, path: PathBuf, why: Why) {
        self.trace.judges.entry(path).or_insert(why);
    }
}
