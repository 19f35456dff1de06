//! Directories that only the shell knows: `cd "$ROOT"`, `for part in a b; do (cd $part && …)`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::super::files::{directory_of, inner, name_of};
use super::super::names::is_foreign;
use super::super::shell::{ScriptPart, ShellStep, UNKNOWN, is_open};
use super::{Stand, Tracer};
use crate::glob::Globs;

/// How many directories are looked at where any may be meant.
const PLACES_MAX: usize = 64;

/// How many commands of a loop are followed in each directory that it lists.
const STEPS_MAX: usize = 6;

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

fn as_step(part: &ScriptPart) -> Option<&ShellStep> {
    match part {
        ScriptPart::Step(step) => Some(step),
        ScriptPart::Enter | ScriptPart::Leave => None,
    }
}

fn changes_directory(step: &ShellStep) -> bool {
    step.words.first().is_some_and(|word| ["cd", "pushd", "popd"].contains(&word.as_str()))
}
