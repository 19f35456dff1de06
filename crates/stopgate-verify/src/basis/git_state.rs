//! What git makes of the files for a check that asks it: its attributes, filters and marks.
//!
//! A check that runs `git diff --exit-code` believes git. Settings and marks of the index that
//! make git see something else than there is can't be undone in a private place, so a person is
//! asked about new ones.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use stopgate_system::fs::MetadataExt;

use super::git_settings::steers;
use super::lasting::LastingChange;
use crate::files::read_regular;
use crate::git::{GitFilters, git};
use crate::judges::{is_code, is_product};
use crate::tree::{hash_of, hex};

/// How long git may take to answer.
const WITHIN: Duration = Duration::from_secs(10);
/// Attributes are no longer than this.
const BYTES_MAX: u64 = 1024 * 1024;
/// Longer notes about one branch are not read.
const LOG_BYTES_MAX: u64 = 16 * 1024 * 1024;
/// How many tags, branches and notes are looked at.
const REFS_MAX: usize = 5_000;
/// How many kinds of notes are.
const NOTES_MAX: usize = 20;
/// How git saw the project at the start.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct GitState {
    settings: BTreeMap<String, String>,
    /// The fingerprint of the repository's own attributes.
    attributes: String,
    /// Those of other files of the repository by which git shows something else: where history
    /// ends, and programs that it runs when files are checked out.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    files: BTreeMap<String, String>,
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
        let settings = settings_of(root)?;
        let (attributes, files) = own_files(root)?;
        let listed = answer(root, &["ls-files", "-v", "-z"])?;
        let is_unseen =
            |entry: &&str| entry.starts_with(|mark: char| mark.is_ascii_lowercase() || mark == 'S');
        let unseen = listed.split('\0').filter(is_unseen).filter_map(|entry| entry.get(2..));
        let unseen = unseen.map(Into::into).collect();
        let head = answer(root, &["symbolic-ref", "-q", "HEAD"]);
        let head = head.map(|name| name.trim_end().to_string());
        Some(Self { settings, attributes, files, unseen, refs: refs_of(root)?, head })
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
        // Which hooks git runs matters where the check runs them.
        let counts = |key: &str| key != "core.hookspath" || is_named("hook");
        let differs =
            |key: &&&String| counts(key) && self.settings.get(**key) != now.settings.get(**key);
        let set = |key: &&String| {
            let value = now.settings.get(*key).map_or("", String::as_str);
            LastingChange::new(format!("git's setting {key} changed"), value)
        };
        let mut found: Vec<LastingChange> = keys.iter().filter(differs).map(set).collect();
        if self.attributes != now.attributes {
            let text = "git's attributes of this repository changed";
            found.push(LastingChange::new(text, &now.attributes));
        }
        let young = now.files.iter().filter(|(path, says)| self.files.get(*path) != Some(says));
        found.extend(young.map(|(path, says)| {
            LastingChange::new(format!("git's own file {path} was added or changed"), says)
        }));
        let unseen = now.unseen.difference(&self.unseen);
        found.extend(unseen.map(|path| {
            LastingChange::of_file(format!("git no longer looks at {path}"), &root.join(path))
        }));
        found.extend(self.moved_refs(&now, root));
        found.extend(self.moved_branches(&now, is_named));
        found.extend(self.replaced_objects(&now));
        found
    }

    /// Branches and notes that the check compares with, and that are elsewhere; commits move the
    /// branch that is worked on.
    fn moved_branches(&self, now: &Self, is_named: &dyn Fn(&str) -> bool) -> Vec<LastingChange> {
        let is_moved = |name: &str, at: &String| {
            let branch = name.strip_prefix("refs/heads/");
            self.head.as_deref() != Some(name)
                && now.refs.get(name) != Some(at)
                && branch.is_some_and(is_named)
        };
        let hides = |name: &&String| {
            let branch = name.strip_prefix("refs/tags/").filter(|own| is_named(own));
            let was = branch.map(|branch| format!("refs/heads/{branch}"));
            was.is_some_and(|was| self.refs.contains_key(&was)) && !self.refs.contains_key(*name)
        };
        let hiding = now.refs.iter().filter(|(name, _)| hides(name));
        let hiding = hiding.map(|(name, at)| {
            LastingChange::new(format!("{} hides the branch of that name", short(name)), at)
        });
        let noted = self.refs.iter().filter(|(name, at)| {
            name.starts_with("refs/notes/") && now.refs.get(*name) != Some(at) && is_named("notes")
        });
        let noted = noted.map(|(name, _)| {
            let at = now.refs.get(name).map_or("", String::as_str);
            LastingChange::new(format!("the note {} was changed", short(name)), at)
        });
        let moved = self.refs.iter().filter(|(name, at)| is_moved(name, at));
        let told = |(name, _): (&String, &String)| {
            let at = now.refs.get(name).map_or("", String::as_str);
            LastingChange::new(format!("{} was moved or deleted", short(name)), at)
        };
        moved.map(told).chain(hiding).chain(noted).collect()
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
    pub(super) fn untracked_since(root: &Path, commit: &str) -> Vec<PathBuf> {
        let words = ["diff", "--cached", "--diff-filter=D", "--no-renames", "--name-only", "-z"];
        let words: Vec<&str> = words.into_iter().chain([commit]).collect();
        let listed = answer(root, &words).unwrap_or_default();
        let paths = listed.split('\0').filter(|path| !path.is_empty()).map(PathBuf::from);
        paths.filter(|path| root.join(path).is_file() && !is_built(path)).collect()
    }
}

/// Directories of tracked files that became repositories of their own since then: git looks for
/// their files in there.
pub(super) fn repositories_since<'p>(
    root: &Path,
    files: impl Iterator<Item = &'p Path>,
    since: Option<i64>,
) -> Vec<LastingChange> {
    let places: BTreeSet<&Path> = files
        .flat_map(|path| path.ancestors().skip(1))
        .filter(|place| !place.as_os_str().is_empty())
        .collect();
    let is_young = |place: &&Path| {
        let found = root.join(place).join(".git").symlink_metadata();
        let changed = |found: std::fs::Metadata| {
            found.ctime().saturating_mul(1_000_000_000).saturating_add(found.ctime_nsec())
        };
        found.is_ok_and(|found| since.is_none_or(|since| changed(found) > since))
    };
    let is_tracked = |place: &&Path| {
        let words = ["ls-files", "-z", "--"].map(OsStr::new).into_iter().chain([place.as_os_str()]);
        let said = git(&words.collect::<Vec<_>>(), root, GitFilters::Run, WITHIN);
        said.is_ok_and(|said| said.is_fine() && !said.stdout.is_empty())
    };
    let found = places.into_iter().take(REFS_MAX).filter(is_young).filter(is_tracked);
    let told = |place: &Path| {
        LastingChange::new(format!("{} is a repository of its own now", place.display()), "")
    };
    found.map(told).collect()
}

/// Whether the file is what a build leaves; scripts in `bin` are not.
fn is_built(path: &Path) -> bool {
    let extension = path.extension().and_then(|end| end.to_str()).unwrap_or_default();
    let is_script = path.starts_with("bin") && is_code(extension);
    is_product(path) && !is_script
}

/// The settings that steer, each with all its values.
fn settings_of(root: &Path) -> Option<BTreeMap<String, String>> {
    // What our own calls of git are told comes last.
    const OWN: [&str; 4] =
        ["core.fsmonitor", "core.hookspath", "core.sshcommand", "log.showsignature"];
    let listed = answer(root, &["config", "--list", "-z"])?;
    let mut all: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for entry in listed.split('\0').filter(|entry| !entry.is_empty()) {
        let (key, value) = entry.split_once('\n').unwrap_or((entry, "true"));
        all.entry(key).or_default().push(value);
    }
    for key in OWN {
        all.get_mut(key).and_then(Vec::pop);
    }
    let steering = all.into_iter().filter_map(|(key, values)| {
        let value = values.last().filter(|value| steers(key, value))?;
        let all = if key.starts_with("url.") { values.join("\n") } else { (*value).to_string() };
        Some((key.to_string(), all))
    });
    Some(steering.collect())
}

/// The fingerprint of the repository's own attributes, and those of its other files that decide
/// what git shows.
fn own_files(root: &Path) -> Option<(String, BTreeMap<String, String>)> {
    const FILES: [&str; 5] = [
        "shallow",
        "info/grafts",
        "hooks/post-checkout",
        "hooks/post-index-change",
        "hooks/reference-transaction",
    ];
    let common = answer(root, &["rev-parse", "--git-common-dir"])?;
    let common = root.join(common.trim_end());
    let read = |name: &str| {
        let bytes = read_regular(&common.join(name), BYTES_MAX).ok()?;
        Some(hex(&hash_of(&bytes)))
    };
    let found = FILES.iter().filter_map(|name| Some(((*name).to_string(), read(name)?)));
    Some((read("info/attributes").unwrap_or_default(), found.collect()))
}

/// Tags, branches and replaced objects, with what they point to.
fn refs_of(root: &Path) -> Option<BTreeMap<String, String>> {
    let form = "--format=%(refname) %(objectname)";
    let count = format!("--count={REFS_MAX}");
    let kinds = ["refs/tags", "refs/remotes", "refs/replace", "refs/notes", "refs/heads"];
    let listed = answer(root, &[&["for-each-ref", form, &count][..], &kinds[..]].concat())?;
    let pair = |line: &str| line.split_once(' ').map(|(name, at)| (name.into(), at.into()));
    let mut refs: BTreeMap<String, String> = listed.lines().filter_map(pair).collect();
    // A note for another object is nobody's business.
    let notes: Vec<String> =
        refs.keys().filter(|name| name.starts_with("refs/notes/")).cloned().collect();
    for name in notes.into_iter().take(NOTES_MAX) {
        let listed = answer(root, &["ls-tree", "-r", &name]).unwrap_or_default();
        let entry = |line: &str| {
            let (about, object) = line.split_once('\t')?;
            Some((format!("{name}/{object}"), about.rsplit_once(' ')?.1.to_string()))
        };
        refs.remove(&name);
        refs.extend(listed.lines().take(REFS_MAX).filter_map(entry));
    }
    Some(refs)
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
        None => name.trim_start_matches("refs/remotes/").trim_start_matches("refs/notes/").into(),
    }
}

fn answer(root: &Path, words: &[&str]) -> Option<String> {
    let said = git(words, root, GitFilters::Run, WITHIN).ok()?;
    said.is_fine().then(|| String::from_utf8_lossy(&said.stdout).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn a_directory_that_becomes_a_repository_and_hooks_are_told() {
        let directory = tempfile::tempdir().expect("a directory");
        let root = directory.path();
        run(root, &["init", "-q"]);
        std::fs::create_dir(root.join("docs")).expect("make it");
        std::fs::write(root.join("docs/a.md"), "a").expect("write it");
        run(root, &["add", "docs/a.md"]);
        let noted = GitState::take(root).expect("a state");
        let files = || std::iter::once(Path::new("docs/a.md"));
        assert_eq!(repositories_since(root, files(), Some(0)), []);
        run(&root.join("docs"), &["init", "-q"]);
        let told = repositories_since(root, files(), Some(0));
        assert_eq!(told[0].text, "docs is a repository of its own now");
        let hook = root.join(".git/hooks/post-checkout");
        std::fs::create_dir_all(root.join(".git/hooks")).expect("make it");
        std::fs::write(hook, "#!/bin/sh\n").expect("write it");
        let told = noted.changes(root, &|_| false);
        assert_eq!(told[0].text, "git's own file hooks/post-checkout was added or changed");
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
        let untracked = GitState::untracked_since(root, commit.trim_end());
        assert_eq!(untracked, [PathBuf::from("a.txt")]);
        let found = || noted.changes(root, &|_| false);
        let first = found();
        assert_eq!(first.len(), 2, "{first:?}");
        run(root, &["tag", "-f", "base", "HEAD"]);
        run(root, &["config", "filter.none.clean", "false"]);
        for (one, other) in first.iter().zip(found()) {
            assert_eq!(one.text, other.text);
            assert_ne!(one.now, other.now, "{}", one.text);
        }
    }
}
