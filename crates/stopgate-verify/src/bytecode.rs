//! Compiled Python of the interpreter and of installed packages.
//!
//! Checks compile into a private directory, because bytecode beside the sources may not be what
//! they say. Compiling the whole runner again costs more than most test suites. So what the first
//! run compiled, before the work began, is kept, and later runs find it in their private
//! directories. What belongs to the project is never kept.

use std::cell::OnceCell;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use stopgate_system::ffi::OsStrExt;

use crate::basis::ContentStore;
use crate::files::read_regular;
use crate::tree::{hash_of, hex};

/// Kept bytecode is not larger than this in all.
const BYTES_MAX: u64 = 32 * 1024 * 1024;
const FILES_MAX: usize = 4_000;
/// More files and directories than this are not looked at.
const ENTRIES_MAX: usize = 40_000;
/// A path is not longer than this.
const PATH_BYTES_MAX: usize = 4_096;
/// Directories that packages are installed into.
const INSTALLED: [&str; 2] = ["site-packages", "dist-packages"];

/// What a run does with compiled Python.
#[derive(Clone, Copy, Debug)]
pub enum CompiledPython<'a> {
    /// Its checks compile whatever they import.
    Anew,
    /// What its checks compiled is kept in `objects`, but for what is below `root`.
    Keep {
        /// The project's root.
        root: &'a Path,
        /// The directory of contents.
        objects: &'a Path,
        /// What was kept is called so in `objects`.
        name: &'a OnceCell<String>,
    },
    /// Its checks find what was kept.
    Kept {
        /// What was kept is called so in `objects`.
        name: &'a str,
        /// The directory of contents.
        objects: &'a Path,
    },
}

impl CompiledPython<'_> {
    /// Before the checks: what was kept is put where they look for it. If that fails, they compile
    /// everything: half a file would keep a module from being imported.
    pub(crate) fn before(self, scratch: &Path) {
        let directory = directory(scratch);
        if let Self::Kept { name, objects } = self
            && put(name, objects, &directory).is_err()
        {
            let _ = fs::remove_dir_all(directory);
        }
    }

    /// After the checks: what they compiled is kept.
    pub(crate) fn after(self, scratch: &Path) {
        if let Self::Keep { root, objects, name } = self
            && let Some(kept) = keep(&directory(scratch), root, objects)
        {
            let _ = name.set(kept);
        }
    }
}

/// Where a run's checks compile to, below its temporary directory.
pub(crate) fn directory(scratch: &Path) -> PathBuf {
    scratch.join("pycache")
}

/// Keeps what a run compiled that is not the project's own; how it is called in `objects`.
/// Nothing where there is none, or too much.
fn keep(compiled: &Path, root: &Path, objects: &Path) -> Option<String> {
    let mut packed = Vec::new();
    let mut open = vec![compiled.to_path_buf()];
    let (mut seen, mut count) = (0, 0);
    while let Some(place) = open.pop() {
        let entries = fs::read_dir(place).ok()?.flatten().take(ENTRIES_MAX);
        let mut entries: Vec<fs::DirEntry> = entries.collect();
        entries.sort_by_key(fs::DirEntry::file_name);
        seen += entries.len();
        if seen >= ENTRIES_MAX {
            return None;
        }
        for entry in entries {
            let kind = entry.file_type().ok()?;
            if kind.is_dir() {
                open.push(entry.path());
                continue;
            }
            let path = entry.path();
            let below = path.strip_prefix(compiled).ok()?;
            if !kind.is_file() || !is_installed(below, root) {
                continue;
            }
            count += 1;
            let content = read_regular(&path, BYTES_MAX).ok()?;
            add(&mut packed, below.as_os_str().as_bytes(), &content)?;
            if count > FILES_MAX || packed.len() as u64 > BYTES_MAX {
                return None;
            }
        }
    }
    if packed.is_empty() {
        return None;
    }
    let name = hex(&hash_of(&packed));
    let is_kept = ContentStore::new(objects, BYTES_MAX).put(&name, &packed).ok()?;
    is_kept.then_some(name)
}

/// Puts what was kept where a run's checks compile to.
fn put(name: &str, objects: &Path, compiled: &Path) -> io::Result<()> {
    let packed = ContentStore::new(objects, 0).get(name)?;
    let mut rest = packed.as_slice();
    let mut made = PathBuf::new();
    while let Some((path, content)) = next(&mut rest) {
        let path = Path::new(OsStr::from_bytes(path));
        if !path.components().all(|part| matches!(part, Component::Normal(_))) {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let path = compiled.join(path);
        if let Some(place) = path.parent().filter(|place| **place != made) {
            fs::create_dir_all(place)?;
            made = place.to_path_buf();
        }
        fs::write(path, content)?;
    }
    Ok(())
}

/// Whether a compiled file, named by the path of its source, is the interpreter's or an installed
/// package's.
fn is_installed(below: &Path, root: &Path) -> bool {
    let is = |part: &OsStr| INSTALLED.iter().any(|own| part == *own);
    let is_own = Path::new("/").join(below).starts_with(root);
    let is_library = |part: &OsStr| part.as_bytes().starts_with(b"python3");
    below.iter().any(|part| is(part) || (!is_own && is_library(part)))
}

fn add(packed: &mut Vec<u8>, path: &[u8], content: &[u8]) -> Option<()> {
    if path.len() > PATH_BYTES_MAX {
        return None;
    }
    for part in [path, content] {
        packed.extend(u32::try_from(part.len()).ok()?.to_le_bytes());
        packed.extend(part);
    }
    Some(())
}

fn next<'p>(rest: &mut &'p [u8]) -> Option<(&'p [u8], &'p [u8])> {
    Some((part(rest)?, part(rest)?))
}

fn part<'p>(rest: &mut &'p [u8]) -> Option<&'p [u8]> {
    let (length, after) = rest.split_first_chunk::<4>()?;
    let length = usize::try_from(u32::from_le_bytes(*length)).ok()?;
    let (found, after) = after.split_at_checked(length)?;
    *rest = after;
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::{directory, keep, put};
    use std::fs;
    use std::path::Path;

    fn write(path: &Path, content: &str) {
        fs::create_dir_all(path.parent().expect("a parent")).expect("make it");
        fs::write(path, content).expect("write it");
    }

    #[test]
    fn installed_packages_and_the_library_are_kept_and_the_project_is_not() {
        let scene = tempfile::tempdir().expect("a directory");
        let [first, later, objects] =
            ["first", "later", "objects"].map(|name| directory(&scene.path().join(name)));
        let root = Path::new("/home/pat/python3-app");
        let kept = [
            "usr/lib/python3.11/json/decoder.cpython-311.pyc",
            "home/pat/python3-app/.venv/lib/python3.11/site-packages/pytest/main.cpython-311.pyc",
        ];
        let not = [
            "home/pat/python3-app/tests/test_a.cpython-311-pytest-8.pyc",
            "home/pat/python3-app/app.cpython-311.pyc",
            "home/pat/other/lib.cpython-311.pyc",
        ];
        for path in kept.iter().chain(&not) {
            write(&first.join(path), path);
        }
        let name = keep(&first, root, &objects).expect("something is kept");
        assert_eq!(keep(&first, root, &objects).as_ref(), Some(&name), "equal ones are one");
        put(&name, &objects, &later).expect("put it there");
        for path in kept {
            assert_eq!(fs::read_to_string(later.join(path)).expect("it is there"), path);
        }
        for path in not {
            assert!(!later.join(path).exists(), "{path}");
        }
    }

    #[test]
    fn what_is_not_what_was_kept_is_not_used() {
        let scene = tempfile::tempdir().expect("a directory");
        let [first, later, objects] =
            ["first", "later", "objects"].map(|name| directory(&scene.path().join(name)));
        write(&first.join("usr/lib/python3.11/re.pyc"), "re");
        let name = keep(&first, Path::new("/p"), &objects).expect("something is kept");
        let kept = objects.join(&name[..2]).join(&name);
        write(&kept, "forged");
        put(&name, &objects, &later).expect_err("it was changed");
        assert!(!later.exists());
        assert_eq!(keep(&scene.path().join("none"), Path::new("/p"), &objects), None);
    }
}
