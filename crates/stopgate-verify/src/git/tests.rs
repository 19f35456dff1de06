use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

use super::{GitFilters, git};
use crate::tree::scene::TreeScene;

const TIME: Duration = Duration::from_mins(1);

/// A repository whose own settings run a program that leaves a mark.
fn hostile() -> TreeScene {
    let scene = TreeScene::new();
    let program = scene.beside("program");
    let mark = scene.beside("ran");
    fs::write(&program, format!("#!/bin/sh\necho $0 >> {}\ncat\n", mark.display())).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    scene.write(".gitattributes", "* filter=evil\n").write("file", "one");
    scene.git(&["add", "."]);
    scene.git(&["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "one"]);
    let program = program.display().to_string();
    fs::write(scene.beside("more"), format!("[filter \"evil\"]\n\tclean = {program}\n")).unwrap();
    let more = scene.beside("more").display().to_string();
    scene.git(&["config", "include.path", &more]);
    for key in ["core.fsmonitor", "core.sshCommand", "gpg.program"] {
        scene.git(&["config", key, &program]);
    }
    scene.git(&["config", "log.showSignature", "true"]);
    scene.write("file", "two");
    scene
}

fn ran(scene: &TreeScene) -> bool {
    Path::new(&scene.beside("ran")).exists()
}

#[test]
fn a_repository_can_not_have_its_programs_run() {
    let scene = hostile();
    for words in [&["status", "--porcelain"][..], &["log", "-1"], &["ls-files", "-s"]] {
        let said = git(words, &scene.root(), GitFilters::OwnOnly, TIME).unwrap();
        assert!(said.is_fine(), "{words:?}: {}", String::from_utf8_lossy(&said.stderr));
        assert!(!ran(&scene), "{words:?}");
    }
    let said = git(&["status", "--porcelain"], &scene.root(), GitFilters::OwnOnly, TIME).unwrap();
    assert_eq!(String::from_utf8_lossy(&said.stdout), " M file\n");
}

#[test]
fn filters_of_a_trusted_repository_run() {
    let scene = hostile();
    git(&["status"], &scene.root(), GitFilters::Run, TIME).unwrap();
    assert!(ran(&scene));
}

#[test]
fn a_filter_that_can_not_be_turned_off_is_an_error() {
    let scene = hostile();
    scene.git(&["config", "filter.a=b.clean", "cat"]);
    git(&["status"], &scene.root(), GitFilters::OwnOnly, TIME).unwrap_err();
}

/// A repository within a repository, whose own settings run a program that leaves a mark.
fn hostile_within() -> TreeScene {
    let scene = TreeScene::new();
    let mark = scene.beside("ran").display().to_string();
    scene.write("sub/.gitattributes", "f filter=evil\n").write("sub/f", "one");
    scene.git(&["init", "-q", "sub"]);
    scene.git(&["-C", "sub", "add", "."]);
    scene.git(&["-C", "sub", "commit", "-qm", "one"]);
    scene.git(&["-C", "sub", "config", "filter.evil.clean", &format!("touch {mark}; cat")]);
    scene.git(&["add", "."]);
    scene.git(&["commit", "-qm", "one"]);
    // As long as before: git must read it, and so filter it, to know that it differs.
    scene.write("sub/f", "two");
    scene
}

#[test]
fn a_repository_within_can_not_have_its_filters_run() {
    let looks = [
        &["status", "--porcelain"][..],
        &["diff", "--no-ext-diff", "--numstat", "HEAD", "--"],
        &["-c", "core.autocrlf=false", "diff", "--name-only", "HEAD", "--"],
    ];
    for words in looks {
        let scene = hostile_within();
        // What the repository says itself must not lead inside again.
        scene.git(&["config", "-f", ".gitmodules", "submodule.sub.path", "sub"]);
        scene.git(&["config", "-f", ".gitmodules", "submodule.sub.ignore", "none"]);
        scene.git(&["config", "submodule.sub.ignore", "none"]);
        let said = git(words, &scene.root(), GitFilters::OwnOnly, TIME).unwrap();
        assert!(said.is_fine(), "{words:?}: {}", String::from_utf8_lossy(&said.stderr));
        assert!(!ran(&scene), "{words:?}");
    }
}

#[test]
fn filters_within_a_trusted_repository_run() {
    let scene = hostile_within();
    git(&["status"], &scene.root(), GitFilters::Run, TIME).unwrap();
    assert!(ran(&scene), "the control");
}
