use std::fs;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use super::{IgnoredFiles, built_since, ignored};
use crate::tool;

#[test]
fn ignored_files_say_nothing_below_an_ignored_directory() {
    let outer = tempfile::tempdir().unwrap();
    let made = tool(&["git", "init", "-q", "."], outer.path(), Duration::from_secs(30)).unwrap();
    assert!(made.is_fine());
    fs::write(outer.path().join(".gitignore"), "work/\nout/\n").unwrap();
    let project = outer.path().join("work/project");
    fs::create_dir_all(&project).unwrap();
    fs::create_dir(outer.path().join("out")).unwrap();
    fs::write(project.join("state"), "good").unwrap();
    fs::write(outer.path().join("out/built"), "").unwrap();
    let since = Some(SystemTime::UNIX_EPOCH);
    assert_eq!(built_since(&project, since), Vec::<PathBuf>::new());
    assert!(built_since(outer.path(), since).contains(&"out/built".into()));
}

#[test]
fn what_a_run_left_as_somebody_else_had_written_it_is_told_from_what_it_wrote() {
    let scene = tempfile::tempdir().expect("a directory");
    let root = scene.path();
    let made = tool(&["git", "init", "-q", "."], root, Duration::from_secs(30)).expect("git runs");
    assert!(made.is_fine());
    fs::create_dir(root.join("out")).expect("make it");
    fs::write(root.join(".gitignore"), "out/\n").expect("write it");
    fs::write(root.join("out/app"), "by hand").expect("write it");
    fs::write(root.join("listed"), "").expect("write it");
    let day = Duration::from_hours(24);
    let now =
        fs::metadata(root.join("out/app")).and_then(|found| found.modified()).expect("a time");
    let left =
        |since, begun| IgnoredFiles::after_run(root, since, begun).expect("git lists them").left;
    assert_eq!(left(now - day, now + day), [PathBuf::from("out/app")]);
    assert!(left(now + day, now + day).is_empty(), "it was there at the start");
    assert!(left(now - day, now - day).is_empty(), "the run wrote it");
}

#[test]
fn ignored_files_that_git_did_not_list_in_time_are_not_none() {
    let scene = tempfile::tempdir().expect("a directory");
    let root = scene.path();
    assert_eq!(ignored(root, Duration::from_secs(30)), Some(Vec::new()), "not a repository");
    assert_eq!(ignored(root, Duration::ZERO), None);
}
