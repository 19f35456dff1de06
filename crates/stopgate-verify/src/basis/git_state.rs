//! What git makes of the files for a check that asks it: its attributes, filters and marks.
//!
//! A check that runs `git diff --exit-code` believes git. Settings and marks of the index that
//! make git see something else than there is can't be undone in a private place, so a person is
//! asked about new ones.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::lasting::LastingChange;
use crate::files::read_regular;
use crate::git::{GitFilters, git};
use crate::judges::is_product;
use crate::tree::{hash_of, hex};

/// How long git may take to answer.
const WITHIN: Duration = Duration::from_secs(10);
/// Attributes are no longer than this.
const BYTES_MAX: u64 = 1024 * 1024;
/// Longer notes about one branch are not read.
const LOG_BYTES_MAX: u64 = 16 * 1024 * 1024;
/// How many tags and branches of others are noted.
const REFS_MAX: usize = 5_000;
/// Settings that decide what git sees.
const KEYS: [&str; 11] = [
    "core.attributesfile",
    "core.autocrlf",
    "core.checkstat",
    "core.filemode",
    "core.ignorecase",
    "core.ignorestat",
    "core.symlinks",
    "core.trustctime",
    "core.worktree",
    "diff.external",
    "diff.ignoresubmodules",
];

/// What a test says that asks git which files there are, or whether they differ from a commit.
const QUESTIONS: [&str; 9] =
    ["ls-files", "ls-tree", "status", "diff", "diff-index", "grep", "archive", "clone", "stash"];

/// Whether a test asks git about the files of the project: `["git", "ls-files"]`, `git status`.
pub(super) fn is_asked_by(test: &str) -> bool {
    let is_sign = |letter: char| !(letter.is_ascii_alphanumeric() || letter == '-');
    test.lines().any(|line| {
        let words = line.split(is_sign).filter(|word| !word.is_empty());
        let mut words = words.skip_while(|word| *word != "git").skip(1);
        words.any(|word| QUESTIONS.contains(&word))
    })
}

/// How git saw the project at the start.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct GitState {
    settings: BTreeMap<String, String>,
    /// The fingerprint of the repository's own attributes.
    attributes: String,
    /// Files whose changes git was told not to look at.
    unseen: BTreeSet<String>,
    /// Where tags and branches were, and what git shows in the place of what.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    refs: BTreeMap<String, String>,
    /// The branch that was checked out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    head: Option<String>,
}

impl GitState {
    /// How git sees the project now; nothing where it can't be asked.
    pub(super) fn take(root: &Path) -> Option<Self> {
        let settings = answer(root, &["config", "--list", "-z"])?;
        let entries = settings.split('\0').filter(|entry| !entry.is_empty());
        let pair = |entry: &str| {
            let (key, value) = entry.split_once('\n').unwrap_or((entry, "true"));
            (key.to_string(), value.to_string())
        };
        let settings = entries.map(pair).filter(|(key, _)| steers(key)).collect();
        let path = answer(root, &["rev-parse", "--git-path", "info/attributes"])?;
        let attributes = read_regular(&root.join(path.trim_end()), BYTES_MAX);
        let attributes = attributes.map(|bytes| hex(&hash_of(&bytes))).unwrap_or_default();
        let listed = answer(root, &["ls-files", "-v", "-z"])?;
        let is_unseen =
            |entry: &&str| entry.starts_with(|mark: char| mark.is_ascii_lowercase() || mark == 'S');
        let unseen = listed.split('\0').filter(is_unseen).filter_map(|entry| entry.get(2..));
        let unseen = unseen.map(Into::into).collect();
        let head = answer(root, &["symbolic-ref", "-q", "HEAD"]);
        let head = head.map(|name| name.trim_end().to_string());
        Some(Self { settings, attributes, unseen, refs: refs_of(root)?, head })
    }

    /// What is not as it was; of the project's own branches those that judges name.
    pub(super) fn changes(
        &self,
        root: &Path,
        is_named: &dyn Fn(&str) -> bool,
    ) -> Vec<LastingChange> {
        let Some(now) = Self::take(root) else {
            return vec![LastingChange::new("git can't be asked any more", "")];
        };
        let keys: BTreeSet<&String> = self.settings.keys().chain(now.settings.keys()).collect();
        let differs = |key: &&&String| self.settings.get(**key) != now.settings.get(**key);
        let set = |key: &&String| {
            let value = now.settings.get(*key).map_or("", String::as_str);
            LastingChange::new(format!("git's setting {key} changed"), value)
        };
        let mut found: Vec<LastingChange> = keys.iter().filter(differs).map(set).collect();
        if self.attributes != now.attributes {
            let text = "git's attributes of this repository changed";
            found.push(LastingChange::new(text, &now.attributes));
        }
        let unseen = now.unseen.difference(&self.unseen);
        found.extend(unseen.map(|path| {
            LastingChange::of_file(format!("git no longer looks at {path}"), &root.join(path))
        }));
        found.extend(self.moved_refs(&now, root));
        found.extend(self.moved_branches(&now, is_named));
        found.extend(self.replaced_objects(&now));
        found
    }

    /// Branches that the check compares with, and that are elsewhere; commits move the one that
    /// is worked on.
    fn moved_branches(&self, now: &Self, is_named: &dyn Fn(&str) -> bool) -> Vec<LastingChange> {
        let is_moved = |name: &str, at: &String| {
            let branch = name.strip_prefix("refs/heads/");
            branch.is_some_and(is_named)
                && self.head.as_deref() != Some(name)
                && now.refs.get(name) != Some(at)
        };
        let moved = self.refs.iter().filter(|(name, at)| is_moved(name, at));
        let told = |(name, _): (&String, &String)| {
            let at = now.refs.get(name).map_or("", String::as_str);
            LastingChange::new(format!("{} was moved or deleted", short(name)), at)
        };
        moved.map(told).collect()
    }

    /// `git replace`, since which git shows something else than was committed.
    fn replaced_objects(&self, now: &Self) -> Vec<LastingChange> {
        let replaced = now.refs.iter().filter(|(name, at)| {
            name.starts_with("refs/replace/") && self.refs.get(*name) != Some(at)
        });
        let told = |(name, at): (&String, &String)| {
            let object = name.trim_start_matches("refs/replace/");
            LastingChange::new(format!("git shows another object in place of {object}"), at)
        };
        replaced.map(told).collect()
    }

    /// Tags that are elsewhere than they were, and branches of others that nobody fetched or
    /// pushed: a check that compares with them would find nothing.
    fn moved_refs(&self, now: &Self, root: &Path) -> Vec<LastingChange> {
        let is_tag = |name: &str| name.starts_with("refs/tags/");
        let tags =
            self.refs.iter().filter(|(name, at)| is_tag(name) && now.refs.get(*name) != Some(at));
        let tags = tags.map(|(name, _)| {
            let at = now.refs.get(name).map_or("", String::as_str);
            LastingChange::new(format!("{} was moved or deleted", short(name)), at)
        });
        let common = answer(root, &["rev-parse", "--git-common-dir"]).unwrap_or_default();
        let logs = root.join(common.trim_end()).join("logs");
        let others = now.refs.iter().filter(|(name, at)| {
            name.starts_with("refs/remotes/")
                && self.refs.get(*name) != Some(at)
                && is_moved_by_hand(&logs, name)
        });
        let others = others
            .map(|(name, at)| LastingChange::new(format!("{} was moved by hand", short(name)), at));
        tags.chain(others).collect()
    }

    /// Files that the commit of the start has and git does not track any more, although they are
    /// there: a check that asks git does not see them.
    pub(super) fn untracked_since(root: &Path, commit: &str) -> Vec<LastingChange> {
        let words = ["diff", "--cached", "--diff-filter=D", "--no-renames", "--name-only", "-z"];
        let words: Vec<&str> = words.into_iter().chain([commit]).collect();
        let listed = answer(root, &words).unwrap_or_default();
        let paths = listed.split('\0').filter(|path| !path.is_empty());
        let is_left = |path: &&str| root.join(path).is_file() && !is_product(Path::new(path));
        let told = |path: &str| {
            LastingChange::of_file(format!("git no longer tracks {path}"), &root.join(path))
        };
        paths.filter(is_left).map(told).collect()
    }
}

/// Tags, branches and replaced objects, with what they point to.
fn refs_of(root: &Path) -> Option<BTreeMap<String, String>> {
    let form = "--format=%(refname) %(objectname)";
    let count = format!("--count={REFS_MAX}");
    let kinds = ["refs/tags", "refs/remotes", "refs/replace", "refs/heads"];
    let listed = answer(root, &[&["for-each-ref", form, &count][..], &kinds[..]].concat())?;
    let pair = |line: &str| line.split_once(' ').map(|(name, at)| (name.into(), at.into()));
    Some(listed.lines().filter_map(pair).collect())
}

/// Whether the last note about a branch of others says nothing of a fetch or a push; where nobody
/// takes notes, it is not known.
fn is_moved_by_hand(logs: &Path, name: &str) -> bool {
    const NOTES: [&str; 6] = ["fetch", "push", "pull", "clone", "remote", "storing head"];
    let Ok(text) = read_regular(&logs.join(name), LOG_BYTES_MAX) else { return false };
    let text = String::from_utf8_lossy(&text);
    let last = text.lines().next_back().unwrap_or_default();
    let noted = last.split_once('\t').map_or("", |(_, noted)| noted);
    !NOTES.iter().any(|own| noted.contains(own))
}

/// The name of a tag or a branch as people say it.
fn short(name: &str) -> String {
    if let Some(tag) = name.strip_prefix("refs/tags/") {
        return format!("the tag {tag}");
    }
    match name.strip_prefix("refs/heads/") {
        Some(branch) => format!("the branch {branch}"),
        None => name.trim_start_matches("refs/remotes/").to_string(),
    }
}

fn steers(key: &str) -> bool {
    let is_filter = key.starts_with("filter.") && !key.starts_with("filter.lfs.");
    let is_driver =
        key.starts_with("diff.") && [".textconv", ".command"].iter().any(|end| key.ends_with(end));
    KEYS.contains(&key) || is_filter || is_driver
}

fn answer(root: &Path, words: &[&str]) -> Option<String> {
    let said = git(words, root, GitFilters::Run, WITHIN).ok()?;
    said.is_fine().then(|| String::from_utf8_lossy(&said.stdout).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_that_ask_git_are_known_by_the_words_after_its_name() {
        for text in [
            "names = subprocess.run([\"git\", \"ls-files\"], cwd=ROOT)",
            "    test -z \"$(git status --porcelain)\"",
            "Command::new(\"git\").args([\"-C\", root, \"diff\", \"--quiet\"])",
        ] {
            assert!(is_asked_by(text), "{text}");
        }
        for text in ["digit status", "run([\"git\", \"describe\"])", "git log -1", "legit diff"] {
            assert!(!is_asked_by(text), "{text}");
        }
    }

    fn run(root: &Path, words: &[&str]) {
        let said = git(words, root, GitFilters::Run, WITHIN).expect("git runs");
        assert!(said.is_fine(), "{words:?}");
    }

    #[test]
    fn new_filters_attributes_and_marks_are_told_and_names_are_not() {
        let directory = tempfile::tempdir().expect("a directory");
        let root = directory.path();
        run(root, &["init", "-q"]);
        std::fs::write(root.join("a.txt"), "a").expect("write it");
        run(root, &["add", "a.txt"]);
        let noted = GitState::take(root).expect("a state");
        run(root, &["config", "user.name", "Pat"]);
        assert_eq!(noted.changes(root, &|_| false), []);
        run(root, &["config", "filter.none.clean", "true"]);
        run(root, &["update-index", "--assume-unchanged", "a.txt"]);
        std::fs::create_dir_all(root.join(".git/info")).expect("make it");
        std::fs::write(root.join(".git/info/attributes"), "* filter=none\n").expect("write it");
        let wanted = [
            "git's setting filter.none.clean changed",
            "git's attributes of this repository changed",
            "git no longer looks at a.txt",
        ];
        let told = |found: Vec<LastingChange>| -> Vec<String> {
            found.into_iter().map(|change| change.text).collect()
        };
        assert_eq!(told(noted.changes(root, &|_| false)), wanted);
    }

    #[test]
    fn a_branch_that_judges_name_and_replaced_objects_are_told() {
        let directory = tempfile::tempdir().expect("a directory");
        let root = directory.path();
        let commit = |name: &str| {
            std::fs::write(root.join("a.txt"), name).expect("write it");
            run(root, &["add", "a.txt"]);
            run(root, &["-c", "user.name=P", "-c", "user.email=p@x", "commit", "-qm", name]);
        };
        run(root, &["init", "-q", "-b", "main"]);
        commit("one");
        run(root, &["branch", "stable"]);
        run(root, &["branch", "other"]);
        let noted = GitState::take(root).expect("a state");
        let changes = || noted.changes(root, &|branch| ["main", "stable"].contains(&branch));
        commit("two");
        run(root, &["branch", "-f", "other", "HEAD"]);
        assert_eq!(changes(), []);
        run(root, &["branch", "-f", "stable", "HEAD"]);
        run(root, &["replace", "HEAD:a.txt", "HEAD~1:a.txt"]);
        let told: Vec<String> = changes().into_iter().map(|change| change.text).collect();
        assert_eq!(told[0], "the branch stable was moved or deleted");
        assert!(told[1].starts_with("git shows another object in place of "), "{told:?}");
    }

    #[test]
    fn what_was_told_once_is_another_change_where_it_changes_again() {
        let directory = tempfile::tempdir().expect("a directory");
        let root = directory.path();
        run(root, &["init", "-q"]);
        for name in ["a.txt", "b.txt", "c.txt"] {
            std::fs::write(root.join(name), name).expect("write it");
            run(root, &["add", name]);
            run(root, &["-c", "user.name=P", "-c", "user.email=p@x", "commit", "-qm", name]);
        }
        run(root, &["tag", "base", "HEAD~2"]);
        let noted = GitState::take(root).expect("a state");
        let commit = answer(root, &["rev-parse", "HEAD"]).expect("a commit");
        run(root, &["tag", "-f", "base", "HEAD~1"]);
        run(root, &["config", "filter.none.clean", "true"]);
        run(root, &["rm", "--cached", "-q", "a.txt"]);
        let found = || {
            let mut found = noted.changes(root, &|_| false);
            found.extend(GitState::untracked_since(root, commit.trim_end()));
            found
        };
        let first = found();
        assert_eq!(first.len(), 3, "{first:?}");
        run(root, &["tag", "-f", "base", "HEAD"]);
        run(root, &["config", "filter.none.clean", "false"]);
        std::fs::write(root.join("a.txt"), "other").expect("write it");
        for (one, other) in first.iter().zip(found()) {
            assert_eq!(one.text, other.text);
            assert_ne!(one.now, other.now, "{}", one.text);
        }
    }
}
