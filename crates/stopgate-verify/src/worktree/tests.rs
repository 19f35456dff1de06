use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tempfile::TempDir;

use super::{
    GIT_TIME, HeadState, KeptApart, LOCK_TRIES_MAX, LoopBranch, MergeTry, PublishTry, complaint,
    head_state, patiently, worktree_warnings,
};
use crate::snapshot::identity;
use crate::tool::tool_with;

fn git(at: &Path, words: &[&str]) -> String {
    let argv: Vec<&str> = ["git"].into_iter().chain(words.iter().copied()).collect();
    let said = tool_with(&argv, at, Duration::from_secs(30), &identity()).unwrap();
    assert!(said.is_fine(), "{words:?}: {}", String::from_utf8_lossy(&said.stderr));
    String::from_utf8_lossy(&said.stdout).trim().into()
}

fn record(at: &Path, name: &str, text: &str) {
    fs::write(at.join(name), text).unwrap();
    git(at, &["add", "-A"]);
    git(at, &["commit", "-q", "-m", name]);
}

/// A repository, and a worktree beside it.
struct Room {
    directory: TempDir,
}

impl Room {
    fn new() -> Self {
        let room = Self { directory: tempfile::tempdir().unwrap() };
        fs::create_dir(room.main()).unwrap();
        git(&room.main(), &["init", "-q", "-b", "main", "."]);
        room
    }

    fn with_commit() -> Self {
        let room = Self::new();
        record(&room.main(), "one", "1\n");
        room
    }

    fn main(&self) -> PathBuf {
        self.directory.path().join("main")
    }

    fn own(&self) -> PathBuf {
        self.directory.path().join("own")
    }

    fn on_branch<T>(&self, act: impl FnOnce(&LoopBranch<'_>) -> T) -> T {
        let (main, own) = (self.main(), self.own());
        act(&LoopBranch { main: &main, directory: &own, branch: "stopgate/l", target: "main" })
    }

    fn created(&self) {
        let commit = git(&self.main(), &["rev-parse", "HEAD"]);
        self.on_branch(|own| own.create(&commit).unwrap());
    }
}

fn apart() -> KeptApart {
    KeptApart::default()
}

#[test]
fn what_is_checked_out_is_told() {
    let room = Room::new();
    assert_eq!(head_state(room.directory.path()), HeadState::Nothing);
    assert_eq!(head_state(&room.main()), HeadState::Unborn);
    record(&room.main(), "one", "1\n");
    let commit = git(&room.main(), &["rev-parse", "HEAD"]);
    assert_eq!(head_state(&room.main()), HeadState::Branch { name: "main".into(), commit });
    git(&room.main(), &["checkout", "-q", "--detach"]);
    assert_eq!(head_state(&room.main()), HeadState::Detached);
}

#[test]
fn a_merge_moves_no_branch_until_it_is_published() {
    let room = Room::with_commit();
    room.created();
    fs::write(room.own().join("two"), "2\n").unwrap();
    let before = git(&room.main(), &["rev-parse", "main"]);
    room.on_branch(|own| {
        own.commit_all("work", &apart()).unwrap();
        let Ok(MergeTry::Made { commit, target }) = own.merge("merge", &apart()) else { panic!() };
        assert_eq!((&target, own.target_tip()), (&before, Some(before.clone())));
        assert_eq!(own.publish(&commit, &target).unwrap(), PublishTry::Moved);
        assert_eq!(own.target_tip().as_ref(), Some(&commit));
        // Once more: it is merged already.
        let again = own.merge("merge", &apart()).unwrap();
        assert_eq!(again, MergeTry::Made { commit: commit.clone(), target: commit.clone() });
        own.remove(&commit, &apart()).unwrap();
        assert_eq!(own.tip(), None);
    });
    assert_eq!(fs::read_to_string(room.main().join("two")).unwrap(), "2\n");
    assert!(!room.own().exists());
}

#[test]
fn a_conflict_leaves_both_sides_as_they_were() {
    let room = Room::with_commit();
    room.created();
    record(&room.main(), "one", "mine\n");
    fs::write(room.own().join("one"), "theirs\n").unwrap();
    room.on_branch(|own| {
        own.commit_all("work", &apart()).unwrap();
        let tried = own.merge("merge", &apart()).unwrap();
        assert_eq!(tried, MergeTry::Conflict { files: vec!["one".into()] });
    });
    assert_eq!(fs::read_to_string(room.own().join("one")).unwrap(), "theirs\n");
    assert_eq!(fs::read_to_string(room.main().join("one")).unwrap(), "mine\n");
    git(&room.own(), &["diff", "--quiet", "HEAD"]);
}

#[test]
fn files_that_are_kept_apart_are_the_target_s_but_for_what_is_written() {
    let room = Room::with_commit();
    record(&room.main(), "list", "a: no\n");
    room.created();
    record(&room.main(), "list", "a: no\nb: yes\n");
    record(&room.own(), "list", "a: yes\n");
    fs::write(room.own().join("log"), "noise\n").unwrap();
    let apart = KeptApart {
        paths: vec!["list".into(), "log".into()],
        written: vec![("list".into(), "a: yes\nb: yes\n".into())],
    };
    room.on_branch(|own| {
        own.commit_all("work", &apart).unwrap();
        let Ok(MergeTry::Made { commit, target }) = own.merge("merge", &apart) else { panic!() };
        assert_eq!(own.publish(&commit, &target).unwrap(), PublishTry::Moved);
        own.remove(&commit, &apart).unwrap();
    });
    assert_eq!(fs::read_to_string(room.main().join("list")).unwrap(), "a: yes\nb: yes\n");
    assert!(!room.main().join("log").exists());
}

#[test]
fn a_target_that_moved_or_is_worked_on_is_not_touched() {
    let room = Room::with_commit();
    room.created();
    record(&room.own(), "two", "2\n");
    room.on_branch(|own| {
        let Ok(MergeTry::Made { commit, target }) = own.merge("merge", &apart()) else { panic!() };
        fs::write(room.main().join("one"), "half\n").unwrap();
        let occupied = own.publish(&commit, &target).unwrap();
        assert!(matches!(occupied, PublishTry::Occupied { .. }), "{occupied:?}");
        record(&room.main(), "one", "whole\n");
        assert_eq!(own.publish(&commit, &target).unwrap(), PublishTry::TargetMoved);
    });
    assert_eq!(fs::read_to_string(room.main().join("one")).unwrap(), "whole\n");
}

#[test]
fn a_file_that_git_does_not_know_is_not_overwritten() {
    let room = Room::with_commit();
    room.created();
    record(&room.own(), "two", "2\n");
    fs::write(room.main().join("two"), "mine\n").unwrap();
    room.on_branch(|own| {
        let Ok(MergeTry::Made { commit, target }) = own.merge("merge", &apart()) else { panic!() };
        let occupied = own.publish(&commit, &target).unwrap();
        assert!(matches!(occupied, PublishTry::Occupied { .. }), "{occupied:?}");
        own.keep_merge(&commit).unwrap();
        assert_eq!(own.tip(), Some(commit));
    });
    assert_eq!(fs::read_to_string(room.main().join("two")).unwrap(), "mine\n");
}

#[test]
fn what_the_worktree_shows_is_the_branch_s_afterwards() {
    let room = Room::with_commit();
    room.created();
    git(&room.own(), &["checkout", "-q", "-b", "another"]);
    record(&room.own(), "two", "2\n");
    fs::write(room.own().join("three"), "3\n").unwrap();
    room.on_branch(|own| {
        own.adopt_head().unwrap();
        own.commit_all("work", &apart()).unwrap();
    });
    assert_eq!(git(&room.main(), &["show", "stopgate/l:two"]), "2");
    assert_eq!(git(&room.main(), &["show", "stopgate/l:three"]), "3");
    // A merge that was broken off is left.
    git(&room.own(), &["checkout", "-q", "--detach", "main"]);
    git(&room.own(), &["merge", "-q", "--no-ff", "--no-commit", "stopgate/l"]);
    room.on_branch(|own| own.adopt_head().unwrap());
    assert_eq!(git(&room.own(), &["branch", "--show-current"]), "stopgate/l");
    assert_eq!(git(&room.own(), &["status", "--porcelain"]), "");
    // A history that leads elsewhere is a person's to look at.
    git(&room.own(), &["checkout", "-q", "--orphan", "other"]);
    git(&room.own(), &["commit", "-q", "-m", "other"]);
    room.on_branch(|own| own.adopt_head().unwrap_err());
}

#[test]
fn marks_of_a_conflict_are_not_committed() {
    let room = Room::with_commit();
    room.created();
    record(&room.main(), "one", "mine\n");
    record(&room.own(), "one", "theirs\n");
    let argv = ["git", "merge", "-q", "main"];
    let said = tool_with(&argv, &room.own(), Duration::from_secs(30), &identity()).unwrap();
    assert!(!said.is_fine());
    room.on_branch(|own| own.commit_all("work", &apart()).unwrap_err());
}

#[test]
fn a_driver_of_the_repository_s_own_is_not_run() {
    let room = Room::with_commit();
    record(&room.main(), ".gitattributes", "one merge=evil\n");
    let ran = room.directory.path().join("ran");
    let driver = format!("touch {}", ran.display());
    git(&room.main(), &["config", "merge.evil.driver", &driver]);
    room.created();
    record(&room.main(), "one", "mine\n");
    record(&room.own(), "one", "theirs\n");
    room.on_branch(|own| {
        let tried = own.merge("merge", &apart()).unwrap();
        assert_eq!(tried, MergeTry::Conflict { files: vec!["one".into()] });
    });
    assert!(!ran.exists());
}

#[test]
fn a_worktree_that_is_gone_is_made_again() {
    let room = Room::with_commit();
    room.created();
    record(&room.own(), "two", "2\n");
    fs::remove_dir_all(room.own()).unwrap();
    room.on_branch(|own| {
        assert!(!own.is_there());
        own.attach().unwrap();
    });
    assert_eq!(fs::read_to_string(room.own().join("two")).unwrap(), "2\n");
}

#[test]
fn a_person_is_told_what_a_worktree_lacks() {
    let room = Room::with_commit();
    assert_eq!(worktree_warnings(&room.main()), Vec::<String>::new());
    fs::write(room.main().join(".gitmodules"), "").unwrap();
    fs::write(room.main().join(".gitattributes"), "*.bin filter=lfs\n").unwrap();
    assert_eq!(worktree_warnings(&room.main()).len(), 3);
}

#[test]
fn a_list_that_was_marked_in_both_trees_is_not_in_the_way() {
    let room = Room::with_commit();
    record(&room.main(), "list", "a\nb\n");
    room.created();
    fs::write(room.own().join("list"), "A\nb\n").unwrap();
    fs::write(room.own().join("two"), "2\n").unwrap();
    let written = vec![("list".into(), "A\nB\n".into())];
    let apart = KeptApart { paths: vec!["list".into()], written };
    room.on_branch(|own| own.commit_all("work", &apart).unwrap());
    record(&room.main(), "list", "a\nB\n");
    let merged = room.on_branch(|own| own.merge("merge", &apart).unwrap());
    let MergeTry::Made { commit, .. } = merged else { panic!("{merged:?}") };
    assert_eq!(git(&room.main(), &["show", &format!("{commit}:list")]), "A\nB");
    assert_eq!(git(&room.main(), &["show", &format!("{commit}:two")]), "2");
}

#[test]
fn a_complaint_names_what_is_in_the_way() {
    let text = "error: Your local changes to the following files would be overwritten by checkout:\n\
                \tlist\n\tother\nPlease commit your changes or stash them.\nAborting\n";
    let told = complaint(text);
    assert!(told.ends_with("overwritten by checkout: list, other"), "{told}");
    assert_eq!(complaint("hint: x\nfatal: not a branch\n"), "fatal: not a branch");
    assert_eq!(complaint("\nno such thing\n\n"), "no such thing");
}

#[test]
fn a_lock_that_another_git_holds_is_waited_for() {
    let room = Room::with_commit();
    let lock = room.main().join(".git/index.lock");
    fs::write(&lock, "").unwrap();
    fs::write(room.main().join("two"), "2\n").unwrap();
    let add = || tool_with(&["git", "add", "two"], &room.main(), GIT_TIME, &identity());
    let mut pauses = 0;
    let pause = || {
        pauses += 1;
        if pauses == 3 {
            fs::remove_file(&lock).unwrap();
        }
    };
    assert!(patiently(add, pause).unwrap().is_fine());
    assert_eq!(pauses, 3);
}

#[test]
fn a_lock_that_nobody_takes_away_is_told() {
    let room = Room::with_commit();
    fs::write(room.main().join(".git/index.lock"), "").unwrap();
    let mut tries = 0;
    let add = || {
        tries += 1;
        tool_with(&["git", "add", "one"], &room.main(), GIT_TIME, &identity())
    };
    let said = patiently(add, || {}).unwrap();
    assert!(complaint(&String::from_utf8_lossy(&said.stderr)).contains("index.lock"));
    assert_eq!(tries, LOCK_TRIES_MAX);
}
