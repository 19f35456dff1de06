//! The git of the start for a check that asks it.
//!
//! `git archive HEAD`, `git clone .` and `git show HEAD:check.sh` read what was committed, not what
//! is in the tree. So an original run of a check that asks git undoes, in the private place's own
//! repository, what makes git show something else, and gets a commit of its own with the judges as
//! they were.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::basis::{GitUndo, GitUse, JudgeChanges};

/// Ends the words that are not the command's; no path of a judge reads so.
const END: &str = ".";

/// Undoes what the first words say, commits the given paths as they are in the tree, those behind
/// `:` as they were at the start, then becomes the command after the end. A path that git does not
/// know, now or at the start, is not committed.
const SCRIPT: &str = include_str!("recommit.sh");

/// The command, with the git of the start made before it where it asks git.
pub(super) fn with_commit(
    argv: Vec<OsString>,
    root: &Path,
    base: Option<&str>,
    changes: &JudgeChanges,
) -> Vec<OsString> {
    // Where `.git` is a file, the repository is outside of every private place.
    let is_whole = root.join(".git").is_dir();
    let restored = changes.restore.iter().map(|file| &file.path);
    let committed = &changes.undo.committed;
    let paths: Vec<&Path> =
        restored.chain(&changes.absent).chain(committed).map(PathBuf::as_path).collect();
    let is_due = !paths.is_empty() || !changes.undo.is_empty() || !changes.untracked.is_empty();
    if changes.git == GitUse::None || !is_whole || !is_due {
        return argv;
    }
    let mut words: Vec<OsString> =
        ["/bin/sh", "-c", SCRIPT, "stopgate"].map(OsString::from).to_vec();
    words.extend([root.into(), base.unwrap_or("HEAD").into()]);
    words.extend(undoing(&changes.undo));
    words.push("judges".into());
    words.extend(paths.iter().map(OsString::from));
    words.push(":".into());
    words.extend(changes.untracked.iter().map(OsString::from));
    words.push(END.into());
    words.extend(argv);
    words
}

/// What is undone, each as its kind and its values, which begin with `=`.
fn undoing(undo: &GitUndo) -> Vec<OsString> {
    let mut words = Vec::new();
    let mut add = |kind: &str, values: &[&str]| {
        words.push(OsString::from(kind));
        words.extend(values.iter().map(|value| OsString::from(format!("={value}"))));
    };
    for (key, then) in &undo.settings {
        match then {
            Some(value) => add("set", &[key, value]),
            None => add("unset", &[key]),
        }
    }
    for (path, then) in &undo.files {
        match then {
            Some(text) => add("write", &[path, text]),
            None => add("remove", &[path]),
        }
    }
    for (name, then) in &undo.refs {
        match then {
            Some(object) => add("refer", &[name, object]),
            None => add("drop", &[name]),
        }
    }
    for path in &undo.unseen {
        add("see", &[path]);
    }
    for name in &undo.names {
        add("name", &[name]);
    }
    words
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::place::{FileContent, RestoredFile};

    fn run(root: &Path, words: &[OsString]) -> String {
        let said = crate::tool(words, root, Duration::from_secs(30)).expect("it runs");
        assert!(said.is_fine(), "{words:?}: {}", String::from_utf8_lossy(&said.stderr));
        String::from_utf8_lossy(&said.stdout).into_owned()
    }

    fn git(root: &Path, words: &[&str]) -> String {
        let person = ["git", "-c", "user.name=Pat", "-c", "user.email=pat@example.org"];
        let words: Vec<OsString> = person.iter().chain(words).map(OsString::from).collect();
        run(root, &words).trim().to_string()
    }

    #[test]
    fn a_command_finds_the_judges_of_the_start_in_the_last_commit() {
        let directory = tempfile::tempdir().expect("a directory");
        let root = directory.path();
        let write = |name: &str, text: &str| std::fs::write(root.join(name), text).expect("write");
        git(root, &["init", "-q"]);
        write("check.sh", "exit 1");
        write("work.txt", "one");
        git(root, &["add", "-A"]);
        git(root, &["commit", "-qm", "start"]);
        let base = git(root, &["rev-parse", "HEAD"]);
        write("check.sh", "exit 0");
        write("work.txt", "two");
        write("new_test.sh", "exit 0");
        git(root, &["add", "-A"]);
        git(root, &["commit", "-qm", "work"]);
        // As a private place has it.
        write("check.sh", "exit 1");
        std::fs::remove_file(root.join("new_test.sh")).expect("remove it");
        let content = FileContent::File { bytes: b"exit 1".to_vec(), executable: false };
        let changes = JudgeChanges {
            restore: vec![RestoredFile { path: "check.sh".into(), content }],
            absent: vec!["new_test.sh".into()],
            git: GitUse::Asks,
            ..JudgeChanges::default()
        };
        let check = "git show HEAD:check.sh HEAD:work.txt; git ls-tree --name-only HEAD; \
                     git status --porcelain";
        let argv = ["sh", "-c", check].map(OsString::from).to_vec();
        let words = with_commit(argv, root, Some(&base), &changes);
        let text = run(root, &words);
        assert_eq!(text, "exit 1twocheck.sh\nwork.txt\n");
    }

    #[test]
    fn what_git_no_longer_tracks_it_tracks_again() {
        let directory = tempfile::tempdir().expect("a directory");
        let root = directory.path();
        let write = |name: &str, text: &str| std::fs::write(root.join(name), text).expect("write");
        git(root, &["init", "-q"]);
        write("made by hand.sh", "one");
        write("b.sh", "b");
        git(root, &["add", "-A"]);
        git(root, &["commit", "-qm", "start"]);
        let base = git(root, &["rev-parse", "HEAD"]);
        git(root, &["rm", "-q", "--cached", "made by hand.sh"]);
        git(root, &["commit", "-qm", "work"]);
        write("made by hand.sh", "two");
        let changes = JudgeChanges {
            untracked: vec!["made by hand.sh".into()],
            git: GitUse::Asks,
            ..JudgeChanges::default()
        };
        let check = "git ls-files; git diff --name-only; git show 'HEAD:made by hand.sh'";
        let argv = ["sh", "-c", check].map(OsString::from).to_vec();
        let text = run(root, &with_commit(argv, root, Some(&base), &changes));
        assert_eq!(text, "b.sh\nmade by hand.sh\nmade by hand.sh\none");
    }

    #[test]
    fn a_command_finds_names_attributes_marks_and_settings_as_they_were() {
        let directory = tempfile::tempdir().expect("a directory");
        let root = directory.path();
        let write = |name: &str, text: &str| std::fs::write(root.join(name), text).expect("write");
        git(root, &["init", "-q", "-b", "main"]);
        write("check.sh", "exit 1");
        git(root, &["add", "-A"]);
        git(root, &["commit", "-qm", "start"]);
        let base = git(root, &["rev-parse", "HEAD"]);
        write("check.sh", "exit 0");
        git(root, &["commit", "-qam", "weak"]);
        git(root, &["tag", "-a", "-m", "new", "v2"]);
        git(root, &["tag", "main"]);
        write(".git/stable", &base);
        git(root, &["config", "diff.noprefix", "true"]);
        git(root, &["config", "log.date", "iso"]);
        write("check.sh", "exit 1");
        git(root, &["update-index", "--assume-unchanged", "check.sh"]);
        let undo = GitUndo {
            settings: vec![
                ("diff.noprefix".into(), None),
                ("log.date".into(), Some("short".into())),
            ],
            files: vec![
                ("info/attributes".into(), Some("* text\n".into())),
                ("stable".into(), None),
            ],
            refs: vec![
                ("refs/heads/main".into(), Some(base.clone())),
                ("refs/tags/main".into(), None),
            ],
            unseen: vec!["check.sh".into()],
            names: vec!["refs/tags/v2".into()],
            committed: vec!["check.sh".into()],
        };
        let changes = JudgeChanges { undo, git: GitUse::Asks, ..JudgeChanges::default() };
        let check = "git config diff.noprefix; git config log.date; cat .git/info/attributes; \
                     git rev-parse -q --verify stable; git rev-parse main; git cat-file -t v2; \
                     git show HEAD:check.sh v2^{commit}:check.sh; git log --format=:%s HEAD; \
                     git ls-files -v; git status --porcelain";
        std::fs::create_dir_all(root.join(".git/info")).expect("make it");
        let argv = ["sh", "-c", check].map(OsString::from).to_vec();
        let text = run(root, &with_commit(argv, root, Some(&base), &changes));
        let wanted = format!(
            "short\n* text\n{base}\ntag\nexit 1exit 1:the judges of the start\n:weak\n:start\n\
             H check.sh\n"
        );
        assert_eq!(text, wanted);
    }

    #[test]
    fn what_can_t_be_undone_ends_the_run() {
        let directory = tempfile::tempdir().expect("a directory");
        let root = directory.path();
        git(root, &["init", "-q"]);
        let undo = GitUndo {
            refs: vec![("refs/tags/a".into(), Some("0123456789".repeat(4)))],
            ..GitUndo::default()
        };
        let changes = JudgeChanges { undo, git: GitUse::Asks, ..JudgeChanges::default() };
        let words = with_commit(vec!["true".into()], root, None, &changes);
        let said = crate::tool(&words, root, Duration::from_secs(30)).expect("it runs");
        assert_eq!(said.status_code, Some(125));
    }
}
