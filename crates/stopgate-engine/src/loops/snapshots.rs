//! Trees of a loop that are kept at each hand-over, and put back into a work tree of their own.

use std::path::{Path, PathBuf};

use serde::Serialize;
use stopgate_core::{LoopId, State};
use stopgate_verify::{GitError, SnapshotStore, TreeSnapshot};

use crate::context::{Context, LoopTarget};
use crate::failure::{Failure, chain};

/// A snapshot in a work tree of its own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RestoredView {
    /// The loop.
    pub id: String,
    /// The snapshot's number.
    pub number: u32,
    /// The commit that has it.
    pub commit: String,
    /// Where it is now.
    pub path: String,
}

/// The snapshots of a loop.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SnapshotsView {
    /// The loop.
    pub id: String,
    /// What is kept, the oldest first.
    pub snapshots: Vec<SnapshotView>,
}

/// One snapshot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SnapshotView {
    /// Its number.
    pub number: u32,
    /// The commit that has it.
    pub commit: String,
}

/// States of the work that are kept, and restored.
pub struct Snapshots<'a> {
    pub(crate) context: &'a mut Context,
}

impl Snapshots<'_> {
    /// Keeps the tree at `root` as it is now, as `refs/stopgate/LOOP/N`: neither branch nor index
    /// are touched.
    pub fn snapshot(&self, id: &LoopId, root: &Path) -> Result<TreeSnapshot, Failure> {
        let message = format!("stopgate: loop {id} at a hand-over");
        self.in_store(id, root, |store| store.keep(&message))
    }

    /// The snapshots of a loop that are kept.
    pub fn snapshots(
        &mut self,
        target: &LoopTarget,
        here: &Path,
    ) -> Result<SnapshotsView, Failure> {
        let state = self.context.resolve(target)?.state;
        let kept = self.in_store(&state.id, &root_of(&state, here), all_kept)?;
        let view = |one: TreeSnapshot| SnapshotView { number: one.number, commit: one.commit };
        Ok(SnapshotsView {
            id: state.id.as_str().into(),
            snapshots: kept.into_iter().map(view).collect(),
        })
    }

    /// Puts a snapshot of a loop into a new work tree; beside the project where nobody says.
    pub fn restore(
        &mut self,
        target: &LoopTarget,
        number: u32,
        to: Option<&Path>,
        here: &Path,
    ) -> Result<RestoredView, Failure> {
        let state = self.context.resolve(target)?.state;
        let (id, root) = (&state.id, root_of(&state, here));
        let kept = self.in_store(id, &root, all_kept)?;
        let Some(snapshot) = kept.iter().find(|one| one.number == number) else {
            return Err(unknown(id, number, &kept));
        };
        let path = to.map_or_else(|| beside(&root, id, number), |to| here.join(to));
        if path.symlink_metadata().is_ok() {
            return Err(Failure::usage(format!("{} exists already", path.display()))
                .hint("name another directory: --to DIR"));
        }
        self.in_store(id, &root, |store| store.restore(snapshot, &path))?;
        Ok(RestoredView {
            id: id.as_str().into(),
            number,
            commit: snapshot.commit.clone(),
            path: path.display().to_string(),
        })
    }

    fn in_store<T>(
        &self,
        id: &LoopId,
        root: &Path,
        act: impl FnOnce(&SnapshotStore<'_>) -> Result<T, GitError>,
    ) -> Result<T, Failure> {
        let scratch = self.context.home.directory().join("snapshots");
        let store = SnapshotStore { root, name: id.as_str(), scratch: &scratch };
        act(&store).map_err(|error| Failure::fault(format!("could not {}", chain(&error))))
    }
}

fn all_kept(store: &SnapshotStore<'_>) -> Result<Vec<TreeSnapshot>, GitError> {
    store.list()
}

/// The project's root, or the directory of the command where the project is gone.
fn root_of(state: &State, here: &Path) -> PathBuf {
    let places = [state.root(), &state.project].map(PathBuf::from);
    places.into_iter().find(|place| place.is_dir()).unwrap_or_else(|| here.into())
}

fn beside(root: &Path, id: &LoopId, number: u32) -> PathBuf {
    let name = root.file_name().map(|name| name.to_string_lossy().into_owned());
    let name = format!("{}-{id}-{number}", name.unwrap_or_else(|| "restored".into()));
    root.parent().unwrap_or(root).join(name)
}

fn unknown(id: &LoopId, number: u32, kept: &[TreeSnapshot]) -> Failure {
    let numbers: Vec<String> = kept.iter().map(|one| one.number.to_string()).collect();
    let hint = if numbers.is_empty() {
        "snapshots are kept of loops that stopgate run drives".to_string()
    } else {
        format!("these are kept: {}", numbers.join(", "))
    };
    Failure::usage(format!("loop {id} has no snapshot {number}")).hint(hint)
}
