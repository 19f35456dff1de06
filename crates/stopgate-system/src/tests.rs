use std::fs;

use crate::ffi::{OsStrExt, OsStringExt};
use crate::fs::{MetadataExt, OpenOptionsExt};
use crate::{
    CanonicalPath, exists, is_running, open, own_pid, set_file_mode, set_mode, set_modified,
};

#[test]
fn a_file_keeps_the_time_that_it_is_given() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("a");
    fs::write(&file, "").unwrap();
    set_modified(&file, (1_000_000_000, 0)).unwrap();
    assert_eq!(fs::metadata(&file).unwrap().mtime(), 1_000_000_000);
    set_mode(&file, 0o600).unwrap();
    set_file_mode(&fs::File::open(&file).unwrap(), 0o600).unwrap();
    assert_eq!(fs::metadata(&file).unwrap().mode() & 0o777, 0o600);
}

#[test]
fn a_link_at_the_end_is_not_followed() {
    let directory = tempfile::tempdir().unwrap();
    let link = directory.path().join("link");
    fs::write(directory.path().join("a"), "").unwrap();
    crate::fs::symlink("a", &link).unwrap();
    let mut options = fs::OpenOptions::new();
    let opened = options.read(true).custom_flags(open::NO_FOLLOW | open::NO_WAIT).open(&link);
    assert!(!opened.is_ok_and(|file| file.metadata().is_ok_and(|found| found.is_file())));
    assert_eq!(link.canonical().unwrap(), directory.path().join("a").canonical().unwrap());
}

#[test]
fn this_process_is_there_and_no_negative_one_is() {
    assert!(is_running(own_pid()) && exists(own_pid()));
    assert!(!is_running(-1) && !exists(-1));
}

#[test]
fn names_are_the_same_as_bytes_and_back() {
    let name = std::ffi::OsString::from_vec(b"a/b".to_vec());
    assert_eq!(name.as_bytes(), b"a/b");
    assert_eq!(std::ffi::OsStr::from_bytes(b"a/b"), name);
    assert_eq!(name.into_vec(), b"a/b");
}
