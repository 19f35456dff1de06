//! The files that a pattern names, and their contents.
//!
//! A relative pattern names what is in the project. Where contents are wanted, a link is
//! what it leads to, directories included; out of the project it leads only where the
//! criterion may look anywhere. Nothing here waits for a file: only regular ones are read.

use std::collections::BTreeSet;
use std::fs;
use std::io::{ErrorKind, Read};
use std::path::{Component, Path, PathBuf};

use stopgate_system::CanonicalPath;
use stopgate_system::ffi::OsStrExt;

use super::PathRule;
use crate::files::open_regular;
use crate::glob::Globs;

/// How many entries one pattern may make us look at.
const ENTRIES_MAX: usize = 500_000;

/// What counts as a match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Want {
    /// Regular files in the project.
    Files,
    /// Regular files and all that links lead to: what is not looked at proves nothing.
    Contents,
    /// Whatever has the name, also a link that leads nowhere.
    Anything,
}

/// What a pattern names.
#[derive(Debug, Default)]
pub(super) struct Named {
    /// Paths, as they are to be opened.
    pub(super) paths: Vec<PathBuf>,
    /// A directory that could not be read, so that there may be more.
    pub(super) unread: Option<String>,
}

impl Named {
    /// Notes what could not be looked at.
    fn lose(&mut self, why: String) -> Step {
        self.unread = Some(why);
        Step::Pass
    }
}

/// Finds up to `max` of what `pattern` names below `root`.
pub(super) fn find(
    root: &Path,
    pattern: &str,
    rule: PathRule,
    want: Want,
    max: usize,
) -> Result<Named, String> {
    let place = Place::new(root, pattern, rule)?;
    let mut named = Named::default();
    let plain = place.base.join(&place.pattern);
    if place.globs.is_none() || fs::symlink_metadata(&plain).is_ok() {
        place.take_plain(&plain, want, max, &mut named)?;
    } else if let Some(globs) = &place.globs {
        let start = place.base.join(&place.prefix);
        if fs::symlink_metadata(&start).is_ok() && place.holds(&start, want)? {
            place.walk(start, Some(globs), want, max, &mut named)?;
        }
    }
    named.paths.sort();
    Ok(named)
}

/// One plain path below `root`, or an absolute one.
pub(super) fn one(root: &Path, path: &str, rule: PathRule) -> Result<PathBuf, String> {
    let place = Place::new(root, path, rule)?;
    let plain = place.base.join(&place.pattern);
    if fs::symlink_metadata(&plain).is_ok() {
        place.check(&plain, Want::Files)?;
    }
    Ok(plain)
}

/// A path as people read it: from the project's directory where it is there.
pub(super) fn shown(root: &Path, path: &Path) -> String {
    path.strip_prefix(root).unwrap_or(path).display().to_string()
}

/// What came of reading a file.
pub(super) enum Content {
    /// All of it.
    Whole(Vec<u8>),
    /// It is larger than what was asked for.
    TooLarge,
    /// It is not there.
    Missing,
    /// It is there, and can't be read.
    Unreadable(String),
}

/// Opens a regular file; a pipe or a device could keep us waiting.
pub(super) fn open(path: &Path) -> std::io::Result<fs::File> {
    open_regular(path)
}

/// Reads a regular file of up to `bytes_max`.
pub(super) fn read(path: &Path, bytes_max: u64) -> Content {
    let mut content = Vec::new();
    let read =
        open_regular(path).and_then(|file| file.take(bytes_max + 1).read_to_end(&mut content));
    match read {
        Ok(length) if length as u64 > bytes_max => Content::TooLarge,
        Ok(_) => Content::Whole(content),
        Err(error) if is_missing(error.kind()) => Content::Missing,
        Err(error) => Content::Unreadable(error.to_string()),
    }
}

/// Where a pattern begins.
struct Place {
    /// The directory that it may not leave, as the disk calls it; none for absolute paths.
    wall: Option<PathBuf>,
    base: PathBuf,
    /// The pattern, from the base.
    pattern: String,
    /// The directories in it before the first wildcard.
    prefix: PathBuf,
    /// Nothing for a plain path.
    globs: Option<Globs>,
    rule: PathRule,
}

impl Place {
    fn new(root: &Path, pattern: &str, rule: PathRule) -> Result<Self, String> {
        let pattern = pattern.trim();
        if pattern.is_empty() {
            return Err("an empty pattern names nothing".into());
        }
        if Path::new(pattern).components().any(|part| part == Component::ParentDir) {
            let hint = match rule {
                PathRule::Anywhere => "write an absolute path",
                PathRule::ProjectOnly => "the project's file may only name what is in the project",
            };
            return Err(format!("{pattern:?} leads out of the project: {hint}"));
        }
        if pattern.starts_with('/') && rule == PathRule::ProjectOnly {
            return Err(format!(
                "{pattern:?} is an absolute path: the project's file may only name what is in the \
                 project"
            ));
        }
        let absolute = pattern.strip_prefix('/');
        let (wall, base) = if absolute.is_some() {
            (None, PathBuf::from("/"))
        } else {
            let wall = root.canonical();
            let wall = wall.map_err(|error| format!("{}: {error}", root.display()))?;
            (Some(wall), root.to_path_buf())
        };
        let pattern = absolute.unwrap_or(pattern).trim_start_matches('/').to_owned();
        let wild = pattern.find(['*', '?', '[', '{', '\\']);
        let literal =
            wild.map_or("", |at| pattern[..at].rsplit_once('/').map_or("", |(dir, _)| dir));
        let prefix = PathBuf::from(literal);
        let globs = match wild {
            Some(_) => Some(globs(&pattern)?),
            None => None,
        };
        Ok(Self { wall, base, pattern, prefix, globs, rule })
    }

    /// Whether an existing path is, with all links followed, behind the wall.
    fn holds(&self, path: &Path, want: Want) -> Result<bool, String> {
        let Some(wall) = &self.wall else { return Ok(true) };
        let anywhere = want == Want::Contents && self.rule == PathRule::Anywhere;
        match path.canonical() {
            Ok(real) if anywhere || real.starts_with(wall) => Ok(true),
            Ok(_) => Err(format!("{:?} leads out of the project through a link", self.pattern)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
            Err(error) => Err(format!("{}: {error}", path.display())),
        }
    }

    fn check(&self, path: &Path, want: Want) -> Result<bool, String> {
        let directory = path.parent().unwrap_or(path);
        Ok(self.holds(directory, want)? && self.holds(path, want)?)
    }

    fn take_plain(
        &self,
        path: &Path,
        want: Want,
        max: usize,
        named: &mut Named,
    ) -> Result<(), String> {
        let metadata = match fs::symlink_metadata(path) {
            Ok(metadata) => metadata,
            Err(error) if is_missing(error.kind()) => return Ok(()),
            Err(error) => return Err(format!("{}: {error}", path.display())),
        };
        match want {
            Want::Anything if self.holds(path.parent().unwrap_or(path), want)? => {
                named.paths.push(path.into());
            }
            Want::Files if self.check(path, want)? && metadata.is_dir() => {
                self.walk(path.into(), None, want, max, named)?;
            }
            Want::Contents if self.check(path, want)? && path.is_dir() => {
                self.walk(path.into(), None, want, max, named)?;
            }
            Want::Files | Want::Contents if path.is_file() => named.paths.push(path.into()),
            Want::Contents if metadata.is_symlink() => {
                return Err(format!("{:?} is a link that leads nowhere", self.pattern));
            }
            Want::Files | Want::Contents | Want::Anything => {}
        }
        Ok(())
    }

    /// Goes through a directory and all below it that may hold what is wanted.
    fn walk(
        &self,
        start: PathBuf,
        globs: Option<&Globs>,
        want: Want,
        max: usize,
        named: &mut Named,
    ) -> Result<(), String> {
        let mut directories = vec![start];
        // Links may lead in circles.
        let mut entered = BTreeSet::new();
        let mut seen = 0_usize;
        while let Some(directory) = directories.pop().filter(|_| named.paths.len() < max) {
            if want == Want::Contents && !entered.insert(directory.canonical().ok()) {
                continue;
            }
            let entries = entries(&directory, named);
            seen += entries.len();
            for entry in entries {
                let step = self.step(&entry, globs, want);
                let into = match step.unwrap_or_else(|why| named.lose(why)) {
                    Step::Into => &mut directories,
                    Step::Take => &mut named.paths,
                    Step::Pass => continue,
                };
                into.push(entry.path());
            }
            if seen > ENTRIES_MAX {
                return Err(format!("{:?} names too much: make it narrower", self.pattern));
            }
        }
        named.paths.truncate(max);
        Ok(())
    }

    fn step(
        &self,
        entry: &fs::DirEntry,
        globs: Option<&Globs>,
        want: Want,
    ) -> Result<Step, String> {
        let path = entry.path();
        let kind = entry.file_type().map_err(|error| format!("{}: {error}", path.display()))?;
        let inside = path.strip_prefix(&self.base).unwrap_or(&path).as_os_str().as_bytes();
        let is_link = kind.is_symlink() && want == Want::Contents;
        if kind.is_dir() || (is_link && path.is_dir()) {
            let enters = globs.is_none_or(|globs| globs.enters(inside));
            let enters = enters && entry.file_name() != ".git";
            return Ok(if enters && (!is_link || self.may_follow(&path)?) {
                Step::Into
            } else {
                Step::Pass
            });
        }
        let takes = globs.is_none_or(|globs| globs.takes(inside));
        Ok(if takes && self.counts(&path, kind, want)? { Step::Take } else { Step::Pass })
    }

    /// A link that leads nowhere, or to a pipe, holds no text; one that may not be followed may.
    fn may_follow(&self, path: &Path) -> Result<bool, String> {
        self.holds(path, Want::Contents)
            .map_err(|_| format!("{} leads out of the project through a link", path.display()))
    }

    /// A link out of the project is not one of its files.
    fn counts(&self, path: &Path, kind: fs::FileType, want: Want) -> Result<bool, String> {
        Ok(match want {
            Want::Anything => true,
            Want::Files if kind.is_symlink() => {
                path.is_file() && self.holds(path, want).unwrap_or(false)
            }
            Want::Contents if kind.is_symlink() => path.is_file() && self.may_follow(path)?,
            Want::Files | Want::Contents => kind.is_file(),
        })
    }
}

/// What to do with an entry of a directory.
enum Step {
    Into,
    Take,
    Pass,
}

/// The entries of a directory; one that can't be read is noted.
fn entries(directory: &Path, named: &mut Named) -> Vec<fs::DirEntry> {
    match fs::read_dir(directory) {
        Ok(entries) => {
            let (found, lost): (Vec<_>, Vec<_>) = entries.partition(Result::is_ok);
            if let Some(Err(error)) = lost.into_iter().next() {
                named.unread = Some(format!("{}: {error}", directory.display()));
            }
            found.into_iter().flatten().collect()
        }
        Err(error) if is_missing(error.kind()) => Vec::new(),
        Err(error) => {
            named.unread = Some(format!("{}: {error}", directory.display()));
            Vec::new()
        }
    }
}

fn is_missing(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::NotFound | ErrorKind::NotADirectory)
}

/// A bracket that is never closed would match nothing, and so prove that nothing is there.
fn globs(pattern: &str) -> Result<Globs, String> {
    let wrong = || format!("{pattern:?} is not a pattern: a bracket is not closed");
    let (mut braces, mut in_class, mut escaped) = (0_u32, false, false);
    for character in pattern.chars() {
        match character {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            ']' => in_class = false,
            '[' => in_class = true,
            '/' if in_class => return Err(wrong()),
            '{' if !in_class => braces += 1,
            '}' if !in_class => braces = braces.checked_sub(1).ok_or_else(wrong)?,
            _ => {}
        }
    }
    if braces > 0 || in_class || escaped {
        return Err(wrong());
    }
    Globs::new(&[pattern]).map_err(|pattern| format!("{pattern:?} is not a pattern"))
}
