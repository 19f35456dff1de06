//! A driven loop in a git worktree of its own, and its way back.
//!
//! Merges of one repository are made one after another. Whatever can't be finished ends as
//! `needs_approval`, with the work on the loop's branch and the commands to go on with.

mod deliver;
mod words;

use std::fs;
use std::path::{Path, PathBuf};

use stopgate_core::{LoopWorktree, State};
use stopgate_engine::{Engine, Failure, Home};
use stopgate_store::Stored;
use stopgate_verify::{GitError, HeadState, LoopBranch, head_state, worktree_warnings};

pub use self::deliver::Delivery;
pub(crate) use self::deliver::deliver;
use self::words::{git_in, quoted};

/// Gives a loop that has none a worktree, and says what a person should know before.
///
/// Only the journal is written: the worktree is made with the first session.
pub(crate) fn place(engine: &mut Engine, stored: &mut Stored) -> Result<Vec<String>, Failure> {
    let state = &stored.state;
    if state.worktree.is_some() || state.outcome().is_some() {
        return Ok(Vec::new());
    }
    let main = PathBuf::from(&state.project);
    let target = branch_of(&main)?;
    let branch = format!("stopgate/{}", state.id);
    let directory = free_directory(engine.home(), &main, state.id.as_str())?;
    let asked = LoopBranch { main: &main, directory: &directory, branch: &branch, target: &target };
    if asked.tip().is_some() {
        return Err(Failure::usage(format!("the branch {branch} exists already"))
            .hint(format!("give it another name: {} branch -m {branch} NEW", git_in(&main))));
    }
    let worktree = LoopWorktree {
        directory: directory.display().to_string(),
        branch,
        target,
        is_proven: false,
    };
    *stored = engine.worktrees().place_loop(&state.id.clone(), &worktree)?;
    Ok(worktree_warnings(&main))
}

/// Makes the worktree where it is missing.
pub(crate) fn make_ready(
    state: &State,
    worktree: &LoopWorktree,
    sessions: u64,
) -> Result<(), Failure> {
    let (main, directory) = (Path::new(&state.project), Path::new(&worktree.directory));
    let own = branch(main, directory, worktree);
    if own.is_there() {
        return Ok(());
    }
    let made = match (own.tip(), own.target_tip()) {
        (Some(_), _) => own.attach(),
        (None, _) if sessions > 0 => return Err(both_gone(state, worktree)),
        (None, Some(commit)) => own.create(&commit),
        (None, None) => {
            return Err(Failure::usage(format!("the branch {} is gone", worktree.target))
                .hint("make it again: the work is to be merged into it"));
        }
    };
    made.map_err(|error| unusable(worktree, &error))
}

fn branch<'a>(main: &'a Path, directory: &'a Path, worktree: &'a LoopWorktree) -> LoopBranch<'a> {
    LoopBranch { main, directory, branch: &worktree.branch, target: &worktree.target }
}

/// The branch that a person has checked out, which the work is merged into.
pub(crate) fn branch_of(main: &Path) -> Result<String, Failure> {
    let shown = main.display();
    match head_state(main) {
        HeadState::Branch { name, .. } => Ok(name),
        HeadState::Detached => {
            Err(Failure::usage(format!("{shown} has no branch checked out to merge into"))
                .hint(format!("check one out: {} switch BRANCH", git_in(main))))
        }
        HeadState::Unborn => Err(Failure::usage(format!("{shown} has no commit yet"))
            .hint(format!("make one: {} commit", git_in(main)))),
        HeadState::Nothing => Err(Failure::usage(format!("{shown} is not a git repository"))
            .hint("make it one with git init, or run without --worktree and --jobs")),
    }
}

/// Beside the project, where relative paths out of it still lead to the same places; in our own
/// directory where nobody may write there.
fn free_directory(home: &Home, main: &Path, id: &str) -> Result<PathBuf, Failure> {
    let name = main.file_name().map(|name| name.to_string_lossy().into_owned());
    let name = format!("{}-{id}", name.unwrap_or_else(|| "project".into()));
    let beside = main.parent().filter(|parent| is_writable(parent, id)).map(|at| at.join(&name));
    let directory = beside.unwrap_or_else(|| home.directory().join("worktrees").join(&name));
    if directory.symlink_metadata().is_ok() {
        return Err(Failure::usage(format!("{} exists already", directory.display()))
            .hint("move it away: it is the place of the loop's worktree"));
    }
    Ok(directory)
}

/// Tries it: permissions alone don't tell. Loops that are placed at the same time each try a name
/// of their own.
fn is_writable(directory: &Path, id: &str) -> bool {
    let probe = directory.join(format!(".stopgate-probe-{id}"));
    fs::create_dir(&probe).and_then(|()| fs::remove_dir(&probe)).is_ok()
}

fn both_gone(state: &State, worktree: &LoopWorktree) -> Failure {
    let LoopWorktree { directory, branch, .. } = worktree;
    Failure::usage(format!("the worktree {directory} and its branch {branch} are gone")).hint(
        format!(
            "what was kept of it: stopgate restore {0}; or end it: stopgate cancel {0}",
            state.id
        ),
    )
}

fn unusable(worktree: &LoopWorktree, error: &GitError) -> Failure {
    let directory = quoted(Path::new(&worktree.directory));
    Failure::usage(format!("could not {}", words::chain(error)))
        .hint(format!("see that branch {} and {directory} can be made", worktree.branch))
}
