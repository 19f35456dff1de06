//! Data of tests that scripts read, where the check runs no test runner: `fixtures/people.csv`.
//!
//! Without a runner a directory's name alone says nothing. A file in it that a script of the check
//! names is what the check is fed with, also where that script is the work.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::super::files::{ProjectFiles, directory_of, extension_of, normal};
use super::super::imports::quoted_paths;
use super::super::names::{NameSays, is_code, is_foreign, said};

/// How many scripts are read.
const SCRIPTS_MAX: usize = 200;

/// The data that the scripts of a check name, by their paths from the root or from beside them.
pub(in crate::judges) fn data<'s>(
    files: &dyn ProjectFiles,
    scripts: impl Iterator<Item = &'s Path>,
) -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    for script in scripts.filter(|path| is_code(extension_of(path))).take(SCRIPTS_MAX) {
        let text = files.text(script).unwrap_or_default();
        let own = directory_of(script);
        let places = |word: &str| [normal(&own.join(word)), normal(Path::new(word))];
        let named = quoted_paths(&text).flat_map(places).flatten();
        let is_data = |path: &PathBuf| {
            said(path) == Some(NameSays::Data) && !is_code(extension_of(path)) && !is_foreign(path)
        };
        found.extend(named.filter(is_data).filter(|path| files.paths().contains(path)));
    }
    found
}
