use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::scene::{TreeScene, git, names};
use super::{TreeError, TreeScope, fingerprint, hash_of, store};

/// Every way to look gives the same, and it says whether that is what it was.
#[track_caller]
fn check(scene: &TreeScene, before: &str, change: Change) -> String {
    let now = scene.hash();
    assert_eq!(now, scene.hash_afresh(), "the cache knows better");
    assert_eq!(now, scene.hash_later(), "a later process knows better");
    match change {
        Change::Seen => assert_ne!(now, before, "the change is not seen"),
        Change::Nothing => assert_eq!(now, before, "nothing changed"),
    }
    now
}

#[derive(Clone, Copy)]
enum Change {
    Seen,
    Nothing,
}

fn scene() -> (TreeScene, String) {
    let scene = TreeScene::new();
    scene.write("src/a.rs", "fn a() {}").write("src/deep/b.rs", "fn b() {}").write("c", "c");
    let hash = check(&scene, "", Change::Seen);
    (scene, hash)
}

#[test]
fn files_that_changed_since_the_last_look_are_counted() {
    let scene = TreeScene::new();
    scene.write("a", "a").write("b", "b").write("deep/c", "c");
    assert_eq!(scene.tree().changed(), None, "nobody looked before");
    assert_eq!(scene.tree().changed(), Some(0));
    scene.write("a", "another").write("new", "").remove("deep/c");
    assert_eq!(scene.tree().changed(), Some(3));
    assert_eq!(scene.tree().changed(), Some(0));
    scene.write("b", "b");
    assert_eq!(scene.tree().changed(), Some(0), "it says the same");
    scene.rename("b", "moved");
    assert_eq!(scene.tree().changed(), Some(2));
}

#[test]
fn contents_paths_and_kinds_count() {
    let (scene, mut hash) = scene();
    let mut step = |act: &dyn Fn(&TreeScene)| {
        act(&scene);
        hash = check(&scene, &hash, Change::Seen);
    };
    step(&|scene| {
        scene.write("src/a.rs", "fn a() { }");
    });
    step(&|scene| {
        scene.write("src/a.rs", "fn z() { }");
    });
    step(&|scene| {
        scene.write("src/new.rs", "");
    });
    step(&|scene| {
        scene.remove("src/new.rs");
    });
    step(&|scene| {
        scene.rename("c", "C");
    });
    step(&|scene| {
        scene.rename("src/deep", "src/Deep");
    });
    step(&|scene| {
        scene.mode("src/a.rs", 0o755);
    });
    step(&|scene| {
        scene.remove("C").link("C", "src/a.rs");
    });
    step(&|scene| {
        scene.remove("C").link("C", "src/b.rs");
    });
    step(&|scene| {
        scene.remove("C").write("C/inner", "x");
    });
    step(&|scene| {
        scene.remove("C").write("C", "x");
    });
    step(&|scene| {
        scene.remove("src").link("src", "/nowhere");
    });
}

#[test]
fn times_git_and_empty_directories_do_not() {
    let (scene, hash) = scene();
    let same = |scene: &TreeScene| assert_eq!(check(scene, &hash, Change::Nothing), hash);
    let past = SystemTime::now_in_tests() - Duration::from_secs(1_000);
    File::options().write(true).open(scene.path("c")).unwrap().set_modified(past).unwrap();
    same(&scene);
    fs::create_dir_all(scene.path("empty/directories")).unwrap();
    same(&scene);
    scene.write("c", "c");
    same(&scene);
    scene.git(&["add", "-A"]);
    same(&scene);
    scene.git(&["commit", "-qm", "one"]);
    same(&scene);
    scene.git(&["checkout", "-qb", "other"]);
    same(&scene);
    fs::rename(scene.root(), scene.beside("moved")).unwrap();
    let moved = fingerprint(&[&scene.beside("moved")], TreeScope::Whole, &scene.beside("cache"));
    assert_eq!(moved.unwrap().hash(), hash);
}

trait Now {
    fn now_in_tests() -> SystemTime;
}

impl Now for SystemTime {
    #[expect(clippy::disallowed_methods, reason = "a file's time is set")]
    fn now_in_tests() -> SystemTime {
        Self::now()
    }
}

#[test]
fn what_is_ignored_does_not_count_until_it_is_tracked() {
    let (scene, hash) = scene();
    scene.write(".gitignore", "out/\n*.log\n!keep.log\n");
    let hash = check(&scene, &hash, Change::Seen);
    scene.write("a.log", "x").write("out/deep/file", "x");
    let hash = check(&scene, &hash, Change::Nothing);
    scene.write("src/keep.log", "x");
    let hash = check(&scene, &hash, Change::Seen);
    scene.git(&["add", "-f", "out/deep/file", "a.log"]);
    let hash = check(&scene, &hash, Change::Seen);
    scene.write("out/deep/file", "y").write("out/deep/other", "y");
    let hash = check(&scene, &hash, Change::Seen);
    assert_eq!(
        names(&scene.tree()),
        [".gitignore", "a.log", "c", "out/deep/file", "src/a.rs", "src/deep/b.rs", "src/keep.log"]
    );
    scene.git(&["rm", "-qf", "--cached", "out/deep/file"]);
    check(&scene, &hash, Change::Seen);
}

#[test]
fn a_directory_in_the_place_of_a_tracked_file_is_ignored_like_any_other() {
    let (scene, hash) = scene();
    scene.write(".gitignore", "*.log\n").write("a.log", "tracked");
    scene.git(&["add", "-f", "a.log"]);
    let hash = check(&scene, &hash, Change::Seen);
    scene.remove("a.log").write("a.log/inner", "x");
    check(&scene, &hash, Change::Seen);
    assert_eq!(names(&scene.tree()), [".gitignore", "c", "src/a.rs", "src/deep/b.rs"]);
}

#[test]
fn changed_rules_are_seen_wherever_they_stand() {
    let (scene, hash) = scene();
    scene.write("x.tmp", "x");
    let hash = check(&scene, &hash, Change::Seen);
    scene.write(".git/info/exclude", "*.tmp\n");
    let hash = check(&scene, &hash, Change::Seen);
    scene.write("src/deep/.gitignore", "*\n");
    let hash = check(&scene, &hash, Change::Seen);
    scene.write("src/deep/.gitignore", "#\n");
    let hash = check(&scene, &hash, Change::Seen);
    fs::write(scene.beside("mine"), "*.rs\n").unwrap();
    let mine = scene.beside("mine").display().to_string();
    scene.git(&["config", "core.excludesFile", &mine]);
    let hash = check(&scene, &hash, Change::Seen);
    fs::write(scene.beside("mine"), "*.none\n").unwrap();
    let hash = check(&scene, &hash, Change::Seen);
    scene.remove("src/deep/.gitignore").write("src/deep/.gitignore", "b.rs\n.gitignore\n");
    check(&scene, &hash, Change::Seen);
    assert_eq!(names(&scene.tree()), ["c", "src/a.rs"]);
}

#[test]
fn repositories_within_count_by_their_files() {
    let (scene, hash) = scene();
    let inner = scene.beside("inner");
    fs::create_dir(&inner).unwrap();
    git(&inner, &["init", "-q", "."]);
    fs::write(inner.join("lib.c"), "int x;").unwrap();
    fs::write(inner.join(".gitignore"), "*.o\n").unwrap();
    git(&inner, &["add", "-A"]);
    git(&inner, &["commit", "-qm", "inner"]);
    let from = inner.display().to_string();
    scene.git(&["submodule", "add", "-q", &from, "vendor/inner"]);
    let hash = check(&scene, &hash, Change::Seen);
    scene.write("vendor/inner/lib.c", "int y;");
    let hash = check(&scene, &hash, Change::Seen);
    scene.write("vendor/inner/lib.o", "binary");
    let hash = check(&scene, &hash, Change::Nothing);
    git(&scene.path("vendor/inner"), &["add", "-f", "lib.o"]);
    let hash = check(&scene, &hash, Change::Seen);
    scene.git(&["clone", "-q", &from, "nested"]);
    let hash = check(&scene, &hash, Change::Seen);
    scene.write("nested/lib.c", "int z;");
    let hash = check(&scene, &hash, Change::Seen);
    // Its own rules end where another repository begins.
    scene.write(".gitignore", "*.c\nvendor/\n");
    check(&scene, &hash, Change::Seen);
    let found = names(&scene.tree());
    assert!(found.contains(&"nested/lib.c".to_string()), "{found:?}");
    assert!(found.contains(&"vendor/inner/lib.c".to_string()), "{found:?}");
}

#[test]
fn a_worktree_and_a_directory_within_are_as_good_as_the_top() {
    let (scene, _) = scene();
    scene
        .write(".gitignore", "*.log\n/sub/out\nscratch/\n")
        .write("sub/a", "a")
        .write("sub/b.log", "");
    scene.write("sub/out/x", "x").write("scratch/here", "x").write("sub/forced.log", "f");
    scene.git(&["add", "-A"]);
    scene.git(&["add", "-f", "sub/forced.log"]);
    scene.git(&["commit", "-qm", "one"]);
    let tree = scene.beside("worktree");
    scene.git(&["worktree", "add", "-q", &tree.display().to_string()]);
    let cache = scene.beside("cache");
    let of = |path: &std::path::Path| fingerprint(&[path], TreeScope::Whole, &cache).unwrap();
    assert_eq!(of(&tree).hash(), scene.hash());
    fs::write(tree.join("new.log"), "x").unwrap();
    assert_eq!(of(&tree).hash(), scene.hash());
    fs::write(tree.join("new"), "x").unwrap();
    assert_ne!(of(&tree).hash(), scene.hash());
    assert_eq!(names(&of(&scene.path("sub"))), ["a", "forced.log"]);
    assert_eq!(names(&of(&scene.path("sub"))), ["a", "forced.log"]);
    // A person who works in an ignored directory means its files.
    assert_eq!(names(&of(&scene.path("scratch"))), ["here"]);
}

#[test]
fn a_directory_without_git_is_looked_at_the_same_way() {
    let scene = TreeScene::bare();
    scene.write("a", "a").write(".gitignore", "*.log\n").write("x.log", "x");
    let hash = check(&scene, "", Change::Seen);
    assert_eq!(names(&scene.tree()), [".gitignore", "a"]);
    scene.git(&["init", "-q", "."]);
    let hash = check(&scene, &hash, Change::Nothing);
    scene.git(&["add", "-f", "x.log"]);
    check(&scene, &hash, Change::Seen);
    assert_eq!(names(&scene.tree()), [".gitignore", "a", "x.log"]);
}

#[test]
fn odd_names_and_things_are_no_trouble() {
    let (scene, hash) = scene();
    let odd = scene.root().join(OsStr::from_bytes(b"\xff\xfe name\n"));
    fs::write(&odd, "odd").unwrap();
    let hash = check(&scene, &hash, Change::Seen);
    fs::write(&odd, "ODD").unwrap();
    let hash = check(&scene, &hash, Change::Seen);
    let deep = vec!["d"; 400].join("/");
    scene.write(&format!("{deep}/bottom"), "x");
    let hash = check(&scene, &hash, Change::Seen);
    scene.write(&format!("{deep}/bottom"), "y");
    let hash = check(&scene, &hash, Change::Seen);
    std::os::unix::net::UnixListener::bind(scene.path("socket")).unwrap();
    check(&scene, &hash, Change::Nothing);
}

#[test]
fn what_cant_be_read_counts_by_its_outside() {
    let (scene, hash) = scene();
    scene.mode("c", 0o000);
    let tree = scene.tree();
    let is_root = File::open(scene.path("c")).is_ok();
    let expected = if is_root { "c" } else { "c?" };
    assert!(names(&tree).contains(&expected.to_string()), "{:?}", names(&tree));
    assert_eq!(tree.hash() == hash, is_root, "a mark where it can't be read");
    scene.mode("c", 0o644);
    check(&scene, &hash, Change::Nothing);
}

#[test]
fn a_change_within_one_tick_is_seen() {
    let (scene, before) = scene();
    scene.write("c", "C");
    forge_stats(&scene, "cache", b"whole");
    assert_ne!(scene.hash(), before, "what changed just now is read again");
    // The same forgery is believed once the file was old enough: that is what makes it cheap.
    let later = scene.hash_later();
    scene.write("c", "d");
    forge_stats(&scene, "cache-later", b"whole");
    assert_eq!(scene.hash_later(), later);
}

/// Makes the cache believe that the files were like this when it was written.
fn forge_stats(scene: &TreeScene, cache: &str, key: &[u8]) {
    let root = scene.root().canonicalize().unwrap();
    let identity = hash_of(&[root.as_os_str().as_bytes(), b"\0", key].concat());
    let file = scene.beside(cache).join(format!("{}.tree", super::hex(&identity)));
    let mut index = store::read(&file, identity).expect("a cache");
    for at in 0..index.entries.len() {
        let name = index.name(index.entries[at].name).to_vec();
        if name == b"c" {
            let metadata = fs::symlink_metadata(scene.path("c")).unwrap();
            index.entries[at].stat = super::Stat::of_metadata(&metadata);
        }
    }
    store::write(&file, identity, &index);
}

/// The only cache in a directory.
fn cache_in(directory: &Path) -> PathBuf {
    let mut paths = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    paths.find(|path| path.extension() == Some(OsStr::new("tree"))).unwrap()
}

#[test]
fn a_torn_or_foreign_cache_is_none() {
    let (scene, hash) = scene();
    let cache = scene.beside("cache");
    let file = cache_in(&cache);
    let whole = fs::read(&file).unwrap();
    for length in [0, 1, 31, 40, whole.len() / 2, whole.len() - 1] {
        fs::write(&file, &whole[..length]).unwrap();
        assert_eq!(scene.hash(), hash, "cut at {length}");
    }
    for at in (0..whole.len()).step_by(97) {
        let mut torn = whole.clone();
        torn[at] ^= 0x55;
        fs::write(&file, torn).unwrap();
        assert_eq!(scene.hash(), hash, "torn at {at}");
    }
    let other = TreeScene::new();
    other.write("other", "x").hash();
    let foreign = cache_in(&other.beside("cache"));
    fs::copy(foreign, &file).unwrap();
    assert_eq!(scene.hash(), hash);
    fs::remove_file(&file).unwrap();
    fs::create_dir(&file).unwrap();
    assert_eq!(scene.hash(), hash, "a cache that can't be written costs only time");
    let leftover = fs::read_dir(&cache).unwrap().count();
    assert_eq!(leftover, 2, "beside the key, nothing is left lying about");
}

#[test]
fn a_cache_that_was_written_without_the_key_is_dropped_and_made_anew() {
    let (scene, hash) = scene();
    let path = cache_in(&scene.beside("cache"));
    let mut bytes = fs::read(&path).unwrap();
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    let unkeyed = *blake3::hash(&bytes[32..]).as_bytes();
    bytes[..32].copy_from_slice(&unkeyed);
    fs::write(&path, &bytes).unwrap();
    check(&scene, &hash, Change::Nothing);
    assert_ne!(fs::read(&path).unwrap(), bytes, "the cache was made anew");
}

#[test]
fn patterns_choose_also_what_is_ignored() {
    let (scene, _) = scene();
    scene.write(".gitignore", "*.lcov\n").write("report.lcov", "x").write("deep/.git/x.rs", "x");
    let patterns = ["src/**/*.rs", "*.lcov", "**/x.rs"];
    let tree = scene.globs(&patterns);
    assert_eq!(names(&tree), ["report.lcov", "src/a.rs", "src/deep/b.rs"]);
    scene.write("c", "other").write("src/notes.md", "x");
    assert_eq!(scene.globs(&patterns).hash(), tree.hash());
    scene.write("report.lcov", "y");
    assert_ne!(scene.globs(&patterns).hash(), tree.hash());
    let wrong =
        fingerprint(&[&scene.root()], TreeScope::Globs(&["../x".into()]), &scene.beside("c"));
    assert!(matches!(wrong, Err(TreeError::Pattern(_))), "{wrong:?}");
}

#[test]
fn several_roots_have_one_fingerprint() {
    let (one, other) = (TreeScene::bare(), TreeScene::bare());
    one.write("a", "1");
    other.write("a", "2");
    let cache = one.beside("cache");
    let both = |first: &TreeScene, second: &TreeScene| {
        fingerprint(&[&first.root(), &second.root()], TreeScope::Whole, &cache).unwrap()
    };
    let hash = both(&one, &other).hash().to_string();
    assert_eq!(both(&one, &other).count(), 2);
    assert_ne!(both(&other, &one).hash(), hash, "which is which counts");
    other.write("a", "3");
    assert_ne!(both(&one, &other).hash(), hash);
    let gone = fingerprint(&[&one.beside("nowhere")], TreeScope::Whole, &cache);
    assert!(matches!(gone, Err(TreeError::Root { .. })), "{gone:?}");
}

#[test]
fn two_at_once_do_no_harm() {
    let (scene, _) = scene();
    for round in 0..20 {
        scene.write("src/a.rs", &format!("round {round}"));
        let (one, other) = std::thread::scope(|scope| {
            let other = scope.spawn(|| scene.hash());
            (scene.hash(), other.join().unwrap())
        });
        assert_eq!(one, other);
        assert_eq!(one, scene.hash_afresh());
    }
}

/// Says, where it fails, what a stranger's `.gitignore` costs beside `git status`:
/// `cargo test --release -p stopgate-verify hostile -- --ignored`.
#[test]
#[ignore = "a measurement: it compares two times in one run"]
#[expect(clippy::disallowed_methods, reason = "a measurement")]
fn a_hostile_ignore_file_costs_at_most_twice_what_git_pays() {
    let scene = TreeScene::new();
    scene.write(".gitignore", &format!("{}/**/b\n", ["**/a"; 12].join("/")));
    scene.write(&format!("{}/c", ["a"; 28].join("/")), "c");
    let time = |work: &dyn Fn()| {
        let begun = std::time::Instant::now();
        work();
        begun.elapsed()
    };
    let git = time(&|| drop(scene.git(&["status", "--porcelain"])));
    let own = time(&|| drop(scene.hash_afresh()));
    // Git is asked on the way, and may take as long there.
    assert!(own <= git * 2 + Duration::from_millis(50), "git {git:?}, we {own:?}");
}
