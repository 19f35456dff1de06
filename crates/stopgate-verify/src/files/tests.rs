use std::fs;
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::time::Duration;

use rustix::fs::{CWD, FileType, Mode, mknodat};

use super::{
    Durable, FileLock, append_private, create_private, is_missing, make_private_directory,
    read_regular, read_text, replace_private,
};

fn pipe(path: &Path) {
    mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
}

#[track_caller]
fn refused(path: &Path, why: &str) {
    let error = read_regular(path, 100).unwrap_err();
    assert!(error.to_string().contains(why), "{}: {error}", path.display());
}

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn only_regular_files_of_a_size_are_read() {
    let room = tempfile::tempdir().unwrap();
    let at = |name: &str| room.path().join(name);
    fs::write(at("small"), "text").unwrap();
    assert_eq!(read_text(&at("small"), 4).unwrap(), "text");
    symlink(at("small"), at("link")).unwrap();
    assert_eq!(read_regular(&at("link"), 4).unwrap(), b"text");

    refused(room.path(), "directory");
    pipe(&at("pipe"));
    refused(&at("pipe"), "named pipe");
    let _listener = UnixListener::bind(at("socket")).unwrap();
    refused(&at("socket"), "socket");
    refused(Path::new("/dev/zero"), "device");
    symlink("/dev/zero", at("endless")).unwrap();
    refused(&at("endless"), "device");
    symlink("loop", at("loop")).unwrap();
    assert!(read_regular(&at("loop"), 4).is_err());
    fs::File::create(at("sparse")).unwrap().set_len(1 << 40).unwrap();
    refused(&at("sparse"), "larger than 100 bytes");
    fs::write(at("bytes"), b"\xff\xfe").unwrap();
    assert_eq!(read_text(&at("bytes"), 4).unwrap_err().kind(), ErrorKind::InvalidData);
    for missing in ["none", "small/none"] {
        assert!(is_missing(&read_regular(&at(missing), 4).unwrap_err()), "{missing}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_file_that_hides_its_length_is_bounded_all_the_same() {
    let error = read_regular(Path::new("/proc/self/status"), 10).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::FileTooLarge);
}

#[test]
fn what_is_written_is_for_its_owner_alone() {
    let room = tempfile::tempdir().unwrap();
    let at = |name: &str| room.path().join(name);
    replace_private(&at("a/b/file"), b"one", Durable::Buffered).unwrap();
    replace_private(&at("a/b/file"), b"two", Durable::Synced).unwrap();
    assert_eq!(fs::read(at("a/b/file")).unwrap(), b"two");
    assert_eq!(fs::read_dir(at("a/b")).unwrap().count(), 1, "no draft is left");
    append_private(&at("log/lines")).unwrap().write_all(b"x").unwrap();
    make_private_directory(&at("c/d")).unwrap();
    for directory in ["a", "a/b", "log", "c/d"] {
        assert_eq!(mode(&at(directory)), 0o700, "{directory}");
    }
    for file in ["a/b/file", "log/lines"] {
        assert_eq!(mode(&at(file)), 0o600, "{file}");
    }
}

#[test]
fn what_was_planted_is_not_written_to() {
    let room = tempfile::tempdir().unwrap();
    let at = |name: &str| room.path().join(name);
    fs::write(at("victim"), "mine").unwrap();
    symlink(at("victim"), at("log")).unwrap();
    append_private(&at("log")).unwrap_err();
    create_private(&at("log"), b"theirs").unwrap_err();
    pipe(&at("lock"));
    FileLock::take(&at("lock"), Duration::ZERO).unwrap_err();
    replace_private(&at("log"), b"ours", Durable::Buffered).unwrap();
    assert_eq!(fs::read(at("victim")).unwrap(), b"mine");
    assert!(!at("log").is_symlink());
}

#[test]
fn a_lock_that_is_held_is_waited_for_and_given_up() {
    let room = tempfile::tempdir().unwrap();
    let path = room.path().join("lock");
    let held = FileLock::take(&path, Duration::ZERO).unwrap();
    let error = FileLock::take(&path, Duration::from_millis(1)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TimedOut);
    drop(held);
    FileLock::take(&path, Duration::from_mins(1)).unwrap();
}
