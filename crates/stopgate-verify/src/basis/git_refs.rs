//! Tags, branches and what else names commits: where they were, where they are, and which of them
//! git finds first.
//!
//! A check gives git names. Moving one, or adding another that git finds before it, shows the
//! check other commits.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::path::Path;

use super::git_state::answer;
use super::git_undo::GitChanges;
use crate::files::{open_regular, read_regular};

/// Longer notes about one branch are not read.
const LOG_BYTES_MAX: u64 = 16 * 1024 * 1024;
/// How many tags, branches and notes are looked at.
pub(super) const REFS_MAX: usize = 5_000;
/// How many kinds of notes are.
const NOTES_MAX: usize = 20;
/// How many new names get the judges of the start.
const NAMES_MAX: usize = 20;
/// How much is read of a file that may name a commit.
const NAME_BYTES_MAX: u64 = 256;
/// Files of git's own that name commits, and move with everything one does.
const GITS_OWN: [&str; 10] = [
    "HEAD",
    "ORIG_HEAD",
    "FETCH_HEAD",
    "MERGE_HEAD",
    "CHERRY_PICK_HEAD",
    "REVERT_HEAD",
    "REBASE_HEAD",
    "BISECT_HEAD",
    "AUTO_MERGE",
    "MERGE_AUTOSTASH",
];
/// Directories of git's own in which names of commits hide nothing.
const INNER: [&str; 6] = ["refs", "logs", "objects", "modules", "worktrees", "hooks"];

/// Names of commits, with what they point to.
pub(super) type Refs = BTreeMap<String, String>;

/// Reads tags, branches, replaced objects and notes.
pub(super) fn refs_of(root: &Path) -> Option<Refs> {
    let form = "--format=%(refname) %(objectname)";
    let count = format!("--count={REFS_MAX}");
    let kinds = ["refs/tags", "refs/remotes", "refs/replace", "refs/notes", "refs/heads", "refs/*"];
    let listed = answer(root, &[&["for-each-ref", form, &count][..], &kinds[..]].concat())?;
    let pair = |line: &str| line.split_once(' ').map(|(name, at)| (name.into(), at.into()));
    let mut refs: Refs = listed.lines().filter_map(pair).collect();
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

/// The names of the start beside those of today.
pub(super) struct MovedRefs<'a> {
    pub(super) root: &'a Path,
    pub(super) then: &'a Refs,
    pub(super) now: &'a Refs,
    /// The branch that was checked out at the start: commits move it.
    pub(super) head_then: Option<&'a str>,
    /// The branch that is checked out.
    pub(super) head_now: Option<&'a str>,
    /// What judges say.
    pub(super) words: &'a BTreeSet<String>,
}

impl MovedRefs<'_> {
    /// What is elsewhere than it was.
    pub(super) fn tell(&self, found: &mut GitChanges) {
        self.hiding(found);
        let moved = self.then.iter().filter(|(name, at)| {
            self.now.get(*name) != Some(at) && (is_tag(name) || self.is_compared_branch(name))
        });
        for (name, at) in moved {
            let now = self.now.get(name).map_or("", String::as_str);
            found.undo(format!("{} was moved or deleted", short(name)), now);
            found.undo.refs.push((name.clone(), Some(at.clone())));
        }
        self.others(found);
        self.replaced(found);
        self.notes(found);
        let names = self.new_names(&found.undo.refs);
        if names.len() > NAMES_MAX {
            let text = format!("{} tags and branches came that the check may look at", names.len());
            found.ask(text, &names.join(" "));
        } else {
            found.undo.names = names;
        }
    }

    /// A branch that the check compares with; commits move the one that is worked on.
    fn is_compared_branch(&self, name: &str) -> bool {
        name.starts_with("refs/heads/") && self.head_then != Some(name) && self.is_named(name)
    }

    /// Whether a judge says the name, in one of the ways in which git understands it.
    fn is_named(&self, name: &str) -> bool {
        let inner = name.strip_prefix("refs/").unwrap_or(name);
        let last = inner.split_once('/').map_or(inner, |(_, last)| last);
        [name, inner, last].iter().any(|form| self.words.contains(*form))
    }

    /// New names that git finds before those that the check means.
    fn hiding(&self, found: &mut GitChanges) {
        for word in self.words {
            let Some(now) = resolve(self.now, word).filter(|name| !self.then.contains_key(*name))
            else {
                continue;
            };
            let is_commit = word.len() >= 4 && word.bytes().all(|digit| digit.is_ascii_hexdigit());
            let hidden = match resolve(self.then, word) {
                Some(then) => short(then),
                None if is_commit => format!("the commit {word}"),
                None => continue,
            };
            let at = self.now.get(now).map_or("", String::as_str);
            if !found.undo.refs.iter().any(|(known, _)| known == now) {
                found.undo(format!("{} hides {hidden}", short(now)), at);
                found.undo.refs.push((now.to_string(), None));
            }
        }
    }

    /// Branches of others that nobody fetched or pushed: a check that compares with them would
    /// find nothing.
    fn others(&self, found: &mut GitChanges) {
        let common = answer(self.root, &["rev-parse", "--git-common-dir"]).unwrap_or_default();
        let logs = self.root.join(common.trim_end()).join("logs");
        let others = self.now.iter().filter(|(name, at)| {
            name.starts_with("refs/remotes/")
                && self.then.get(*name) != Some(at)
                && is_moved_by_hand(&logs, name)
        });
        for (name, at) in others {
            found.undo(format!("{} was moved by hand", short(name)), at);
            found.undo.refs.push((name.clone(), self.then.get(name).cloned()));
        }
    }

    /// `git replace`, since which git shows something else than was committed.
    fn replaced(&self, found: &mut GitChanges) {
        let replaced = self.now.iter().filter(|(name, at)| {
            name.starts_with("refs/replace/") && self.then.get(*name) != Some(at)
        });
        for (name, at) in replaced {
            let object = name.trim_start_matches("refs/replace/");
            found.undo(format!("git shows another object in place of {object}"), at);
            found.undo.refs.push((name.clone(), self.then.get(name).cloned()));
        }
    }

    fn notes(&self, found: &mut GitChanges) {
        let moved = self.then.iter().filter(|(name, at)| {
            name.starts_with("refs/notes/")
                && self.now.get(*name) != Some(at)
                && self.words.contains("notes")
        });
        for (name, _) in moved {
            let now = self.now.get(name).map_or("", String::as_str);
            found.ask(format!("the note {} was changed", short(name)), now);
        }
    }

    /// New tags and branches that the check names or looks for, and the branch of the start where
    /// another one is checked out: what they hold is today's.
    fn new_names(&self, undone: &[(String, Option<String>)]) -> Vec<String> {
        let looks = ["describe", "tag", "for-each-ref"].iter().any(|own| self.words.contains(*own));
        let is_meant = |name: &str| {
            let is_new = !self.then.contains_key(name);
            let is_left = self.head_then == Some(name) && self.head_now != Some(name);
            let is_named = self.is_named(name) || looks && is_tag(name);
            (is_tag(name) || name.starts_with("refs/heads/"))
                && (is_new || is_left)
                && self.head_now != Some(name)
                && is_named
        };
        let is_undone = |name: &str| undone.iter().any(|(known, _)| known == name);
        let names = self.now.keys().filter(|name| is_meant(name) && !is_undone(name));
        names.cloned().collect()
    }
}

/// Files in the directory of git that name a commit, and that judges may mean: git finds them
/// before every tag and branch.
pub(super) fn hiding_files(common: &Path, words: &BTreeSet<String>) -> Vec<String> {
    let is_meant = |word: &&String| {
        let is_inner = !word.split('/').any(|part| part.is_empty() || part == "." || part == "..");
        let first = word.split('/').next().unwrap_or_default();
        is_inner && !GITS_OWN.contains(&word.as_str()) && !INNER.contains(&first)
    };
    let names_commit = |word: &&String| {
        let at = common.join(word.as_str());
        // An old way to lead to another name.
        if at.read_link().is_ok_and(|to| to.starts_with("refs")) {
            return true;
        }
        let mut text = String::new();
        let file = open_regular(&at).map(|file| file.take(NAME_BYTES_MAX));
        if file.and_then(|mut file| file.read_to_string(&mut text)).is_err() {
            return false;
        }
        let first = text.split_whitespace().next().unwrap_or_default();
        first == "ref:" || first.len() >= 40 && first.bytes().all(|own| own.is_ascii_hexdigit())
    };
    words.iter().filter(is_meant).filter(names_commit).cloned().collect()
}

/// The name that git takes a word for.
fn resolve<'r>(refs: &'r Refs, word: &str) -> Option<&'r str> {
    let forms = [
        word.to_string(),
        format!("refs/{word}"),
        format!("refs/tags/{word}"),
        format!("refs/heads/{word}"),
        format!("refs/remotes/{word}"),
        format!("refs/remotes/{word}/HEAD"),
    ];
    forms.iter().find_map(|form| refs.get_key_value(form)).map(|(name, _)| name.as_str())
}

fn is_tag(name: &str) -> bool {
    name.starts_with("refs/tags/")
}

/// Whether the last note about a branch of others says nothing of a fetch or a push, or is gone;
/// where nobody takes notes, it is not known.
fn is_moved_by_hand(logs: &Path, name: &str) -> bool {
    const NOTES: [&str; 6] = ["fetch", "push", "pull", "clone", "remote", "storing head"];
    let Ok(text) = read_regular(&logs.join(name), LOG_BYTES_MAX) else {
        return logs.join("HEAD").is_file();
    };
    let text = String::from_utf8_lossy(&text);
    let last = text.lines().next_back().unwrap_or_default();
    let noted = last.split_once('\t').map_or("", |(_, noted)| noted);
    !NOTES.iter().any(|own| noted.contains(own))
}

/// The name of a tag or a branch as people say it.
pub(super) fn short(name: &str) -> String {
    if let Some(tag) = name.strip_prefix("refs/tags/") {
        return format!("the tag {tag}");
    }
    match name.strip_prefix("refs/heads/") {
        Some(branch) => format!("the branch {branch}"),
        None => name.trim_start_matches("refs/remotes/").trim_start_matches("refs/notes/").into(),
    }
}
