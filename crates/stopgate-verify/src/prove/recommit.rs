//! The judges of the start for a check that looks at commits.
//!
//! `git archive HEAD`, `git clone .` and `git show HEAD:check.sh` read what was committed, not what
//! is in the tree. So an original run of a check that asks git gets a commit of its own, in the
//! private place, with the judges as they were.

use std::ffi::OsString;
use std::path::Path;

use crate::basis::{GitUse, JudgeChanges};

/// Commits the given paths as they are in the tree, those behind `:` as they were at the start, then
/// becomes the command behind `--`. A path that git does not know, now or at the start, is not
/// committed.
const SCRIPT: &str = r#"
record() (
    cd -- "$1" || exit 1
    base=$2
    shift 2
    own() { git -c core.hooksPath=/dev/null -c core.fsmonitor=false "$@"; }
    own rev-parse -q --verify HEAD >/dev/null || exit 0
    index=$(own rev-parse --git-path index).stopgate || exit 1
    other() { GIT_INDEX_FILE=$index own "$@"; }
    other read-tree HEAD || exit 1
    while [ "$1" != : ]; do
        if [ ! -e "$1" ] && [ ! -L "$1" ]; then
            other update-index --force-remove -- "$1" || exit 1
            own update-index --force-remove -- "$1" || exit 1
        elif own cat-file -e "HEAD:$1" 2>/dev/null || own cat-file -e "$base:$1" 2>/dev/null; then
            other update-index --add -- "$1" || exit 1
            own update-index --add -- "$1" || exit 1
        fi
        shift
    done
    shift
    while [ "$1" != -- ]; do
        was=$(own ls-tree "$base" -- "$1") || exit 1
        known=${was%%"$(printf '\t')"*}
        object=${known##* }
        if [ -n "$object" ]; then
            other update-index --add --cacheinfo "${known%% *}" "$object" "$1" || exit 1
            own update-index --add --cacheinfo "${known%% *}" "$object" "$1" || exit 1
        fi
        shift
    done
    tree=$(other write-tree) || exit 1
    rm -f -- "$index"
    [ "$tree" = "$(own rev-parse 'HEAD^{tree}')" ] && exit 0
    when=$(own log -1 --format=%cI HEAD) || exit 1
    export GIT_AUTHOR_NAME=stopgate GIT_AUTHOR_EMAIL=stopgate@localhost GIT_AUTHOR_DATE="$when"
    export GIT_COMMITTER_NAME=stopgate GIT_COMMITTER_EMAIL=stopgate@localhost
    export GIT_COMMITTER_DATE="$when"
    commit=$(own commit-tree "$tree" -p HEAD -m 'the judges of the start') || exit 1
    own update-ref HEAD "$commit"
)
record "$@" >/dev/null || { echo 'stopgate: could not commit the judges of the start' >&2; exit 125; }
while [ "$1" != -- ]; do shift; done
shift
exec "$@"
"#;

/// The command, with the judges of the start committed before it where it asks git.
pub(super) fn with_commit(
    argv: Vec<OsString>,
    root: &Path,
    base: Option<&str>,
    changes: &JudgeChanges,
) -> Vec<OsString> {
    // Where `.git` is a file, the repository is outside of every private place.
    let is_whole = root.join(".git").is_dir();
    let restored = changes.restore.iter().map(|file| &file.path);
    let paths: Vec<&Path> =
        restored.chain(&changes.absent).map(std::path::PathBuf::as_path).collect();
    let is_asked = !paths.is_empty() || !changes.untracked.is_empty();
    if changes.git == GitUse::None || !is_whole || !is_asked {
        return argv;
    }
    let mut words: Vec<OsString> =
        ["/bin/sh", "-c", SCRIPT, "stopgate"].map(OsString::from).to_vec();
    words.extend([root.into(), base.unwrap_or("HEAD").into()]);
    words.extend(paths.iter().map(OsString::from));
    words.push(":".into());
    words.extend(changes.untracked.iter().map(OsString::from));
    words.push("--".into());
    words.extend(argv);
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
}
