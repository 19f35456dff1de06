//! The merged tree is made in the loop's worktree, beside its branch, and moves the target only
//! when somebody has looked at it.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::{GitError, HeadState, KeptApart, LoopBranch, head_state, refused, write};

/// What came of a merge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MergeTry {
    /// The worktree shows the merged tree; no branch has moved.
    Made {
        /// The merge.
        commit: String,
        /// The commit of the target that went into it.
        target: String,
    },
    /// Both sides changed the same places; the worktree shows its own branch again.
    Conflict {
        /// The files.
        files: Vec<String>,
    },
}

/// What came of moving the target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PublishTry {
    /// The target has the merge, and so have work trees that show it.
    Moved,
    /// The target leads elsewhere by now.
    TargetMoved,
    /// A work tree that shows the target has changes of its own, or git won't overwrite something.
    Occupied {
        /// The work tree.
        at: PathBuf,
        /// What is in the way.
        why: String,
    },
}

impl LoopBranch<'_> {
    /// Merges the loop's branch into what the target is now, without moving a branch.
    ///
    /// Everything in the worktree must be committed.
    pub fn merge(&self, message: &str, apart: &KeptApart) -> Result<MergeTry, GitError> {
        self.leave_merge()?;
        let target = self.target_tip().ok_or_else(|| GitError::Git {
            what: "find the branch to merge into",
            said: format!("there is no branch {}", self.target),
        })?;
        self.put_back(apart)?;
        self.here("show the target", &["checkout", "--quiet", "--detach", &target])?;
        let words = ["merge", "--no-ff", "--no-commit", "--no-verify", "--quiet", self.branch];
        let said = self.ask(&words)?;
        self.keep_apart(&target, apart)?;
        let files = self.unmerged()?;
        if !files.is_empty() {
            self.leave_merge()?;
            return Ok(MergeTry::Conflict { files });
        }
        let merges = self.ask(&["rev-parse", "--verify", "--quiet", "MERGE_HEAD"])?.is_fine();
        if !said.is_fine() && !merges {
            let error = refused("merge", &said);
            self.leave_merge()?;
            return Err(error);
        }
        let is_same = self.ask(&["diff", "--cached", "--quiet", "--no-ext-diff"])?.is_fine();
        if merges || !is_same {
            let words = ["commit", "--quiet", "--no-verify", "--no-gpg-sign", "-m", message];
            self.here("commit the merge", &words)?;
        }
        let commit = self.here("name the merge", &["rev-parse", "HEAD"])?.line();
        Ok(MergeTry::Made { commit, target })
    }

    /// Takes back what was written to files that are kept apart: that was a claim, and was heard.
    /// Git would not show the target over it where the target's own changed meanwhile.
    fn put_back(&self, apart: &KeptApart) -> Result<(), GitError> {
        for path in &apart.paths {
            let words: [&OsStr; 4] =
                ["checkout".as_ref(), "--quiet".as_ref(), "--".as_ref(), path.as_ref()];
            // It fails where git does not know the file, which then is in nobody's way.
            self.ask(&words)?;
        }
        Ok(())
    }

    /// Lets the loop's branch have what its worktree shows: an agent may have made a branch of its
    /// own there, and a merge may have been broken off.
    pub fn adopt_head(&self) -> Result<(), GitError> {
        let state = head_state(self.directory);
        if matches!(&state, HeadState::Branch { name, .. } if name == self.branch) {
            return Ok(());
        }
        let tip = self.tip().unwrap_or_default();
        let head = self.here("find the commit", &["rev-parse", "HEAD"])?.line();
        let merging = self.ask(&["rev-parse", "--verify", "--quiet", "MERGE_HEAD"])?;
        if merging.is_fine() && merging.line() == tip {
            return self.leave_merge();
        }
        if self.is_ancestor(&tip, &head) {
            let words = ["checkout", "--quiet", "-B", self.branch];
            return self.here("show the loop's branch", &words).map(drop);
        }
        let target = self.target_tip().unwrap_or_default();
        if state == HeadState::Detached && self.is_ancestor(&head, &target) {
            return self.leave_merge();
        }
        Err(GitError::Git {
            what: "use what the worktree shows",
            said: format!("{head} does not contain the branch {}", self.branch),
        })
    }

    fn is_ancestor(&self, old: &str, new: &str) -> bool {
        let words = ["merge-base", "--is-ancestor", old, new];
        !old.is_empty() && !new.is_empty() && self.here("compare", &words).is_ok()
    }

    /// Shows the loop's own branch again, whatever was tried before.
    pub fn leave_merge(&self) -> Result<(), GitError> {
        if matches!(head_state(self.directory), HeadState::Branch { name, .. } if name == self.branch)
        {
            return Ok(());
        }
        // There may be none to leave.
        let _ = self.ask(&["merge", "--abort"])?;
        self.here("show the loop's branch", &["checkout", "--quiet", self.branch]).map(drop)
    }

    /// The same, where what checks wrote into tracked files is in the way: the caller kept it.
    pub fn leave_merge_by_force(&self) -> Result<(), GitError> {
        let words = ["checkout", "--quiet", "--force", self.branch];
        self.leave_merge().or_else(|_| self.here("show the loop's branch", &words).map(drop))
    }

    /// Moves the target to a merge that was made on `old`.
    pub fn publish(&self, commit: &str, old: &str) -> Result<PublishTry, GitError> {
        if self.target_tip().as_deref() != Some(old) {
            return Ok(PublishTry::TargetMoved);
        }
        if commit == old {
            return Ok(PublishTry::Moved);
        }
        let shown = self.shown_at()?;
        if shown.is_empty() {
            let name = format!("refs/heads/{}", self.target);
            let words = ["update-ref", "-m", "stopgate: merge", &name, commit, old];
            let moved = self.at(self.main, "move the branch", &words);
            return Ok(moved.map_or(PublishTry::TargetMoved, |_| PublishTry::Moved));
        }
        for at in shown {
            if let Some(other) = self.forward(&at, commit, old)? {
                return Ok(other);
            }
        }
        Ok(PublishTry::Moved)
    }

    /// Moves a work tree forward that shows the target; says what is in the way, if anything is.
    fn forward(&self, at: &Path, commit: &str, old: &str) -> Result<Option<PublishTry>, GitError> {
        if let Some(why) = self.occupied(at)? {
            return Ok(Some(PublishTry::Occupied { at: at.into(), why }));
        }
        // Git compares and swaps by itself: it moves forward only from what is checked out.
        let words = ["merge", "--ff-only", "--quiet", "--no-verify", commit];
        let Err(error) = self.at(at, "move the branch", &words) else { return Ok(None) };
        if self.target_tip().as_deref() != Some(old) {
            return Ok(Some(PublishTry::TargetMoved));
        }
        Ok(Some(PublishTry::Occupied { at: at.into(), why: error.to_string() }))
    }

    /// Lets the loop's own branch lead to the merge, so that a person can go on from it.
    pub fn keep_merge(&self, commit: &str) -> Result<(), GitError> {
        let Some(tip) = self.tip() else { return Ok(()) };
        let name = format!("refs/heads/{}", self.branch);
        self.at(self.main, "keep the merge", &["update-ref", &name, commit, &tip])?;
        self.leave_merge_by_force()
    }

    /// Puts back what is not part of the work, and writes what stopgate brings along.
    fn keep_apart(&self, target: &str, apart: &KeptApart) -> Result<(), GitError> {
        for path in &apart.paths {
            let put: [&OsStr; 5] = [
                "checkout".as_ref(),
                "--quiet".as_ref(),
                target.as_ref(),
                "--".as_ref(),
                path.as_ref(),
            ];
            if self.ask(&put)?.is_fine() {
                continue;
            }
            let words = ["rm", "--quiet", "--force", "--ignore-unmatch", "--"];
            let mut words: Vec<&OsStr> = words.iter().map(AsRef::as_ref).collect();
            words.push(path.as_ref());
            self.here("keep a file apart", &words)?;
        }
        for (path, text) in &apart.written {
            write(&self.directory.join(path), text)?;
            let words: [&OsStr; 3] = ["add".as_ref(), "--".as_ref(), path.as_ref()];
            self.here("bring a file along", &words)?;
        }
        Ok(())
    }

    pub(super) fn unmerged(&self) -> Result<Vec<String>, GitError> {
        let words = ["diff", "--name-only", "--diff-filter=U", "--no-ext-diff", "-z"];
        let said = self.here("find conflicts", &words)?;
        let names = said.stdout.split(|byte| *byte == 0).filter(|name| !name.is_empty());
        Ok(names.map(|name| String::from_utf8_lossy(name).into_owned()).collect())
    }

    /// The work trees that show the target.
    fn shown_at(&self) -> Result<Vec<PathBuf>, GitError> {
        let said = self.at(self.main, "list work trees", &["worktree", "list", "--porcelain"])?;
        let text = String::from_utf8_lossy(&said.stdout).into_owned();
        let wanted = format!("branch refs/heads/{}", self.target);
        let shows = |part: &&str| part.lines().any(|line| line == wanted);
        let words = |part: &str| {
            part.lines().find_map(|line| line.strip_prefix("worktree ")).map(PathBuf::from)
        };
        let places = text.split("\n\n").filter(shows).filter_map(words);
        // One that is gone has nothing to show.
        Ok(places.filter(|place| place.is_dir()).collect())
    }

    /// What is in the way of a fast-forward, if anything is.
    fn occupied(&self, at: &Path) -> Result<Option<String>, GitError> {
        let words = ["status", "--porcelain", "--untracked-files=no", "--ignore-submodules=dirty"];
        let said = self.at(at, "look at the work tree", &words)?;
        Ok((!said.stdout.is_empty()).then(|| "it has uncommitted changes".into()))
    }
}
