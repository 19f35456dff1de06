use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::namespace::Namespace;
use super::probe::probe_in;
use super::{
    BindMount, FileContent, Isolation, Launch, Mask, NetworkAccess, PlaceError, PlaceKind,
    PlaceProbe, PlaceRecipe, RestoredFile, RunPlace,
};
use crate::tool::{ToolOutput, tool};
use crate::tree::scene::TreeScene;

mod copies;
mod entering;
mod git;
mod hermetic;
mod restoring;
mod size;

const TIME: Duration = Duration::from_mins(1);

/// The kinds that this machine can make; a copy elsewhere always works.
fn kinds() -> Vec<PlaceKind> {
    match Namespace::find() {
        Ok(_) => vec![PlaceKind::Overlay, PlaceKind::BoundCopy, PlaceKind::Copy],
        Err(_) => vec![PlaceKind::Copy],
    }
}

/// The kinds at the tree's own path that this machine can make.
fn kinds_at_the_path() -> Vec<PlaceKind> {
    kinds().into_iter().filter(|kind| *kind != PlaceKind::Copy).collect()
}

/// A tree, and what a place makes of it.
struct Stage {
    scene: TreeScene,
    restore: Vec<RestoredFile>,
    absent: Vec<PathBuf>,
    unmade: Vec<PathBuf>,
    mounts: Vec<BindMount>,
    masks: Vec<Mask>,
    isolation: Isolation,
}

impl Stage {
    fn new() -> Self {
        let scene = TreeScene::new();
        scene.write("tests/a.py", "weak").write("tests/new.py", "new").write("src/x.py", "work");
        scene.write(".gitignore", "node_modules\n.env\n").write(".env", "secret");
        scene.write("node_modules/dep/index.js", "dep").link("src/link.py", "x.py");
        Self::of(scene)
    }

    fn of(scene: TreeScene) -> Self {
        Self {
            scene,
            restore: Vec::new(),
            absent: Vec::new(),
            unmade: Vec::new(),
            mounts: Vec::new(),
            masks: Vec::new(),
            isolation: Isolation::None,
        }
    }

    fn restore(mut self, path: &str, text: &str) -> Self {
        let content = FileContent::File { bytes: text.into(), executable: false };
        self.restore.push(RestoredFile { path: path.into(), content });
        self
    }

    fn restore_link(mut self, path: &str, target: &str) -> Self {
        let content = FileContent::Link(target.into());
        self.restore.push(RestoredFile { path: path.into(), content });
        self
    }

    fn absent(mut self, path: &str) -> Self {
        self.absent.push(path.into());
        self
    }

    fn scratch(&self) -> PathBuf {
        self.scene.beside("copies")
    }

    fn try_open(&self, kind: PlaceKind, within: Duration) -> Result<RunPlace, PlaceError> {
        let (root, scratch) = (self.scene.root(), self.scratch());
        let recipe = PlaceRecipe {
            root: &root,
            scratch: &scratch,
            restore: &self.restore,
            absent: &self.absent,
            unmade: &self.unmade,
            mounts: &self.mounts,
            masks: &self.masks,
            isolation: self.isolation,
        };
        RunPlace::open(&recipe, kind, within)
    }

    fn open(&self, kind: PlaceKind) -> RunPlace {
        self.try_open(kind, TIME).unwrap_or_else(|error| panic!("{kind:?}: {error:?}"))
    }

    /// Runs a script at the root, inside.
    fn run(&self, place: &RunPlace, script: &str) -> ToolOutput {
        let launch = self.launch(place, &["/bin/sh", "-c", script]);
        let ran = tool(&launch.argv, &launch.cwd, TIME).expect("an answer");
        assert!(place.entered(), "{}", String::from_utf8_lossy(&ran.stderr));
        ran
    }

    fn launch(&self, place: &RunPlace, argv: &[&str]) -> Launch {
        place.command(argv.iter().map(OsString::from).collect(), &self.scene.root())
    }

    /// What a script at the root says, inside.
    fn says(&self, place: &RunPlace, script: &str) -> String {
        let ran = self.run(place, script);
        let complaint = String::from_utf8_lossy(&ran.stderr);
        assert_eq!(ran.status_code, Some(0), "{:?}: {script}: {complaint}", place.kind);
        String::from_utf8_lossy(&ran.stdout).trim_end().into()
    }
}

/// Every path of a directory, with all that the system tells about it but the time of access.
fn state(directory: &Path) -> BTreeMap<PathBuf, String> {
    let mut state = BTreeMap::new();
    let mut open = vec![directory.to_path_buf()];
    while let Some(path) = open.pop() {
        let found = fs::symlink_metadata(&path).expect("what is listed");
        if found.is_dir() {
            open.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        }
        let times = (found.mtime(), found.mtime_nsec(), found.ctime(), found.ctime_nsec());
        let facts = (found.ino(), found.mode(), found.len(), found.nlink(), times);
        state.insert(path, format!("{facts:?}"));
    }
    state
}

#[track_caller]
fn assert_untouched(directory: &Path, before: &BTreeMap<PathBuf, String>, kind: PlaceKind) {
    let after = state(directory);
    let differs = |path: &&PathBuf| before.get(*path) != after.get(*path);
    let paths = before.keys().chain(after.keys());
    let touched: Vec<&PathBuf> = paths.filter(differs).collect();
    assert_eq!(touched, Vec::<&PathBuf>::new(), "{kind:?}");
}

fn changes(place: &RunPlace) -> Vec<String> {
    let written = place.written().expect("a list");
    let outside_git = written.iter().filter(|one| !one.path.starts_with(".git"));
    outside_git.map(|one| format!("{:?} {}", one.change, one.path.display())).collect()
}

#[test]
fn the_best_kind_is_found_by_trying_and_the_tree_stays_as_it_is() {
    let stage = Stage::new();
    let before = state(&stage.scene.root());
    let found = super::probe(&stage.scene.root(), &stage.scratch(), Isolation::None);
    assert_eq!(state(&stage.scene.root()), before);
    assert_eq!(found.kind == PlaceKind::Overlay, found.missing.is_empty(), "{found:?}");
    assert_eq!(found.kind == PlaceKind::Copy, found.missing.iter().any(|why| why.contains("copy")));
    assert_eq!(fs::read_dir(stage.scratch()).into_iter().flatten().count(), 0);
}

#[test]
fn without_the_programs_a_copy_is_left_and_the_reason_is_told() {
    let stage = Stage::new();
    let empty = stage.scene.beside("empty");
    fs::create_dir(&empty).unwrap();
    let found =
        |namespace| probe_in(&stage.scene.root(), &stage.scratch(), Isolation::None, namespace);
    let without: PlaceProbe = found(Namespace::find_in(&[&empty]));
    assert_eq!(without.kind, PlaceKind::Copy);
    assert_eq!(
        without.missing,
        ["No overlay and no bound copy: the program `unshare` was not found; install util-linux."]
    );
}

#[test]
fn where_namespaces_are_forbidden_the_systems_own_words_are_told() {
    let stage = Stage::new();
    let bin = stage.scene.beside("bin");
    fs::create_dir(&bin).unwrap();
    for name in ["unshare", "mount", "setpriv", "sh"] {
        fs::write(bin.join(name), "#!/bin/sh\necho 'unshare failed: no' >&2\nexit 1\n").unwrap();
        fs::set_permissions(bin.join(name), fs::Permissions::from_mode(0o755)).unwrap();
    }
    let namespace = Namespace::find_in(&[&bin]);
    let found = probe_in(&stage.scene.root(), &stage.scratch(), Isolation::None, namespace);
    assert_eq!(found.kind, PlaceKind::Copy);
    let expected = "No overlay and no bound copy: namespaces are not permitted here: \
                    unshare failed: no.";
    assert_eq!(found.missing, [expected]);
}

#[test]
fn where_overlays_are_refused_a_copy_is_bound() {
    let Ok(mut namespace) = Namespace::find() else { return };
    let stage = Stage::new();
    let mount = stage.scene.beside("mount");
    let real = namespace.mount.display();
    let script = format!(
        "#!/bin/sh\ncase \"$*\" in *overlay*) echo 'mount: no overlay' >&2; exit 32;; esac\n\
         exec {real} \"$@\"\n"
    );
    fs::write(&mount, script).unwrap();
    fs::set_permissions(&mount, fs::Permissions::from_mode(0o755)).unwrap();
    namespace.mount = mount;
    let found = probe_in(&stage.scene.root(), &stage.scratch(), Isolation::None, Ok(namespace));
    assert_eq!(found.kind, PlaceKind::BoundCopy);
    assert_eq!(found.missing, ["No overlay: mount: no overlay."]);
}

#[test]
fn making_and_using_a_place_changes_nothing_in_the_tree_and_leaves_nothing_behind() {
    for kind in kinds() {
        let stage = Stage::new().restore("tests/a.py", "strong").absent("tests/new.py");
        stage.scene.git(&["add", "-A"]);
        stage.scene.git(&["commit", "-qm", "first"]);
        let before = state(&stage.scene.root());
        let beside = state(&stage.scene.beside(""));
        let place = stage.open(kind);
        stage.run(&place, "echo x >src/x.py; rm -r node_modules; mkdir -p out/deep; touch .env");
        stage.run(&place, "git add -A; git -c user.name=a -c user.email=b commit -qm second");
        drop(place);
        assert_untouched(&stage.scene.root(), &before, kind);
        fs::remove_dir(stage.scratch()).expect("an empty directory");
        let now = state(&stage.scene.beside(""));
        assert_eq!(now.keys().collect::<Vec<_>>(), beside.keys().collect::<Vec<_>>(), "{kind:?}");
    }
}

#[test]
fn what_a_run_wrote_is_listed() {
    for kind in kinds() {
        let stage = Stage::new().restore("tests/a.py", "strong").absent("tests/new.py");
        stage.scene.write("deep/one/two", "2").write("gone/file", "g").write("again/old", "old");
        let place = stage.open(kind);
        assert_eq!(changes(&place), Vec::<String>::new(), "{kind:?}");
        stage.run(&place, "cat tests/a.py src/x.py deep/one/two");
        assert_eq!(changes(&place), Vec::<String>::new(), "{kind:?}: reading is not writing");
        stage.run(&place, "echo x >src/x.py; touch src/link.py; mkdir new; echo n >new/n");
        stage.run(&place, "rm -r gone; chmod +x .env; rm -r again; mkdir again; echo b >again/b");
        let expected = [
            "Changed .env",
            "Created again/b",
            "Deleted again/old",
            "Deleted gone",
            "Deleted gone/file",
            "Created new",
            "Created new/n",
            "Changed src/x.py",
        ];
        assert_eq!(changes(&place), expected, "{kind:?}");
    }
}

#[test]
fn a_judge_that_is_written_to_inside_is_listed_also_when_it_is_put_back() {
    for kind in kinds() {
        let stage = Stage::new().restore("tests/a.py", "strong").absent("tests/new.py");
        stage.scene.write("tests/kept.py", "kept");
        let place = stage.open(kind);
        stage.run(&place, "printf weak >tests/a.py; printf strong >tests/a.py");
        stage.run(&place, "printf x >tests/kept.py; printf kept >tests/kept.py");
        assert_eq!(changes(&place), ["Touched tests/a.py", "Touched tests/kept.py"], "{kind:?}");
        stage.run(&place, "printf strung >tests/a.py; echo >tests/new.py; rm tests/kept.py");
        let expected = ["Changed tests/a.py", "Deleted tests/kept.py", "Created tests/new.py"];
        assert_eq!(changes(&place), expected, "{kind:?}");
        stage.run(&place, "rm -r tests");
        let gone = changes(&place);
        assert!(gone.contains(&"Deleted tests/a.py".into()), "{kind:?}: {gone:?}");
    }
}

#[test]
fn only_outer_paths_are_masked_and_only_inner_ones_restored() {
    let refused = |stage: &Stage, kind| match stage.try_open(kind, TIME) {
        Err(error @ (PlaceError::Unusable { .. } | PlaceError::Unsupported(_))) => {
            error.to_string()
        }
        other => panic!("{other:?}"),
    };
    for path in ["../x", "/etc/passwd", "", "a/../../x"] {
        let text = refused(&Stage::new().restore(path, "x"), PlaceKind::Copy);
        assert!(text.ends_with("it is not a path below the root"), "{text}");
        let text = refused(&Stage::new().absent(path), PlaceKind::Copy);
        assert!(text.ends_with("it is not a path below the root"), "{text}");
    }
    let mut stage = Stage::new();
    stage.masks =
        vec![Mask { path: stage.scene.path("tests/a.py"), content: None, executable: false }];
    assert!(refused(&stage, PlaceKind::Copy).contains("only a path outside the tree"));
    stage.masks = vec![Mask { path: "/etc/passwd".into(), content: None, executable: false }];
    assert!(refused(&stage, PlaceKind::Copy).contains("masked in a copy elsewhere"));
    stage.masks.clear();
    stage.mounts = vec![BindMount { from: "/tmp".into(), at: "target".into() }];
    assert!(refused(&stage, PlaceKind::Copy).contains("mounted"));
    stage.mounts.clear();
    stage.isolation = Isolation::Hermetic { network: NetworkAccess::Allowed };
    assert!(refused(&stage, PlaceKind::Copy).contains("hermetic"));
}

#[test]
fn a_private_directory_inside_the_tree_is_refused() {
    let scene = TreeScene::new();
    let (root, scratch) = (scene.root(), scene.path("state/copies"));
    let recipe = PlaceRecipe {
        root: &root,
        scratch: &scratch,
        restore: &[],
        absent: &[],
        unmade: &[],
        mounts: &[],
        masks: &[],
        isolation: Isolation::None,
    };
    let error = RunPlace::open(&recipe, PlaceKind::Copy, TIME).unwrap_err();
    assert!(error.to_string().ends_with("it is inside the tree"), "{error}");
    assert!(!scene.path("state").exists());
}

#[test]
fn what_a_killed_process_left_behind_goes_and_what_is_in_use_stays() {
    let stage = Stage::new();
    let used = stage.open(PlaceKind::Copy);
    let orphan = stage.scratch().join("place-0000000000000001");
    fs::create_dir_all(orphan.join("tree/closed")).unwrap();
    fs::write(orphan.join("lock"), "").unwrap();
    fs::set_permissions(orphan.join("tree/closed"), fs::Permissions::from_mode(0o0)).unwrap();
    let other = stage.open(PlaceKind::Copy);
    assert!(!orphan.exists());
    assert!(used.root().join("src/x.py").exists() && other.root().join("src/x.py").exists());
    let mode = fs::metadata(used.root().parent().unwrap()).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
}

#[test]
fn a_place_goes_also_where_a_check_took_away_the_right_to_write() {
    for kind in kinds() {
        let stage = Stage::new();
        let place = stage.open(kind);
        stage.run(&place, "mkdir -p a/b; echo x >a/b/c; chmod 0 a/b; chmod 0555 a");
        assert!(place.written().is_ok());
        drop(place);
        assert_eq!(fs::read_dir(stage.scratch()).unwrap().count(), 0, "{kind:?}");
    }
}
