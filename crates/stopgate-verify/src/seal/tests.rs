use std::fs::{self, File};
use std::path::Path;
use std::time::Duration;

use stopgate_core::{Criterion, Proof};

use super::Seal;
use super::hooks::{Family, families, family_of};
use crate::tree::scene::Scene;

fn criterion(command: &str, protect: &[&str]) -> Criterion {
    let proof = Proof::Check { command: command.into(), timeout_ms: 1_000 };
    let mut criterion = Criterion::new("tests", proof);
    criterion.terms.protect = protect.iter().map(|one| (*one).into()).collect();
    criterion
}

/// A project, its seal, and what is told about it later.
struct Sealed {
    scene: Scene,
    criteria: Vec<Criterion>,
    seal: Seal,
}

impl Sealed {
    fn new(command: &str, protect: &[&str], files: &[(&str, &str)]) -> Self {
        let scene = Scene::new();
        for (name, text) in files {
            scene.write(name, text);
        }
        let criteria = vec![criterion(command, protect)];
        Self::of(scene, criteria)
    }

    fn of(scene: Scene, criteria: Vec<Criterion>) -> Self {
        let seal =
            Seal::take(&scene.root(), &criteria, &scene.beside("store"), &scene.beside("cache"));
        let seal = Seal::from_text(&seal.expect("a seal").to_text()).expect("a text");
        Self { scene, criteria, seal }
    }

    fn told(&self) -> Vec<String> {
        self.told_with(&self.criteria)
    }

    fn told_with(&self, criteria: &[Criterion]) -> Vec<String> {
        let changes = self.seal.changes(&self.scene.root(), criteria, &self.scene.beside("cache"));
        let changes = changes.expect("changes");
        assert!(changes.iter().all(|change| change.concerns(&self.criteria[0].name)));
        changes.iter().map(ToString::to_string).collect()
    }
}

const NOTHING: [&str; 0] = [];

#[test]
fn protected_files_stay_as_they_are() {
    let files = [
        ("tests/a.rs", "assert!(x)"),
        ("tests/b.rs", "b"),
        ("src/lib.rs", "x"),
        (".gitignore", "*.snap"),
    ];
    let sealed = Sealed::new("cargo test", &["tests/**", "*.snap"], &files);
    assert_eq!(sealed.told(), NOTHING);
    sealed.scene.write("src/lib.rs", "work").write("tests/new.rs", "fine");
    assert_eq!(sealed.told(), NOTHING);
    sealed.scene.write("tests/a.rs", "assert!(y)");
    assert_eq!(sealed.told(), ["tests/a.rs was changed"]);
    sealed.scene.remove("tests/b.rs");
    assert_eq!(sealed.told(), ["tests/a.rs was changed", "tests/b.rs was deleted"]);
    sealed.scene.write("tests/a.rs", "assert!(x)").write("tests/b.rs", "b");
    assert_eq!(sealed.told(), NOTHING, "what is put back is no change");
    let past =
        fs::metadata(sealed.scene.root()).unwrap().modified().unwrap() - Duration::from_secs(99);
    File::options()
        .write(true)
        .open(sealed.scene.path("tests/a.rs"))
        .unwrap()
        .set_modified(past)
        .unwrap();
    assert_eq!(sealed.told(), NOTHING, "times do not count");
    sealed.scene.remove("tests/b.rs").link("tests/b.rs", "b");
    assert_eq!(sealed.told(), ["tests/b.rs was changed"], "a link is not a file");
}

#[test]
fn ignored_files_are_protected_too() {
    let files = [(".gitignore", "*.snap\n"), ("a.snap", "1"), (".env.test", "X=1")];
    let sealed = Sealed::new("cargo test", &["*.snap"], &files);
    sealed.scene.write("a.snap", "2");
    assert_eq!(sealed.told(), ["a.snap was changed"]);
}

#[test]
fn new_files_that_steer_the_runner_are_told() {
    let sealed = Sealed::new("pytest -q", &[], &[("tests/test_a.py", "x"), (".gitignore", "")]);
    sealed.scene.write("tests/conftest.py", "import sys; sys.exit(0)");
    assert_eq!(sealed.told(), ["a new file that steers the tests: tests/conftest.py"]);
    // Hiding it from git does not help.
    sealed.scene.write(".gitignore", "conftest.py\n").write(".git/info/exclude", "tests/\n");
    assert_eq!(sealed.told(), ["a new file that steers the tests: tests/conftest.py"]);
    sealed.scene.remove("tests/conftest.py").write("jest.config.js", "x");
    sealed.scene.write(".venv/lib/site-packages/numpy/conftest.py", "theirs");
    assert_eq!(sealed.told(), NOTHING, "neither another runner's nor what was installed");
    let script = Sealed::new("./check.sh", &[], &[("check.sh", "x")]);
    script.scene.write("jest.config.js", "x");
    assert_eq!(script.told(), ["a new file that steers the tests: jest.config.js"]);
}

#[test]
fn files_that_steered_before_may_change_unless_protection_was_asked_for() {
    let files = [("conftest.py", "import x\n"), ("tests/a.py", "x")];
    let plain = Sealed::new("pytest", &[], &files);
    plain.scene.write("conftest.py", "import y\n");
    assert_eq!(plain.told(), NOTHING);
    plain.scene.write("conftest.py", " \n");
    assert_eq!(plain.told(), ["conftest.py was changed"], "emptied");
    let guarded = Sealed::new("pytest", &["tests"], &files);
    guarded.scene.write("conftest.py", "import y\n");
    assert_eq!(guarded.told(), ["conftest.py was changed"]);
    guarded.scene.remove("conftest.py");
    assert_eq!(guarded.told(), ["conftest.py was deleted"]);
}

#[test]
fn scripts_of_the_command_are_protected_without_being_asked_for() {
    let files = [("ci/check.sh", "exit 1"), ("Makefile", "test:\n\tfalse\n"), ("src/a.py", "x")];
    let sealed = Sealed::new("ci/check.sh && make test && ruff check src/a.py", &[], &files);
    sealed.scene.write("src/a.py", "the work");
    assert_eq!(sealed.told(), NOTHING);
    sealed.scene.write("ci/check.sh", "exit 0");
    assert_eq!(sealed.told(), ["ci/check.sh was changed"]);
    sealed.scene.write("Makefile", "test:\n\ttrue\n");
    assert_eq!(sealed.told(), ["Makefile was changed", "ci/check.sh was changed"]);
}

#[test]
fn scripts_in_package_json_are_told_apart_from_the_rest_of_it() {
    let package = |test: &str, more: &str| {
        format!(r#"{{"scripts":{{"test":"{test}"{more}}},"dependencies":{{}}}}"#)
    };
    let sealed = Sealed::new("npm test", &[], &[("package.json", &package("jest", ""))]);
    sealed.scene.write("package.json", &package("jest", r#","build":"tsc""#));
    assert_eq!(sealed.told(), NOTHING);
    sealed.scene.write("package.json", &package("exit 0", ""));
    assert_eq!(sealed.told(), ["the script «test» in package.json was changed"]);
    sealed.scene.write("package.json", &package("jest", r#","pretest":"rm -r tests""#));
    assert_eq!(sealed.told(), ["a new script in package.json: «pretest»"]);
}

fn program(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(path, mode).unwrap();
}

#[test]
fn a_replaced_program_is_told() {
    let scene = Scene::new();
    let (first, second) = (scene.beside("first"), scene.beside("second"));
    program(&second.join("runner"), "true one");
    fs::create_dir_all(&first).unwrap();
    let mut criterion = criterion("runner --all", &[]);
    let path = format!("{}:{}", first.display(), second.display());
    criterion.terms.set.push(("PATH".into(), path));
    let sealed = Sealed::of(scene, vec![criterion]);
    assert_eq!(sealed.told(), NOTHING);
    program(&first.join("runner"), "exit 0");
    let told = format!(
        "runner is another program than at the start: {}, was {}",
        first.join("runner").display(),
        second.join("runner").display()
    );
    assert_eq!(sealed.told(), [told]);
    fs::remove_file(first.join("runner")).unwrap();
    assert_eq!(sealed.told(), NOTHING);
    program(&second.join("runner"), "exit  00");
    assert_eq!(sealed.told().len(), 1, "the same length, and changed in place");
    program(&second.join("runner"), "true one");
    assert_eq!(sealed.told(), NOTHING);
    fs::remove_file(second.join("runner")).unwrap();
    assert_eq!(
        sealed.told(),
        [format!("runner is gone: it was {}", second.join("runner").display())]
    );
}

#[test]
fn a_rewritten_criterion_is_told() {
    let sealed = Sealed::new("cargo test", &[], &[]);
    assert_eq!(sealed.told_with(&[criterion("true", &[])]), ["its command was changed"]);
    assert_eq!(sealed.told_with(&[]), ["it is no longer among the criteria"]);
}

#[test]
fn criteria_that_run_nothing_have_no_runner() {
    let scene = Scene::new();
    scene.write("README.md", "x");
    let proof = Proof::Files { exist: vec!["README.md".into()], absent: Vec::new() };
    let sealed = Sealed::of(scene, vec![Criterion::new("tests", proof)]);
    sealed.scene.write("conftest.py", "x");
    assert_eq!(sealed.told(), NOTHING);
}

#[test]
fn a_text_that_is_no_seal_is_refused() {
    assert!(Seal::from_text("{}").is_err());
    let sealed = Sealed::new("true", &[], &[]);
    let newer = sealed.seal.to_text().replacen("\"version\":1", "\"version\":2", 1);
    assert!(Seal::from_text(&newer).is_err());
}

#[test]
fn names_that_are_no_text_survive_the_seal() {
    use std::os::unix::ffi::OsStrExt;
    let scene = Scene::new();
    scene.write("tests/x", "x");
    let odd = scene.path("tests").join(std::ffi::OsStr::from_bytes(b"\xff.rs"));
    fs::write(&odd, "one").unwrap();
    let sealed = Sealed::of(scene, vec![criterion("cargo test", &["tests"])]);
    assert_eq!(sealed.told(), NOTHING);
    fs::write(&odd, "two").unwrap();
    assert_eq!(sealed.told().len(), 1);
}

#[test]
fn whose_files_steer_what() {
    assert_eq!(family_of(b"a/conftest.py"), Some(Family::Python));
    assert_eq!(family_of(b".cargo/config.toml"), Some(Family::Rust));
    for none in ["config.toml", "build.rs", "package.json", "node_modules/x/jest.config.js", "a.py"]
    {
        assert_eq!(family_of(none.as_bytes()), None, "{none}");
    }
    let of = |programs: &[&str]| families(programs.iter().copied()).into_iter().collect::<Vec<_>>();
    assert_eq!(of(&["cargo", "cargo-test"]), [Family::Rust]);
    assert_eq!(of(&["python3.12", "grep"]), [Family::Python]);
    assert_eq!(of(&["test"]), []);
    assert_eq!(of(&["make"]).len(), 5);
    assert_eq!(of(&[]).len(), 5, "what can't be known may be anything");
}
