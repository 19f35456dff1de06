//! Build scripts of Cargo packages, as far as tests depend on them: files that only tests include,
//! and variables and switches that only tests ask for.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::JudgeSet;
use super::files::{ProjectFiles, below, directory_of, extension_of, name_of};
use super::names::is_foreign;
use super::role::Why;
use super::rust_helpers::without_tests;

/// How many sources are read.
const FILES_MAX: usize = 6_000;

/// What Cargo tells each package, and a build script could tell otherwise.
const CARGO: [&str; 4] = ["CARGO_MANIFEST_DIR", "CARGO_BIN_EXE_", "CARGO_TARGET_TMPDIR", "OUT_DIR"];

/// Whether the file is one: `build.rs`, outside of sources and tests.
pub(super) fn is_build_script(path: &Path) -> bool {
    name_of(path) == "build.rs"
        && !path.components().any(|part| part.as_os_str() == "src" || part.as_os_str() == "tests")
}

/// Build scripts that do nothing but write tests.
pub(super) fn add_generators(set: &mut JudgeSet, files: &dyn ProjectFiles) {
    if !set.judges_rust() {
        return;
    }
    let judges = set.whole(files);
    let judges: BTreeSet<&Path> = judges.iter().map(PathBuf::as_path).collect();
    let scripts = files.paths().iter().filter(|path| is_build_script(path));
    let scripts = scripts.filter(|path| !is_foreign(path) && !judges.contains(path.as_path()));
    let generators = scripts.filter(|path| writes_tests(path, files, &judges)).cloned();
    let generators: Vec<PathBuf> = generators.collect();
    set.add(generators, &Why::Helper);
}

/// What tests in Rust ask for that a build script may tell, and the work does not ask for.
pub(super) fn note_told(set: &mut JudgeSet, files: &dyn ProjectFiles) {
    if !set.judges_rust() {
        return;
    }
    let judges = set.whole(files);
    let judges: BTreeSet<&Path> = judges.iter().map(PathBuf::as_path).collect();
    let is_source =
        |path: &&PathBuf| extension_of(path) == "rs" && !is_foreign(path) && !is_build_script(path);
    let sources: Vec<&PathBuf> = files.paths().iter().filter(is_source).collect();
    // Too much to be sure that no work asks for them.
    if sources.len() > FILES_MAX {
        return;
    }
    let (mut by_tests, mut by_work) = (BTreeSet::new(), BTreeSet::new());
    for path in sources {
        let text = files.text(path).unwrap_or_default();
        let own = if judges.contains(path.as_path()) { "" } else { without_tests(&text) };
        by_work.extend(asked(own));
        by_tests.extend(asked(&text[own.len()..]));
    }
    let is_cargos = |name: &String| CARGO.iter().any(|own| name.starts_with(own));
    by_tests.retain(|name| is_cargos(name) || !by_work.contains(name));
    set.ground.told = by_tests;
}

/// A build script whose files only tests include.
fn writes_tests(script: &Path, files: &dyn ProjectFiles, judges: &BTreeSet<&Path>) -> bool {
    let text = files.text(script).unwrap_or_default();
    let tells_work = ["rustc-env", "rustc-cfg", "rustc-link"];
    if !text.contains("OUT_DIR") || tells_work.iter().any(|word| text.contains(word)) {
        return false;
    }
    let place = directory_of(script);
    let own = below(files, &place)
        .filter(|path| extension_of(path) == "rs" && !is_build_script(path))
        .take(FILES_MAX);
    let includes =
        |path: &PathBuf| without_tests(&files.text(path).unwrap_or_default()).contains("OUT_DIR");
    let (tests, work): (Vec<_>, Vec<_>) = own.partition(|path| judges.contains(path.as_path()));
    tests.into_iter().any(includes) && !work.into_iter().any(includes)
}

/// Variables, switches and files of the build that a source asks for.
fn asked(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for rest in text.split("env!(").skip(1) {
        let name = rest.trim_start().strip_prefix('"').and_then(|rest| rest.split('"').next());
        found.extend(name.map(str::to_string));
    }
    for rest in text.split("OUT_DIR\"").skip(1) {
        let file = rest.split('"').nth(1).and_then(|word| word.strip_prefix('/'));
        found.extend(file.map(str::to_string));
    }
    for rest in text.split("cfg").skip(1) {
        let inner = ["(", "!(", "_attr("].iter().find_map(|begin| rest.strip_prefix(begin));
        found.extend(inner.into_iter().flat_map(switches));
    }
    found.retain(|name| !name.is_empty());
    found
}

/// The names before the bracket is closed.
fn switches(text: &str) -> Vec<String> {
    let mut depth = 1_usize;
    let end = text.find(|letter: char| {
        depth = match letter {
            '(' => depth + 1,
            ')' => depth - 1,
            _ => depth,
        };
        depth == 0
    });
    let is_sign = |letter: char| !letter.is_alphanumeric() && letter != '_';
    text[..end.unwrap_or_default()].split(is_sign).map(str::to_string).collect()
}
