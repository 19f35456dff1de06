//! What git would show a check of the judges: the commit, the index, and what names lead to.
//!
//! `git archive HEAD` reads what was committed. A commit may have weakened tests while the tree has
//! those of the start, so the judges in commits and in the index are compared as well.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use stopgate_system::ffi::OsStrExt;
use stopgate_system::fs::MetadataExt;

use super::super::git_state::repositories_since;
use super::super::git_undo::GitChanges;
use super::super::text::text_path;
use super::untracked::untracked;
use super::{Compare, GitUse, LastingChange};
use crate::git::{GitFilters, git};
use crate::judges::sections::judging;
use crate::judges::{JudgeRole, ProjectFiles};

/// How long git may take to answer.
const WITHIN: Duration = Duration::from_secs(10);
/// What a repository is compared with that had no commit.
const EMPTY_TREE: &str = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";
/// For how many files git says at a time what it would make of them.
const ASKED_TOGETHER: usize = 200;
/// More judges than this are not compared.
const JUDGES_MAX: usize = 20_000;
/// A larger file is not read to be compared.
const BYTES_MAX: u64 = 64 * 1024 * 1024;

/// One file in a commit or in the index.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Committed {
    path: PathBuf,
    mode: String,
    object: String,
}

/// How git shows the project of a comparison.
struct GitView<'c, 'a>(&'c Compare<'a>);

/// How git sees the project, for a check that asks it.
pub(super) fn git_changes(compare: &mut Compare<'_>) {
    if compare.noted.judges.asks_git() || compare.tests_ask_git() {
        compare.found.git = GitUse::Asks;
    }
    // Where `.git` is a file, or further up, the repository is not the private place's own.
    let is_whole = compare.root.join(".git").is_dir();
    let mut changes = match &compare.noted.git {
        Some(git) => git.changes(compare.root, &compare.words_of_judges(), compare.since),
        None => GitChanges::default(),
    };
    if !is_whole {
        changes = changes.all_lasting();
    }
    if let (Some(_), Some(commit)) = (&compare.noted.git, compare.basis.commit()) {
        changes.lasting.extend(untracked(compare, commit));
        let files = compare.now.files().map(|file| file.path.as_path());
        changes.lasting.extend(repositories_since(compare.root, files, compare.since));
    }
    if is_whole && compare.found.git == GitUse::Asks {
        GitView(compare).committed_judges(&mut changes);
        changes.lasting.extend(GitView(compare).lost_history());
    }
    let GitChanges { lasting, undone, undo, absent } = changes;
    for LastingChange { text, now } in undone {
        compare.found.today.push(format!("{text} {now}"));
        compare.found.texts.push(text);
    }
    compare.found.undo = undo;
    compare.found.absent.extend(absent);
    compare.last(lasting);
}

impl GitView<'_, '_> {
    /// A history that began anew, with nothing of the start behind it: a check that asks what was
    /// committed since then sees other commits, or none.
    fn lost_history(&self) -> Option<LastingChange> {
        let commit = self.0.basis.commit()?;
        let head = self.ask_git(&["rev-parse", "--verify", "HEAD^{commit}"].map(OsStr::new))?;
        let common = self.ask_git(&["merge-base", commit, "HEAD"].map(OsStr::new));
        let text = "the history of the start is not behind HEAD any more";
        let is_lost = common.is_none() && !self.begins_alike(commit);
        is_lost.then(|| LastingChange::new(text, &String::from_utf8_lossy(&head)))
    }

    /// Whether HEAD begins with the commit of the start, written anew: an amended first commit keeps
    /// its author and the time at which it was made. One that had others behind it is never that.
    fn begins_alike(&self, commit: &str) -> bool {
        let parent = format!("{commit}^");
        if self.ask_git(&["rev-parse", "-q", "--verify", &parent].map(OsStr::new)).is_some() {
            return false;
        }
        let form = "--format=%an %ae %at";
        let first =
            |of: &str| self.ask_git(&["log", "--max-parents=0", form, of, "--"].map(OsStr::new));
        let (Some(then), Some(now)) = (first(commit), first("HEAD")) else { return false };
        let mut then = then.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        then.any(|line| now.split(|byte| *byte == b'\n').any(|own| own == line))
    }

    /// Judges that git has otherwise than the tree has them, which an original run does not
    /// restore anyway.
    fn committed_judges(&self, found: &mut GitChanges) {
        let mut seen: BTreeMap<PathBuf, Vec<Committed>> = BTreeMap::new();
        let names = found.undo.names.iter().map(String::as_str);
        for name in ["HEAD"].into_iter().chain(names) {
            let start = self.0.basis.commit().unwrap_or(EMPTY_TREE);
            let listed = self.differing(&[start, name]);
            let listed = listed.or_else(|| self.differing(&[EMPTY_TREE, name]));
            for file in listed.unwrap_or_default() {
                seen.entry(file.path.clone()).or_default().push(file);
            }
        }
        for file in self.differing(&["--cached", "HEAD"]).unwrap_or_default() {
            seen.entry(file.path.clone()).or_default().push(file);
        }
        self.retain_judges(&mut seen);
        if seen.len() > JUDGES_MAX {
            let text = format!("{} judges are others for git than at the start", seen.len());
            return found.ask(text, "");
        }
        let paths: Vec<&Path> = seen.keys().map(PathBuf::as_path).collect();
        let objects = self.objects_of(&paths);
        for (path, versions) in &seen {
            let object = objects.get(path);
            let Some(other) = versions.iter().find(|own| !self.is_same_judge(own, object)) else {
                continue;
            };
            let text = format!("{} is another for git than in the tree", path.display());
            found.undo(text, &other.object);
            found.undo.committed.push(path.clone());
        }
    }

    /// Leaves out work, and judges that an original run has as they were, or does not have.
    fn retain_judges(&self, seen: &mut BTreeMap<PathBuf, Vec<Committed>>) {
        let known: BTreeSet<PathBuf> =
            self.0.basis.text.files.iter().map(|file| text_path(&file.path)).collect();
        let restored: BTreeSet<&Path> =
            self.0.found.restore.iter().map(|file| file.path.as_path()).collect();
        let absent = &self.0.found.absent;
        let outputs = self.0.basis.outputs(&self.0.criterion.name);
        let rules = self.0.noted.judges.rules();
        let known_role = |path: &PathBuf| known.contains(path).then(|| rules.role(path));
        let role = |path: &PathBuf| {
            known_role(path).unwrap_or_else(|| rules.role_of_new(path, &self.0.files))
        };
        seen.retain(|path, _| {
            !restored.contains(path.as_path())
                && !absent.iter().any(|own| path.starts_with(own))
                && !outputs.contains(path)
                && role(path) != JudgeRole::Work
        });
    }

    /// Whether git has the judge as the tree has it, for which git would say `object`.
    fn is_same_judge(&self, own: &Committed, object: Option<&String>) -> bool {
        let at = self.0.root.join(&own.path);
        let is_gone = own.mode == "000000";
        let Ok(about) = at.symlink_metadata() else { return is_gone };
        if is_gone {
            return false;
        }
        if about.is_symlink() || own.mode == "120000" {
            let target = std::fs::read_link(&at).map(|to| to.as_os_str().as_bytes().to_vec());
            return own.mode == "120000" && target.ok() == self.content(&own.object);
        }
        let is_disabled = own.mode == "100644" && about.mode() & 0o100 != 0;
        object == Some(&own.object) && !is_disabled || self.has_same_sections(own)
    }

    /// The rest of a file that judges in parts is work, which may be uncommitted.
    fn has_same_sections(&self, own: &Committed) -> bool {
        let JudgeRole::Sections(kind) = self.0.noted.judges.role(&own.path) else { return false };
        let reach = self.0.noted.judges.reach_of(&own.path);
        let text = self.content(&own.object).and_then(|bytes| String::from_utf8(bytes).ok());
        let said = |text: Option<String>| judging(kind, &text?, &reach).ok();
        let (git, tree) = (said(text), said(self.0.files.text(&own.path)));
        git.is_some() && git == tree
    }

    /// What git would call the files if they were added now.
    fn objects_of(&self, paths: &[&Path]) -> BTreeMap<PathBuf, String> {
        let is_file = |path: &&&Path| {
            let about = self.0.root.join(path).symlink_metadata();
            about.is_ok_and(|about| about.is_file() && about.len() <= BYTES_MAX)
        };
        let files: Vec<&Path> = paths.iter().filter(is_file).copied().collect();
        let mut found = BTreeMap::new();
        for part in files.chunks(ASKED_TOGETHER) {
            let words = ["hash-object", "--"].map(OsStr::new).into_iter();
            let words: Vec<&OsStr> =
                words.chain(part.iter().map(|path| path.as_os_str())).collect();
            let said = self.ask_git(&words).unwrap_or_default();
            let said = String::from_utf8_lossy(&said).into_owned();
            let objects = said.lines().map(str::to_string);
            found.extend(part.iter().map(|path| path.to_path_buf()).zip(objects));
        }
        found
    }

    /// The files that differ between two commits, or between one and the index, as the latter has
    /// them; nothing where git can't tell.
    fn differing(&self, what: &[&str]) -> Option<Vec<Committed>> {
        let words = ["--raw", "-z", "--no-abbrev", "--no-renames", "--no-ext-diff"];
        let words = ["diff"].into_iter().chain(words).chain(["--ignore-submodules=all"]);
        let words: Vec<&OsStr> = words.chain(what.iter().copied()).map(OsStr::new).collect();
        let said =
            self.ask_git(&words.into_iter().chain([OsStr::new("--")]).collect::<Vec<_>>())?;
        let mut fields = said.split(|byte| *byte == 0).filter(|field| !field.is_empty());
        let mut found = Vec::new();
        while let (Some(about), Some(path)) = (fields.next(), fields.next()) {
            let about = String::from_utf8_lossy(about);
            let mut about = about.split(' ').skip(1);
            let (Some(mode), Some(object)) = (about.next(), about.nth(1)) else { continue };
            // Another repository is nobody's judge.
            if mode != "160000" {
                let path = Path::new(OsStr::from_bytes(path)).to_path_buf();
                found.push(Committed { path, mode: mode.into(), object: object.into() });
            }
        }
        Some(found)
    }

    fn content(&self, object: &str) -> Option<Vec<u8>> {
        self.ask_git(&["cat-file", "blob", object].map(OsStr::new))
    }

    fn ask_git(&self, words: &[&OsStr]) -> Option<Vec<u8>> {
        let said = git(words, self.0.root, GitFilters::Run, WITHIN).ok()?;
        said.is_fine().then_some(said.stdout)
    }
}

#[cfg(test)]
mod tests {
    use stopgate_core::{Criterion, Proof};

    use super::*;
    use crate::basis::{Basis, BasisStore, JudgeChanges};
    use crate::tree::{TreeScope, fingerprint};

    struct Scene {
        directory: tempfile::TempDir,
        store: tempfile::TempDir,
        criterion: Criterion,
    }

    impl Scene {
        fn new(name: &str) -> Self {
            let command = format!("git archive {name} | tar -x -C /tmp/x && sh tests/run.sh");
            let proof = Proof::Check { command, timeout_ms: 1_000 };
            let [directory, store] = [(), ()].map(|()| tempfile::tempdir().expect("a directory"));
            let scene = Self { directory, store, criterion: Criterion::new("release", proof) };
            scene.git(&["init", "-q", "-b", "main"]);
            std::fs::create_dir(scene.root().join("tests")).expect("make it");
            scene.write("tests/run.sh", "sh app.sh");
            scene.write("app.sh", "false");
            scene.commit();
            scene
        }

        fn root(&self) -> &Path {
            self.directory.path()
        }

        fn store(&self) -> BasisStore<'_> {
            BasisStore { objects: self.store.path(), trees: self.store.path() }
        }

        fn write(&self, path: &str, text: &str) {
            std::fs::write(self.root().join(path), text).expect("write it");
        }

        fn git(&self, words: &[&str]) {
            let person = ["-c", "user.name=P", "-c", "user.email=p@x"];
            let words = [&person[..], words].concat();
            let said = git(&words, self.root(), GitFilters::Run, WITHIN).expect("git runs");
            assert!(said.is_fine(), "{words:?}");
        }

        fn commit(&self) {
            self.git(&["add", "-A"]);
            self.git(&["commit", "-qm", "some"]);
        }

        fn basis(&self) -> Basis {
            let criteria = std::slice::from_ref(&self.criterion);
            Basis::take(self.root(), criteria, &[], self.store()).expect("a basis")
        }

        fn changes(&self, basis: &Basis) -> JudgeChanges {
            let tree = fingerprint(&[self.root()], TreeScope::Whole, self.store.path());
            let tree = tree.expect("a tree");
            let found = basis.changes(self.root(), &self.criterion, &tree, self.store(), None);
            found.expect("changes")
        }
    }

    #[test]
    fn judges_that_only_git_has_otherwise_are_told_and_work_is_not() {
        let scene = Scene::new("HEAD");
        let basis = scene.basis();
        scene.write("app.sh", "true");
        scene.commit();
        assert!(scene.changes(&basis).is_empty());
        scene.write("tests/run.sh", "true");
        scene.write("tests/other.sh", "true");
        scene.commit();
        scene.write("tests/run.sh", "sh app.sh");
        std::fs::remove_file(scene.root().join("tests/other.sh")).expect("remove it");
        let found = scene.changes(&basis);
        let wanted = ["tests/other.sh", "tests/run.sh"].map(PathBuf::from);
        assert_eq!(found.undo.committed, wanted);
        assert_eq!(found.texts[1], "tests/run.sh is another for git than in the tree");
        assert_eq!(found.lasting, [""; 0]);
        scene.commit();
        assert!(scene.changes(&basis).is_empty(), "the commit has them again");
        scene.write("tests/run.sh", "true");
        scene.git(&["add", "-A"]);
        scene.write("tests/run.sh", "sh app.sh");
        assert_eq!(scene.changes(&basis).undo.committed, [PathBuf::from("tests/run.sh")]);
    }

    #[test]
    fn a_history_that_began_anew_is_a_change_and_more_commits_are_none() {
        let scene = Scene::new("HEAD");
        let basis = scene.basis();
        scene.write("app.sh", "true");
        scene.commit();
        assert_eq!(scene.changes(&basis).lasting, [""; 0]);
        scene.git(&["checkout", "-q", "--orphan", "anew"]);
        let late = "--date=2001-01-01T00:00:00Z";
        scene.git(&["commit", "-q", "--allow-empty", late, "-m", "anew"]);
        let told = "the history of the start is not behind HEAD any more";
        assert!(scene.changes(&basis).lasting.iter().any(|text| text == told));
    }

    #[test]
    fn a_first_commit_that_was_amended_is_none() {
        let scene = Scene::new("HEAD");
        let basis = scene.basis();
        scene.write("app.sh", "true");
        scene.git(&["add", "-A"]);
        scene.git(&["commit", "-q", "--amend", "--no-edit"]);
        assert_eq!(scene.changes(&basis).lasting, [""; 0]);
    }

    #[test]
    fn a_person_s_open_change_that_is_committed_is_none() {
        let scene = Scene::new("HEAD");
        scene.write("tests/run.sh", "sh app.sh && sh app.sh");
        let basis = scene.basis();
        assert!(scene.changes(&basis).is_empty());
        scene.commit();
        assert!(scene.changes(&basis).is_empty());
    }

    #[test]
    fn the_judges_of_a_commit_that_a_new_name_leads_to_are_compared_too() {
        let scene = Scene::new("v2");
        let basis = scene.basis();
        scene.git(&["checkout", "-q", "-b", "side"]);
        scene.write("tests/run.sh", "true");
        scene.commit();
        scene.git(&["tag", "v2"]);
        scene.git(&["checkout", "-q", "main"]);
        let found = scene.changes(&basis);
        assert_eq!(found.undo.names, ["refs/tags/v2"]);
        assert_eq!(found.undo.committed, [PathBuf::from("tests/run.sh")]);
    }
}
