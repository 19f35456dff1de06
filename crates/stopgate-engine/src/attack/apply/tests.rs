use std::fs;
use std::path::{Path, PathBuf};

use super::super::catalogue;
use super::super::exploit::Ecosystem;
use super::{Edits, Grounds, lines, prepended, with_setting};

fn state(root: &Path) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    let mut left = vec![root.to_path_buf()];
    while let Some(directory) = left.pop() {
        for entry in fs::read_dir(directory).expect("list").map(|entry| entry.expect("entry")) {
            if entry.path().is_dir() {
                left.push(entry.path());
            } else {
                found.push((entry.path(), fs::read_to_string(entry.path()).expect("read")));
            }
        }
    }
    found.sort();
    found
}

#[test]
fn every_exploit_is_taken_back_exactly() {
    let kept = tempfile::tempdir().expect("a directory");
    let root = kept.path().to_path_buf();
    let files = [
        ("tests/test_a.py", "def test_a():\n    assert 1 == 2\n"),
        ("test/a.test.js", "test('a', () => {\n  assert.equal(1, 2);\n});\n"),
        ("tests/a.rs", "#[test]\nfn a() {\n    assert_eq!(1, 2);\n}\n"),
        (
            "a_test.go",
            "package a\n\nimport \"testing\"\n\nfunc TestA(t *testing.T) {\n\tt.Fatal()\n}\n",
        ),
        ("Makefile", ".PHONY: test\ntest:\n\tsh run.sh\n"),
        ("run.sh", "#!/bin/sh\nset -e\nexit 1\n"),
        ("package.json", "{\"scripts\": {\"test\": \"node --test\"}}\n"),
        ("pyproject.toml", "[tool.pytest.ini_options]\naddopts = \"-q\"\n"),
        ("Cargo.toml", "[package]\nname = \"a\"\n"),
        ("features.json", "[{\"passes\": false}]\n"),
        ("stopgate.toml", "\n"),
    ];
    for (path, text) in files {
        fs::create_dir_all(root.join(path).parent().expect("a parent")).expect("a directory");
        fs::write(root.join(path), text).expect("a file");
    }
    let paths = files.iter().map(|(path, _)| PathBuf::from(path)).collect();
    let grounds = Grounds { root: root.clone(), files: paths, command: "sh run.sh".into() };
    let before = state(&root);
    let mut effective = 0;
    for exploit in catalogue::all() {
        let mut edits = Edits::default();
        let mut changed = false;
        for edit in exploit.edits {
            changed |= edits.apply(&grounds, exploit.ecosystem, edit).expect("apply");
        }
        assert_eq!(changed, state(&root) != before, "{}", exploit.name);
        effective += usize::from(changed);
        edits.undo(&root).expect("undo");
        assert_eq!(state(&root), before, "{}", exploit.name);
    }
    assert!(effective > 100, "{effective}");
}

#[test]
fn texts_are_edited_where_they_should_be() {
    assert_eq!(prepended("#!/bin/sh\nx\n", "exit 0\n"), "#!/bin/sh\nexit 0\nx\n");
    assert_eq!(lines("a:\n\tsh b\n", &["\t"], "-{}"), "a:\n\t-sh b\n");
    assert_eq!(lines("  assert x\ny\n", &["assert "], "pass"), "  pass\ny\n");
    assert_eq!(with_setting("[a]\nb = 1\n", "[a]", "b = 2"), "[a]\nb = 2\n");
    assert_eq!(with_setting("x\n", "[a]", "b = 2"), "x\n\n[a]\nb = 2\n");
}

#[test]
fn scripts_are_those_that_the_command_names() {
    let kept = tempfile::tempdir().expect("a directory");
    for name in ["go.sh", "other.sh"] {
        fs::write(kept.path().join(name), "exit 1\n").expect("a file");
    }
    let files = vec![PathBuf::from("go.sh"), PathBuf::from("other.sh")];
    let root = kept.path().to_path_buf();
    let grounds = Grounds { root, files, command: "sh ./go.sh | cat".into() };
    let picked = grounds.pick(super::Pick::Scripts, Ecosystem::Shell);
    assert_eq!(picked, [PathBuf::from("go.sh")]);
}
