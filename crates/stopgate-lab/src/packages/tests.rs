use std::os::unix::fs::PermissionsExt;

use tempfile::TempDir;

use super::*;

const PACKAGE: Package =
    Package { name: "lab-tool", id: "@lab/tool", version: "1.2.3", slot: FetchSlot::First };

/// A directory with an `npm` that is this script.
fn npm(script: &str) -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("npm");
    fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    directory
}

#[test]
fn a_package_is_fetched_once() {
    let lab = tempfile::tempdir().unwrap();
    let calls = lab.path().join("calls");
    let script = format!(
        "echo \"$@\" >>'{}'; mkdir -p node_modules/.bin; echo tool >node_modules/.bin/lab-tool",
        calls.display()
    );
    let npm = npm(&script);
    let paths = [0; 2].map(|_| PACKAGE.install_in(lab.path(), Some(npm.path())).unwrap());
    assert_eq!(paths[0], lab.path().join("lab-tool-1.2.3/node_modules/.bin/lab-tool"));
    assert_eq!(paths[0], paths[1]);
    let calls = fs::read_to_string(calls).unwrap();
    assert_eq!(calls, "install --no-audit --no-fund --loglevel=error @lab/tool@1.2.3\n");
}

#[test]
fn a_package_that_does_not_come_is_named() {
    for (script, said) in [
        ("echo no such package >&2; exit 1", "no such package"),
        ("mkdir -p node_modules/.bin", "the package has no such program"),
    ] {
        let (lab, npm) = (tempfile::tempdir().unwrap(), npm(script));
        let error = PACKAGE.install_in(lab.path(), Some(npm.path())).unwrap_err();
        assert_eq!(error.to_string(), format!("install lab-tool 1.2.3 with npm: {said}"));
        assert!(!lab.path().join("lab-tool-1.2.3").exists());
    }
}
