//! A copy of the tree as it was when the loop began, for first runs of checks that `start` does not
//! wait for: what happens in the tree meanwhile is not seen there.

use std::path::PathBuf;
use std::time::Duration;

use stopgate_core::{Receipt, Timestamp};

use super::apart::{argv_of, directory_of, story};
use super::round::{CommandRun, Round, tree_of};
use super::standing::{BasisFound, find_basis};
use super::{Freshness, ProofRequest, reading};
use crate::env::Variable;
use crate::place::{CopyInterrupts, Isolation, Launch, PlaceKind, PlaceRecipe, RunPlace, probe};

/// A person waits for the copy.
const COPY_WITHIN: Duration = Duration::from_mins(1);

/// A copy of a tree as it was at the start, gone when dropped.
#[derive(Debug)]
pub struct StartCopy {
    place: RunPlace,
    interrupts: CopyInterrupts,
}

impl StartCopy {
    /// Copies the tree, which must still be the one with this fingerprint; the reason where that
    /// can't be done.
    pub fn make(request: &ProofRequest<'_>, tree: &str) -> Result<Self, String> {
        if !request.ground.roots.is_empty() {
            return Err("the checks depend on directories outside the project".into());
        }
        let scratch = request.place.copies();
        let recipe = PlaceRecipe {
            root: request.root,
            scratch: &scratch,
            restore: &[],
            absent: &[],
            unmade: &[],
            mounts: &[],
            masks: &[],
            isolation: Isolation::None,
        };
        let interrupts = CopyInterrupts::listen();
        let place = open(&recipe, request.only_place)?;
        // What was written to the tree meanwhile may be in half of the copy.
        match tree_of(request, &[]) {
            Some(now) if now.hash() == tree => Ok(Self { place, interrupts }),
            Some(_) => Err("files changed while they were copied".into()),
            None => Err("the files can't be told apart".into()),
        }
    }

    /// Runs the criteria's commands in the copy, one receipt each; nothing where the program was
    /// asked to end meanwhile, where the copy can't be entered, or without a basis.
    pub fn run(
        &self,
        request: &ProofRequest<'_>,
        now: &dyn Fn() -> Timestamp,
    ) -> Option<Vec<Receipt>> {
        if self.interrupts.is_asked() {
            return None;
        }
        let BasisFound::Sound(basis) = find_basis(request) else { return None };
        let inside = |(name, value): Variable| (name, self.place.translate(&value));
        let noted: Vec<Variable> = basis.variables().into_iter().map(inside).collect();
        let launch = |criterion| {
            self.place.command(argv_of(criterion), &directory_of(criterion, request.root))
        };
        let launches: Vec<Launch> = request.criteria.iter().map(launch).collect();
        let commands: Vec<CommandRun<'_>> = request
            .criteria
            .iter()
            .zip(&launches)
            .map(|(criterion, launch)| CommandRun {
                criterion,
                launch: Some(launch),
                noted: Some(&noted),
            })
            .collect();
        let round = Round::new(request, Some(&basis), Freshness::Fresh, request.budget);
        let runs = round.run(&commands, "", now)?;
        if !self.place.entered() {
            return None;
        }
        let root: PathBuf = self.place.root().into();
        let pairs = request.criteria.iter().zip(runs);
        Some(pairs.map(|(criterion, run)| reading::read(criterion, run, &root)).collect())
    }
}

/// Opens the best kind of copy. An overlay is none: it shows what is written to the tree later.
fn open(recipe: &PlaceRecipe<'_>, only: Option<&str>) -> Result<RunPlace, String> {
    let is_elsewhere = only == Some(PlaceKind::Copy.word())
        || probe(recipe.root, recipe.scratch, recipe.isolation).kind == PlaceKind::Copy;
    if !is_elsewhere && let Ok(place) = RunPlace::open(recipe, PlaceKind::BoundCopy, COPY_WITHIN) {
        return Ok(place);
    }
    // Without build outputs it may be small enough.
    RunPlace::open(recipe, PlaceKind::Copy, COPY_WITHIN).map_err(|error| story(&error))
}

#[cfg(test)]
mod tests {
    use super::super::scene::Scene;
    use super::*;

    #[test]
    fn the_copy_is_elsewhere_where_a_test_asks_for_it() {
        let scene = Scene::new("sh tests/run.sh", &[("tests/run.sh", "exit 0\n")]);
        let (request, scratch) = (scene.request(), scene.request().place.copies());
        let recipe = PlaceRecipe {
            root: request.root,
            scratch: &scratch,
            restore: &[],
            absent: &[],
            unmade: &[],
            mounts: &[],
            masks: &[],
            isolation: Isolation::None,
        };
        let place = open(&recipe, Some(PlaceKind::Copy.word())).expect("a copy");
        assert_ne!(place.root(), request.root);
    }
}
