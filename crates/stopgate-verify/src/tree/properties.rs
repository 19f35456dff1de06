use std::collections::BTreeMap;
use std::fs;
use std::time::Duration;

use proptest::prelude::*;

use super::scene::TreeScene;

/// What somebody does to a tree.
#[derive(Clone, Debug)]
enum Edit {
    Write(String, String),
    Remove(String),
    Rename(String, String),
    Execute(String),
    Link(String, String),
    Look,
}

fn path() -> impl Strategy<Value = String> {
    let name = prop::sample::select(vec!["a", "b", "c", "A", "x.log", "keep.log", "out", "é"]);
    prop::collection::vec(name, 1..4).prop_map(|names| names.join("/"))
}

fn edit() -> impl Strategy<Value = Edit> {
    let text = prop::sample::select(vec!["", "1", "2", "other"]);
    prop_oneof![
        4 => (path(), text.clone()).prop_map(|(path, text)| Edit::Write(path, text.into())),
        2 => path().prop_map(Edit::Remove),
        2 => (path(), path()).prop_map(|(from, to)| Edit::Rename(from, to)),
        1 => path().prop_map(Edit::Execute),
        1 => (path(), text).prop_map(|(path, target)| Edit::Link(path, format!("to{target}"))),
        3 => Just(Edit::Look),
    ]
}

/// Does what can be done; what can't is left.
fn act(scene: &TreeScene, edit: &Edit) {
    let at = |path: &String| scene.path(path);
    match edit {
        Edit::Write(path, text) => {
            let _ = at(path).parent().map(fs::create_dir_all);
            let _ = fs::write(at(path), text);
        }
        Edit::Remove(path) => {
            let _ = fs::remove_file(at(path)).or_else(|_| fs::remove_dir_all(at(path)));
        }
        Edit::Rename(from, to) => {
            let _ = fs::rename(at(from), at(to));
        }
        Edit::Execute(path) => {
            if at(path).symlink_metadata().is_ok_and(|found| found.is_file()) {
                scene.mode(path, 0o755);
            }
        }
        Edit::Link(path, target) => {
            let _ = std::os::unix::fs::symlink(target, at(path));
        }
        Edit::Look => {}
    }
}

/// What the fingerprint stands for, found in the plainest way.
fn plain(scene: &TreeScene) -> BTreeMap<String, String> {
    let listed = scene.git(&["ls-files", "-co", "--exclude-standard", "-z"]);
    let listed = String::from_utf8(listed).expect("names");
    let mut found = BTreeMap::new();
    for name in listed.split('\0').filter(|name| !name.is_empty()) {
        let path = scene.path(name);
        let Ok(metadata) = path.symlink_metadata() else { continue };
        let text = if metadata.is_symlink() {
            format!("to {:?}", fs::read_link(&path).expect("a link"))
        } else if metadata.is_file() {
            let mode = std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o100;
            format!("{mode} {}", fs::read_to_string(&path).expect("a file"))
        } else {
            continue;
        };
        found.insert(name.to_string(), text);
    }
    found
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_fingerprint_changes_exactly_with_what_it_stands_for(
        edits in prop::collection::vec(edit(), 1..24)
    ) {
        let scene = TreeScene::new();
        scene.write(".gitignore", "*.log\n!keep.log\nout/\n").write("a/x.log", "tracked");
        scene.git(&["add", "-f", "a/x.log"]);
        let mut seen: BTreeMap<String, BTreeMap<String, String>> = BTreeMap::new();
        for edit in &edits {
            act(&scene, edit);
            if !matches!(edit, Edit::Look) {
                continue;
            }
            let hash = scene.hash();
            prop_assert_eq!(&hash, &scene.hash_afresh());
            prop_assert_eq!(&hash, &scene.hash_later());
            // What happens from here on happens in another tick.
            std::thread::sleep(Duration::from_millis(12));
            let plain = plain(&scene);
            let names: Vec<String> = super::scene::names(&scene.tree());
            let plain_names: Vec<&String> = plain.keys().collect();
            let bare: Vec<&str> = names.iter().map(|name| name.trim_end_matches(['*', '@'])).collect();
            prop_assert_eq!(bare, plain_names);
            for (known, files) in &seen {
                prop_assert_eq!(known == &hash, files == &plain);
            }
            seen.insert(hash, plain);
        }
    }

    #[test]
    fn what_is_ignored_is_what_git_ignores(
        rules in prop::collection::vec(rule(), 1..6),
        inner in prop::collection::vec(rule(), 0..3),
        paths in prop::collection::vec(path(), 1..12),
    ) {
        let scene = TreeScene::new();
        for path in &paths {
            act(&scene, &Edit::Write(path.clone(), "x".into()));
        }
        scene.write(".gitignore", &rules.join("\n"));
        if scene.path("a").is_dir() {
            scene.write("a/.gitignore", &inner.join("\n"));
        }
        let plain: Vec<String> = plain(&scene).into_keys().collect();
        prop_assert_eq!(super::scene::names(&scene.tree()), plain);
    }
}

fn rule() -> impl Strategy<Value = String> {
    let part = prop::sample::select(vec![
        "a",
        "b",
        "*",
        "**",
        "?",
        "[ab]",
        "[!a]",
        "*.log",
        "x.*",
        "out",
        "keep.log",
        "a*",
        "\\a",
        "**b",
        "[[:upper:]]",
    ]);
    let parts = prop::collection::vec(part, 1..4);
    let (begin, end) = (
        prop::sample::select(vec!["", "", "!", "/", "!/", "#", "\\!"]),
        prop::sample::select(vec!["", "", "/", "/**", " ", "\\ ", "\r"]),
    );
    (begin, parts, end).prop_map(|(begin, parts, end)| format!("{begin}{}{end}", parts.join("/")))
}
