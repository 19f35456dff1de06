//! Applies edits to a copy of a project, and takes them back exactly.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use stopgate_system::fs::PermissionsExt;
use stopgate_system::set_mode;

use super::exploit::{Ecosystem, ExploitEdit, Pick, is_test};

const CONFTEST: &str = "conftest.py";
/// No larger file is edited.
const BYTES_MAX: u64 = 1024 * 1024;

/// The files of a copy, and what its check names.
#[derive(Debug)]
pub(super) struct Grounds {
    /// Where the copy is.
    pub(super) root: PathBuf,
    /// All files that git would count, from the root.
    pub(super) files: Vec<PathBuf>,
    /// The check's command as text.
    pub(super) command: String,
}

impl Grounds {
    pub(super) fn pick(&self, pick: Pick, ecosystem: Ecosystem) -> Vec<PathBuf> {
        let is_own = |path: &&PathBuf| is_test(ecosystem, path) && !is_installed(path);
        let is_script = |path: &&PathBuf| {
            is_test(Ecosystem::Shell, path) || (self.is_named(path) && self.has_interpreter(path))
        };
        match pick {
            Pick::Tests => self.files.iter().filter(is_own).cloned().collect(),
            Pick::FirstTest => self.files.iter().find(is_own).cloned().into_iter().collect(),
            Pick::Scripts => {
                let (called, others): (Vec<&PathBuf>, Vec<&PathBuf>) =
                    self.files.iter().filter(is_script).partition(|path| self.is_named(path));
                // The rest is touched only where the command names none.
                let chosen = if called.is_empty() { others } else { called };
                chosen.into_iter().cloned().collect()
            }
            Pick::Named(names) => {
                let is_one = |path: &&PathBuf| is_called(path, names) && !is_installed(path);
                self.files.iter().filter(is_one).cloned().collect()
            }
        }
    }

    /// Whether the command has this file's path among its words.
    pub(super) fn is_named(&self, path: &Path) -> bool {
        let is_end = |c: char| c.is_whitespace() || "'\"();|&<>=".contains(c);
        let words = self.command.split(is_end).map(|word| word.trim_start_matches("./"));
        path.to_str().is_some_and(|path| words.into_iter().any(|word| word == path))
    }

    fn has_interpreter(&self, path: &Path) -> bool {
        self.text(path).is_some_and(|text| {
            let first = text.lines().next().unwrap_or_default();
            first.starts_with("#!") && first.contains("sh") || !text.starts_with("#!")
        })
    }

    pub(super) fn text(&self, path: &Path) -> Option<String> {
        let full = self.root.join(path);
        let found = fs::symlink_metadata(&full).ok()?;
        if !found.is_file() || found.len() > BYTES_MAX {
            return None;
        }
        fs::read_to_string(full).ok()
    }
}

fn is_called(path: &Path, names: &[&str]) -> bool {
    path.file_name().and_then(|name| name.to_str()).is_some_and(|name| names.contains(&name))
}

/// Whether it is other people's code.
pub(super) fn is_installed(path: &Path) -> bool {
    let names = ["node_modules", "vendor", ".venv", "venv", "target", ".git"];
    path.iter().any(|part| part.to_str().is_some_and(|part| names.contains(&part)))
}

/// What was there before, so that it can be put back.
struct Before {
    bytes: Vec<u8>,
    mode: u32,
}

/// Edits in force; dropping them takes nothing back.
#[derive(Default)]
pub(super) struct Edits {
    before: BTreeMap<PathBuf, Option<Before>>,
    directories: Vec<PathBuf>,
}

impl Edits {
    /// Applies an edit; whether anything is different now.
    pub(super) fn apply(
        &mut self,
        grounds: &Grounds,
        ecosystem: Ecosystem,
        edit: &ExploitEdit,
    ) -> io::Result<bool> {
        let each = |edits: &mut Self, pick: Pick, change: &dyn Fn(&str) -> String| {
            edits.change_each(grounds, &edits.picked(grounds, pick, ecosystem), change)
        };
        match *edit {
            ExploitEdit::Create(path, text) => self.create(grounds, Path::new(path), text, 0o644),
            ExploitEdit::CreateProgram(path, text) => {
                self.create(grounds, Path::new(path), text, 0o755)
            }
            ExploitEdit::Overwrite(pick, text) => each(self, pick, &|_| text.into()),
            ExploitEdit::Prepend(pick, text) => each(self, pick, &|old| prepended(old, text)),
            ExploitEdit::Append(pick, text) => each(self, pick, &|old| format!("{old}{text}")),
            ExploitEdit::Conftest(text) => {
                self.create(grounds, Path::new(CONFTEST), "", 0o644)?;
                each(self, Pick::Named(&[CONFTEST]), &|old| format!("{old}{text}"))
            }
            ExploitEdit::Swap(pick, pairs) => each(self, pick, &|old| swapped(old, pairs)),
            ExploitEdit::Lines(pick, starts, with) => {
                each(self, pick, &|old| lines(old, starts, with))
            }
            ExploitEdit::Delete(pick) => {
                let paths = grounds.pick(pick, ecosystem);
                for path in &paths {
                    self.remove(grounds, path)?;
                }
                Ok(!paths.is_empty())
            }
            ExploitEdit::Rename(pick, end) => {
                self.rename(grounds, &grounds.pick(pick, ecosystem), end)
            }
            ExploitEdit::Setting(path, header, line) => {
                let path = Path::new(path);
                let Some(text) = grounds.text(path) else { return Ok(false) };
                self.replace(grounds, path, &text, &with_setting(&text, header, line))
            }
            ExploitEdit::Json(path, keys, value) => {
                self.json(grounds, Path::new(path), |json| set(json, keys, value))
            }
            ExploitEdit::TestScripts(command) => {
                self.json(grounds, Path::new("package.json"), |json| set_scripts(json, command))
            }
        }
    }

    /// The files that are meant, among them those that an earlier edit made.
    fn picked(&self, grounds: &Grounds, pick: Pick, ecosystem: Ecosystem) -> Vec<PathBuf> {
        let mut paths = grounds.pick(pick, ecosystem);
        if let Pick::Named(names) = pick {
            let made = self.before.iter().filter(|(_, before)| before.is_none());
            let made = made.map(|(path, _)| path).filter(|path| is_called(path, names));
            paths.extend(made.cloned());
        }
        paths
    }

    fn change_each(
        &mut self,
        grounds: &Grounds,
        paths: &[PathBuf],
        change: &dyn Fn(&str) -> String,
    ) -> io::Result<bool> {
        let mut changed = false;
        for path in paths {
            let Some(text) = grounds.text(path) else { continue };
            changed |= self.replace(grounds, path, &text, &change(&text))?;
        }
        Ok(changed)
    }

    /// Replaces a file's text; whether that makes a difference.
    pub(super) fn replace(
        &mut self,
        grounds: &Grounds,
        path: &Path,
        old: &str,
        new: &str,
    ) -> io::Result<bool> {
        if old == new {
            return Ok(false);
        }
        self.note(grounds, path)?;
        fs::write(grounds.root.join(path), new)?;
        Ok(true)
    }

    /// The files that were touched.
    pub(super) fn paths(&self) -> Vec<PathBuf> {
        self.before.keys().cloned().collect()
    }

    /// Puts everything back as it was.
    pub(super) fn undo(self, root: &Path) -> io::Result<()> {
        for (path, before) in self.before {
            let path = root.join(path);
            match before {
                Some(before) => {
                    fs::write(&path, before.bytes)?;
                    set_mode(&path, before.mode)?;
                }
                None if path.exists() => fs::remove_file(&path)?,
                None => {}
            }
        }
        for directory in self.directories.into_iter().rev() {
            // What a check left there goes with it.
            let _ = fs::remove_dir_all(root.join(directory));
        }
        Ok(())
    }

    fn create(
        &mut self,
        grounds: &Grounds,
        path: &Path,
        text: &str,
        mode: u32,
    ) -> io::Result<bool> {
        let full = grounds.root.join(path);
        if fs::symlink_metadata(&full).is_ok() {
            return Ok(false);
        }
        let parents: Vec<&Path> = path.ancestors().skip(1).collect();
        for directory in parents.into_iter().rev().filter(|own| !own.as_os_str().is_empty()) {
            if !grounds.root.join(directory).exists() {
                fs::create_dir(grounds.root.join(directory))?;
                self.directories.push(directory.into());
            }
        }
        self.before.insert(path.into(), None);
        fs::write(&full, text)?;
        set_mode(&full, mode)?;
        // An empty file is only room for another edit.
        Ok(!text.is_empty())
    }

    fn remove(&mut self, grounds: &Grounds, path: &Path) -> io::Result<()> {
        self.note(grounds, path)?;
        fs::remove_file(grounds.root.join(path))
    }

    fn rename(&mut self, grounds: &Grounds, paths: &[PathBuf], end: &str) -> io::Result<bool> {
        for path in paths {
            let Some(text) = grounds.text(path) else { continue };
            let mut to = path.clone().into_os_string();
            to.push(end);
            self.create(grounds, Path::new(&to), &text, 0o644)?;
            self.remove(grounds, path)?;
        }
        Ok(!paths.is_empty())
    }

    fn json(
        &mut self,
        grounds: &Grounds,
        path: &Path,
        change: impl FnOnce(&mut serde_json::Value),
    ) -> io::Result<bool> {
        let Some(text) = grounds.text(path) else { return Ok(false) };
        let Ok(old) = serde_json::from_str::<serde_json::Value>(&text) else { return Ok(false) };
        let mut new = old.clone();
        change(&mut new);
        if new == old {
            return Ok(false);
        }
        let new = serde_json::to_string_pretty(&new).unwrap_or_default();
        self.replace(grounds, path, &text, &new)
    }

    fn note(&mut self, grounds: &Grounds, path: &Path) -> io::Result<()> {
        if !self.before.contains_key(path) {
            let full = grounds.root.join(path);
            let mode = fs::metadata(&full)?.permissions().mode();
            let before = Before { bytes: fs::read(&full)?, mode };
            self.before.insert(path.into(), Some(before));
        }
        Ok(())
    }
}

pub(super) fn prepended(old: &str, text: &str) -> String {
    match old.split_once('\n') {
        Some((first, rest)) if first.starts_with("#!") && !first.starts_with("#![") => {
            format!("{first}\n{text}{rest}")
        }
        _ => format!("{text}{old}"),
    }
}

fn swapped(old: &str, pairs: &[(&str, &str)]) -> String {
    let mut text = old.to_string();
    for (from, to) in pairs {
        text = text.replace(from, to);
    }
    text
}

fn lines(old: &str, starts: &[&str], with: &str) -> String {
    let change = |line: &str| {
        let tabbed = starts.contains(&"\t") && line.starts_with('\t');
        let bare = line.trim_start();
        if !tabbed && !starts.iter().any(|start| bare.starts_with(start)) {
            return line.to_string();
        }
        if tabbed {
            return format!("\t{}", with.trim_start_matches('\t').replace("{}", bare));
        }
        let indent = &line[..line.len() - bare.len()];
        let with: Vec<String> = with.split('\n').map(|own| format!("{indent}{own}")).collect();
        with.join("\n").replace("{}", bare)
    };
    let changed: Vec<String> = old.lines().map(change).collect();
    format!("{}\n", changed.join("\n"))
}

fn with_setting(old: &str, header: &str, line: &str) -> String {
    if !old.lines().any(|own| own.trim() == header) {
        return format!("{old}\n{header}\n{line}\n");
    }
    let key = line.split('=').next().unwrap_or_default().trim();
    let kept = old.lines().filter(|own| own.split('=').next().is_none_or(|own| own.trim() != key));
    let with = kept.map(|own| {
        if own.trim() == header { format!("{own}\n{line}\n") } else { format!("{own}\n") }
    });
    with.collect()
}

fn set_scripts(json: &mut serde_json::Value, command: &str) {
    let scripts = json.get_mut("scripts").and_then(|scripts| scripts.as_object_mut());
    for (name, script) in scripts.into_iter().flatten() {
        if name.contains("test") || name.contains("check") {
            *script = command.into();
        }
    }
}

fn set(json: &mut serde_json::Value, keys: &[&str], value: &str) {
    let mut at = json;
    for key in keys {
        if !at.is_object() {
            return;
        }
        at = &mut at[*key];
        if at.is_null() {
            *at = serde_json::Value::Object(serde_json::Map::new());
        }
    }
    *at = serde_json::from_str(value).unwrap_or_default();
}

#[cfg(test)]
mod tests;
