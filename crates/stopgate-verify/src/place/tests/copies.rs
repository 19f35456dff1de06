//! Copies of a tree: what they hold, what they share, what they leave out.

use super::*;
use crate::place::outputs::is_output;

#[test]
fn a_copy_shares_no_file_with_the_tree() {
    for kind in [PlaceKind::BoundCopy, PlaceKind::Copy] {
        if !kinds().contains(&kind) {
            continue;
        }
        let stage = Stage::new();
        stage.scene.git(&["add", "-A"]);
        stage.scene.git(&["commit", "-qm", "first"]);
        let inodes = |directory: &Path| -> Vec<u64> {
            let paths = state(directory).into_keys();
            paths.map(|path| fs::symlink_metadata(path).unwrap().ino()).collect()
        };
        let tree = inodes(&stage.scene.root());
        let _place = stage.open(kind);
        let copies = inodes(&stage.scratch());
        assert!(copies.len() > 10);
        assert!(copies.iter().all(|inode| !tree.contains(inode)), "{kind:?}");
    }
}

#[test]
fn no_link_of_a_copy_leads_back_to_the_tree() {
    let stage = Stage::new();
    let (root, outside) = (stage.scene.root(), stage.scene.beside("outside"));
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("x"), "outside").unwrap();
    std::os::unix::fs::symlink(root.join("src"), outside.join("back")).unwrap();
    let absolute = root.join("src/x.py");
    stage.scene.link("absolute", absolute.to_str().unwrap());
    stage.scene.link("around", "../root/src/x.py");
    stage.scene.link("chain", "../outside/back/x.py");
    stage.scene.link("src/up", "../../outside/x");
    stage.scene.link("broken", root.join("nothing").to_str().unwrap());
    stage.scene.link("bin", "/bin/sh");
    let place = stage.open(PlaceKind::Copy);
    let target = |name: &str| fs::read_link(place.root().join(name)).unwrap();
    let inside = place.root().canonicalize().unwrap();
    for name in ["absolute", "around", "chain", "src/link.py"] {
        let real = place.root().join(name).canonicalize().unwrap();
        assert_eq!(real, inside.join("src/x.py"), "{name}");
    }
    assert_eq!(target("broken"), inside.join("nothing"));
    assert_eq!(target("src/link.py"), Path::new("x.py"));
    assert_eq!(target("bin"), Path::new("/bin/sh"));
    assert_eq!(fs::read_to_string(place.root().join("src/up")).unwrap(), "outside");
}

#[test]
fn a_copy_elsewhere_has_no_build_outputs_but_what_is_installed_and_ignored() {
    let stage = Stage::new();
    let outputs = [
        "target/debug/test",
        "crates/a/target/x",
        "src/__pycache__/x.pyc",
        ".pytest_cache/v",
        "node_modules/.cache/babel",
        ".next/build",
        "app/build/classes",
        "out/CMakeCache.txt",
    ];
    for name in outputs {
        stage.scene.write(name, "built");
    }
    stage.scene.write("Cargo.toml", "[package]").write("crates/a/target/CACHEDIR.TAG", "Signature");
    stage.scene.write("app/build.gradle", "").write("target2/x", "x").write("docs/target/x", "x");
    stage.scene.write(".venv/bin/tool", "#!/tree").write(".venv/CACHEDIR.TAG", "Signature");
    stage.scene.write("node_modules/.bin/jest", "j").write("docs/build/x", "x");
    let place = stage.open(PlaceKind::Copy);
    for name in outputs {
        assert!(!place.root().join(name).exists(), "{name}");
    }
    let kept = ["target2/x", "docs/target/x", ".venv/bin/tool", "node_modules/.bin/jest", ".env"];
    for name in kept.iter().chain(&["docs/build/x", "node_modules/dep/index.js", "Cargo.toml"]) {
        assert!(place.root().join(name).exists(), "{name}");
    }
    for kind in kinds_at_the_path() {
        let place = stage.open(kind);
        assert_eq!(stage.says(&place, "cat target/debug/test"), "built", "{kind:?}");
    }
}

#[test]
fn what_git_tracks_is_never_an_output() {
    let stage = Stage::new();
    stage.scene.write("Cargo.toml", "").write("build.gradle", "");
    stage.scene.write("build/script.sh", "tracked").write("target/x", "built");
    stage.scene.write("target-tracked/x", "tracked");
    stage.scene.git(&["add", "build", "target-tracked"]);
    assert!(is_output(&stage.scene.root(), Path::new("build")));
    let place = stage.open(PlaceKind::Copy);
    assert!(place.root().join("build/script.sh").exists());
    assert!(!place.root().join("target").exists());
}

#[test]
fn what_is_no_file_is_left_out_and_what_can_not_be_read_is_no_obstacle() {
    for kind in kinds() {
        let stage = Stage::new();
        let socket = stage.scene.path("socket");
        let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        let pipe = tool(&["mkfifo", "pipe"], &stage.scene.root(), TIME).unwrap();
        assert!(pipe.is_fine());
        stage.scene.write("closed", "x").mode("closed", 0).write("shut/x", "x").mode("shut", 0);
        let place = stage.open(kind);
        assert_eq!(stage.says(&place, "stat -c %a closed shut; cat src/x.py"), "0\n0\nwork");
        if kind == PlaceKind::Copy {
            assert!(!place.root().join("pipe").exists() && !place.root().join("socket").exists());
        }
        assert_eq!(changes(&place), Vec::<String>::new(), "{kind:?}");
        stage.scene.mode("shut", 0o755);
    }
}

#[test]
fn paths_of_the_tree_become_paths_of_the_copy() {
    let stage = Stage::new();
    let place = stage.open(PlaceKind::Copy);
    let tree = stage.scene.root().canonicalize().unwrap();
    let translated = |text: &str| {
        let text = text.replace("TREE", tree.to_str().unwrap());
        let done = place.translate(text.as_ref()).into_string().unwrap();
        done.replace(place.root().to_str().unwrap(), "COPY").replace(tree.to_str().unwrap(), "TREE")
    };
    assert_eq!(translated("TREE"), "COPY");
    assert_eq!(translated("TREE/src:TREE/lib"), "COPY/src:COPY/lib");
    assert_eq!(translated("--manifest-path=TREE/Cargo.toml"), "--manifest-path=COPY/Cargo.toml");
    assert_eq!(translated("-ITREE/include file://TREE/x"), "-ICOPY/include file://COPY/x");
    assert_eq!(translated("cd TREE && 'TREE/run'"), "cd COPY && 'COPY/run'");
    assert_eq!(translated("TREE2 TREE-old /backupTREE"), "TREE2 TREE-old /backupTREE");
    let script = format!("cat {}/src/x.py; pwd", tree.display());
    stage.scene.write("src/x.py", "later");
    let said = stage.says(&place, &script);
    assert_eq!(said, format!("work{}", place.root().display()));
    for kind in kinds_at_the_path() {
        let place = stage.open(kind);
        assert_eq!(place.translate(tree.as_os_str()), tree.as_os_str());
    }
}

#[test]
fn a_copy_that_takes_too_long_is_an_error_in_words() {
    let stage = Stage::new();
    let error = stage.try_open(PlaceKind::Copy, Duration::ZERO).unwrap_err();
    assert!(matches!(error, PlaceError::TooSlow { .. }), "{error:?}");
    assert!(error.to_string().contains("not done within 0 s"), "{error}");
    assert_eq!(fs::read_dir(stage.scratch()).unwrap().count(), 0);
}

#[test]
fn a_tree_with_too_much_in_it_is_not_copied() {
    let stage = Stage::new();
    let large = fs::File::create(stage.scene.path("large")).unwrap();
    large.set_len(20 * 1024 * 1024 * 1024).unwrap();
    let error = stage.try_open(PlaceKind::Copy, TIME).unwrap_err();
    assert!(matches!(error, PlaceError::TooLarge { .. }), "{error:?}");
    assert!(error.to_string().contains("GiB; move data"), "{error}");
    if kinds().contains(&PlaceKind::Overlay) {
        assert_eq!(stage.says(&stage.open(PlaceKind::Overlay), "stat -c %s large"), "21474836480");
    }
}
