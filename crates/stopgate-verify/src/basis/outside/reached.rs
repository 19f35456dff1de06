//! Files outside the project that a check's command and its judges lead to: what they read into
//! themselves, what they compare with, programs by their paths or on a `PATH` of their own.
//!
//! Only what their texts say is followed, and nothing is run.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Component, Path, PathBuf};

use stopgate_system::CanonicalPath;

use super::words::{UNKNOWN, Use, Word, Words};
use super::{BYTES_MAX, Variables, children, is_executable, login};
use crate::files::read_text;
use crate::glob::name_matches;
use crate::judges::by_path::{is_reference, is_reference_place, says_judge};

/// Judges longer than this are not searched for paths.
const NAMED_IN: u64 = 256 * 1024;
/// How many files one judge may name.
const NAMED_MAX: usize = 20;
/// How many files are followed from outside the project.
const FOLLOWED_MAX: usize = 40;
/// How many files of directories that are compared with are noted.
const DATA_MAX: usize = 300;
/// In how many places such files are looked for.
const LOOKS_MAX: usize = 200;
/// How deep such directories are looked into.
const DATA_DEPTH: usize = 4;
/// How many programs are looked for, and in how many places.
const PROGRAMS_MAX: usize = 200;
/// How many files are named by their whole paths.
const PATHS_MAX: usize = 1_000;
const PLACES_MAX: usize = 40;

/// Directories of the system and of nobody, which no judge's own files are in.
const SYSTEM: [&str; 21] = [
    "tmp",
    "dev",
    "proc",
    "sys",
    "usr",
    "etc",
    "var",
    "run",
    "bin",
    "sbin",
    "lib",
    "lib32",
    "lib64",
    "boot",
    "nix",
    "gnu",
    "snap",
    "System",
    "Library",
    "Applications",
    "private",
];

/// Texts that may lead to files outside the project.
pub(in crate::basis) struct Reach<'a> {
    pub(in crate::basis) root: &'a Path,
    pub(in crate::basis) variables: &'a Variables,
    /// The judges, from the root.
    pub(in crate::basis) judges: Vec<PathBuf>,
    /// Commands, and the directories that they run in.
    pub(in crate::basis) commands: Vec<(String, PathBuf)>,
    /// Programs that are called by name.
    pub(in crate::basis) called: BTreeSet<&'a String>,
    /// Those of them that are compared wherever they are found.
    pub(in crate::basis) compared: BTreeSet<String>,
}

/// Where texts lead to.
#[derive(Debug, Default)]
pub(in crate::basis) struct Reached {
    /// Files, also where one may be read that is not there.
    pub(in crate::basis) files: BTreeSet<PathBuf>,
    /// Programs as they are found on the path.
    pub(in crate::basis) programs: BTreeSet<PathBuf>,
}

/// The files outside the project that the texts lead to.
pub(in crate::basis) fn reached(reach: &Reach<'_>) -> Reached {
    let mut finder = Finder {
        reach,
        found: Reached::default(),
        written: BTreeSet::new(),
        places: Vec::new(),
        open: Vec::new(),
        followed: 0,
        data: 0,
        looks: 0,
    };
    for (command, directory) in &reach.commands {
        finder.text(command, &[reach.root.join(directory)], Text::Command);
    }
    for judge in &reach.judges {
        finder.judge(judge);
    }
    while let Some(path) = finder.open.pop().filter(|_| finder.followed < FOLLOWED_MAX) {
        finder.followed += 1;
        let text = read_text(&path, NAMED_IN).unwrap_or_default();
        let beside = path.parent().unwrap_or(reach.root).to_path_buf();
        finder.text(&text, &[beside], Text::Outside);
    }
    finder.leave_written();
    finder.programs();
    finder.found
}

/// Where a text is from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Text {
    Command,
    Judge,
    Outside,
}

struct Finder<'a> {
    reach: &'a Reach<'a>,
    found: Reached,
    /// What the texts write, also directories.
    written: BTreeSet<PathBuf>,
    /// Directories that texts put on the path, in order.
    places: Vec<PathBuf>,
    /// What is read into judges from outside and may lead on.
    open: Vec<PathBuf>,
    followed: usize,
    /// How many files were noted that outputs are compared with, and in how many places was looked.
    data: usize,
    looks: usize,
}

impl Finder<'_> {
    fn judge(&mut self, judge: &Path) {
        let path = self.reach.root.join(judge);
        let text = read_text(&path, NAMED_IN).unwrap_or_default();
        let beside = path.parent().unwrap_or(self.reach.root).to_path_buf();
        let mut places = vec![self.reach.root.to_path_buf(), beside];
        places.extend(self.reach.commands.iter().map(|own| self.reach.root.join(&own.1)));
        places.sort();
        places.dedup();
        if is_script(judge, &text) {
            return self.text(&text, &places, Text::Judge);
        }
        // In other languages only lines with such paths say something.
        let leads = |line: &&str| {
            ["../", "~/", "HOME", "XDG_", "PATH"].iter().any(|own| line.contains(own))
        };
        let lines: Vec<&str> = text.lines().filter(leads).collect();
        self.text(&lines.join("\n"), &places, Text::Judge);
    }

    fn text(&mut self, text: &str, beside: &[PathBuf], from: Text) {
        let all = &self.reach.variables.all;
        let ask = |name: &str| match name {
            "PATH" => None,
            "PWD" | "CURDIR" => Some(".".to_string()),
            name => all.get(name).cloned(),
        };
        let words = Words::of(text, &ask);
        self.places_in(&words.assigned);
        self.shells(text, &words.assigned);
        let mut named = BTreeSet::new();
        for word in &words.found {
            self.word(word, beside, from, &mut named);
        }
        self.found.files.extend(named.into_iter().take(NAMED_MAX));
    }

    /// `PATH="$HOME/.local/bin:$PATH"`
    fn places_in(&mut self, assigned: &BTreeMap<String, Vec<String>>) {
        let values = assigned.get("PATH").into_iter().flatten();
        for part in values.flat_map(|value| value.split(':')) {
            let place = self.absolute(part).filter(|place| !place.starts_with(self.reach.root));
            let place = place.filter(|place| self.may_be_changed(place));
            if let Some(place) = place.filter(|place| !self.places.contains(place)) {
                self.places.push(place);
            }
        }
    }

    /// What shells read that the text starts.
    fn shells(&mut self, text: &str, assigned: &BTreeMap<String, Vec<String>>) {
        let variables = self.reach.variables;
        let zsh = variables.all.get("ZDOTDIR").map(Path::new);
        let mut files: Vec<PathBuf> = Vec::new();
        if let Some(home) = &variables.home {
            files.extend(login::paths(login::read_by(text), home, zsh));
        }
        let named = ["BASH_ENV", "ENV"].iter().filter_map(|name| assigned.get(*name)).flatten();
        files.extend(named.filter_map(|value| self.absolute(value)));
        for path in files {
            self.sourced(path);
        }
    }

    fn word(&mut self, word: &Word, beside: &[PathBuf], from: Text, named: &mut BTreeSet<PathBuf>) {
        if let Some(path) = self.absolute(&word.text) {
            return self.by_whole_path(path, word.is_for);
        }
        let Some(text) = relative(&word.text) else { return };
        if word.is_for == Use::Written {
            let paths = beside.iter().filter_map(|place| whole(&place.join(text)));
            return self.written.extend(paths.filter(|path| !self.reach.root.starts_with(path)));
        }
        for path in beside.iter().filter_map(|place| whole(&place.join(text))) {
            if word.is_for == Use::Sourced && self.is_around(&path) {
                self.sourced(path);
            } else if path.is_file() {
                let is_known = || says_judge(Path::new(text)) || is_reference(Path::new(text));
                let path = path.canonical().ok().filter(|_| from != Text::Command || is_known());
                named.extend(path.filter(|path| !path.starts_with(self.reach.root)));
            } else if self.is_around(&path) {
                self.data(&path);
            }
        }
    }

    /// The path of a word that says it from the root of the system, or from the home directory.
    fn absolute(&self, text: &str) -> Option<PathBuf> {
        let home = || self.reach.variables.home.clone();
        let path = match text.strip_prefix("~/") {
            Some(inner) => home()?.join(inner),
            None => PathBuf::from(text),
        };
        let is_plain = path.is_absolute() && !text.contains([UNKNOWN, '*', '?']);
        whole(&path).filter(|_| is_plain)
    }

    fn by_whole_path(&mut self, path: PathBuf, is_for: Use) {
        if path.starts_with(self.reach.root) || !self.may_be_changed(&path) {
            return;
        }
        if is_for == Use::Sourced {
            self.sourced(path);
        } else if is_for == Use::Written {
            // Tools are kept in directories that scripts make, too.
            self.written.extend(Some(path).filter(|path| path.is_file()));
        } else if self.found.files.len() < PATHS_MAX && is_executable(&path) {
            self.found.files.insert(path);
        }
    }

    fn sourced(&mut self, path: PathBuf) {
        let is_inner = path.canonical().is_ok_and(|path| path.starts_with(self.reach.root));
        if !is_inner && !path.is_dir() && !path.starts_with(self.reach.root) {
            let is_new = self.found.files.insert(path.clone());
            self.open.extend(Some(path).filter(|_| is_new));
        }
    }

    /// The files of a directory, or those that fit a pattern, if the name says that something is
    /// compared with them.
    fn data(&mut self, path: &Path) {
        self.looks += 1;
        if self.looks > LOOKS_MAX {
            return;
        }
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if name.contains(['*', '?']) {
            let place = path.parent().unwrap_or(path);
            if is_reference_place(place) || is_reference(path) {
                let fits = |own: &str| name_matches(name.as_bytes(), own.as_bytes());
                let found = children(place, fits);
                self.add_data(found);
            }
        } else if is_reference_place(path) && !path.join(".git").exists() {
            let mut open = vec![(path.to_path_buf(), 0)];
            while let Some((place, depth)) = open.pop().filter(|_| self.data < DATA_MAX) {
                let (inner, files): (Vec<_>, Vec<_>) =
                    children(&place, |_| true).into_iter().partition(|path| path.is_dir());
                let inner = inner.into_iter().filter(|path| !path.is_symlink());
                let inner = inner.filter(|_| depth < DATA_DEPTH).take(DATA_MAX);
                open.extend(inner.map(|path| (path, depth + 1)));
                self.add_data(files);
            }
        }
    }

    fn add_data(&mut self, files: Vec<PathBuf>) {
        let is_small = |path: &PathBuf| {
            path.symlink_metadata().is_ok_and(|own| own.is_file() && own.len() <= BYTES_MAX)
        };
        for path in files.into_iter().filter(is_small) {
            if self.data < DATA_MAX && !path.starts_with(self.reach.root) {
                self.data += usize::from(self.found.files.insert(path));
            }
        }
    }

    /// What the check itself makes is not evidence of anything, unless its name says that something
    /// is compared with it: a script may also write that anew.
    fn leave_written(&mut self) {
        let written = std::mem::take(&mut self.written);
        let is_made = |path: &PathBuf| {
            let is_compared = is_reference(path) || path.parent().is_some_and(is_reference_place);
            !is_compared && path.ancestors().any(|above| written.contains(above))
        };
        self.found.files.retain(|path| !is_made(path));
    }

    /// Programs on the path, where a person could put others; and where one of the same name would
    /// be found before them.
    fn programs(&mut self) {
        let around = self.reach.variables.all.get("PATH").map(String::as_str).unwrap_or_default();
        let own = self.places.iter().take(PLACES_MAX).map(|place| (place.clone(), true));
        let around = std::env::split_paths(around).take(PLACES_MAX).map(|place| (place, false));
        let places: Vec<(PathBuf, bool)> = own.chain(around).collect();
        let is_name = |name: &&&String| !name.is_empty() && !name.contains(['/', UNKNOWN]);
        let mut found = BTreeSet::new();
        for name in self.reach.called.iter().filter(is_name).take(PROGRAMS_MAX) {
            let at = places.iter().position(|(place, _)| is_executable(&place.join(name)));
            let before = places.iter().take(at.map_or(0, |at| at + 1));
            let watched = before.filter(|(place, is_own)| *is_own || self.is_watched(place, name));
            found.extend(watched.map(|(place, _)| place.join(name)));
        }
        found.retain(|path: &PathBuf| !path.starts_with(self.reach.root));
        self.found.programs = found;
    }

    /// Whether a program on the path of the session is noted: one of the system is not, and one
    /// that is compared anyway or can't be shown as it was isn't, either.
    fn is_watched(&self, place: &Path, name: &String) -> bool {
        let small = fs::metadata(place.join(name)).map_or(true, |own| own.len() <= BYTES_MAX);
        small && self.is_persons(place) && !self.reach.compared.contains(name)
    }

    /// Whether the place belongs to a person.
    fn is_persons(&self, path: &Path) -> bool {
        let is_home = |name: &str| name.ends_with("HOME") || name == "GOPATH" || name == "GOBIN";
        let homes = self.reach.variables.all.iter().filter(|(name, _)| is_home(name));
        let mut homes = homes.map(|(_, value)| Path::new(value));
        homes.any(|home| home.is_absolute() && home.parent().is_some() && path.starts_with(home))
    }

    fn may_be_changed(&self, path: &Path) -> bool {
        self.is_persons(path) || !is_of_system(path)
    }

    /// Whether the path is outside the project, but near it.
    fn is_around(&self, path: &Path) -> bool {
        let root = self.reach.root;
        let common = root.ancestors().find(|above| path.starts_with(above)).unwrap_or(root);
        let depth = common.components().count();
        common != root && common != path && (depth > 2 || depth > 1 && !is_of_system(path))
    }
}

fn is_of_system(path: &Path) -> bool {
    let first = path.components().find_map(|part| match part {
        Component::Normal(name) => Some(name.to_string_lossy()),
        _ => None,
    });
    first.is_none_or(|first| SYSTEM.contains(&&*first))
}

/// The part of a word that leads out of a directory: of `$here/../golden/$name.txt` it is
/// `../golden`.
fn relative(text: &str) -> Option<&str> {
    let text = text.trim_start_matches(UNKNOWN).trim_start_matches('/');
    let known = match text.find(UNKNOWN) {
        Some(at) => text[..at].rsplit_once('/').map_or("", |(place, _)| place),
        None => text,
    };
    Some(known).filter(|known| known.split('/').any(|part| part == ".."))
}

/// The path without `.` and `..`.
fn whole(path: &Path) -> Option<PathBuf> {
    let mut found = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir if !found.pop() => return None,
            Component::ParentDir | Component::CurDir => {}
            own => found.push(own),
        }
    }
    Some(found)
}

/// Whether a judge is read by a shell or by make.
fn is_script(path: &Path, text: &str) -> bool {
    const ENDS: [&str; 8] = ["sh", "bash", "bats", "zsh", "ksh", "mk", "just", "envrc"];
    let end = path.extension().and_then(|end| end.to_str()).unwrap_or_default();
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let first = text.lines().next().unwrap_or_default();
    let is_make = name.to_ascii_lowercase().ends_with("makefile") || name == ".envrc";
    ENDS.contains(&end) || is_make || first.starts_with("#!") && first.contains("sh")
}

#[cfg(test)]
mod tests;
