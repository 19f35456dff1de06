//! A home directory for a run in a copy elsewhere, in which changed settings are as they were.
//!
//! Without a namespace no file can be masked by its path. But programs find a person's settings
//! by `HOME`: a directory of links to all that is there, with the earlier content of what
//! changed, shows them the settings of the start.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, DirBuilder};
use std::io;
use std::path::{Component, Path, PathBuf};

use stopgate_system::fs::{DirBuilderExt, PermissionsExt, symlink};

use super::Mask;
use super::arguments::nearest;
use crate::basis::{directory_of_above, is_read_at_home};
use crate::env::Variable;

/// A home with more entries than this in one directory is not imitated.
const ENTRIES_MAX: usize = 10_000;

/// What a home directory shows instead of what is there.
#[derive(Debug)]
pub(crate) struct StandInHome {
    /// The real one.
    real: PathBuf,
    changed: Entry,
}

/// An entry of a home directory that is not as it is now.
#[derive(Debug)]
enum Entry {
    /// A file that has this content, or is not there.
    File(Option<Vec<u8>>),
    /// A directory with such entries.
    Directory(BTreeMap<OsString, Self>),
}

impl StandInHome {
    /// A home that hides these changes from a run in a copy below `scratch` that gets
    /// `variables`; nothing where none can.
    pub(crate) fn of(masks: &[Mask], variables: &[Variable], scratch: &Path) -> Option<Self> {
        let named = |(name, value): &Variable| (name == "HOME").then(|| PathBuf::from(value));
        let real = variables.iter().find_map(named)?;
        let scratch = nearest(scratch);
        let mut changed = Entry::Directory(BTreeMap::new());
        let path = variables.iter().find(|(name, _)| name == "PATH").map(|(_, value)| value);
        for mask in masks {
            if is_found_by_home(mask, path) {
                changed.put(mask.path.strip_prefix(&real).ok()?, mask.content.clone())?;
                continue;
            }
            match hidden(mask, &real, &scratch)? {
                Hidden::ByHome(name) => changed.put(name, mask.content.clone())?,
                Hidden::ByDistance => {}
            }
        }
        Some(Self { real, changed })
    }

    /// Makes the home at `path`, and lets the variables that lead to what changed lead there.
    pub(crate) fn make(&self, path: &Path, variables: &mut [Variable]) -> io::Result<()> {
        self.changed.make(&self.real, path)?;
        for (_, value) in variables {
            let Ok(name) = Path::new(value).strip_prefix(&self.real) else { continue };
            if self.changed.is_on_the_way_to(name) {
                *value = path.join(name).into_os_string();
            }
        }
        Ok(())
    }
}

/// Why a run in a copy elsewhere does not see a file as it is now.
enum Hidden<'m> {
    /// It looks for the file of this name in its home directory.
    ByHome(&'m Path),
    /// It looks in the directories above it, which are others.
    ByDistance,
}

/// Whether it is a program that scripts find through their home directory, and not by the search
/// path that the check gets.
fn is_found_by_home(mask: &Mask, path: Option<&OsString>) -> bool {
    let Some(place) = mask.path.parent().filter(|place| place.ends_with("bin")) else {
        return false;
    };
    // It would have the rights of today.
    let is_disabled = mask.executable
        && fs::metadata(&mask.path).is_ok_and(|own| own.permissions().mode() & 0o111 == 0);
    !is_disabled && !path.is_some_and(|path| std::env::split_paths(path).any(|own| own == place))
}

fn hidden<'m>(mask: &'m Mask, home: &Path, scratch: &Path) -> Option<Hidden<'m>> {
    let above = directory_of_above(&mask.path);
    // A program that looks upwards from the copy would find today's.
    if above.is_some_and(|directory| scratch.starts_with(nearest(directory))) {
        return None;
    }
    let name = mask.path.strip_prefix(home).ok().filter(|name| is_read_at_home(name));
    match name {
        Some(name) => Some(Hidden::ByHome(name)),
        // What was there at the start is not seen from the copy, either.
        None => (above.is_some() && mask.content.is_none()).then_some(Hidden::ByDistance),
    }
}

impl Entry {
    /// Notes a file below this directory; nothing where its path makes no sense.
    fn put(&mut self, name: &Path, content: Option<Vec<u8>>) -> Option<()> {
        let mut at = self;
        for part in name.components() {
            let (Self::Directory(entries), Component::Normal(part)) = (at, part) else {
                return None;
            };
            at = entries.entry(part.into()).or_insert_with(|| Self::Directory(BTreeMap::new()));
        }
        *at = Self::File(content);
        Some(())
    }

    /// Whether `name` is this entry's own name or that of one below it.
    fn is_on_the_way_to(&self, name: &Path) -> bool {
        let mut parts = name.iter();
        let Some(first) = parts.next() else { return true };
        match self {
            Self::File(_) => false,
            Self::Directory(entries) => {
                entries.get(first).is_some_and(|own| own.is_on_the_way_to(parts.as_path()))
            }
        }
    }

    fn make(&self, real: &Path, path: &Path) -> io::Result<()> {
        match self {
            Self::File(None) => Ok(()),
            Self::File(Some(content)) => fs::write(path, content).and_then(|()| {
                // A program stays one.
                let of_today = fs::metadata(real).map(|found| found.permissions());
                of_today.map_or(Ok(()), |own| fs::set_permissions(path, own))
            }),
            Self::Directory(entries) => {
                DirBuilder::new().mode(0o700).create(path)?;
                link_others(entries, real, path)?;
                entries
                    .iter()
                    .try_for_each(|(name, entry)| entry.make(&real.join(name), &path.join(name)))
            }
        }
    }
}

/// Links to all that is in the real directory beside `entries`.
fn link_others(entries: &BTreeMap<OsString, Entry>, real: &Path, path: &Path) -> io::Result<()> {
    let found = match fs::read_dir(real) {
        Ok(found) => found,
        // It may have been there at the start.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    for (count, entry) in found.enumerate() {
        let entry = entry?;
        if count >= ENTRIES_MAX {
            return Err(io::Error::other("the home directory has too many entries"));
        }
        if !entries.contains_key(&entry.file_name()) {
            symlink(entry.path(), path.join(entry.file_name()))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
