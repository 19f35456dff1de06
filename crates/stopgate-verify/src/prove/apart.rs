//! Runs checks apart from the work tree, in the best place that this machine has.

mod meanwhile;

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use stopgate_core::{Criterion, Receipt, Status, Strength, Timestamp};

use self::meanwhile::Restless;
use super::built_files::BuiltFiles;
use super::original::OriginalSubject;
use super::recommit::with_commit;
use super::round::{CommandRun, Round, command_of};
use super::{Freshness, ProofRequest, reading};
use crate::basis::Basis;
use crate::check::CheckCommand;
use crate::env::Variable;
use crate::place::{
    Isolation, Launch, Mask, NetworkAccess, PathChange, PlaceKind, PlaceRecipe, RestoredFile,
    RunPlace, StandInHome, WrittenPath,
};
use crate::shell::shell_argv;
use crate::tree::Tree;

/// How long it may take to make a place.
const OPEN_WITHIN: Duration = Duration::from_mins(2);
/// So many files are told as a run left them, and none that is longer.
const LEFT_MAX: usize = 200;
const LEFT_BYTES_MAX: u64 = 4 << 20;
/// Which judges a run has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Judges {
    Today,
    Original,
}

/// What becomes of directories that hold nothing but what a run goes without.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EmptiedDirectories {
    /// They are not there: a loop over all directories would fail in one without tests.
    Go,
    Stay,
}

/// What came of a run apart from the tree.
pub(super) enum ApartRun {
    Ran {
        receipt: Box<Receipt>,
        strength: Strength,
        /// Judges that were written to while it ran.
        written: Vec<PathBuf>,
        /// What it did not have, and made itself.
        made: Vec<PathBuf>,
        /// Files of the tree as it left them, where that is asked for.
        left: Vec<RestoredFile>,
        /// The tests that failed, where the output names them.
        failing: Vec<String>,
        /// Whether a runner that is known says how many tests ran.
        is_reported: bool,
    },
    /// There is no place to run it in, for this reason.
    NoPlace(String),
}

impl ApartRun {
    pub(super) const fn ran(&self) -> bool {
        matches!(self, Self::Ran { .. })
    }

    pub(super) fn passes(&self) -> bool {
        match self {
            Self::Ran { receipt, written, .. } => {
                receipt.status == Status::Pass && written.is_empty()
            }
            Self::NoPlace(_) => false,
        }
    }

    /// Whether it says something about the work: a run that could not be finished does not.
    pub(super) fn is_verdict(&self) -> bool {
        match self {
            Self::Ran { receipt, .. } => matches!(receipt.status, Status::Pass | Status::Fail),
            Self::NoPlace(_) => false,
        }
    }

    /// Whether its time was over before it ended.
    pub(super) fn is_cut(&self) -> bool {
        matches!(self, Self::Ran { receipt, .. } if receipt.status == Status::Timeout)
    }

    /// What it did not have, and made itself.
    pub(super) fn made(&self) -> Vec<PathBuf> {
        match self {
            Self::Ran { made, .. } => made.clone(),
            Self::NoPlace(_) => Vec::new(),
        }
    }

    /// Files of the tree as it left them.
    pub(super) fn left(&self) -> &[RestoredFile] {
        match self {
            Self::Ran { left, .. } => left,
            Self::NoPlace(_) => &[],
        }
    }

    pub(super) fn failing(&self) -> Vec<String> {
        match self {
            Self::Ran { failing, .. } => failing.clone(),
            Self::NoPlace(_) => Vec::new(),
        }
    }
}

/// Runs checks apart from the work tree.
pub(super) struct Apart<'a> {
    pub(super) request: &'a ProofRequest<'a>,
    pub(super) basis: &'a Basis,
    pub(super) now: &'a dyn Fn() -> Timestamp,
    pub(super) left: Duration,
    pub(super) tree: Option<&'a Tree>,
    /// Files and directories that a run does not have, because another process keeps writing to
    /// them or because it may make them itself: a check that passes without them does not depend
    /// on what they say.
    pub(super) restless: Vec<PathBuf>,
    pub(super) built: BuiltFiles,
    pub(super) emptied: EmptiedDirectories,
    /// Files that a run finds as an earlier one left them.
    pub(super) over: &'a [RestoredFile],
    /// Whether it is told what a run leaves of the tree's files.
    pub(super) tells_left: bool,
    /// When the run began that is judged.
    pub(super) ran_at: SystemTime,
}

/// A check in its place.
struct Opened<'s> {
    at: usize,
    subject: &'s OriginalSubject<'s>,
    place: RunPlace,
    launch: Launch,
    isolated: bool,
    /// The variables of the start, as they read in the place.
    noted: Vec<Variable>,
}

impl Apart<'_> {
    /// Runs each subject's check; nothing where the program was asked to end meanwhile.
    pub(super) fn run(
        &self,
        subjects: &[&OriginalSubject<'_>],
        judges: Judges,
        suffix: &str,
    ) -> Option<Vec<ApartRun>> {
        let mut results = self.run_once(subjects, judges, suffix)?;
        for parts in [Restless::Files, Restless::Directories] {
            let due: Vec<usize> = (0..results.len()).filter(|at| !results[*at].ran()).collect();
            let restless = if due.is_empty() { Vec::new() } else { self.restless_now(parts) };
            if restless.is_empty() {
                break;
            }
            let left: Vec<&OriginalSubject<'_>> = due.iter().map(|at| subjects[*at]).collect();
            let again = Apart { restless, ..*self };
            for (at, result) in due.into_iter().zip(again.run_once(&left, judges, suffix)?) {
                results[at] = result;
            }
        }
        Some(results)
    }

    fn run_once(
        &self,
        subjects: &[&OriginalSubject<'_>],
        judges: Judges,
        suffix: &str,
    ) -> Option<Vec<ApartRun>> {
        let nowhere = || ApartRun::NoPlace("no kind of private place works here".into());
        let mut results: Vec<ApartRun> = subjects.iter().map(|_| nowhere()).collect();
        let mut due: Vec<usize> = (0..subjects.len()).collect();
        for kind in self.kinds() {
            if due.is_empty() {
                break;
            }
            let mut opened = Vec::new();
            let mut ended: Vec<(usize, Result<ApartRun, String>)> = Vec::new();
            for at in due {
                match self.open(at, subjects[at], judges, kind) {
                    Ok(place) => opened.push(place),
                    Err(why) => ended.push((at, Err(why))),
                }
            }
            ended.extend(self.run_opened(opened, kind, suffix)?);
            // The next kind of place may do for what could not be run in this one.
            due = ended.iter().filter(|(_, result)| result.is_err()).map(|(at, _)| *at).collect();
            for (at, result) in ended {
                results[at] = result.unwrap_or_else(ApartRun::NoPlace);
            }
        }
        Some(results)
    }

    fn kinds(&self) -> Vec<PlaceKind> {
        let all = [PlaceKind::Overlay, PlaceKind::BoundCopy, PlaceKind::Copy];
        let wanted = self.request.only_place;
        all.into_iter().filter(|kind| wanted.is_none_or(|own| own == kind.word())).collect()
    }

    fn open<'s>(
        &self,
        at: usize,
        subject: &'s OriginalSubject<'s>,
        judges: Judges,
        kind: PlaceKind,
    ) -> Result<Opened<'s>, String> {
        let changes = &subject.changes;
        let original = judges == Judges::Original;
        let terms = &subject.criterion.terms;
        let isolated = terms.strength == Some(Strength::Hermetic);
        let network = if terms.network { NetworkAccess::Allowed } else { NetworkAccess::Denied };
        let isolation = if isolated { Isolation::Hermetic { network } } else { Isolation::None };
        let scratch = self.request.place.copies();
        let masks = if original { &changes.masks[..] } else { &[] };
        let home = if kind == PlaceKind::Copy && !masks.is_empty() {
            Some(self.stand_in_home(masks, &scratch)?)
        } else {
            None
        };
        let mut unmade = self.unbuilt(subject.criterion, judges);
        unmade.extend(self.restless.iter().cloned());
        let (restored, lighter) = if original {
            (&changes.restore[..], &changes.lighter[..])
        } else {
            (&[][..], &[][..])
        };
        let is_over = |file: &&RestoredFile| self.over.iter().any(|own| own.path == file.path);
        let restored = restored.iter().chain(lighter).filter(|file| !is_over(file));
        let restore: Vec<RestoredFile> = restored.chain(self.over).cloned().collect();
        let mut absent: &[PathBuf] = if original { &changes.absent } else { &[] };
        if self.emptied == EmptiedDirectories::Stay {
            unmade.extend(absent.iter().cloned());
            absent = &[];
        }
        let recipe = PlaceRecipe {
            root: self.request.root,
            scratch: &scratch,
            restore: &restore,
            absent,
            unmade: &unmade,
            mounts: &[],
            masks: if home.is_some() { &[] } else { masks },
            isolation,
        };
        let within = self.left.min(OPEN_WITHIN);
        let place = RunPlace::open(&recipe, kind, within).map_err(|error| story(&error))?;
        if let Some(copy) = place.copied()
            && let Some(path) = self.differs(&copy, changes, judges)
        {
            return Err(format!("{} changed while it was copied", path.display()));
        }
        let mut argv = argv_of(subject.criterion);
        if original {
            argv = with_commit(argv, self.request.root, self.basis.commit(), changes);
        }
        let launch = place.command(argv, &directory_of(subject.criterion, self.request.root));
        let inside = |(name, value): Variable| (name, place.translate(&value));
        let mut noted: Vec<Variable> = self.basis.variables().into_iter().map(inside).collect();
        if let Some(home) = home {
            home.make(&place.home(), &mut noted)
                .map_err(|error| format!("make a home for the run: {error}"))?;
        }
        Ok(Opened { at, subject, place, launch, isolated, noted })
    }

    /// A home in which the person's settings are those of the start.
    fn stand_in_home(&self, masks: &[Mask], scratch: &Path) -> Result<StandInHome, String> {
        StandInHome::of(masks, &self.basis.variables(), scratch).ok_or_else(|| {
            "files outside the project changed, and a copy can't hide that".to_string()
        })
    }

    fn run_opened(
        &self,
        opened: Vec<Opened<'_>>,
        kind: PlaceKind,
        suffix: &str,
    ) -> Option<Vec<(usize, Result<ApartRun, String>)>> {
        let commands: Vec<CommandRun<'_>> = opened
            .iter()
            .map(|one| CommandRun {
                criterion: one.subject.criterion,
                launch: Some(&one.launch),
                noted: Some(&one.noted),
            })
            .collect();
        let round = Round::new(self.request, Some(self.basis), Freshness::Fresh, self.left);
        let runs = round.run(&commands, suffix, self.now)?;
        let moved = self.moved(kind);
        let results = opened.into_iter().zip(runs).map(|(one, run)| {
            if !one.place.entered() {
                return (one.at, Err("the place could not be entered".into()));
            }
            if let Some(path) = &moved {
                let why = format!("{} changed while the check ran apart from it", path.display());
                return (one.at, Err(why));
            }
            let written = one.place.written().unwrap_or_default();
            // An empty file is what opening a database leaves that is not there; a stamp is empty.
            let is_stamp = |path: &PathBuf| is_empty(&self.request.root.join(path));
            let is_made = |path: &PathBuf| {
                written.iter().any(|own| own.path == *path && (own.is_filled || is_stamp(path)))
            };
            let made = self.restless.iter().filter(|path| is_made(path)).cloned().collect();
            let left = self.left_of(&one.place, &written);
            let paths = written.into_iter().map(|written| written.path).collect();
            let written = self.judges_written(&one, paths);
            let root = one.place.root().to_path_buf();
            let masked = |text: &[u8]| crate::redact(&String::from_utf8_lossy(text)).into_owned();
            let text = run.text.as_deref().map(masked);
            let failing = text.as_deref().map(crate::report::failed_names).unwrap_or_default();
            let is_reported =
                text.as_deref().is_some_and(|text| crate::report::read(text).is_some());
            let receipt = Box::new(reading::read(one.subject.criterion, run, &root));
            let strength = if one.isolated { Strength::Hermetic } else { Strength::Clean };
            (
                one.at,
                Ok(ApartRun::Ran { receipt, strength, written, made, left, failing, is_reported }),
            )
        });
        Some(results.collect())
    }

    /// Files that are there today, as a run has left them.
    fn left_of(&self, place: &RunPlace, written: &[WrittenPath]) -> Vec<RestoredFile> {
        let Some(tree) = self.tree.filter(|_| self.tells_left) else { return Vec::new() };
        let files = tree.files().filter(|file| file.root == 0);
        let known: BTreeSet<PathBuf> = files.map(|file| file.path).collect();
        let changed = written.iter().filter(|own| own.change == PathChange::Changed);
        let changed = changed.filter(|own| known.contains(&own.path));
        changed.take(LEFT_MAX).filter_map(|own| place.left(&own.path, LEFT_BYTES_MAX)).collect()
    }

    /// Judges that the run wrote to; what the check writes itself does not count.
    fn judges_written(&self, one: &Opened<'_>, paths: Vec<PathBuf>) -> Vec<PathBuf> {
        let outputs = self.basis.outputs(&one.subject.criterion.name);
        let moved = &one.subject.changes.moved;
        paths
            .into_iter()
            .filter(|path| !outputs.contains(path))
            .filter(|path| {
                self.basis.has_judge(&one.subject.criterion.name, path) || moved.contains(path)
            })
            .collect()
    }
}

/// Whether there is a file with nothing in it.
pub(super) fn is_empty(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|found| found.is_file() && found.len() == 0)
}

/// Where a criterion's command begins.
pub(super) fn directory_of(criterion: &Criterion, root: &Path) -> PathBuf {
    let cwd = criterion.terms.cwd.as_ref();
    cwd.map_or_else(|| root.into(), |cwd| root.join(cwd))
}

pub(super) fn argv_of(criterion: &Criterion) -> Vec<OsString> {
    match command_of(criterion).0 {
        CheckCommand::Shell(line) => shell_argv(line),
        CheckCommand::Argv(argv) => argv.iter().map(OsString::from).collect(),
        CheckCommand::Exact(argv) => argv.to_vec(),
    }
}

pub(super) fn story(error: &dyn std::error::Error) -> String {
    let mut text = format!("could not {error}");
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
}

#[cfg(test)]
mod tests;
