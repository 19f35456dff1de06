mod commands;
mod comparisons;
mod elsewhere;
mod javascript;
mod new_files;
mod other_names;
mod people;
mod programs;
mod reach;
mod rust;
mod scripts;
mod sourced;
mod stored;
mod used_by_tests;
mod warned;
mod within;

use std::fs;
use std::path::{Path, PathBuf};

use stopgate_core::{Criterion, Proof};

use super::{JudgeOptions, JudgeRole, JudgeSet, ListedFiles};

/// A project on the disk.
pub(super) struct Scene {
    directory: tempfile::TempDir,
}

impl Scene {
    /// One file a line: its path, and after ` = ` its text, with `\n` and `\t` as such.
    pub(super) fn new(text: &str) -> Self {
        let scene = Self { directory: tempfile::tempdir().expect("a directory") };
        scene.add(text);
        scene
    }

    pub(super) fn add(&self, text: &str) {
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
            let (path, content) = line.split_once(" = ").unwrap_or((line, ""));
            let path = self.root().join(path);
            fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
            fs::write(path, content.replace("\\n", "\n").replace("\\t", "\t")).expect("a file");
        }
    }

    pub(super) fn root(&self) -> &Path {
        self.directory.path()
    }

    pub(super) fn files(&self) -> ListedFiles {
        let mut found = Vec::new();
        let mut open = vec![self.root().to_path_buf()];
        while let Some(directory) = open.pop() {
            let entries: Vec<PathBuf> = fs::read_dir(directory)
                .expect("a directory")
                .map(|entry| entry.expect("an entry").path())
                .collect();
            let is_directory = |path: &&PathBuf| path.is_dir() && !path.is_symlink();
            open.extend(entries.iter().filter(is_directory).cloned());
            let files = entries.iter().filter(|path| !is_directory(path));
            found.extend(files.map(|path| path.strip_prefix(self.root()).expect("inside").into()));
        }
        ListedFiles::new(self.root(), &found)
    }

    pub(super) fn set(&self, criterion: &Criterion) -> JudgeSet {
        JudgeSet::find(self.root(), criterion, &self.files(), JudgeOptions::default())
            .expect("patterns")
    }

    /// Every judge: whole files by their paths, files with sections after a `~`.
    pub(super) fn judges(&self, set: &JudgeSet) -> String {
        let one = |(path, role): &(PathBuf, JudgeRole)| match role {
            JudgeRole::Work | JudgeRole::Whole(_) => path.display().to_string(),
            JudgeRole::Sections(_) => format!("~{}", path.display()),
        };
        set.listed(&self.files()).iter().map(one).collect::<Vec<_>>().join(" ")
    }
}

pub(super) fn criterion(name: &str, command: &str) -> Criterion {
    Criterion::new(name, Proof::Check { command: command.into(), timeout_ms: 1_000 })
}

/// Rows of `command => judges`; the criterion is called `done`, or as a word before `|` says.
#[track_caller]
pub(super) fn check(scene: &str, rows: &str) {
    let scene = Scene::new(scene);
    let mut wrong = Vec::new();
    for row in rows.lines().map(str::trim).filter(|row| !row.is_empty()) {
        let (command, expected) = row.rsplit_once("=>").expect("a row has an arrow");
        let (name, command) = command.split_once(" :: ").unwrap_or(("done", command));
        let set = scene.set(&criterion(name.trim(), command.trim()));
        let found = scene.judges(&set);
        if found != expected.trim() {
            wrong.push(format!(
                "{}\n   found {found}\n  wanted {}",
                command.trim(),
                expected.trim()
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
