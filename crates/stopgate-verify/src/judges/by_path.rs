//! What can be said about a file by its path alone, whatever the check is.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::Path;
use std::sync::LazyLock;

use stopgate_core::Criterion;
use stopgate_system::ffi::OsStrExt;

use super::configuration::ToolConfiguration;
use super::files::{extension_of, name_of};
use super::names::{
    NameSays, PRODUCTS, directories, is_code, is_environment, is_foreign, said, says_reference,
    words,
};
use super::python_modules::is_known_module;
use super::role::CheckConduct;
use super::test_modules::says_local;
use super::warnings::warnings;

static ANY_TOOL: LazyLock<ToolConfiguration> =
    LazyLock::new(|| ToolConfiguration::of(&BTreeSet::new(), CheckConduct::Unknown));

/// Files that make reads instead of the one it would have read.
const MAKEFILES: [&str; 3] = ["GNUmakefile", "makefile", "Makefile"];

/// Whether a runner may read the file although git ignores it.
pub(crate) fn may_judge(path: &[u8]) -> bool {
    let path = Path::new(OsStr::from_bytes(path));
    if is_foreign(path) {
        return false;
    }
    said(path).is_some()
        || is_environment(path)
        || ANY_TOOL.tool_of(path).is_some()
        || MAKEFILES.contains(&name_of(path))
        || name_of(path) == "go.work"
        || is_included_by_habit(path)
        || hides_a_module(path)
        || is_of_somebody(path)
        || declares_plugins(path)
}

/// Whether the name says that a makefile or a justfile includes the file: `config.mk`, which the
/// person's machine has, and git ignores.
fn is_included_by_habit(path: &Path) -> bool {
    let name = name_of(path);
    let is_part = |own: &&str| name.strip_prefix(own).is_some_and(|rest| rest.starts_with('.'));
    ["mk", "mak", "make", "just"].contains(&extension_of(path)) || MAKEFILES.iter().any(is_part)
}

/// Whether pytest may find plugins there: `tool.egg-info/entry_points.txt`.
fn declares_plugins(path: &Path) -> bool {
    let place = path.parent().map(name_of).unwrap_or_default();
    name_of(path) == "entry_points.txt"
        && [".egg-info", ".dist-info"].iter().any(|end| place.ends_with(end))
}

/// Whether Python could take the file for a module that everybody has.
fn hides_a_module(path: &Path) -> bool {
    let stem = path.file_stem().and_then(OsStr::to_str).unwrap_or_default();
    ["py", "pyc", "so"].contains(&extension_of(path)) && is_known_module(stem)
}

/// Whether tests may look for it: `settings_local.py`.
fn is_of_somebody(path: &Path) -> bool {
    const ENDS: [&str; 7] = ["py", "json", "toml", "yaml", "yml", "ini", "cfg"];
    ENDS.contains(&extension_of(path)) && says_local(name_of(path))
}

/// Whether the name says that the file is a test, or what tests read.
pub(crate) fn is_test_path(path: &Path) -> bool {
    said(path).is_some()
}

/// Whether the name says that the file is the source of tests, and not what sets them up.
pub(crate) fn is_test_source(path: &Path) -> bool {
    let name = name_of(path).to_ascii_lowercase();
    let sets_up = ["conftest", "setup", "config", "environment"];
    said(path) == Some(NameSays::Test)
        && is_code(extension_of(path))
        && !sets_up.iter().any(|word| name.contains(word))
}

/// Whether the file is in a directory in which builds leave what they make.
pub(crate) fn is_product(path: &Path) -> bool {
    directories(path).any(|own| PRODUCTS.contains(&own) || own == "generated")
}

/// Whether the name says that an output is compared with the file.
pub(crate) fn is_reference(path: &Path) -> bool {
    said(path) == Some(NameSays::Data) || says_reference(path)
}

/// Whether the name says that outputs are compared with what is in the directory.
pub(crate) fn is_reference_place(path: &Path) -> bool {
    const WORDS: [&str; 12] = [
        "cases",
        "references",
        "baselines",
        "vectors",
        "samples",
        "contract",
        "contracts",
        "conformance",
        "expectations",
        "fixture",
        "goldens",
        "snapshots",
    ];
    let name = Path::new(path.file_name().unwrap_or_default());
    is_reference(&name.join("x.txt"))
        || says_reference(name)
        || words(name_of(name)).iter().any(|word| WORDS.contains(&word.as_str()))
}

/// Whether the name says that the file checks something.
pub(crate) fn says_judge(path: &Path) -> bool {
    super::names::says_judge(Path::new(path.file_name().unwrap_or_default()))
}

/// Whether a directory of this name holds installed or built things.
pub(crate) fn is_installed(name: &[u8]) -> bool {
    is_foreign(&Path::new(OsStr::from_bytes(name)).join("x"))
}

/// What a person should know about a criterion's check, one sentence each.
pub fn check_warnings(criterion: &Criterion) -> Vec<String> {
    warnings(criterion).iter().map(|warning| format!("{}: {warning}", criterion.name)).collect()
}

/// The variables of this process that steer runners, by name.
pub fn steering_variables() -> Vec<String> {
    let names: Vec<String> = crate::env::kept_variables()
        .into_iter()
        .filter_map(|(name, _)| name.into_string().ok())
        .collect();
    super::steering::steering(names.iter().map(String::as_str))
        .into_iter()
        .map(String::from)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ignored_files_that_a_runner_may_read_are_judges() {
        for path in [
            "tests/a.py",
            "a/x.snap",
            ".env",
            "pytest.ini",
            "Makefile",
            "makefile",
            "a/GNUmakefile",
            "config.mk",
            "Makefile.local",
            "local.just",
            "random.py",
            "json.pyc",
            "a/re.so",
            "settings_local.py",
        ] {
            assert!(may_judge(path.as_bytes()), "{path}");
        }
        for path in ["node_modules/a/tests/a.js", "a/parser.py", "a/random.txt", "build.log"] {
            assert!(!may_judge(path.as_bytes()), "{path}");
        }
        for path in ["tests/test_area.py", "src/a.test.js", "pkg/a_test.go", "tests/util.py"] {
            assert!(is_test_source(Path::new(path)), "{path}");
        }
        for path in ["tests/conftest.py", "jest.setup.js", "src/a.py", "tests/expected.txt"] {
            assert!(!is_test_source(Path::new(path)), "{path}");
        }
        assert!(is_installed(b"node_modules"));
        assert!(!is_installed(b"src"));
    }
}
