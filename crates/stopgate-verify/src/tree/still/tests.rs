use std::fs;
use std::path::PathBuf;

use crate::tree::scene::TreeScene;

fn touched(scene: &TreeScene, act: impl FnOnce()) -> (Vec<PathBuf>, Vec<PathBuf>) {
    let before = scene.tree();
    act();
    let touched = scene.tree().touched_since(&before);
    (touched.files, touched.directories)
}

#[test]
fn a_file_that_was_replaced_and_restored_was_touched() {
    let scene = TreeScene::new();
    scene.write("a.py", "one").write("b.py", "two");
    let (files, _) = touched(&scene, || {
        let old = fs::metadata(scene.path("a.py")).unwrap().modified().unwrap();
        scene.write("a.py", "other").write("a.py", "one");
        let file = fs::File::options().write(true).open(scene.path("a.py")).unwrap();
        file.set_modified(old).unwrap();
    });
    assert_eq!(files, [PathBuf::from("a.py")]);
}

#[test]
fn a_file_that_came_and_went_shows_in_its_directory() {
    let scene = TreeScene::new();
    scene.write("tests/a.py", "one").write("src/b.py", "two");
    let (files, directories) = touched(&scene, || {
        scene.write("tests/conftest.py", "x");
        fs::remove_file(scene.path("tests/conftest.py")).unwrap();
    });
    assert_eq!(files, Vec::<PathBuf>::new());
    assert_eq!(directories, [PathBuf::from("tests")]);
}

#[test]
fn a_directory_that_was_exchanged_and_put_back_was_moved() {
    let scene = TreeScene::new();
    scene.write("src/a.py", "one").write("src/deep/b.py", "two").write("tests/c.py", "three");
    let before = scene.tree();
    fs::rename(scene.path("src"), scene.path("other")).unwrap();
    fs::rename(scene.path("other"), scene.path("src")).unwrap();
    let after = scene.tree();
    assert_eq!(after.touched_since(&before).files, Vec::<PathBuf>::new());
    let moved: Vec<PathBuf> = after.moved_directories(&before).into_iter().collect();
    assert_eq!(moved, [PathBuf::new(), PathBuf::from("src")]);
}

#[test]
fn a_new_file_explains_its_directory() {
    let scene = TreeScene::new();
    scene.write("a.py", "one");
    let (files, directories) = touched(&scene, || {
        scene.write("out/log.txt", "x");
    });
    assert_eq!(files, [PathBuf::from("out/log.txt")]);
    assert_eq!(directories, Vec::<PathBuf>::new());
}

#[test]
fn reading_touches_nothing() {
    let scene = TreeScene::new();
    scene.write("a.py", "one");
    let (files, directories) = touched(&scene, || drop(fs::read(scene.path("a.py")).unwrap()));
    assert!(files.is_empty() && directories.is_empty());
}
