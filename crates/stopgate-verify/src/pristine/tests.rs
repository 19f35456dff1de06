use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use stopgate_core::{Criterion, Proof};

use super::{PREFIX, Pristine, PristineError, Recipe, make};
use crate::seal::Seal;
use crate::tree::scene::Scene;

/// A project whose tests are protected.
struct Stage {
    scene: Scene,
    criterion: Criterion,
    seal: Seal,
}

impl Stage {
    fn new() -> Self {
        let scene = Scene::new();
        scene
            .write("tests/a.py", "assert x")
            .write("tests/deep/b.py", "b")
            .write("src/x.py", "old");
        scene.write("run.sh", "pytest").mode("run.sh", 0o755).link("tests/link", "a.py");
        scene.write(".gitignore", "node_modules\n*.snap\n").write("a.snap", "snap");
        scene.write("node_modules/dep/index.js", "dep");
        let argv = vec!["./run.sh".into()];
        let mut criterion = Criterion::new("tests", Proof::Run { argv, timeout_ms: 1_000 });
        criterion.terms.protect = vec!["tests".into(), "*.snap".into()];
        criterion.terms.link = vec!["node_modules".into(), "./absent".into()];
        let criteria = [criterion.clone()];
        let seal =
            Seal::take(&scene.root(), &criteria, &scene.beside("store"), &scene.beside("cache"));
        Self { criterion, seal: seal.expect("a seal"), scene }
    }

    fn make(&self) -> Result<Pristine, PristineError> {
        make(&Recipe {
            root: &self.scene.root(),
            tree: &self.scene.tree(),
            seal: &self.seal,
            store: &self.scene.beside("store"),
            criterion: &self.criterion,
            into: &self.scene.beside("copies"),
        })
    }
}

fn text(folder: &Path, name: &str) -> String {
    fs::read_to_string(folder.join(name)).unwrap_or_else(|error| error.kind().to_string())
}

#[test]
fn the_work_is_copied_and_the_judge_is_as_it_was() {
    let stage = Stage::new();
    stage.scene.write("src/x.py", "work").write("src/new.py", "work").mode("src/new.py", 0o755);
    stage
        .scene
        .write("tests/a.py", "assert True")
        .remove("tests/deep")
        .write("tests/extra.py", "x");
    stage.scene.remove("tests/link").write("run.sh", "exit 0").write("conftest.py", "sys.exit(0)");
    stage.scene.write("a.snap", "cheat").link("src/link", "x.py");
    let copy = stage.make().expect("a copy");
    let at = |name: &str| text(copy.path(), name);
    assert_eq!(at("src/x.py"), "work");
    assert_eq!(at("src/new.py"), "work");
    assert_eq!(at("tests/a.py"), "assert x");
    assert_eq!(at("tests/deep/b.py"), "b");
    assert_eq!(at("run.sh"), "pytest");
    assert_eq!(at("a.snap"), "snap", "ignored files are restored too");
    for absent in ["tests/extra.py", "conftest.py", ".git", "absent"] {
        assert!(!copy.path().join(absent).exists(), "{absent}");
    }
    let mode = |name: &str| fs::metadata(copy.path().join(name)).unwrap().permissions().mode();
    assert_eq!(mode("run.sh") & 0o111, 0o111);
    assert_eq!(mode("src/new.py") & 0o111, 0o111);
    assert_eq!(fs::read_link(copy.path().join("tests/link")).unwrap(), Path::new("a.py"));
    assert_eq!(fs::read_link(copy.path().join("src/link")).unwrap(), Path::new("x.py"));
    assert_eq!(at("node_modules/dep/index.js"), "dep");
    assert!(copy.path().join("node_modules").is_symlink());
    assert_eq!(
        text(&stage.scene.root(), "tests/a.py"),
        "assert True",
        "the work tree is only read"
    );
}

#[test]
fn a_protected_folder_comes_back_where_the_work_put_a_file() {
    let stage = Stage::new();
    stage.scene.remove("tests").write("tests", "a file now");
    let copy = stage.make().expect("a copy");
    assert_eq!(text(copy.path(), "tests/deep/b.py"), "b");
}

#[test]
fn nothing_is_written_through_a_link() {
    let mut stage = Stage::new();
    stage.criterion.terms.protect = vec!["tests/*.py".into()];
    let criteria = [stage.criterion.clone()];
    let (store, cache) = (stage.scene.beside("store"), stage.scene.beside("cache"));
    stage.seal = Seal::take(&stage.scene.root(), &criteria, &store, &cache).expect("a seal");
    stage.scene.rename("tests", "moved").link("tests", "moved").write("moved/a.py", "the work's");
    stage.scene.remove("tests").link("tests", &stage.scene.path("moved").display().to_string());
    let copy = stage.make().expect("a copy");
    assert_eq!(text(copy.path(), "tests/a.py"), "assert x");
    assert_eq!(text(&stage.scene.root(), "moved/a.py"), "the work's");
}

#[test]
fn the_copy_goes_with_its_owner_and_orphans_with_the_next_one() {
    let stage = Stage::new();
    let orphan = stage.scene.beside("copies").join(format!("{PREFIX}{}-0", i32::MAX));
    fs::create_dir_all(&orphan).unwrap();
    let copy = stage.make().expect("a copy");
    assert!(!orphan.exists());
    let path = copy.path().to_path_buf();
    fs::create_dir(path.join("locked")).unwrap();
    fs::set_permissions(path.join("locked"), fs::Permissions::from_mode(0o000)).unwrap();
    drop(copy);
    assert!(!path.exists());
    assert_eq!(
        text(&stage.scene.root(), "node_modules/dep/index.js"),
        "dep",
        "what was borrowed stays"
    );
}

#[test]
fn what_cant_be_put_back_is_said() {
    let mut stage = Stage::new();
    fs::remove_dir_all(stage.scene.beside("store")).unwrap();
    assert!(matches!(stage.make(), Err(PristineError::Copy { .. })));
    let lost = stage.seal.to_text().replace("\"kept\":true", "\"kept\":false");
    stage.seal = Seal::from_text(&lost).unwrap();
    assert!(matches!(stage.make(), Err(PristineError::NotKept { .. })));
    stage.criterion.terms.link = vec!["../elsewhere".into()];
    assert!(matches!(stage.make(), Err(PristineError::Link(_))));
    stage.criterion.name = "another".into();
    assert!(matches!(stage.make(), Err(PristineError::Unsealed(_))));
    let left = fs::read_dir(stage.scene.beside("copies")).unwrap().count();
    assert_eq!(left, 0, "no half copy stays");
}

#[test]
fn a_kept_content_that_was_altered_is_refused() {
    let stage = Stage::new();
    for folder in fs::read_dir(stage.scene.beside("store")).unwrap() {
        for file in fs::read_dir(folder.unwrap().path()).unwrap() {
            fs::write(file.unwrap().path(), "forged").unwrap();
        }
    }
    assert!(matches!(stage.make(), Err(PristineError::Copy { .. })));
}
