//! Functions of a project by which its `CMakeLists.txt` build and register tests.

use super::files::{ProjectFiles, extension_of, name_of};
use super::names::is_foreign;
use super::{JudgeSet, sections};

/// How many files are read.
const FILES_MAX: usize = 500;

/// Notes the functions and macros that do nothing but build and register tests.
pub(super) fn note_registrars(set: &mut JudgeSet, files: &dyn ProjectFiles) {
    if !["cmake", "ctest"].iter().any(|tool| set.reach.tools.contains(*tool)) {
        return;
    }
    let is_cmake = |path: &&std::path::PathBuf| {
        let is_it = name_of(path) == "CMakeLists.txt" || extension_of(path) == "cmake";
        is_it && !is_foreign(path)
    };
    let found = files.paths().iter().filter(is_cmake).take(FILES_MAX);
    let texts = found.filter_map(|path| files.text(path));
    set.ground.registrars = texts.flat_map(|text| sections::test_registrars(&text)).collect();
}
