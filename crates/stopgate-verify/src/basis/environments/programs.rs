//! Programs in environments of Python that were written there instead of being installed: a script
//! that prefers `.venv/bin/python` is run by what is called so.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use stopgate_system::CanonicalPath;

use super::{SteeringFile, children, is_young, libraries};
use crate::files::{read_regular, read_text};
use crate::tree::{hash_of, hex};

/// Where a project has an environment by custom, also one that nothing marks as such.
const USUAL: [&str; 4] = [".venv", "venv", "env", ".env"];
/// Where an installed distribution lists its files, one a line.
const RECORD: &str = "RECORD";
/// How many programs are looked at.
const PROGRAMS_MAX: usize = 500;
const PROGRAM_BYTES_MAX: u64 = 256 * 1024;
const RECORD_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// The directories that may be used as environments by a check in `directory`.
pub(crate) fn usual_places(root: &Path, directory: &Path) -> Vec<PathBuf> {
    let places =
        directory.ancestors().flat_map(|place| USUAL.map(|own| root.join(place).join(own)));
    places.filter(|place| place.join("bin").is_dir()).collect()
}

/// The interpreters and the `called` programs in the environment at `prefix` that were written
/// there after `since` and that no installed distribution lists.
pub(crate) fn written_since(
    root: &Path,
    prefix: &Path,
    since: Option<i64>,
    called: &BTreeSet<&String>,
) -> Vec<SteeringFile> {
    let matters = |name: &str| {
        name.starts_with("python") || name == "activate" || called.iter().any(|own| *own == name)
    };
    let paths = children(&prefix.join("bin"), matters).into_iter().take(PROGRAMS_MAX);
    let scripts = paths.filter(|path| is_young(path, since)).filter_map(|path| {
        let text = own_text(root, prefix, &path)?;
        let content = hex(&hash_of(text.as_bytes()));
        says_otherwise(&path, &text).then_some(SteeringFile { path, content })
    });
    let mut found: Vec<SteeringFile> = scripts.collect();
    if !found.is_empty() {
        let listed = listed(prefix);
        found.retain(|own| name(&own.path).is_none_or(|name| !listed.contains(name)));
    }
    found
}

/// The text of a script that is part of the project; nothing where the name leads to a program of
/// the machine.
fn own_text(root: &Path, prefix: &Path, path: &Path) -> Option<String> {
    let whole = path.canonical().ok()?;
    let is_own = whole.starts_with(root) || whole.starts_with(prefix.canonical().ok()?);
    let bytes = is_own.then(|| read_regular(&whole, PROGRAM_BYTES_MAX).ok()).flatten()?;
    String::from_utf8(bytes).ok()
}

/// Whether the text is not what tools write that make environments.
fn says_otherwise(path: &Path, text: &str) -> bool {
    match name(path) {
        Some("activate") => !(text.contains("VIRTUAL_ENV") && text.contains("deactivate")),
        _ => true,
    }
}

/// The programs that installed distributions list: `../../../bin/pytest,sha256=…,208`.
fn listed(prefix: &Path) -> BTreeSet<String> {
    let directories = libraries(prefix).into_iter();
    let infos = directories.flat_map(|place| children(&place, |name| name.ends_with(".dist-info")));
    let texts = infos.filter_map(|info| read_text(&info.join(RECORD), RECORD_BYTES_MAX).ok());
    let mut found = BTreeSet::new();
    for text in texts {
        let paths = text.lines().filter_map(|line| line.split(',').next());
        let programs = paths.filter_map(|path| path.rsplit_once("/bin/"));
        found.extend(programs.map(|(_, name)| name.to_string()));
    }
    found
}

fn name(path: &Path) -> Option<&str> {
    path.file_name().and_then(|name| name.to_str())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn environment() -> (tempfile::TempDir, PathBuf) {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().canonical().unwrap();
        let info = root.join(".venv/lib/python3.12/site-packages/pytest-8.0.dist-info");
        fs::create_dir_all(&info).unwrap();
        fs::create_dir_all(root.join(".venv/bin")).unwrap();
        fs::write(info.join(RECORD), "pytest/__init__.py,,\n../../../bin/pytest,sha256=x,9\n")
            .unwrap();
        (directory, root)
    }

    fn found(root: &Path) -> Vec<String> {
        let [pytest, mypy] = ["pytest", "mypy"].map(String::from);
        let called = BTreeSet::from([&pytest, &mypy]);
        let [prefix] = usual_places(root, Path::new("")).try_into().unwrap();
        let all = written_since(root, &prefix, Some(0), &called).into_iter();
        all.map(|own| name(&own.path).unwrap().to_string()).collect()
    }

    #[test]
    fn what_was_installed_is_told_from_what_was_written() {
        let (_directory, root) = environment();
        let bin = root.join(".venv/bin");
        fs::write(bin.join("pytest"), "#!/w/.venv/bin/python\n").unwrap();
        fs::write(bin.join("tidyup"), "#!/bin/sh\n").unwrap();
        fs::write(bin.join("activate"), "VIRTUAL_ENV=/w/.venv\ndeactivate () {\n").unwrap();
        assert!(found(&root).is_empty());
        fs::write(bin.join("python"), "#!/bin/sh\necho '3 passed'\n").unwrap();
        fs::write(bin.join("mypy"), "#!/bin/sh\n").unwrap();
        fs::write(bin.join("activate"), "pytest() { :; }\n").unwrap();
        assert_eq!(found(&root), ["activate", "mypy", "python"]);
    }

    #[cfg(unix)]
    #[test]
    fn an_interpreter_of_the_machine_is_no_script_of_the_project() {
        use std::os::unix::fs::symlink;
        let (_directory, root) = environment();
        let bin = root.join(".venv/bin");
        symlink("/bin/sh", bin.join("python3")).unwrap();
        fs::write(bin.join("python3.12"), b"\x7fELF\xff\xfe").unwrap();
        assert!(found(&root).is_empty());
        fs::write(root.join("fake"), "#!/bin/sh\n").unwrap();
        symlink("../../fake", bin.join("python")).unwrap();
        assert_eq!(found(&root), ["python"]);
    }
}
