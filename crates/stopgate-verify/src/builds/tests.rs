use std::fs;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use super::built_since;
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
