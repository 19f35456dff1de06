//! Programs in directories that a check itself puts on its search path: `PATH="$HOME/.local/bin:$PATH"`.
//!
//! Many a script goes on without a tool that it does not find. One that was found there at the
//! start has to be found again.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::lasting::LastingChange;
use super::programs::FoundProgram;
use super::text::{path_text, text_path};
use crate::files::read_regular;

/// No script is longer.
const BYTES_MAX: u64 = 1024 * 1024;
/// How many scripts are read, and directories looked at.
const FILES_MAX: usize = 100;
/// More programs than this are not called.
const NAMES_MAX: usize = 500;

/// The directories, and what was found there.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ScriptPath {
    directories: Vec<String>,
    programs: Vec<FoundProgram>,
}

impl ScriptPath {
    pub(super) fn is_empty(&self) -> bool {
        self.directories.is_empty()
    }

    /// Looks for the programs that the check calls where its command or its scripts look first.
    pub(super) fn note<'n>(
        root: &Path,
        command: &str,
        scripts: impl Iterator<Item = &'n Path>,
        called: impl IntoIterator<Item = &'n String>,
        home: Option<&Path>,
    ) -> Self {
        let read = |path: &Path| read_regular(&root.join(path), BYTES_MAX).ok();
        let texts = scripts.take(FILES_MAX).filter_map(read);
        let texts = texts.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        let mut directories: Vec<PathBuf> = Vec::new();
        for text in std::iter::once(command.to_string()).chain(texts) {
            // What is in the project is among its files.
            let outer = places_of(&text, home).into_iter().filter(|own| !own.starts_with(root));
            directories.extend(outer);
        }
        directories.truncate(FILES_MAX);
        let mut own = Self {
            directories: directories.iter().map(|place| path_text(place)).collect(),
            programs: Vec::new(),
        };
        if let Some(path) = own.path() {
            let called = called.into_iter().take(NAMES_MAX);
            own.programs =
                called.filter_map(|name| FoundProgram::note(name, Some(&path))).collect();
        }
        own
    }

    fn path(&self) -> Option<OsString> {
        let places = self.directories.iter().map(|place| text_path(place));
        if self.directories.is_empty() { None } else { std::env::join_paths(places).ok() }
    }

    /// What is gone or found elsewhere now; a program that says something else is as it was in an
    /// original run.
    pub(super) fn changes(&self, since: Option<i64>) -> Vec<LastingChange> {
        let Some(path) = self.path() else { return Vec::new() };
        let changed = self.programs.iter().filter_map(|own| own.change(Some(&path), since));
        let told = changed.filter_map(|change| match change.now {
            Some(now) if now == change.then => None,
            Some(now) => {
                let text = format!("{} hides {}", now.display(), change.then.display());
                Some(LastingChange::of_file(text, &now))
            }
            None => Some(LastingChange::new(format!("{} is gone", change.then.display()), "")),
        });
        told.collect()
    }
}

/// The whole directories in assignments of `PATH`.
fn places_of(text: &str, home: Option<&Path>) -> Vec<PathBuf> {
    let is_end = |letter: char| letter.is_whitespace() || ";&|()".contains(letter);
    let values = text.split(is_end).filter_map(|word| word.strip_prefix("PATH="));
    let parts = values.flat_map(|value| value.split(':'));
    let place = |part: &str| {
        let part = part.trim_matches(['"', '\'']);
        let homes = ["$HOME/", "${HOME}/", "~/"];
        let inner = homes.iter().find_map(|own| part.strip_prefix(own));
        let found = inner.map_or_else(|| Some(PathBuf::from(part)), |own| Some(home?.join(own)))?;
        let is_known = found.is_absolute() && !found.to_string_lossy().contains('$');
        is_known.then_some(found)
    };
    parts.filter_map(place).collect()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_tool_that_a_script_found_in_the_home_is_found_again() {
        let directory = tempfile::tempdir().expect("a directory");
        let (root, home) = (directory.path().join("tree"), directory.path().join("home"));
        for place in [&root, &home.join(".local/bin")] {
            fs::create_dir_all(place).expect("make it");
        }
        let tool = home.join(".local/bin/wordlint");
        let write = |text: &str| {
            fs::write(&tool, text).expect("write it");
            fs::set_permissions(&tool, fs::Permissions::from_mode(0o755)).expect("allow it");
        };
        write("#!/bin/sh\n");
        fs::write(root.join("check.sh"), "PATH=\"$HOME/.local/bin:$PATH\"\nwordlint a\n")
            .expect("write it");
        let called = [String::from("wordlint"), String::from("none")];
        let scripts = || std::iter::once(Path::new("check.sh"));
        let noted = ScriptPath::note(&root, "sh check.sh", scripts(), &called, Some(&home));
        assert_eq!(noted.changes(Some(0)), []);
        write("#!/bin/sh\nexit 0\n");
        assert_eq!(noted.changes(Some(0)), []);
        fs::remove_file(&tool).expect("remove it");
        assert!(noted.changes(Some(0))[0].text.ends_with("wordlint is gone"));
        let plain = ScriptPath::note(&root, "sh check.sh", std::iter::empty(), &called, None);
        assert!(plain.is_empty());
    }

    #[test]
    fn directories_are_read_where_they_are_known() {
        let home = Some(Path::new("/home/me"));
        let rows: [(&str, &[&str]); 4] = [
            ("PATH=\"$HOME/.local/bin:$PATH\"", &["/home/me/.local/bin"]),
            ("export PATH=~/bin:/opt/x/bin:$PATH", &["/home/me/bin", "/opt/x/bin"]),
            ("PATH=bin:$PATH check; MYPATH=/a", &[]),
            ("PATH=$TOOLS/bin:/a/$B:$PATH", &[]),
        ];
        for (text, expected) in rows {
            let expected: Vec<PathBuf> = expected.iter().map(PathBuf::from).collect();
            assert_eq!(places_of(text, home), expected, "{text}");
        }
    }
}
