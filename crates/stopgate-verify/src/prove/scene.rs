//! A small project, and what was noted of it at the start, for tests of single steps.
//!
//! It never runs a check.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use stopgate_core::{Criterion, Ground, Proof, Timestamp};
use tempfile::TempDir;

use super::original::{OriginalSubject, Originals};
use super::round::Looked;
use super::{Directories, Files, Freshness, ProofRequest, ProofStorage};
use crate::basis::{Basis, JudgeChanges};
use crate::orphans::Strangers;
use crate::tree::TouchedFiles;

/// A project with one criterion, whose loop began before all of its files were written.
pub(super) struct Scene {
    root: PathBuf,
    place: ProofStorage,
    ground: Ground,
    criteria: Vec<Criterion>,
    basis: Basis,
    _kept: TempDir,
}

impl Scene {
    /// A repository with these files and a check.
    pub(super) fn new(command: &str, files: &[(&str, &str)]) -> Self {
        Self::of(Criterion::new("tests", check(command)), files)
    }

    pub(super) fn of(criterion: Criterion, files: &[(&str, &str)]) -> Self {
        let kept = tempfile::tempdir().expect("a directory");
        let outer = kept.path().canonicalize().expect("find it");
        let (root, home) = (outer.join("project"), outer.join("home"));
        let place = ProofStorage { logs: home.join("logs"), home };
        std::fs::create_dir_all(&root).expect("make it");
        let init = ["git", "init", "-q"].map(OsString::from);
        let said = crate::tool(&init, &root, Duration::from_secs(30)).expect("git runs");
        assert!(said.is_fine(), "{}", String::from_utf8_lossy(&said.stderr));
        write_all(&root, files);
        let criteria = vec![criterion];
        let directories = Directories::of(&place);
        let basis = Basis::take(&root, &criteria, &[], directories.store()).expect("note it");
        Self { root, place, ground: Ground::default(), criteria, basis, _kept: kept }
    }

    /// Writes files of the work.
    pub(super) fn write(&self, files: &[(&str, &str)]) {
        write_all(&self.root, files);
    }

    pub(super) fn criterion(&self) -> &Criterion {
        &self.criteria[0]
    }

    /// The criterion with these changes of its judges.
    pub(super) fn subject(&self, changes: JudgeChanges) -> OriginalSubject<'_> {
        let criterion = self.criterion();
        OriginalSubject { criterion, changes, floor: None, failed: 0, fewer: None }
    }

    pub(super) fn request(&self) -> ProofRequest<'_> {
        ProofRequest {
            criteria: &self.criteria,
            root: &self.root,
            ground: &self.ground,
            message: None,
            place: &self.place,
            freshness: Freshness::Fresh,
            files: Files::Countable,
            since: Some(SystemTime::UNIX_EPOCH),
            budget: Duration::from_mins(1),
            strangers: Strangers::Spare,
            pass: &[],
            only_place: None,
            later: &[],
        }
    }

    /// Asks something of the step that asks the judges of the start.
    pub(super) fn ask<T>(
        &self,
        request: &ProofRequest<'_>,
        question: impl FnOnce(&Originals<'_>) -> T,
    ) -> T {
        let now = || Timestamp::from_unix_millis(0);
        let looked = Looked {
            receipts: Vec::new(),
            reused: false,
            touched: TouchedFiles::default(),
            tree: None,
            changed: None,
            begun: SystemTime::UNIX_EPOCH,
        };
        let (basis, looked) = (&self.basis, &looked);
        question(&Originals { request, basis, now: &now, begun: now(), looked })
    }
}

pub(super) fn check(command: &str) -> Proof {
    Proof::Check { command: command.into(), timeout_ms: 60_000 }
}

fn write_all(root: &std::path::Path, files: &[(&str, &str)]) {
    for (name, text) in files {
        let path = root.join(name);
        std::fs::create_dir_all(path.parent().expect("a directory")).expect("make it");
        std::fs::write(path, text).expect("write it");
    }
}
