use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use stopgate_system::fs::{PermissionsExt, symlink};

use super::{OutsideChange, OutsideFile, Reached, Undone, Variables};
use crate::basis::keep::ContentStore;

fn note(
    root: &Path,
    variables: &Variables,
    files: &[PathBuf],
    keep: &mut ContentStore<'_>,
) -> Vec<OutsideFile> {
    let files: BTreeSet<PathBuf> = files.iter().cloned().collect();
    let reached = Reached { programs: files.clone(), files };
    super::note(root, variables, &BTreeSet::new(), reached, keep)
}

fn changes(
    noted: &[OutsideFile],
    root: &Path,
    variables: &Variables,
    keep: &ContentStore<'_>,
) -> Vec<OutsideChange> {
    super::changes(noted, root, variables, &BTreeSet::new(), keep)
}

fn says(content: &str) -> Undone {
    Undone::Says { content: content.into(), executable: false }
}

#[test]
fn a_file_above_the_project_that_comes_or_changes_is_told_with_what_it_was() {
    let directory = tempfile::tempdir().unwrap();
    let base = directory.path().canonicalize().unwrap();
    let (root, home, store) = (base.join("a/project"), base.join("home"), base.join("objects"));
    fs::create_dir_all(&root).unwrap();
    fs::create_dir_all(home.join(".cargo")).unwrap();
    fs::write(home.join(".cargo/config.toml"), "[build]\n").unwrap();
    let variables = Variables { home: Some(home.clone()), ..Variables::default() };
    let noted = note(&root, &variables, &[], &mut ContentStore::new(&store, 1 << 20));
    let keep = ContentStore::new(&store, 0);
    assert_eq!(changes(&noted, &root, &variables, &keep), []);

    fs::write(base.join("a/conftest.py"), "import os\n").unwrap();
    fs::write(home.join(".cargo/config.toml"), "[target.x]\nrunner = 'true'\n").unwrap();
    let found = changes(&noted, &root, &variables, &keep);
    let told: Vec<_> = found.iter().map(|one| (one.path.clone(), one.undone.clone())).collect();
    assert_eq!(
        told,
        [
            (base.join("a/conftest.py"), Undone::Absent),
            (home.join(".cargo/config.toml"), says("[build]\n")),
        ]
    );
}

#[test]
fn code_that_python_runs_at_its_start_is_watched() {
    let directory = tempfile::tempdir().unwrap();
    let base = directory.path().canonicalize().unwrap();
    let root = base.join("project");
    let site = root.join(".venv/lib/python3.12/site-packages");
    fs::create_dir_all(&site).unwrap();
    fs::write(site.join("real.pth"), "/opt/lib\n").unwrap();
    let variables = Variables { virtual_env: Some(root.join(".venv")), ..Variables::default() };
    let store = base.join("objects");
    let noted = note(&root, &variables, &[], &mut ContentStore::new(&store, 1 << 20));
    fs::write(site.join("evil.pth"), "import os\n").unwrap();
    fs::write(site.join("usercustomize.py"), "import os\n").unwrap();
    let plugin = site.join("plugin-1.dist-info");
    fs::create_dir(&plugin).unwrap();
    fs::write(plugin.join("entry_points.txt"), "[pytest11]\nx = x\n").unwrap();
    let found = changes(&noted, &root, &variables, &ContentStore::new(&store, 0));
    let names: Vec<_> = found.iter().map(|one| one.path.strip_prefix(&site).unwrap()).collect();
    let names: Vec<_> = names.iter().map(|name| name.display().to_string()).collect();
    assert_eq!(names, ["evil.pth", "plugin-1.dist-info/entry_points.txt", "usercustomize.py"]);
}

#[test]
fn a_program_is_seen_as_it_was_or_a_person_is_asked() {
    let directory = tempfile::tempdir().unwrap();
    let base = directory.path().canonicalize().unwrap();
    let root = base.join("project");
    fs::create_dir_all(&root).unwrap();
    let paths = ["lint", "gone", "new", "linked", "large", "other"].map(|name| base.join(name));
    let [lint, gone, new, linked, large, other] = &paths;
    let large_text = |letter: &str| letter.repeat(2 << 20);
    for (path, text) in [(lint, "a"), (gone, "b"), (large, &*large_text("c"))] {
        fs::write(path, text).unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let variables = Variables::default();
    let store = base.join("objects");
    let noted = note(&root, &variables, &paths, &mut ContentStore::new(&store, 1 << 20));
    let keep = ContentStore::new(&store, 0);
    let found = || changes(&noted, &root, &variables, &keep);
    assert_eq!(found(), []);

    fs::set_permissions(lint, fs::Permissions::from_mode(0o644)).unwrap();
    fs::remove_file(gone).unwrap();
    fs::write(new, "d").unwrap();
    symlink("/bin/sh", linked).unwrap();
    fs::write(large, large_text("e")).unwrap();
    symlink(new, other).unwrap();
    let all = found();
    let undone = |path: &PathBuf| all.iter().find(|one| one.path == *path).map(|one| &one.undone);
    assert_eq!(
        undone(lint),
        Some(&Undone::Says { content: "a".into(), executable: true }),
        "it can't be run"
    );
    assert_eq!(undone(gone), Some(&Undone::Never));
    assert_eq!(undone(new), Some(&Undone::Absent));
    assert_eq!(undone(linked), Some(&Undone::Never), "others need the program");
    assert_eq!(undone(large), None, "it was updated");
    fs::write(large, "exit 0").unwrap();
    assert_eq!(found().iter().find(|one| one.path == *large).unwrap().undone, Undone::Never);
}

#[test]
fn settings_of_linters_above_the_project_count_where_they_are_used() {
    let directory = tempfile::tempdir().unwrap();
    let base = directory.path().canonicalize().unwrap();
    let root = base.join("project");
    fs::create_dir_all(&root).unwrap();
    let (variables, store) = (Variables::default(), base.join("objects"));
    let tool = "shellcheck".to_string();
    let mut keep = ContentStore::new(&store, 1 << 20);
    let tools = BTreeSet::from([&tool]);
    let noted = super::note(&root, &variables, &tools, Reached::default(), &mut keep);
    fs::write(base.join(".shellcheckrc"), "disable=all\n").unwrap();
    fs::write(base.join(".rubocop.yml"), "x: y\n").unwrap();
    let found = super::changes(&noted, &root, &variables, &tools, &keep);
    let names: Vec<_> = found.iter().map(|one| one.path.clone()).collect();
    assert_eq!(names, [base.join(".shellcheckrc")]);
    assert_eq!(changes(&noted, &root, &variables, &keep), []);
}
