//! A whole copy of a project to try things on, so that the project itself is never touched.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use signal_hook::SigId;

use super::copier::CopySort;
use super::listing::Deadline;
use super::private_dir::PrivateDir;
use super::{Isolation, PlaceError, PlaceRecipe, arguments, failed, make_copy};

/// A copy of a project with a state directory of its own; both are gone when it is dropped.
#[derive(Debug)]
pub struct ProjectCopy {
    private: PrivateDir,
    interrupts: CopyInterrupts,
}

/// Hears of signals also while no check runs, so that the copy is removed in any case.
#[derive(Debug)]
pub(crate) struct CopyInterrupts {
    asked: Arc<AtomicBool>,
    ids: Vec<SigId>,
}

impl ProjectCopy {
    /// Copies the project at `root`, ignored files included and build outputs left out, into a
    /// private directory below `scratch`; the reason where that can't be done.
    pub fn make(root: &Path, scratch: &Path, within: Duration) -> Result<Self, String> {
        Self::try_make(root, scratch, within).map_err(|error| {
            let cause = std::error::Error::source(&error);
            cause.map_or_else(|| error.to_string(), |cause| format!("{error}: {cause}"))
        })
    }

    fn try_make(root: &Path, scratch: &Path, within: Duration) -> Result<Self, PlaceError> {
        let recipe = PlaceRecipe {
            root,
            scratch,
            restore: &[],
            absent: &[],
            unmade: &[],
            mounts: &[],
            masks: &[],
            isolation: Isolation::None,
        };
        let tree = arguments::usable_root(&recipe)?;
        let recipe = PlaceRecipe { root: &tree, ..recipe };
        let interrupts = CopyInterrupts::listen();
        let private = PrivateDir::make(scratch).map_err(failed(scratch))?;
        let copy = Self { private, interrupts };
        let deadline = Deadline::after(&tree, within);
        make_copy(&recipe, CopySort::Elsewhere, &copy.root(), &deadline)?;
        Ok(copy)
    }

    /// Where the copy is.
    pub fn root(&self) -> PathBuf {
        self.private.path().join("tree")
    }

    /// Whether the program was asked to end since the copy was begun.
    pub fn is_interrupted(&self) -> bool {
        self.interrupts.is_asked()
    }

    /// A state directory for what is tried on it.
    pub fn home(&self) -> PathBuf {
        self.private.path().join("home")
    }
}

impl CopyInterrupts {
    pub(crate) fn listen() -> Self {
        let asked = Arc::new(AtomicBool::new(false));
        let mut ids = Vec::new();
        for signal in stopgate_system::END_SIGNALS {
            ids.extend(signal_hook::flag::register(signal, Arc::clone(&asked)).ok());
        }
        Self { asked, ids }
    }

    /// Whether the program was asked to end since then.
    pub(crate) fn is_asked(&self) -> bool {
        self.asked.load(Ordering::Relaxed)
    }
}

impl Drop for CopyInterrupts {
    fn drop(&mut self) {
        for id in self.ids.drain(..) {
            signal_hook::low_level::unregister(id);
        }
    }
}
