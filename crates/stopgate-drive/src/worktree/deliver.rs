//! The merge: the work is committed, the merged tree is made and proven, and only then the branch
//! moves.

use std::path::{Path, PathBuf};
use std::time::Duration;

use stopgate_core::{LoopId, LoopWorktree, State};
use stopgate_engine::{Engine, Failure};
use stopgate_verify::GitFilters;
use stopgate_verify::files::{FileLock, make_private_directory};
use stopgate_verify::{GitError, KeptApart, LoopBranch, MergeTry, PublishTry, file_name, git};

use super::branch;
use super::words::{chain, git_in, left_to_person, merge_by_hand};
use crate::feature::FeaturePart;

/// How long another merge of the repository is waited for: as long as its checks may take.
const MERGE_PATIENCE: Duration = Duration::from_hours(6);
const GIT_TIME: Duration = Duration::from_secs(30);

/// What came of bringing the work back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// It is on the branch that a person has.
    Merged {
        /// That branch.
        target: String,
        /// The commit that it leads to.
        commit: String,
        /// Why the worktree is still there, where it is.
        left: Option<String>,
    },
    /// A person must finish it.
    Held {
        /// What is in the way, and what to do.
        why: String,
    },
}

/// Brings back what is proven in a loop's worktree; nothing where there is nothing to bring.
pub(crate) fn deliver(
    engine: &mut Engine,
    id: &LoopId,
    part: Option<&FeaturePart>,
) -> Result<Option<Delivery>, Failure> {
    let Some((state, worktree)) = proven(engine, id)? else { return Ok(None) };
    let _turn = take_turn(engine, Path::new(&state.project))?;
    // A person may have cancelled it while others merged.
    if proven(engine, id)?.is_none() {
        return Ok(None);
    }
    super::make_ready(&state, &worktree, 1)?;
    let (main, directory) = (PathBuf::from(&state.project), PathBuf::from(&worktree.directory));
    let own = branch(&main, &directory, &worktree);
    let apart = part.map_or_else(|| Ok(KeptApart::default()), |part| part.kept_apart(&own))?;
    let mut merging = Merging { engine, state: &state, worktree: &worktree, own, apart, part };
    let delivery = match merging.run()? {
        Ok(delivery) => delivery,
        Err(error) => {
            let what = format!("could not {}", chain(&error));
            merging.hold(&what, &merge_by_hand(&worktree))?
        }
    };
    Ok(Some(delivery))
}

/// The loop and its worktree, where only the merge is left.
fn proven(engine: &mut Engine, id: &LoopId) -> Result<Option<(State, LoopWorktree)>, Failure> {
    let state = engine.driven().driven(id)?.state;
    let rests = matches!(state.phase, stopgate_core::Phase::Paused { .. });
    let worktree = state.worktree.as_deref().filter(|worktree| worktree.is_proven).cloned();
    let is_wanted = state.outcome().is_none() && !rests;
    Ok(worktree.filter(|_| is_wanted).map(|worktree| (state, worktree)))
}

/// Waits until no other merge of the repository is under way.
fn take_turn(engine: &Engine, main: &Path) -> Result<FileLock, Failure> {
    let words = ["rev-parse", "--path-format=absolute", "--git-common-dir"];
    let said = git(&words, main, GitFilters::OwnOnly, GIT_TIME).ok();
    let common = said.map(|said| String::from_utf8_lossy(&said.stdout).trim().to_owned());
    let name = common.unwrap_or_else(|| main.display().to_string());
    let directory = engine.home().directory().join("merges");
    let lock = directory.join(format!("{}.lock", file_name(&name)));
    let taken =
        make_private_directory(&directory).and_then(|()| FileLock::take(&lock, MERGE_PATIENCE));
    taken.map_err(|error| {
        Failure::store(format!("could not wait for another merge at {}", lock.display()))
            .because(error)
    })
}

/// One merge under way.
struct Merging<'a> {
    engine: &'a mut Engine,
    state: &'a State,
    worktree: &'a LoopWorktree,
    own: LoopBranch<'a>,
    apart: KeptApart,
    part: Option<&'a FeaturePart>,
}

/// What git refused is told to a person; what we can't do at all is a failure.
type Tried<T> = Result<Result<T, GitError>, Failure>;

impl Merging<'_> {
    fn run(&mut self) -> Tried<Delivery> {
        let id = &self.state.id;
        let message = format!("stopgate: work of loop {id}");
        let made = self.own.adopt_head().and_then(|()| {
            self.own.commit_all(&message, &self.apart)?;
            self.own.merge(&self.message(), &self.apart)
        });
        match made {
            Err(error) => Ok(Err(error)),
            Ok(MergeTry::Conflict { files }) => {
                let target = &self.worktree.target;
                let what = format!("it conflicts with {target} in {}", files.join(", "));
                self.hold(&what, &merge_by_hand(self.worktree)).map(Ok)
            }
            Ok(MergeTry::Made { commit, target }) => self.prove(&commit, &target),
        }
    }

    fn message(&self) -> String {
        let goal = self.state.goal.lines().next().unwrap_or_default();
        let goal = stopgate_core::clip(&stopgate_core::clean(goal), 60);
        format!("Merge {}: {goal}", self.worktree.branch)
    }

    /// Asks the checks about the merged tree before anybody else sees it.
    fn prove(&mut self, commit: &str, target: &str) -> Tried<Delivery> {
        let proof = match self.engine.worktrees().prove_merged(&self.state.id) {
            Ok(proof) => proof,
            Err(failure) => {
                self.show_branch();
                return Err(failure);
            }
        };
        if !proof.unmet.is_empty() {
            self.show_branch();
            let names = proof.unmet.join(", ");
            let what = format!(
                "it passes alone, but not merged with {}: these criteria fail there: {names}",
                self.worktree.target
            );
            return self.hold(&what, &merge_by_hand(self.worktree)).map(Ok);
        }
        let published = match self.own.publish(commit, target) {
            Ok(published) => published,
            Err(error) => {
                self.show_branch();
                return Ok(Err(error));
            }
        };
        match published {
            PublishTry::Moved => {
                self.engine.worktrees().finish_merge(&self.state.id, commit, &proof)?;
                self.mark()?;
                Ok(Ok(self.clear_away(commit)))
            }
            PublishTry::TargetMoved => {
                self.show_branch();
                let what =
                    format!("the branch {} moved while the merge was proven", self.worktree.target);
                let git = git_in(self.own.main);
                let finish = format!("look at what is new: {git} log {}", self.worktree.target);
                self.hold(&what, &finish).map(Ok)
            }
            PublishTry::Occupied { at, why } => {
                if let Err(error) = self.own.keep_merge(commit) {
                    return Ok(Err(error));
                }
                let what =
                    format!("it is merged and proven, but {} is in the way: {why}", at.display());
                let finish = format!("{} merge --ff-only {}", git_in(&at), self.worktree.branch);
                self.hold(&what, &finish).map(Ok)
            }
        }
    }

    /// Marks the feature in a list that git does not have.
    fn mark(&self) -> Result<(), Failure> {
        match self.part {
            Some(part) if self.apart.written.is_empty() => part.mark(),
            Some(_) | None => Ok(()),
        }
    }

    /// Shows the loop's branch again; what checks wrote is kept where it is in the way.
    fn show_branch(&mut self) {
        if self.own.leave_merge().is_err() {
            // Nothing that is not kept is thrown away.
            let kept = self.engine.snapshots().snapshot(&self.state.id, self.own.directory);
            if kept.is_ok() {
                let _ = self.own.leave_merge_by_force();
            }
        }
    }

    fn clear_away(&self, commit: &str) -> Delivery {
        let left = self.own.remove(commit, &self.apart).err().map(|error| chain(&error));
        let target = self.worktree.target.clone();
        Delivery::Merged { target, commit: commit.into(), left }
    }

    fn hold(&mut self, what: &str, finish: &str) -> Result<Delivery, Failure> {
        let why = left_to_person(self.state, self.worktree, what, finish);
        self.engine.worktrees().hold_merge(&self.state.id, &why)?;
        Ok(Delivery::Held { why })
    }
}
