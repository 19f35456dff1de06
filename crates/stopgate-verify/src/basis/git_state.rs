//! What git makes of the files for a check that asks it: its attributes, filters and marks.
//!
//! A check that runs `git diff --exit-code` believes git. Settings, marks of the index and names of
//! commits that make git see something else than there is are undone in a private place; where
//! that can't be, a person is asked about new ones.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use stopgate_system::fs::MetadataExt;

use super::git_refs::{MovedRefs, REFS_MAX, Refs, hiding_files, refs_of};
use super::git_settings::steers;
use super::git_undo::GitChanges;
use super::lasting::LastingChange;
use crate::files::read_regular;
use crate::git::{GitFilters, git};
use crate::judges::{is_code, is_product, normal};
use crate::tree::{hash_of, hex};

/// How long git may take to answer.
const WITHIN: Duration = Duration::from_secs(10);
/// Attributes are no longer than this.
const BYTES_MAX: u64 = 1024 * 1024;
/// Longer attributes are not kept, so they can't be brought back.
const KEPT_BYTES_MAX: u64 = 64 * 1024;
/// Marks on more files than this are not undone.
const UNSEEN_MAX: usize = 1_000;
/// Hooks that git runs when a check asks it for files.
const HOOKS: [&str; 3] = ["post-checkout", "post-index-change", "reference-transaction"];
/// Where a repository has attributes of its own.
const ATTRIBUTES: &str = "info/attributes";
/// Where it has a list of files of its own that git passes over.
const EXCLUDE: &str = "info/exclude";
/// So many new lines of that list are understood.
const EXCLUDED_MAX: usize = 100;

/// How git saw the project at the start.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct GitState {
    settings: BTreeMap<String, String>,
    /// The fingerprint of the repository's own attributes.
    attributes: String,
    /// What they say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    attributes_text: Option<String>,
    /// The repository's own list of files to pass over; nothing where it was not noted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    exclude: Option<String>,
    /// Those of other files of the repository by which git shows something else: where history
    /// ends, and programs that it runs when files are checked out.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    files: BTreeMap<String, String>,
    /// Files whose changes git was told not to look at.
    unseen: BTreeSet<String>,
    /// What each branch is compared with by those who say `@{upstream}`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    upstreams: BTreeMap<String, String>,
    /// Where tags and branches were, and what git shows in the place of what.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    refs: Refs,
    /// The branch that was checked out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    head: Option<String>,
}

impl GitState {
    /// How git sees the project now; nothing where it can't be asked.
    pub(super) fn take(root: &Path) -> Option<Self> {
        let all = all_settings(root)?;
        let common = common_of(root)?;
        let attributes = common.join(ATTRIBUTES);
        let listed = answer(root, &["ls-files", "-v", "-z"])?;
        let is_unseen =
            |entry: &&str| entry.starts_with(|mark: char| mark.is_ascii_lowercase() || mark == 'S');
        let unseen = listed.split('\0').filter(is_unseen).filter_map(|entry| entry.get(2..));
        let unseen = unseen.map(Into::into).collect();
        let head = answer(root, &["symbolic-ref", "-q", "HEAD"]);
        Some(Self {
            settings: steering(&all),
            upstreams: upstreams(&all),
            attributes: print_of(&attributes).unwrap_or_default(),
            attributes_text: read_regular(&attributes, KEPT_BYTES_MAX)
                .ok()
                .and_then(|bytes| String::from_utf8(bytes).ok()),
            exclude: exclude_of(&common),
            files: own_files(&common),
            unseen,
            refs: refs_of(root)?,
            head: head.map(|name| name.trim_end().to_string()),
        })
    }

    /// What is not as it was; `words` are those of the judges, and `since` is when the loop began.
    pub(super) fn changes(
        &self,
        root: &Path,
        words: &BTreeSet<String>,
        since: Option<i64>,
    ) -> GitChanges {
        let mut found = GitChanges::default();
        let (Some(now), Some(common)) = (Self::take(root), common_of(root)) else {
            found.ask("git can't be asked any more", "");
            return found;
        };
        self.changed_settings(&now, root, words, &mut found);
        if ["u", "upstream"].iter().any(|word| words.contains(*word)) {
            self.changed_upstreams(&now, &mut found);
        }
        self.changed_files(&now, &mut found);
        self.newly_excluded(&now, root, &mut found);
        let is_young = |name: &String| is_young(&common.join(name), since);
        for name in hiding_files(&common, words).into_iter().filter(is_young) {
            let says = print_of(&common.join(&name)).unwrap_or_default();
            found.undo(format!("git's own file {name} hides what is called so"), &says);
            found.undo.files.push((name, None));
        }
        self.unseen_files(&now, root, &mut found);
        let moved = MovedRefs {
            root,
            then: &self.refs,
            now: &now.refs,
            head_then: self.head.as_deref(),
            head_now: now.head.as_deref(),
            words,
        };
        moved.tell(&mut found);
        found
    }

    fn changed_settings(
        &self,
        now: &Self,
        root: &Path,
        words: &BTreeSet<String>,
        found: &mut GitChanges,
    ) {
        let keys: BTreeSet<&String> = self.settings.keys().chain(now.settings.keys()).collect();
        for key in keys {
            let (then, today) = (self.settings.get(key), now.settings.get(key));
            let counts = || key != "core.hookspath" || counts_for_hooks(root, words, then, today);
            if then == today || !counts() {
                continue;
            }
            let text = format!("git's setting {key} changed");
            let value = today.map_or("", String::as_str);
            // All its values count there, and a private place has another path.
            if key.starts_with("url.") || key == "core.worktree" && then.is_some() {
                found.ask(text, value);
            } else {
                found.undo(text, value);
                found.undo.settings.push((key.clone(), then.cloned()));
            }
        }
    }

    /// Branches that had an upstream, and have another.
    fn changed_upstreams(&self, now: &Self, found: &mut GitChanges) {
        for (key, then) in &self.upstreams {
            let today = now.upstreams.get(key);
            if today != Some(then) {
                let text = format!("git's setting {key} changed");
                found.undo(text, today.map_or("", String::as_str));
                found.undo.settings.push((key.clone(), Some(then.clone())));
            }
        }
    }

    /// Files of the repository that decide what git shows.
    fn changed_files(&self, now: &Self, found: &mut GitChanges) {
        if self.attributes != now.attributes {
            let text = "git's attributes of this repository changed";
            if self.attributes.is_empty() || self.attributes_text.is_some() {
                found.undo(text, &now.attributes);
                found.undo.files.push((ATTRIBUTES.into(), self.attributes_text.clone()));
            } else {
                found.ask(text, &now.attributes);
            }
        }
        for (path, says) in &now.files {
            let text = format!("git's own file {path} was added or changed");
            match self.files.get(path) {
                Some(then) if then == says => {}
                Some(_) => found.ask(text, says),
                None => {
                    found.undo(text, says);
                    found.undo.files.push((path.clone(), None));
                }
            }
        }
    }

    /// Files that git passes over by a list that nobody else has. A run goes without the list and
    /// without them, so that only what the check makes itself is seen.
    fn newly_excluded(&self, now: &Self, root: &Path, found: &mut GitChanges) {
        let (Some(then), Some(today)) = (&self.exclude, &now.exclude) else { return };
        let known: BTreeSet<&str> = then.lines().collect();
        let counts = |line: &&str| {
            !line.trim().is_empty() && !line.starts_with(['#', '!']) && !known.contains(line)
        };
        let added: Vec<&str> = today.lines().filter(counts).take(EXCLUDED_MAX).collect();
        if added.is_empty() {
            return;
        }
        let listing = ["ls-files", "-o", "-i", "-z"].into_iter();
        let words: Vec<&str> = listing.chain(added.iter().flat_map(|line| ["-x", line])).collect();
        let hidden = answer(root, &words).unwrap_or_default();
        let hidden: Vec<&str> = hidden.split('\0').filter(|path| !path.is_empty()).collect();
        let Some(first) = hidden.first() else { return };
        let more = if hidden.len() > 1 { " and others" } else { "" };
        let text = format!("git's own list (.git/{EXCLUDE}) newly hides {first}{more}");
        if hidden.len() > UNSEEN_MAX {
            found.ask(text, today);
        } else {
            found.undo(text, today);
            found.undo.files.push((EXCLUDE.into(), Some(then.clone())));
            found.absent.extend(hidden.into_iter().map(PathBuf::from));
        }
    }

    fn unseen_files(&self, now: &Self, root: &Path, found: &mut GitChanges) {
        let unseen: Vec<&String> = now.unseen.difference(&self.unseen).collect();
        let is_undone = unseen.len() <= UNSEEN_MAX;
        for path in unseen {
            let text = format!("git no longer looks at {path}");
            let change = LastingChange::of_file(text, &root.join(path));
            if is_undone {
                found.undone.push(change);
                found.undo.unseen.push(path.clone());
            } else {
                found.lasting.push(change);
            }
        }
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
    let is_young = |place: &&Path| is_young(&root.join(place).join(".git"), since);
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

/// Whether something is there and came or was changed after the start.
fn is_young(path: &Path, since: Option<i64>) -> bool {
    let changed = |found: std::fs::Metadata| {
        found.ctime().saturating_mul(1_000_000_000).saturating_add(found.ctime_nsec())
    };
    let found = path.symlink_metadata();
    found.is_ok_and(|found| since.is_none_or(|since| changed(found) > since))
}

/// Whether the file is what a build leaves; scripts in `bin` are not.
fn is_built(path: &Path) -> bool {
    let extension = path.extension().and_then(|end| end.to_str()).unwrap_or_default();
    let is_script = path.starts_with("bin") && is_code(extension);
    is_product(path) && !is_script
}

/// Settings with all their values.
type Settings = BTreeMap<String, Vec<String>>;

fn all_settings(root: &Path) -> Option<Settings> {
    // What our own calls of git are told comes last.
    const OWN: [&str; 4] =
        ["core.fsmonitor", "core.hookspath", "core.sshcommand", "log.showsignature"];
    let listed = answer(root, &["config", "--list", "-z"])?;
    let mut all = Settings::new();
    for entry in listed.split('\0').filter(|entry| !entry.is_empty()) {
        let (key, value) = entry.split_once('\n').unwrap_or((entry, "true"));
        all.entry(key.to_string()).or_default().push(value.to_string());
    }
    for key in OWN {
        all.get_mut(key).and_then(Vec::pop);
    }
    Some(all)
}

/// Those that steer what git shows.
fn steering(all: &Settings) -> BTreeMap<String, String> {
    let steering = all.iter().filter_map(|(key, values)| {
        let value = values.last().filter(|value| steers(key, value))?;
        let all = if key.starts_with("url.") { values.join("\n") } else { value.clone() };
        Some((key.clone(), all))
    });
    steering.collect()
}

/// Those that say which upstream a branch has.
fn upstreams(all: &Settings) -> BTreeMap<String, String> {
    let is_upstream = |key: &str| {
        let last = key.rsplit('.').next().unwrap_or_default();
        key.starts_with("branch.") && ["merge", "remote"].contains(&last)
    };
    let own = all.iter().filter(|(key, _)| is_upstream(key)).take(REFS_MAX);
    own.filter_map(|(key, values)| Some((key.clone(), values.last()?.clone()))).collect()
}

/// Whether it matters that git looks for hooks elsewhere: where the check runs them, and where some
/// run by themselves when files are checked out.
fn counts_for_hooks(
    root: &Path,
    words: &BTreeSet<String>,
    then: Option<&String>,
    today: Option<&String>,
) -> bool {
    let (then, today) = (hooks_of(root, then), hooks_of(root, today));
    let runs = |hook: &str| root.join(&today).join(hook).exists();
    then != today && (words.contains("hook") || HOOKS.iter().any(|hook| runs(hook)))
}

/// Where git looks for hooks, from the root of the project.
fn hooks_of(root: &Path, setting: Option<&String>) -> PathBuf {
    let named = Path::new(setting.map_or(".git/hooks", String::as_str));
    let inner = named.strip_prefix(root).unwrap_or(named);
    normal(inner).unwrap_or_else(|| named.into())
}

/// The fingerprints of the repository's other files that decide what git shows.
fn own_files(common: &Path) -> BTreeMap<String, String> {
    let hooks = HOOKS.iter().map(|hook| format!("hooks/{hook}"));
    let names = ["shallow", "info/grafts"].map(String::from).into_iter().chain(hooks);
    names.filter_map(|name| print_of(&common.join(&name)).map(|print| (name, print))).collect()
}

/// The repository's own list of files that git passes over; nothing where it can't be kept.
fn exclude_of(common: &Path) -> Option<String> {
    let path = common.join(EXCLUDE);
    if path.symlink_metadata().is_err() {
        return Some(String::new());
    }
    String::from_utf8(read_regular(&path, KEPT_BYTES_MAX).ok()?).ok()
}

/// The directory of git that all worktrees of a repository share.
fn common_of(root: &Path) -> Option<PathBuf> {
    let common = answer(root, &["rev-parse", "--git-common-dir"])?;
    Some(root.join(common.trim_end()))
}

/// The fingerprint of a file that is there; one that is too long to be read is there all the same.
fn print_of(path: &Path) -> Option<String> {
    match read_regular(path, BYTES_MAX) {
        Ok(bytes) => Some(hex(&hash_of(&bytes))),
        Err(_) => path.symlink_metadata().ok().map(|about| format!("{} bytes", about.len())),
    }
}

pub(super) fn answer(root: &Path, words: &[&str]) -> Option<String> {
    let said = git(words, root, GitFilters::Run, WITHIN).ok()?;
    said.is_fine().then(|| String::from_utf8_lossy(&said.stdout).into_owned())
}

#[cfg(test)]
mod tests;
