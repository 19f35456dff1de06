use std::fs;

use super::{Variables, changes, note};
use crate::basis::keep::ContentStore;

#[test]
fn a_file_above_the_project_that_comes_or_changes_is_told_with_what_it_was() {
    let directory = tempfile::tempdir().unwrap();
    let base = directory.path().canonicalize().unwrap();
    let (root, home, store) = (base.join("a/project"), base.join("home"), base.join("objects"));
    fs::create_dir_all(&root).unwrap();
    fs::create_dir_all(home.join(".cargo")).unwrap();
    fs::write(home.join(".cargo/config.toml"), "[build]\n").unwrap();
    let variables = Variables { home: Some(home.clone()), ..Variables::default() };
    let noted = note(&root, &variables, Vec::new(), &mut ContentStore::new(&store, 1 << 20));
    let keep = ContentStore::new(&store, 0);
    assert_eq!(changes(&noted, &root, &variables, &keep), []);

    fs::write(base.join("a/conftest.py"), "import os\n").unwrap();
    fs::write(home.join(".cargo/config.toml"), "[target.x]\nrunner = 'true'\n").unwrap();
    let found = changes(&noted, &root, &variables, &keep);
    let told: Vec<_> = found.iter().map(|one| (one.path.clone(), one.original.clone())).collect();
    assert_eq!(
        told,
        [
            (base.join("a/conftest.py"), None),
            (home.join(".cargo/config.toml"), Some(b"[build]\n".to_vec())),
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
    let noted = note(&root, &variables, Vec::new(), &mut ContentStore::new(&store, 1 << 20));
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
