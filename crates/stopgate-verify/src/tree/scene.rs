//! A directory, its cache, and git, for tests.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use super::clock::Clock;
use super::{FileChoice, FileKind, Tree, TreeScope, fingerprint, look_then};

/// One directory with files.
pub(crate) struct TreeScene {
    directory: TempDir,
}

impl TreeScene {
    /// An empty directory without git.
    pub(crate) fn bare() -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        fs::create_dir(directory.path().join("root")).expect("a root");
        Self { directory }
    }

    /// An empty repository.
    pub(crate) fn new() -> Self {
        let scene = Self::bare();
        scene.git(&["init", "-q", "-b", "main", "."]);
        scene
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.directory.path().join("root")
    }

    pub(crate) fn beside(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) -> &Self {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("a parent")).expect("its directory");
        fs::write(path, text).expect("a file");
        self
    }

    pub(crate) fn link(&self, name: &str, target: &str) -> &Self {
        symlink(target, self.path(name)).expect("a link");
        self
    }

    pub(crate) fn mode(&self, name: &str, mode: u32) -> &Self {
        let permissions = fs::Permissions::from_mode(mode);
        fs::set_permissions(self.path(name), permissions).expect("a mode");
        self
    }

    pub(crate) fn remove(&self, name: &str) -> &Self {
        let path = self.path(name);
        if path.is_dir() && !path.is_symlink() {
            fs::remove_dir_all(path).expect("remove a directory");
        } else {
            fs::remove_file(path).expect("remove a file");
        }
        self
    }

    pub(crate) fn rename(&self, from: &str, to: &str) -> &Self {
        fs::rename(self.path(from), self.path(to)).expect("rename");
        self
    }

    pub(crate) fn git(&self, arguments: &[&str]) -> Vec<u8> {
        git(&self.root(), arguments)
    }

    pub(crate) fn tree(&self) -> Tree {
        let cache = self.beside("cache");
        fingerprint(&[&self.root()], TreeScope::Whole, &cache).expect("a fingerprint")
    }

    pub(crate) fn hash(&self) -> String {
        self.tree().hash().into()
    }

    /// The fingerprint as a process long after would see it: nothing is racy.
    pub(crate) fn hash_later(&self) -> String {
        let cache = self.beside("cache-later");
        let (root, clock) = (self.root(), Clock::ahead());
        let tree = look_then(&[&root], FileChoice::Whole, b"whole", &cache, &clock);
        tree.expect("a fingerprint").hash().into()
    }

    /// The fingerprint of somebody who knows nothing.
    pub(crate) fn hash_afresh(&self) -> String {
        let cache = tempfile::tempdir().expect("a cache");
        let tree = fingerprint(&[&self.root()], TreeScope::Whole, cache.path());
        tree.expect("a fingerprint").hash().into()
    }

    pub(crate) fn globs(&self, patterns: &[&str]) -> Tree {
        let patterns: Vec<String> = patterns.iter().map(|one| (*one).into()).collect();
        let cache = self.beside("cache");
        fingerprint(&[&self.root()], TreeScope::Globs(&patterns), &cache).expect("a fingerprint")
    }
}

/// Paths of a tree with a letter for their kinds, in order.
pub(crate) fn names(tree: &Tree) -> Vec<String> {
    let mut names: Vec<String> = tree
        .files()
        .map(|file| {
            let letter = match file.kind {
                FileKind::Plain => "",
                FileKind::Executable => "*",
                FileKind::Link => "@",
                FileKind::Unreadable => "?",
            };
            format!("{}{letter}", file.path.display())
        })
        .collect();
    names.sort();
    names
}

#[expect(clippy::disallowed_methods, reason = "tests need git")]
pub(crate) fn git(directory: &Path, arguments: &[&str]) -> Vec<u8> {
    let mut git = Command::new("git");
    git.current_dir(directory).args(["-c", "user.name=A", "-c", "user.email=a@b.c"]);
    git.args(["-c", "protocol.file.allow=always", "-c", "advice.addEmbeddedRepo=false"]);
    let output = git.args(arguments).output().expect("git");
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}
