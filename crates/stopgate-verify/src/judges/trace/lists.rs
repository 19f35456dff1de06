//! What lists name: files whose lines become arguments, variables or cases of the check, and directories
//! that only the shell knows (`cd "$ROOT"`, `for part in a b; do (cd $part && …)`).

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::super::files::{directory_of, inner, name_of};
use super::super::names::{is_foreign, is_in_judging_place};
use super::super::role::Why;
use super::super::shell::{Joint, OutputFate, ScriptPart, ShellStep, UNKNOWN, is_open};
use super::super::tools::{Trade, is_interpreter, is_shell, mentioned, plain_name, trade_of};
use super::{Rank, Stand, Tracer};
use crate::glob::Globs;

/// How many commands of a loop are looked at.
const LOOP_STEPS_MAX: usize = 6;

/// A comparison of what a file says comes within so many commands.
const COMPARED_WITHIN: usize = 2;

/// How many directories are looked at where any may be meant.
const PLACES_MAX: usize = 64;

/// How many commands of a loop are followed in each directory that it lists.
const STEPS_MAX: usize = 6;

impl Tracer<'_> {
    /// Whether a command is in a program under test, which runs no tests: what it reads is its input.
    fn is_in_work(&self, stand: &Stand) -> bool {
        let runs_nothing = |script: &PathBuf| {
            self.files.text(script).is_some_and(|text| mentioned(&text).is_empty())
        };
        stand.rank == Rank::Command && stand.script.as_ref().is_some_and(runs_nothing)
    }

    /// `xargs pytest < suite.txt`, `pytest $(cat suite.txt)`, `env $(cat x.env) pytest`,
    /// `while read …; done < cases.txt`: what the file says is part of the command.
    pub(super) fn lists(&mut self, step: &ShellStep, following: &[ScriptPart], stand: &Stand) {
        let mut found: Vec<&String> = Vec::new();
        let program = step.words.first().map_or("", String::as_str);
        self.read_scripts(step, following, stand);
        let is_loop = ["done", "read"].contains(&program) && !self.is_in_work(stand);
        if is_loop || ["xargs", "parallel"].contains(&program) {
            found.extend(&step.input);
        }
        if program == "cat" && step.fate == OutputFate::Taken {
            let next = following.iter().find_map(as_step);
            if next.is_some_and(takes_arguments) {
                found.extend(step.words.iter().skip(1).filter(|word| !word.starts_with('-')));
                found.extend(&step.input);
            }
        }
        for path in found.iter().filter_map(|word| self.file(stand, word)).collect::<Vec<_>>() {
            self.judge(path, Why::Named);
        }
        // `for l in $(cat ci/languages)`, `[ "$now" -ge "$(cat ci/in-force)" ]`
        if program == "cat" && step.fate == OutputFate::Taken {
            let named = step.words.iter().skip(1).filter_map(|word| self.file(stand, word));
            let goes_by = |path: &PathBuf| {
                is_in_judging_place(path)
                    || stand.rank == Rank::Judge && self.is_data_of_judge(path, stand)
            };
            let own: Vec<PathBuf> = named.filter(goes_by).collect();
            for path in own {
                self.judge(path, Why::Named);
            }
        }
        // `test "$(app)" = "$(cat want)"`
        let mut next = following.iter().filter_map(as_step).take(COMPARED_WITHIN);
        if program == "cat" && step.fate == OutputFate::Taken && next.any(is_comparison) {
            let words: Vec<&str> = step.words.iter().skip(1).map(String::as_str).collect();
            self.compared_with(&words, stand);
        }
    }
}

/// Whether the command compares texts.
fn is_comparison(step: &ShellStep) -> bool {
    ["test", "[", "[["].contains(&step.words.first().map_or("", String::as_str))
}

impl Tracer<'_> {
    /// `cat check.sh | sh`, `sh < check.sh`: what a shell or an interpreter reads is a script.
    fn read_scripts(&mut self, step: &ShellStep, following: &[ScriptPart], stand: &Stand) {
        let mut found: Vec<&String> = Vec::new();
        if reads_script(step) {
            found.extend(&step.input);
        }
        let program = step.words.first().map_or("", String::as_str);
        let next = following.iter().find_map(as_step);
        let is_piped = step.joint == Joint::Pipe && next.is_some_and(reads_script);
        // `sh -c "$(cat check.sh)"`, `eval "$(cat check.sh)"`
        let is_text = step.fate == OutputFate::Taken && next.is_some_and(runs_text);
        if program == "cat" && (is_piped || is_text) {
            found.extend(step.words.iter().skip(1).filter(|word| !word.starts_with('-')));
        }
        for path in found.iter().filter_map(|word| self.file(stand, word)).collect::<Vec<_>>() {
            self.script_file(path, &[], OutputFate::Shown, stand);
        }
    }
}

/// Whether the command runs what it reads: a shell or an interpreter without a script.
fn reads_script(step: &ShellStep) -> bool {
    let Some((program, rest)) = step.words.split_first() else { return false };
    let name = plain_name(program);
    let is_option = |word: &String| word.starts_with('-') && !word.contains(['c', 'm', 'e', 'n']);
    (is_shell(name) || is_interpreter(name) || ["node", "nodejs"].contains(&name))
        && rest.iter().all(is_option)
}

/// Whether the command runs what another one printed.
fn runs_text(step: &ShellStep) -> bool {
    let words: Vec<&str> = step.words.iter().map(String::as_str).collect();
    let Some((program, rest)) = words.split_first() else { return false };
    let takes = *program == "eval" || is_shell(plain_name(program)) && rest.contains(&"-c");
    takes && rest.last().is_some_and(|word| is_open(word))
}

/// What a loop does with what it lists.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum LoopBody {
    /// It runs it as it is, without arguments.
    Runs,
    /// It compares what a program prints with a file beside it.
    Compares,
    #[default]
    Other,
}

/// What the next commands do with what a loop lists.
pub(super) fn loop_body(following: &[ScriptPart]) -> LoopBody {
    let runs = |step: &ShellStep| match step.words.as_slice() {
        [listed] => is_open(listed),
        [program, listed] => {
            let name = plain_name(program);
            (is_shell(name) || is_interpreter(name)) && is_open(listed)
        }
        _ => false,
    };
    let steps = || following.iter().filter_map(as_step).take(LOOP_STEPS_MAX);
    if steps().any(runs) {
        LoopBody::Runs
    } else if compares(steps()) {
        LoopBody::Compares
    } else {
        LoopBody::Other
    }
}

/// `app < $case | diff - ${case%.in}.out`, `test "$(app $case)" = "$(cat $case.out)"`.
fn compares<'s>(steps: impl Iterator<Item = &'s ShellStep>) -> bool {
    let (mut runs, mut reads) = (false, false);
    for step in steps {
        let words: Vec<&str> = step.words.iter().map(String::as_str).collect();
        let Some((program, rest)) = words.split_first() else { continue };
        let has_open = || rest.iter().any(|word| is_open(word));
        match *program {
            "diff" | "cmp" | "comm" if runs && has_open() => return true,
            "test" | "[" | "[[" if runs && reads => return true,
            "cat" if step.fate == OutputFate::Taken && has_open() => reads = true,
            program if step.fate == OutputFate::Taken => {
                runs |= trade_of(plain_name(program)) != Trade::Plain;
            }
            _ => {}
        }
    }
    false
}

fn as_step(part: &ScriptPart) -> Option<&ShellStep> {
    match part {
        ScriptPart::Step(step) => Some(step),
        ScriptPart::Enter | ScriptPart::Leave => None,
    }
}

/// Whether what is printed before the command becomes its arguments or variables.
fn takes_arguments(step: &ShellStep) -> bool {
    let words: Vec<&str> = step.words.iter().map(String::as_str).collect();
    let is_runner = |word: &&str| trade_of(plain_name(word)) == Trade::Runner || *word == "--test";
    match words.as_slice() {
        ["xargs" | "parallel" | "read", ..] => true,
        [_, rest @ ..] if !rest.iter().any(|word| is_open(word)) => false,
        ["env" | "export", ..] => true,
        [program, inner, ..] if trade_of(&format!("{program}-{inner}")) == Trade::Runner => true,
        words => words.iter().any(is_runner),
    }
}

impl Tracer<'_> {
    /// `cd`: the directory of what follows, and where else it may be.
    pub(super) fn enter(&self, to: &str, stand: &mut Stand) {
        let (bases, rest) = match to.rsplit_once(UNKNOWN) {
            Some((_, rest)) => (unknown_places(stand), rest.trim_start_matches('/')),
            None => (stand.places().cloned().collect(), to),
        };
        let mut found: Vec<PathBuf> = Vec::new();
        for place in bases.iter().filter_map(|base| inner(self.root, base, rest)) {
            if !found.contains(&place) {
                found.push(place);
            }
        }
        let mut found = found.into_iter();
        stand.directory = found.next().unwrap_or_default();
        stand.others = found.collect();
    }

    /// Follows the next commands in each directory of the loop that they are in.
    pub(super) fn listed_places(
        &mut self,
        step: &ShellStep,
        following: &[ScriptPart],
        stand: &Stand,
    ) {
        let words: Vec<&str> = step.words.iter().map(String::as_str).collect();
        match words.as_slice() {
            ["for", _, "in", listed @ ..] => {
                let places = listed.iter().flat_map(|word| self.directories_of(word, stand));
                self.listed = places.take(PLACES_MAX).collect();
            }
            ["cd" | "pushd", to, ..] if is_open(to) => {
                for directory in self.listed.clone() {
                    self.follow_in(directory, following, stand);
                }
            }
            _ => {}
        }
    }

    fn follow_in(&mut self, directory: PathBuf, following: &[ScriptPart], stand: &Stand) {
        let depth = stand.depth + 1;
        let mut own = Stand { directory, others: Vec::new(), depth, ..stand.clone() };
        let steps = following.iter().filter_map(as_step).take(STEPS_MAX);
        for step in steps.take_while(|step| !changes_directory(step)) {
            self.step(step, &mut own);
        }
    }

    /// The directories that a word names, also by a pattern.
    fn directories_of(&self, word: &str, stand: &Stand) -> Vec<PathBuf> {
        let word = word.trim_end_matches('/');
        let path = inner(self.root, &stand.directory, word).filter(|_| !is_open(word));
        let Some(path) = path.filter(|path| !path.as_os_str().is_empty()) else {
            return Vec::new();
        };
        if !word.contains(['*', '?', '[', '{']) {
            return if self.has_below(&path) { vec![path] } else { Vec::new() };
        }
        let Ok(globs) = Globs::new(&[path.to_string_lossy().into_owned()]) else {
            return Vec::new();
        };
        let places: BTreeSet<&Path> =
            self.scanned().flat_map(|path| path.ancestors().skip(1)).collect();
        let fits = |place: &&Path| globs.takes(place.as_os_str().as_encoded_bytes());
        places.into_iter().filter(fits).map(Path::to_path_buf).collect()
    }

    /// The directories of the loop, or every one that has a file of one of these names.
    pub(super) fn places_with(&self, names: &[&str]) -> Vec<PathBuf> {
        if !self.listed.is_empty() {
            return self.listed.clone();
        }
        let has = |path: &&PathBuf| names.contains(&name_of(path)) && !is_foreign(path);
        self.scanned().filter(has).map(|path| directory_of(path)).take(PLACES_MAX).collect()
    }
}

/// `cd "$(dirname "$0")"` leads to the script's own directory, or to one above it.
fn unknown_places(stand: &Stand) -> Vec<PathBuf> {
    let own = stand.script.as_deref().map(directory_of).unwrap_or_default();
    own.ancestors().map(Path::to_path_buf).collect()
}

fn changes_directory(step: &ShellStep) -> bool {
    step.words.first().is_some_and(|word| ["cd", "pushd", "popd"].contains(&word.as_str()))
}
