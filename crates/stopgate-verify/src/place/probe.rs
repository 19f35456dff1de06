//! Finds out which kinds of places this machine can make, by making one of each.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::namespace::{Namespace, line};
use super::private_dir::PrivateDir;
use super::{
    FileContent, Isolation, PathChange, PlaceError, PlaceKind, PlaceRecipe, RestoredFile, RunPlace,
};
use crate::tool::tool;

/// How long each kind may take.
const TRIAL_TIME: Duration = Duration::from_secs(3);
/// A name that no tree has.
const NAME: &str = ".stopgate-place-trial";
/// Reads what was restored, misses what is absent, and writes.
const SCRIPT: &str = "test -f \"$1\" && test ! -e \"$2\" && echo written >\"$1\"";

/// The best kind of place for a tree, and why it is not a better one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PlaceProbe {
    /// The best kind that works.
    pub(crate) kind: PlaceKind,
    /// Why the better ones don't, in a sentence each.
    pub(crate) missing: Vec<String>,
}

/// Tries each kind on the tree's own path, without writing to the tree.
pub(crate) fn probe(root: &Path, scratch: &Path, isolation: Isolation) -> PlaceProbe {
    probe_in(root, scratch, isolation, Namespace::find())
}

pub(super) fn probe_in(
    root: &Path,
    scratch: &Path,
    isolation: Isolation,
    namespace: Result<Namespace, PlaceError>,
) -> PlaceProbe {
    let mut missing = Vec::new();
    let namespace = match namespace {
        Ok(namespace) => namespace,
        Err(error) => {
            missing.push(format!("No overlay and no bound copy: {}.", reason(&error)));
            return PlaceProbe { kind: PlaceKind::Copy, missing };
        }
    };
    let recipe = trial_recipe(root, scratch, isolation);
    match try_overlay(&recipe, namespace.clone()) {
        Ok(()) => return PlaceProbe { kind: PlaceKind::Overlay, missing },
        Err(why) => missing.push(format!("No overlay: {why}.")),
    }
    match try_bind(&recipe, namespace) {
        Ok(()) => PlaceProbe { kind: PlaceKind::BoundCopy, missing },
        Err(why) => {
            missing.push(format!("No bound copy: {why}."));
            PlaceProbe { kind: PlaceKind::Copy, missing }
        }
    }
}

fn trial_recipe<'a>(root: &'a Path, scratch: &'a Path, isolation: Isolation) -> PlaceRecipe<'a> {
    PlaceRecipe {
        root,
        scratch,
        restore: &[],
        absent: &[],
        unmade: &[],
        mounts: &[],
        masks: &[],
        isolation,
    }
}

/// An overlay costs nothing, so the real one is tried.
fn try_overlay(recipe: &PlaceRecipe<'_>, namespace: Namespace) -> Result<(), String> {
    let content = FileContent::File { bytes: b"restored".to_vec(), executable: false };
    let restore = [RestoredFile { path: NAME.into(), content }];
    let absent: Vec<PathBuf> = some_name(recipe.root).into_iter().collect();
    let recipe = PlaceRecipe { restore: &restore, absent: &absent, ..*recipe };
    let place = RunPlace::open_in(&recipe, PlaceKind::Overlay, Some(namespace), TRIAL_TIME);
    let place = place.map_err(|error| reason(&error))?;
    let gone = absent.first().map_or("/nonexistent", |name| name.to_str().unwrap_or("/none"));
    run(&place, gone)?;
    let written = place.written().map_err(|error| error.to_string())?;
    let arrived = written.iter().any(|path| path.change == PathChange::Changed);
    arrived.then_some(()).ok_or_else(|| "what was written did not arrive in the layer".into())
}

/// A copy may be large, so a tiny one is bound to the tree's path.
fn try_bind(recipe: &PlaceRecipe<'_>, namespace: Namespace) -> Result<(), String> {
    let tiny = PrivateDir::make(recipe.scratch).map_err(|error| error.to_string())?;
    let from = tiny.path().join("tiny");
    fs::create_dir(&from).map_err(|error| error.to_string())?;
    fs::write(from.join(NAME), "restored").map_err(|error| error.to_string())?;
    let place = RunPlace::stand_in(recipe, &from, namespace).map_err(|error| reason(&error))?;
    run(&place, "/nonexistent")?;
    match fs::read(from.join(NAME)) {
        Ok(text) if text == b"written\n" => Ok(()),
        Ok(_) | Err(_) => Err("what was written did not arrive in the copy".into()),
    }
}

fn run(place: &RunPlace, gone: &str) -> Result<(), String> {
    let argv = ["/bin/sh", "-c", SCRIPT, "sh", NAME, gone].map(OsString::from).to_vec();
    let launch = place.command(argv, place.root());
    let ran = tool(&launch.argv, &launch.cwd, TRIAL_TIME).map_err(|error| error.to_string())?;
    match (ran.is_fine(), place.entered()) {
        (true, true) => Ok(()),
        (false, true) => Err("files in it are not as they should be".into()),
        (_, false) => Err(line(&ran.stderr)),
    }
}

/// Something of the tree that the trial can do without, with a plain name.
fn some_name(root: &Path) -> Option<PathBuf> {
    let names = fs::read_dir(root).ok()?.flatten().map(|entry| entry.file_name());
    let is_plain = |name: &OsString| name.to_str().is_some_and(|name| name != ".git");
    names.into_iter().find(is_plain).map(PathBuf::from)
}

/// An error and its causes, as part of a sentence.
fn reason(error: &PlaceError) -> String {
    match error {
        PlaceError::Unsupported(why) => why.clone(),
        PlaceError::Io { source, .. } => format!("could not {error}: {source}"),
        PlaceError::Unusable { .. } | PlaceError::TooLarge { .. } | PlaceError::TooSlow { .. } => {
            format!("could not {error}")
        }
    }
}
