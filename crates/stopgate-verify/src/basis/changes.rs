//! What is not as it was at the start, and how to ask the judges of the start all the same.

mod as_found;
mod asked_git;
mod compiled;
mod following;
mod go_modules;
mod import_paths;
mod makers;
mod moves;
mod nearer;
mod pages;
mod programs;
mod settings;
mod shortened;
mod silenced;
mod uncounted;
mod undeclared;
mod untracked;
mod watched;
mod workspaces;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use stopgate_core::Criterion;

use self::as_found::{as_text, is_builder, is_compiled, is_same, mentions_builder, nanos};
pub(super) use self::makers::note as note_makers;
pub(super) use self::shortened::note as note_lists;
pub(super) use self::undeclared::package_names;
pub(super) use self::watched::{WatchedFile, note as note_watched};
pub(crate) use super::git_undo::GitUndo;
use super::keep::ContentStore;
use super::lasting::LastingChange;
use super::listing::{Listing, listing_of};
use super::moved::MovedPackages;
use super::text::{CriterionText, FileText, text_path};
use super::{Basis, BasisError, BasisStore, whole};
use crate::judges::sections::{
    MovedTests, judging, restore, taskfile_rank, with_moved_entries, without_added,
};
use crate::judges::{JudgeRole, ListedFiles, MixedKind, ProjectFiles, Why};
use crate::place::{FileContent, Mask, RestoredFile};
use crate::program::definition;
use crate::tree::{FileKind, Tree, TreeFile, hash_of, hex};

/// Whether a check asks git about the files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum GitUse {
    /// It does not.
    #[default]
    None,
    /// It does: what was committed counts.
    Asks,
}

/// What changed of that which judges one criterion.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct JudgeChanges {
    /// What changed, one sentence each, for people.
    pub(crate) texts: Vec<String>,
    /// Files that an original run has as they were.
    pub(crate) restore: Vec<RestoredFile>,
    /// Those of which only sections are restored, and those without judging sections that are
    /// gone, as they were.
    pub(crate) whole: Vec<RestoredFile>,
    /// Files that it has without sections which were added; they alone do not call for a run.
    pub(crate) lighter: Vec<RestoredFile>,
    /// Files that an original run does not have.
    pub(crate) absent: Vec<PathBuf>,
    /// Files outside the project that an original run sees as they were.
    pub(crate) masks: Vec<Mask>,
    /// What no run can undo, so that a person must be asked.
    pub(crate) lasting: Vec<String>,
    /// Where judges of the start are now that are in a package with another directory.
    pub(crate) moved: Vec<PathBuf>,
    /// Judges that were written to although they say what they said.
    pub(crate) rewritten: bool,
    /// Files of the start that git no longer tracks; an original run shows them to git again.
    pub(crate) untracked: Vec<PathBuf>,
    /// Work of which many lines are newly left out of coverage.
    pub(crate) uncounted: Vec<PathBuf>,
    /// Programs that make what git compares, as they were.
    pub(crate) makers: Vec<RestoredFile>,
    /// Files written since the start that make would make, and that git compares.
    pub(crate) made: Vec<PathBuf>,
    /// Added files that steer the runner instead of testing.
    pub(crate) steering: Vec<PathBuf>,
    /// Whether an original run must show git the judges of the start.
    pub(crate) git: GitUse,
    /// What it undoes in its repository.
    pub(crate) undo: GitUndo,
    /// Identifies exactly these changes, today's contents included.
    pub(crate) digest: String,
    /// Today's contents of what changed.
    pub(crate) today: Vec<String>,
}

impl JudgeChanges {
    /// Whether the judges of the start must be asked.
    pub(crate) fn is_empty(&self) -> bool {
        self.texts.is_empty() && self.lasting.is_empty() && !self.rewritten
    }

    /// Whether nothing but tests were added.
    pub(crate) fn only_adds_tests(&self) -> bool {
        let undone = self.restore.is_empty()
            && self.masks.is_empty()
            && self.untracked.is_empty()
            && self.undo.is_empty()
            && self.lasting.is_empty();
        undone && !self.absent.is_empty() && self.steering.is_empty()
    }
}

impl Basis {
    /// What changed of that which judges `criterion`; `since` is when the loop began.
    pub(crate) fn changes(
        &self,
        root: &Path,
        criterion: &Criterion,
        tree: &Tree,
        store: BasisStore<'_>,
        since: Option<SystemTime>,
    ) -> Result<JudgeChanges, BasisError> {
        let root = &whole(root)?;
        let Some(noted) = self.criterion(&criterion.name) else {
            let lasting = vec!["it was not among the criteria at the start".to_string()];
            return Ok(finished(JudgeChanges { lasting, ..JudgeChanges::default() }));
        };
        let now = listing_of(tree, root, std::slice::from_ref(criterion), store.trees)?;
        let mut compare = Compare {
            basis: self,
            root,
            criterion,
            noted,
            now: &now,
            files: ListedFiles::new(root, &now.paths()),
            keep: ContentStore::new(store.objects, 0),
            since: since.and_then(nanos),
            moved: BTreeMap::new(),
            packages: MovedPackages::default(),
            tests: MovedTests::default(),
            found: JudgeChanges::default(),
        };
        compare.all();
        Ok(finished(compare.found))
    }
}

/// One comparison of a criterion's judges with those of the start.
struct Compare<'a> {
    basis: &'a Basis,
    root: &'a Path,
    criterion: &'a Criterion,
    noted: &'a CriterionText,
    now: &'a Listing,
    files: ListedFiles,
    keep: ContentStore<'a>,
    since: Option<i64>,
    /// Sources with tests that have another name now.
    moved: BTreeMap<PathBuf, PathBuf>,
    packages: MovedPackages,
    /// Tests beside the code that went to another source with it.
    tests: MovedTests,
    found: JudgeChanges,
}

impl Compare<'_> {
    fn all(&mut self) {
        if definition(self.criterion) != self.noted.definition {
            self.found.lasting.push("its definition was changed".into());
        }
        self.packages = self.moved_packages();
        self.moved = self.moved_sources();
        self.tests = self.moved_tests();
        self.known_files();
        self.new_files();
        uncounted::uncounted(self);
        let undeclared = compiled::undeclared_tests(self);
        self.found.lasting.extend(undeclared);
        programs::programs(self);
        self.installed();
        self.stamps();
        undeclared::undeclared_packages(self);
        nearer::hidden_packages(self);
        undeclared::hiding_scripts(self);
        undeclared::links_out(self);
        undeclared::links_to_judges(self);
        silenced::unsilence(self);
        watched::bring_into_sight(self);
        shortened::lengthen_lists(self);
        makers::changed_makers(self);
        self.build_settings();
        self.outside();
        asked_git::git_changes(self);
    }

    /// Judges that were there at the start.
    fn known_files(&mut self) {
        let builds = self.noted.programs.iter().any(|p| is_builder(&p.name))
            || self.criterion.command().is_some_and(|line| mentions_builder(&line));
        let rules = self.noted.judges.rules();
        for file in &self.basis.text.files {
            let path = text_path(&file.path);
            let role = rules.role(&path);
            if role == JudgeRole::Work {
                continue;
            }
            let path = self.packages.today(path);
            if self.packages.origin(&path) != path {
                self.found.moved.push(path.clone());
            }
            match self.now.get(&path) {
                None => self.gone(file, &path, &role),
                // Another content may have been built meanwhile.
                Some(now)
                    if is_same(file, now)
                        && (builds || is_compiled(&path))
                        && self.is_younger(now) =>
                {
                    self.found.rewritten = true;
                    self.bring_back(file, &path, "");
                }
                Some(now) if is_same(file, now) || self.differs_by_licence(file, now) => {}
                Some(now) => self.changed(file, now, &path, &role),
            }
        }
    }

    /// A judge that is not where it was.
    fn gone(&mut self, file: &FileText, path: &Path, role: &JudgeRole) {
        if let JudgeRole::Sections(kind) = role {
            let original = self.original(file);
            let reach = self.noted.judges.reach_of(&self.packages.origin(path));
            let judged = original.and_then(|text| judging(*kind, &text, &reach).ok());
            self.found.whole.extend(self.kept(file, path));
            if judged.is_some_and(|judged| judged.is_empty()) {
                return;
            }
        }
        let is_page = *role == JudgeRole::Sections(MixedKind::Page);
        if is_page && pages::bring_back_examples(self, file, path) {
            return;
        }
        if let Some(now) = self.moved.get(path).and_then(|to| self.now.get(to)) {
            return self.changed(file, now, &now.path, role);
        }
        self.bring_back(file, path, &format!("{} was deleted", path.display()));
    }

    /// What a file said at the start.
    fn original(&self, file: &FileText) -> Option<String> {
        String::from_utf8(self.keep.get(&file.content).ok()?).ok()
    }

    /// Whether something was written to the file after the start.
    fn is_younger(&self, now: &TreeFile) -> bool {
        self.since.is_some_and(|since| now.ctime > since)
    }

    fn changed(&mut self, file: &FileText, now: &TreeFile, path: &Path, role: &JudgeRole) {
        let text = format!("{} was changed", path.display());
        let JudgeRole::Sections(kind) = role else {
            return match import_paths::followed(self, file, path) {
                Some(original) => self.restored(path, text, original, now),
                None => self.bring_back(file, path, &text),
            };
        };
        let (Some(original), Some(today)) = (self.original(file), self.files.text(path)) else {
            return self.bring_back(file, path, &text);
        };
        let original = following::original_with_moves(self, *kind, path, original, &today);
        let reach = self.noted.judges.reach_of(&self.packages.origin(path));
        // What could not be read at the start had no judging sections that a runner could use.
        if judging(*kind, &original, &reach).is_err() {
            return;
        }
        match restore(*kind, &original, &today, &reach) {
            // The sections say what they said.
            Ok(merged) if merged == today => {
                self.without_added(path, *kind, (&original, &today), now);
            }
            Ok(merged) => {
                self.found.whole.extend(self.kept(file, path));
                self.merged(path, *kind, merged, now);
            }
            Err(_) => self.bring_back(file, path, &text),
        }
    }

    fn merged(&mut self, path: &Path, kind: MixedKind, text: String, now: &TreeFile) {
        self.restored(path, format!("{}: {kind} changed", path.display()), text, now);
    }

    /// An original run has this text in the file.
    fn restored(&mut self, path: &Path, told: String, text: String, now: &TreeFile) {
        self.found.texts.push(told);
        self.bind(path, &hex(&now.content));
        self.found.restore.push(as_text(path, text, now));
    }

    /// Files that judge and were not there at the start.
    fn new_files(&mut self) {
        let known: BTreeSet<PathBuf> =
            self.basis.text.files.iter().map(|f| self.packages.today(text_path(&f.path))).collect();
        let rules = self.noted.judges.rules();
        let moved: BTreeSet<&PathBuf> = self.moved.values().collect();
        let outputs = self.basis.outputs(&self.criterion.name);
        let products = self.now.products(outputs.iter().map(PathBuf::as_path));
        let is_product = |path: &PathBuf| products.iter().any(|own| path.starts_with(own));
        let is_new =
            |path: &PathBuf| !known.contains(path) && !moved.contains(path) && !is_product(path);
        let fresh: Vec<&TreeFile> = self.now.files().filter(|file| is_new(&file.path)).collect();
        for file in fresh {
            let path = &file.path;
            match rules.role_of_new(path, &self.files) {
                JudgeRole::Work => {}
                JudgeRole::Whole(_) if go_modules::is_vendored_for_work(self, path) => {}
                JudgeRole::Whole(why) => {
                    let steers = matches!(why, Why::Hides(_) | Why::Configuration(_))
                        && !path.ends_with("conftest.py");
                    self.found.steering.extend(steers.then(|| path.clone()));
                    self.found.texts.push(format!("{} was added ({why})", path.display()));
                    self.bind(path, &hex(&file.content));
                    self.leave_out(path, &why);
                }
                JudgeRole::Sections(kind) => self.new_sections(path, kind, file),
            }
        }
    }

    /// An original run does not have the file, or has nothing in it.
    fn leave_out(&mut self, path: &Path, why: &Why) {
        match self.nothing_in(path).filter(|_| *why == Why::TestByName) {
            Some(nothing) => {
                let content = FileContent::File { bytes: nothing.into(), executable: false };
                self.found.restore.push(RestoredFile { path: path.into(), content });
            }
            None if matches!(why, Why::Hides(_)) => {
                let place = self.hiding_place(path);
                self.found.absent.push(go_modules::left_out(&place).into());
            }
            None => self.found.absent.push(go_modules::left_out(path).into()),
        }
    }

    /// A test without tests, where the check asks git which files there are: one that git knows
    /// can't be absent.
    fn nothing_in(&self, path: &Path) -> Option<&'static str> {
        let extension = path.extension().and_then(|end| end.to_str()).unwrap_or_default();
        let nothing = match extension {
            "py" | "sh" | "bats" | "rb" | "mjs" | "cjs" => "",
            "t" => "print \"1..0 # skip\\n\";\n",
            _ => return None,
        };
        self.noted.judges.asks_git().then_some(nothing)
    }

    fn new_sections(&mut self, path: &Path, kind: MixedKind, file: &TreeFile) {
        let Some(today) = self.files.text(path) else { return };
        if kind == MixedKind::Taskfile && self.hides_taskfile(path) {
            self.bind(path, &hex(&file.content));
            return self.added(path);
        }
        let reach = self.noted.judges.reach_of(path);
        let nothing = match kind {
            // What a new package's names lead to is its own.
            MixedKind::PackageJson => {
                let place = path.parent().unwrap_or(Path::new(""));
                // `node tools/check` runs its index.js, and goes on doing so.
                let stays = |name: &str| {
                    let file = place.join(name);
                    self.now.get(&file).is_some() && self.noted.judges.role(&file).is_shown()
                };
                with_moved_entries("{}", &today, &stays).unwrap_or_else(|| "{}".into())
            }
            MixedKind::GoMod => go_modules::original_with_work(self, path, "", &today),
            // It steers the runner as a whole.
            MixedKind::GoWork if !go_modules::only_adds(self, path, &today) => {
                self.found.steering.push(path.into());
                self.bind(path, &hex(&file.content));
                return self.added(path);
            }
            MixedKind::GoWork => return,
            _ => self.tests.original(path, ""),
        };
        match restore(kind, &nothing, &today, &reach) {
            Ok(merged) if merged == today => self.without_added(path, kind, ("", &today), file),
            Ok(merged) => self.merged(path, kind, merged, file),
            Err(_) => self.added(path),
        }
    }

    /// Where an original run takes place for another reason, it does without sections that were
    /// added. They alone do not call for one.
    fn without_added(
        &mut self,
        path: &Path,
        kind: MixedKind,
        (original, today): (&str, &str),
        now: &TreeFile,
    ) {
        if let Some(text) = without_added(kind, original, today) {
            self.found.lighter.push(as_text(path, text, now));
        }
    }

    /// `Taskfile.yml` beside the `Taskfile.dist.yml` of the start: task reads the first one only.
    fn hides_taskfile(&self, path: &Path) -> bool {
        let rank = |path: &Path| taskfile_rank(path.file_name()?.to_str()?);
        let Some(own) = rank(path) else { return false };
        let mut known = self.basis.text.files.iter().map(|file| text_path(&file.path));
        known.any(|known| {
            known.parent() == path.parent() && rank(&known).is_some_and(|known| known > own)
        })
    }

    fn added(&mut self, path: &Path) {
        self.found.texts.push(format!("{} was added", path.display()));
        self.found.absent.push(path.into());
    }

    /// An original run has the file as it was.
    fn bring_back(&mut self, file: &FileText, path: &Path, text: &str) {
        if !text.is_empty() {
            self.found.texts.push(text.into());
            let now = self.now.get(path).map(|now| hex(&now.content));
            self.bind(path, &now.unwrap_or_default());
        }
        if let Some(kept) = self.kept(file, path) {
            self.found.restore.push(kept);
        } else {
            let why = format!("{} can't be restored: it was not kept", path.display());
            self.found.lasting.push(why);
        }
    }

    /// A file as it was, to be put at `path`.
    fn kept(&self, file: &FileText, path: &Path) -> Option<RestoredFile> {
        let bytes = if file.kept { self.keep.get(&file.content).ok() } else { None }?;
        let content = match file.kind {
            FileKind::Link => FileContent::Link(super::path_of(&bytes)),
            FileKind::Executable => FileContent::File { bytes, executable: true },
            FileKind::Plain | FileKind::Unreadable => {
                FileContent::File { bytes, executable: false }
            }
        };
        Some(RestoredFile { path: path.into(), content })
    }

    fn installed(&mut self) {
        let directory = self.noted.judges.directory();
        let changes = self.noted.installed.iter();
        let changes = changes.filter_map(|program| program.change(self.root, directory));
        let imported = self.noted.imported.iter().filter_map(|own| own.change(self.root));
        let links = self.noted.linked.iter().filter_map(|link| link.change(self.root));
        let all: Vec<LastingChange> = changes.chain(imported).chain(links).collect();
        self.last(all);
    }

    /// Changes that no run can undo.
    fn last(&mut self, changes: impl IntoIterator<Item = LastingChange>) {
        for LastingChange { text, now } in changes {
            self.found.today.push(format!("{text} {now}"));
            self.found.lasting.push(text);
        }
    }

    /// What a person accepts is today's content, and no other.
    fn bind(&mut self, path: &Path, content: &str) {
        self.found.today.push(format!("{} {content}", path.display()));
    }
}

fn finished(mut changes: JudgeChanges) -> JudgeChanges {
    let parts = changes.texts.iter().chain(&changes.lasting).chain(&changes.today);
    let text: Vec<&str> = parts.map(String::as_str).collect();
    changes.digest = hex(&hash_of(text.join("\n").as_bytes()));
    changes
}
