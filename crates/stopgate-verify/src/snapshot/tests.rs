use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::time::Duration;

use proptest::prelude::*;
use tempfile::TempDir;

use super::{SNAPSHOTS_MAX, SnapshotStore, TreeSnapshot};
use crate::tool::tool_with;
use crate::tree::{TreeScope, fingerprint};

/// A repository, and room beside it.
struct Room {
    directory: TempDir,
}

impl Room {
    fn new() -> Self {
        let room = Self { directory: tempfile::tempdir().unwrap() };
        fs::create_dir(room.root()).unwrap();
        room.git(&["init", "-q", "-b", "main", "."]);
        room
    }

    fn root(&self) -> PathBuf {
        self.directory.path().join("root")
    }

    fn beside(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn git(&self, words: &[&str]) -> String {
        let identity = super::identity();
        let argv: Vec<&str> = ["git"].into_iter().chain(words.iter().copied()).collect();
        let said = tool_with(&argv, &self.root(), Duration::from_secs(30), &identity).unwrap();
        assert!(said.is_fine(), "{words:?}: {}", String::from_utf8_lossy(&said.stderr));
        String::from_utf8_lossy(&said.stdout).into_owned()
    }

    fn write(&self, name: &[u8], bytes: &[u8]) -> PathBuf {
        let path = self.root().join(OsStr::from_bytes(name));
        let _ = path.parent().map(fs::create_dir_all);
        let _ = fs::write(&path, bytes);
        path
    }

    fn keep(&self) -> TreeSnapshot {
        let (root, scratch) = (self.root(), self.beside("scratch"));
        let store = SnapshotStore { root: &root, name: "loop1", scratch: &scratch };
        store.keep("a snapshot").unwrap()
    }

    fn list(&self) -> Vec<TreeSnapshot> {
        let (root, scratch) = (self.root(), self.beside("scratch"));
        SnapshotStore { root: &root, name: "loop1", scratch: &scratch }.list().unwrap()
    }

    fn restore(&self, snapshot: &TreeSnapshot) -> PathBuf {
        let (root, scratch) = (self.root(), self.beside("scratch"));
        let to = self.beside(&format!("restored-{}", snapshot.number));
        let store = SnapshotStore { root: &root, name: "loop1", scratch: &scratch };
        store.restore(snapshot, &to).unwrap();
        to
    }

    fn hash(&self, root: &Path) -> String {
        let trees = self.beside("trees");
        fingerprint(&[root], TreeScope::Whole, &trees).unwrap().hash().to_string()
    }
}

#[test]
fn neither_branch_nor_index_nor_files_are_touched() {
    let room = Room::new();
    room.write(b"a.txt", b"one\n");
    room.git(&["add", "-A"]);
    room.git(&["commit", "-q", "-m", "first"]);
    room.write(b"a.txt", b"two\n");
    room.write(b"staged", b"s");
    room.git(&["add", "staged"]);
    room.write(b"new", b"n");
    let look = |room: &Room| {
        let words = [["status", "--porcelain=v2"], ["rev-parse", "HEAD"], ["ls-files", "--stage"]];
        words.map(|words| room.git(&words))
    };
    let before = look(&room);
    let index = fs::read(room.root().join(".git/index")).unwrap();
    let kept = room.keep();
    assert_eq!(look(&room), before);
    assert_eq!(fs::read(room.root().join(".git/index")).unwrap(), index);
    assert_eq!(kept.number, 1);
    let restored = room.restore(&kept);
    assert_eq!(fs::read(restored.join("a.txt")).unwrap(), b"two\n");
    assert_eq!(fs::read(restored.join("new")).unwrap(), b"n");
    assert_eq!(room.hash(&restored), room.hash(&room.root()));
    assert_eq!(fs::read_dir(room.beside("scratch")).unwrap().count(), 0, "no index is left");
}

#[test]
fn a_repository_without_a_commit_is_kept_too() {
    let room = Room::new();
    room.write(b"only", b"1");
    let kept = room.keep();
    assert_eq!(room.hash(&room.restore(&kept)), room.hash(&room.root()));
}

#[test]
fn the_newest_twenty_are_kept() {
    let room = Room::new();
    for round in 0..SNAPSHOTS_MAX + 3 {
        room.write(b"a", round.to_string().as_bytes());
        room.keep();
    }
    let numbers: Vec<u32> = room.list().iter().map(|snapshot| snapshot.number).collect();
    assert_eq!(numbers, (4..=23).collect::<Vec<u32>>());
}

#[test]
fn line_ends_filters_and_tracked_ignored_files_are_kept_as_they_are() {
    let room = Room::new();
    room.write(b".gitattributes", b"*.txt text eol=crlf\n*.up filter=shout\n*.id ident\n");
    room.write(b".gitignore", b"*.log\nout/\n");
    room.write(b"mixed.txt", b"one\r\ntwo\nthree\r");
    room.write(b"loud.up", b"quiet");
    room.write(b"x.id", b"$Id$ and $Id: 1$");
    room.write(b"tracked.log", b"kept");
    room.write(b"ignored.log", b"left out");
    room.write(b"out/big", b"left out");
    room.git(&["config", "filter.shout.clean", "tr a-z A-Z"]);
    room.git(&["config", "filter.shout.smudge", "tr a-z A-Z"]);
    room.git(&["config", "core.autocrlf", "true"]);
    room.git(&["add", "-f", "tracked.log"]);
    let kept = room.keep();
    let restored = room.restore(&kept);
    for name in ["mixed.txt", "loud.up", "x.id", "tracked.log"] {
        let (then, now) = (room.root().join(name), restored.join(name));
        assert_eq!(fs::read(then).unwrap(), fs::read(now).unwrap(), "{name}");
    }
    assert!(!restored.join("ignored.log").exists() && !restored.join("out").exists());
}

/// What somebody puts into a tree.
#[derive(Clone, Debug)]
enum Thing {
    File(Vec<u8>, Vec<u8>),
    Program(Vec<u8>),
    Link(Vec<u8>, Vec<u8>),
    Gone(Vec<u8>),
    Commit,
    Snapshot,
}

fn name() -> impl Strategy<Value = Vec<u8>> {
    let part = prop::sample::select(vec![
        &b"a"[..],
        b"b",
        b"out",
        b"x.log",
        b"-dash",
        b"sp ace",
        b"new\nline",
        b"quo\"te",
        b"back\\slash",
        b"\xc3\xa9",
        b"glob*[x]?",
        b":colon",
        b".hidden",
        b"#hash",
        b"!bang",
        b"tab\t",
    ]);
    prop::collection::vec(part, 1..3).prop_map(|parts| parts.join(&b"/"[..]))
}

fn thing() -> impl Strategy<Value = Thing> {
    let bytes = prop::sample::select(vec![&b""[..], b"1\n", b"a\r\nb\n", b"\x00\xff", b"other"]);
    prop_oneof![
        6 => (name(), bytes).prop_map(|(name, bytes)| Thing::File(name, bytes.to_vec())),
        2 => name().prop_map(Thing::Program),
        2 => (name(), name()).prop_map(|(name, target)| Thing::Link(name, target)),
        2 => name().prop_map(Thing::Gone),
        1 => Just(Thing::Commit),
        2 => Just(Thing::Snapshot),
    ]
}

/// Does what can be done; what can't is left.
fn act(room: &Room, thing: &Thing, kept: &mut Vec<(TreeSnapshot, String)>) {
    let at = |name: &[u8]| room.root().join(OsStr::from_bytes(name));
    match thing {
        Thing::File(name, bytes) => drop(room.write(name, bytes)),
        Thing::Program(name) => {
            let path = room.write(name, b"#!/bin/sh\n");
            if path.symlink_metadata().is_ok_and(|found| found.is_file()) {
                fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
            }
        }
        Thing::Link(name, target) => {
            let _ = at(name).parent().map(fs::create_dir_all);
            let _ = symlink(OsStr::from_bytes(target), at(name));
        }
        Thing::Gone(name) => {
            let _ = fs::remove_file(at(name)).or_else(|_| fs::remove_dir_all(at(name)));
        }
        Thing::Commit => {
            room.git(&["add", "-A"]);
            room.git(&["commit", "-q", "--allow-empty", "-m", "work"]);
        }
        Thing::Snapshot => kept.push((room.keep(), room.hash(&room.root()))),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_kept_snapshot_gives_the_same_fingerprint(things in prop::collection::vec(thing(), 1..20)) {
        let room = Room::new();
        room.write(b".gitignore", b"*.log\nout\n");
        let mut kept = Vec::new();
        for thing in things.iter().chain([&Thing::Snapshot]) {
            act(&room, thing, &mut kept);
        }
        for (snapshot, hash) in kept {
            let restored = room.restore(&snapshot);
            prop_assert_eq!(room.hash(&restored), hash, "{:?}", snapshot);
        }
    }
}
