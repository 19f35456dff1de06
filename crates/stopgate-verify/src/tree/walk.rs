//! Lists what must be listed, and takes the rest over from what was known.
//!
//! A short walk lists only the directories that changed. Where the rules themselves changed it
//! says so, and everything is listed; contents are read again only where a file changed.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::io::ErrorKind;
use std::path::Path;

use stopgate_system::ffi::OsStrExt;

use super::access::{
    DirectoryListing, ListedKind, OpenDirectory, Purpose, list, open_directory, open_file, stat_at,
};
use super::clock::Clock;
use super::content::Pending;
use super::ignore::{IgnoreRules, Meaning, Thing};
use super::index::{
    Directory, EMPTY, FileMark, FileSelection, Index, IndexedFile, Name, index, join, name_in,
};
use super::repo::{GitDirectory, NoAnswer, Outer, RULES_BYTES_MAX, Repo, around};
use super::stat::{Sort, Stat};
use super::sweep::Swept;
use super::{FILES_MAX, FileChoice};
use crate::files::read_up_to;

pub(crate) const RULES: &[u8] = b".gitignore";

/// Why a walk ended early.
#[derive(Debug)]
pub(crate) enum WalkEnd {
    /// The rules changed: everything must be listed.
    RulesChanged,
    TooLarge,
    Git(NoAnswer),
}

/// How much is listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    /// What changed.
    Short,
    /// All of it.
    Full,
}

/// One walk through a root.
pub(crate) struct Walk<'a> {
    pub(crate) root: &'a OpenDirectory,
    pub(crate) path: &'a Path,
    pub(crate) choice: FileChoice<'a>,
    pub(crate) clock: &'a Clock,
    pub(crate) extent: Extent,
    pub(crate) swept: &'a Swept,
    /// What was known; new names are added to its own.
    pub(crate) old: Index,
    pub(crate) new: Index,
    /// What is to be read.
    pub(crate) pending: Vec<Pending>,
    /// Which directories of the new index have to be fingerprinted again.
    pub(crate) changed: Vec<bool>,
    tracked: BTreeSet<Vec<u8>>,
    levels: Vec<Level>,
    at: Vec<u8>,
    tasks: Vec<Task>,
}

/// A directory that the walk is in.
struct Level {
    /// Where names in it begin in the current path.
    from: usize,
    rules: Lazy<IgnoreRules>,
    /// The repository that begins here.
    outer: Option<Lazy<Outer>>,
}

enum Lazy<T> {
    NotRead,
    Read(T),
}

enum Task {
    Visit { name: Name, parent: u32, old: Option<u32>, reading: FileSelection },
    Leave { directory: u32, length: usize },
}

impl<'a> Walk<'a> {
    pub(crate) fn new(
        root: &'a OpenDirectory,
        path: &'a Path,
        choice: FileChoice<'a>,
        clock: &'a Clock,
        swept: &'a Swept,
        old: Index,
    ) -> Self {
        Self {
            root,
            path,
            choice,
            clock,
            extent: Extent::Full,
            swept,
            old,
            new: Index::default(),
            pending: Vec::new(),
            changed: Vec::new(),
            tracked: BTreeSet::new(),
            levels: Vec::new(),
            at: Vec::new(),
            tasks: Vec::new(),
        }
    }

    /// Walks; afterwards `new` lacks only what is pending and the directories' fingerprints.
    pub(crate) fn run(&mut self, extent: Extent) -> Result<(), WalkEnd> {
        self.begin(extent)?;
        while let Some(task) = self.tasks.pop() {
            match task {
                Task::Visit { name, parent, old, reading } => {
                    self.visit(name, parent, old, reading)?;
                }
                Task::Leave { directory, length } => {
                    self.new.directories[directory as usize].end =
                        index(self.new.directories.len());
                    self.at.truncate(length);
                    self.levels.pop();
                }
            }
        }
        self.new.names = std::mem::take(&mut self.old.names);
        Ok(())
    }

    fn begin(&mut self, extent: Extent) -> Result<(), WalkEnd> {
        self.extent = extent;
        self.new = Index { taken: self.clock.taken, ..Index::default() };
        self.pending.clear();
        self.changed.clear();
        self.levels.clear();
        self.at.clear();
        self.tasks.clear();
        if let FileChoice::Whole = self.choice {
            self.new.repos = match extent {
                Extent::Short => self.old.repos.clone(),
                Extent::Full => vec![root_repo(self.path).map_err(WalkEnd::Git)?],
            };
        }
        let tracked = self.new.repos.iter().flat_map(|repo| repo.tracked.iter().cloned());
        self.tracked = tracked.collect();
        let old = (!self.old.directories.is_empty()).then_some(0);
        let name = Name::default();
        self.tasks.push(Task::Visit { name, parent: 0, old, reading: FileSelection::Ruled });
        Ok(())
    }

    fn visit(
        &mut self,
        name: Name,
        parent: u32,
        old: Option<u32>,
        reading: FileSelection,
    ) -> Result<(), WalkEnd> {
        let directories = self.new.directories.len();
        if directories >= FILES_MAX || self.new.entries.len() >= FILES_MAX || self.clock.is_over() {
            return Err(WalkEnd::TooLarge);
        }
        let length = self.at.len();
        join(&mut self.at, name_in(&self.old.names, name));
        self.tasks.push(Task::Leave { directory: index(directories), length });
        let from = if self.at.is_empty() { 0 } else { self.at.len() + 1 };
        let is_repo = self.new.repos.iter().any(|repo| repo.at == self.at);
        let outer = is_repo.then_some(Lazy::NotRead);
        self.levels.push(Level { from, rules: Lazy::NotRead, outer });
        let first = index(self.new.entries.len());
        let mut directory = Directory {
            name,
            parent,
            end: 0,
            first,
            last: first,
            stat: Stat::default(),
            reading,
            hash: EMPTY,
        };
        if let Some(old) = old.filter(|old| self.is_known(*old)) {
            self.take_over(&mut directory, old as usize, index(directories));
            self.new.directories.push(directory);
            return Ok(());
        }
        self.new.directories.push(directory);
        self.changed.push(true);
        self.list(directories, old)
    }

    fn is_known(&self, old: u32) -> bool {
        self.extent == Extent::Short && self.swept.directories.binary_search(&old).is_err()
    }

    /// Takes a directory over whose names are the same.
    fn take_over(&mut self, directory: &mut Directory, old: usize, own: u32) {
        let known = self.old.directories[old];
        (directory.stat, directory.hash, directory.reading) =
            (known.stat, known.hash, known.reading);
        let entries = self.old.entries_of(old);
        self.new.entries.extend_from_slice(&self.old.entries[entries.clone()]);
        directory.last = index(self.new.entries.len());
        let touched = &self.swept.entries;
        let begin = touched.partition_point(|(entry, _)| (*entry as usize) < entries.start);
        let touched = touched[begin..].iter().take_while(|(at, _)| (*at as usize) < entries.end);
        let before = self.pending.len();
        for (at, stat) in touched {
            let entry = directory.first + (*at - index(entries.start));
            let known = &mut self.new.entries[entry as usize];
            let was = Some(known.hash);
            known.stat = *stat;
            if matches!(known.mark, FileMark::Plain | FileMark::Executable | FileMark::Unreadable) {
                known.mark = mark_of(stat);
            }
            self.pending.push(Pending { directory: own, entry, was });
        }
        self.changed.push(self.pending.len() > before);
        let children: Vec<usize> = self.old.children(old).collect();
        for child in children.into_iter().rev() {
            let known = &self.old.directories[child];
            let (name, reading) = (known.name, known.reading);
            let old = Some(index(child));
            self.tasks.push(Task::Visit { name, parent: own, old, reading });
        }
    }

    fn list(&mut self, own: usize, old: Option<u32>) -> Result<(), WalkEnd> {
        let Some(listing) = self.read_directory()? else {
            let directory = &mut self.new.directories[own];
            directory.stat = stat_at(self.root, &self.at).unwrap_or_default();
            directory.reading = FileSelection::Unreadable;
            return Ok(());
        };
        // An unreadable directory of before may have become a readable one.
        if self.new.directories[own].reading == FileSelection::Unreadable {
            return Err(WalkEnd::RulesChanged);
        }
        self.new.directories[own].stat = listing.stat;
        if let FileChoice::Whole = self.choice {
            self.learn_rules(&listing, old)?;
        }
        let mut inner = Vec::new();
        for (name, sort) in listing.names.iter().filter(|(name, _)| name != b".git") {
            let length = self.at.len();
            join(&mut self.at, name);
            let is_directory = self.is_directory(*sort);
            if is_directory && let Some(reading) = self.enters(own) {
                inner.push((name.as_slice(), reading));
            } else if !is_directory && let Some(mark) = self.takes(own, name) {
                self.add_entry(own, old, name, mark);
            }
            self.at.truncate(length);
        }
        self.new.directories[own].last = index(self.new.entries.len());
        self.will_visit(own, old, &inner);
        Ok(())
    }

    /// Notes the directories that were found in one, with what was known of them.
    fn will_visit(&mut self, own: usize, old: Option<u32>, inner: &[(&[u8], FileSelection)]) {
        let known: Vec<usize> = match old {
            Some(old) => self.old.children(old as usize).collect(),
            None => Vec::new(),
        };
        for (name, reading) in inner.iter().rev() {
            let directory = |child: &usize| self.old.directories[*child].name;
            let found = known.binary_search_by(|child| self.old.name(directory(child)).cmp(name));
            let old = found.ok().map(|at| known[at]);
            let name = match old {
                Some(old) => self.old.directories[old].name,
                None => self.old.add_name(name),
            };
            let old = old.map(index);
            self.tasks.push(Task::Visit { name, parent: index(own), old, reading: *reading });
        }
    }

    /// The directory's names in order; nothing where it can't be read.
    fn read_directory(&self) -> Result<Option<DirectoryListing>, WalkEnd> {
        match open_directory(self.root, &self.at, Purpose::List) {
            Ok(directory) => Ok(list(&directory)),
            Err(error) if error.kind() == ErrorKind::InvalidFilename => Err(WalkEnd::TooLarge),
            Err(_) => Ok(None),
        }
    }

    fn is_directory(&self, kind: ListedKind) -> bool {
        match kind {
            ListedKind::Directory => true,
            ListedKind::NotDirectory => false,
            ListedKind::Unknown => {
                stat_at(self.root, &self.at).is_some_and(|stat| stat.sort() == Sort::Directory)
            }
        }
    }

    /// Reads the rules that begin in this directory; in a short walk they must be the old ones.
    fn learn_rules(&mut self, listing: &DirectoryListing, old: Option<u32>) -> Result<(), WalkEnd> {
        let has = |name: &[u8]| listing.names.iter().any(|(own, _)| own == name);
        let directory = self.path.join(OsStr::from_bytes(&self.at));
        if !self.at.is_empty() {
            let git = if has(b".git") { GitDirectory::of(&directory) } else { None };
            let known = self.new.repos.iter().any(|repo| repo.at == self.at);
            match (git, self.extent) {
                (Some(git), Extent::Full) => {
                    let repo = Repo::learn(directory.clone(), &git, &directory, &self.at);
                    let repo = repo.map_err(WalkEnd::Git)?;
                    self.tracked.extend(repo.tracked.iter().cloned());
                    self.new.repos.push(repo);
                    self.level().outer = Some(Lazy::NotRead);
                }
                (git, Extent::Short) if git.is_some() != known => {
                    return Err(WalkEnd::RulesChanged);
                }
                (_, Extent::Full | Extent::Short) => {}
            }
        }
        if self.extent == Extent::Short && !self.has_old_rules(old) {
            return Err(WalkEnd::RulesChanged);
        }
        if !has(RULES) {
            self.level().rules = Lazy::Read(IgnoreRules::default());
        }
        self.read_rules();
        Ok(())
    }

    /// Whether the directory's own rules are those of before; a new directory's never matter elsewhere.
    fn has_old_rules(&self, old: Option<u32>) -> bool {
        let Some(old) = old else { return true };
        let mut path = self.at.clone();
        join(&mut path, RULES);
        let now = stat_at(self.root, &path);
        match (now, self.old_entry(old, RULES)) {
            (Some(now), Some(known)) => now.still_is(&known.stat, self.old.taken),
            (None, None) => true,
            (Some(_), None) | (None, Some(_)) => false,
        }
    }

    fn level(&mut self) -> &mut Level {
        let last = self.levels.len() - 1;
        &mut self.levels[last]
    }

    /// Reads the rules of this directory and of those around it, up to its repository.
    fn read_rules(&mut self) {
        for at in (0..self.levels.len()).rev() {
            let directory = &self.at[..self.levels[at].from.saturating_sub(1)];
            if let Lazy::NotRead = self.levels[at].rules {
                let rules = read_rule_file(self.root, directory);
                self.levels[at].rules = Lazy::Read(rules);
            }
            if let Some(Lazy::NotRead) = self.levels[at].outer {
                let repo = self.new.repos.iter().find(|repo| repo.at == directory);
                let directory = self.path.join(OsStr::from_bytes(directory));
                let outer = repo.map(|repo| Outer::read(repo, &directory)).unwrap_or_default();
                self.levels[at].outer = Some(Lazy::Read(outer));
            }
            if self.levels[at].outer.is_some() {
                return;
            }
        }
    }

    /// How the directory at the current path is read, if at all.
    fn enters(&self, parent: usize) -> Option<FileSelection> {
        match self.choice {
            FileChoice::Picked(chosen) => chosen.enters(&self.at).then_some(FileSelection::Ruled),
            FileChoice::Whole if !self.ignores(parent, Thing::Directory) => {
                Some(FileSelection::Ruled)
            }
            FileChoice::Whole => {
                let below = [self.at.as_slice(), b"/"].concat();
                let next = self.tracked.range(below.clone()..).next()?;
                // A tracked directory is a repository of its own, with rules of its own.
                let reading =
                    if *next == below { FileSelection::Ruled } else { FileSelection::TrackedOnly };
                next.starts_with(&below).then_some(reading)
            }
        }
    }

    /// How the file at the current path counts, if at all; links and others are told apart later.
    fn takes(&self, parent: usize, name: &[u8]) -> Option<FileMark> {
        match self.choice {
            FileChoice::Picked(chosen) => chosen.takes(&self.at).then_some(FileMark::Plain),
            FileChoice::Whole if !self.ignores(parent, Thing::File) => Some(FileMark::Plain),
            FileChoice::Whole if self.tracked.contains(&self.at) => Some(FileMark::Plain),
            FileChoice::Whole => (name == RULES).then_some(FileMark::Rule),
        }
    }

    fn ignores(&self, parent: usize, thing: Thing) -> bool {
        if self.new.directories[parent].reading == FileSelection::TrackedOnly {
            return true;
        }
        for level in self.levels.iter().rev() {
            let path = &self.at[level.from..];
            if let Lazy::Read(rules) = &level.rules
                && let Some(told) = rules.about(path, thing)
            {
                return told == Meaning::Ignore;
            }
            if let Some(Lazy::Read(outer)) = &level.outer {
                return outer.about(path, thing) == Some(Meaning::Ignore);
            }
        }
        false
    }

    fn old_entry(&self, old: u32, name: &[u8]) -> Option<&IndexedFile> {
        let entries = &self.old.entries[self.old.entries_of(old as usize)];
        let at = entries.binary_search_by(|entry| self.old.name(entry.name).cmp(name)).ok()?;
        entries.get(at)
    }

    /// Adds the file at the current path.
    fn add_entry(&mut self, own: usize, old: Option<u32>, name: &[u8], mark: FileMark) {
        let Some(stat) = stat_at(self.root, &self.at) else { return };
        let mark = match (stat.sort(), mark) {
            (Sort::File, FileMark::Rule) => FileMark::Rule,
            (Sort::File | Sort::Link, FileMark::Plain) => mark_of(&stat),
            _ => return,
        };
        let known = old.and_then(|old| self.old_entry(old, name)).copied();
        let place = known.map(|known| known.name);
        let same =
            known.filter(|known| known.mark == mark && stat.still_is(&known.stat, self.old.taken));
        let name = place.unwrap_or_else(|| self.old.add_name(name));
        if same.is_none() {
            let entry = index(self.new.entries.len());
            let was = known.map(|known| known.hash);
            self.pending.push(Pending { directory: index(own), entry, was });
        }
        let hash = same.map_or(EMPTY, |same| same.hash);
        self.new.entries.push(IndexedFile { name, mark, stat, hash });
    }
}

/// The repository around the root, or what stands for it where there is none.
fn root_repo(root: &Path) -> Result<Repo, NoAnswer> {
    match around(root) {
        Some((top, git)) => Repo::learn(top, &git, root, b""),
        None => Ok(Repo::default()),
    }
}

const fn mark_of(stat: &Stat) -> FileMark {
    match stat.sort() {
        Sort::Link => FileMark::Link,
        Sort::File | Sort::Directory | Sort::Other => {
            if stat.is_executable() {
                FileMark::Executable
            } else {
                FileMark::Plain
            }
        }
    }
}

/// A directory's rules; git does not read them through a link either.
fn read_rule_file(root: &OpenDirectory, directory: &[u8]) -> IgnoreRules {
    let mut path = directory.to_vec();
    join(&mut path, RULES);
    let opened = open_file(root, &path).ok();
    let read = opened.and_then(|file| read_up_to(file, RULES_BYTES_MAX).ok());
    read.map(|text| IgnoreRules::read(&text)).unwrap_or_default()
}
