//! The repository of a place is its own.

use super::*;
use crate::tree::scene::git;

const COMMIT: &str =
    "git -c user.name=a -c user.email=b commit -qam inside && git log --oneline | wc -l";

fn committed() -> Stage {
    let stage = Stage::new();
    stage.scene.git(&["add", "-A"]);
    stage.scene.git(&["commit", "-qm", "first"]);
    stage
}

#[test]
fn git_works_inside_and_the_trees_repository_does_not_notice() {
    for kind in kinds() {
        let stage = committed().restore("tests/a.py", "strong");
        let before = state(&stage.scene.path(".git"));
        let place = stage.open(kind);
        assert_eq!(stage.says(&place, "git status --short"), " M tests/a.py", "{kind:?}");
        assert_eq!(stage.says(&place, "git diff-files --name-only"), "tests/a.py", "{kind:?}");
        let top = place.root().canonicalize().unwrap();
        assert_eq!(Path::new(&stage.says(&place, "git rev-parse --show-toplevel")), top);
        assert_eq!(stage.says(&place, COMMIT), "2", "{kind:?}");
        assert_eq!(stage.says(&place, "git fsck 2>&1; git status --short"), "", "{kind:?}");
        assert_untouched(&stage.scene.path(".git"), &before, kind);
    }
}

#[test]
fn a_worktree_has_a_repository_of_its_own_inside() {
    for kind in kinds() {
        let mut stage = committed().restore("tests/a.py", "strong");
        let main = stage.scene.beside("main");
        fs::rename(stage.scene.root(), &main).unwrap();
        git(&main, &["worktree", "add", "-q", "-b", "work", "../root"]);
        stage.absent = vec!["tests/new.py".into()];
        let before = state(&main.join(".git"));
        let place = stage.open(kind);
        let said = stage.says(&place, "git status --short; git branch --show-current");
        assert_eq!(said, " M tests/a.py\n D tests/new.py\nwork", "{kind:?}");
        assert_eq!(stage.says(&place, COMMIT), "2", "{kind:?}");
        assert_eq!(stage.says(&place, "git stash list; git tag t; git tag"), "t", "{kind:?}");
        drop(place);
        assert_untouched(&main.join(".git"), &before, kind);
    }
}

#[test]
fn submodules_work_inside() {
    for kind in kinds() {
        let stage = committed();
        let other = TreeScene::new();
        other.write("lib.c", "int x;");
        other.git(&["add", "-A"]);
        other.git(&["commit", "-qm", "lib"]);
        let url = other.root();
        stage.scene.git(&["submodule", "--quiet", "add", url.to_str().unwrap(), "sub"]);
        stage.scene.git(&["commit", "-qam", "sub"]);
        let before = state(&stage.scene.path(".git"));
        let place = stage.open(kind);
        let script = "git status --short; cd sub; git status --short; echo >>lib.c; ";
        assert_eq!(stage.says(&place, &format!("{script}{COMMIT}")), "2", "{kind:?}");
        assert_eq!(stage.says(&place, "git status --short"), " M sub", "{kind:?}");
        assert_untouched(&stage.scene.path(".git"), &before, kind);
    }
}

#[test]
fn settings_that_name_the_tree_name_the_copy() {
    let stage = committed();
    let root = stage.scene.root().canonicalize().unwrap();
    stage.scene.git(&["config", "core.worktree", root.to_str().unwrap()]);
    stage.scene.git(&["config", "core.hooksPath", root.join("hooks").to_str().unwrap()]);
    let place = stage.open(PlaceKind::Copy);
    let inside = place.root().canonicalize().unwrap();
    let said = stage.says(&place, "git rev-parse --show-toplevel; git config core.hooksPath");
    assert_eq!(said, format!("{0}\n{0}/hooks", inside.display()));
}

#[test]
fn a_worktree_of_a_bare_repository_is_not_bare() {
    for kind in kinds() {
        let stage = committed();
        let bare = stage.scene.beside("bare.git");
        git(&stage.scene.root(), &["clone", "-q", "--bare", ".", bare.to_str().unwrap()]);
        fs::remove_dir_all(stage.scene.root()).unwrap();
        git(&bare, &["worktree", "add", "-q", "../root", "main"]);
        let place = stage.open(kind);
        assert_eq!(
            stage.says(&place, "git status --short; git log --oneline | wc -l"),
            "1",
            "{kind:?}"
        );
    }
}

#[test]
fn many_objects_are_borrowed_and_few_are_copied() {
    let stage = committed();
    let objects = stage.scene.path(".git/objects");
    let place = stage.open(PlaceKind::Copy);
    assert!(!place.root().join(".git/objects/info/alternates").exists());
    let large = fs::File::create(objects.join("pack/large")).unwrap();
    large.set_len(2 * 1024 * 1024 * 1024).unwrap();
    let place = stage.open(PlaceKind::Copy);
    let copied = place.root().join(".git/objects");
    let alternates = fs::read_to_string(copied.join("info/alternates")).unwrap();
    assert_eq!(Path::new(alternates.trim_end()), objects.canonicalize().unwrap());
    assert_eq!(fs::read_dir(&copied).unwrap().count(), 2);
    assert_eq!(stage.says(&place, "git status --short; git log --oneline | wc -l"), "1");
}

#[test]
fn objects_that_the_tree_borrows_are_found_by_the_copy() {
    let stage = committed();
    let clone = stage.scene.beside("clone");
    git(&stage.scene.root(), &["clone", "-q", "--shared", ".", clone.to_str().unwrap()]);
    fs::write(clone.join(".git/objects/info/alternates"), "../../../root/.git/objects\n").unwrap();
    let (root, scratch) = (clone.as_path(), stage.scratch());
    let recipe = PlaceRecipe {
        root,
        scratch: &scratch,
        restore: &[],
        absent: &[],
        unmade: &[],
        mounts: &[],
        masks: &[],
        isolation: Isolation::None,
    };
    let place = RunPlace::open(&recipe, PlaceKind::Copy, TIME).unwrap();
    assert_eq!(git(place.root(), &["log", "--format=%s"]), b"first\n");
}

#[test]
fn locks_of_a_git_that_runs_meanwhile_are_not_copied() {
    for kind in kinds().into_iter().filter(|kind| *kind != PlaceKind::Overlay) {
        let stage = committed();
        stage.scene.write(".git/index.lock", "");
        let place = stage.open(kind);
        assert_eq!(stage.says(&place, &format!("echo >>src/x.py; {COMMIT}")), "2", "{kind:?}");
    }
}
