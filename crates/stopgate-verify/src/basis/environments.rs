//! Virtual environments of Python that a check may use: in the project, or named by its command.
//!
//! To install packages is everyday work. Code that Python runs at its start, and plugins that
//! pytest loads by themselves, steer the runner: an original run goes without those that came since
//! the start.

mod programs;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use stopgate_system::CanonicalPath;

pub(crate) use self::programs::{usual_places, written_since};
use super::outside::{children, read, steering_in};
use crate::files::read_text;
use crate::tree::{Stat, hash_of, hex};

/// Directories in which tools make environments of their own.
const MADE_BY_TOOLS: [&str; 2] = [".tox", ".nox"];
/// What marks an environment.
const MARKER: &str = "pyvenv.cfg";
/// Where a distribution says what others may load of it.
const DECLARATION: &str = "entry_points.txt";

/// Where a project says which distributions it needs.
const MANIFESTS: [&str; 12] = [
    "pyproject.toml",
    "setup.cfg",
    "setup.py",
    "tox.ini",
    "noxfile.py",
    "Pipfile",
    "environment.yml",
    "Makefile",
    "justfile",
    "Dockerfile",
    "uv.lock",
    "poetry.lock",
];
/// Where else it does.
const REQUIREMENTS: &str = "requirements";
/// How many directories that a `.pth` names are looked into.
const PLACES_MAX: usize = 50;
const MANIFEST_BYTES_MAX: u64 = 1024 * 1024;

/// A plugin that pytest loads because it is installed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RunnerPlugin {
    /// The distribution, without its version.
    name: String,
    /// The fingerprint of what it declares; nothing where the project only says that it needs it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    content: Option<String>,
}

/// A file of an environment that steers the runner, with its fingerprint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SteeringFile {
    pub(crate) path: PathBuf,
    pub(crate) content: String,
}

/// The environments that a check in `directory` may use, by their whole paths.
pub(crate) fn in_reach(root: &Path, directory: &Path, command: &str) -> Vec<PathBuf> {
    let places = directory.ancestors().flat_map(|place| {
        let place = root.join(place);
        MADE_BY_TOOLS.map(|own| place.join(own)).into_iter().chain([place])
    });
    let own = places.flat_map(|place| children(&place, |_| true));
    let is_end = |c: char| c.is_whitespace() || "\"'`;|&()<>=".contains(c);
    let named = command.split(is_end).filter_map(|word| word.split_once("/bin/"));
    let named = named.map(|(prefix, _)| root.join(directory).join(prefix));
    let marked = own.chain(named).filter(|prefix| prefix.join(MARKER).is_file());
    let mut found: Vec<PathBuf> = marked.filter_map(|prefix| prefix.canonical().ok()).collect();
    found.sort();
    found.dedup();
    found
}

impl RunnerPlugin {
    /// The plugins in these environments, and those that the project says it needs: an environment
    /// may be made only later.
    pub(crate) fn note(root: &Path, directory: &Path, environments: &[PathBuf]) -> Vec<Self> {
        let files = environments.iter().flat_map(|prefix| steering(prefix));
        let mut found: Vec<Self> = files.filter_map(|path| Self::of(&path)).collect();
        found.extend(needed(root, directory).into_iter().map(|name| Self { name, content: None }));
        found
    }

    fn of(declaration: &Path) -> Option<Self> {
        let directory = declaration.parent().filter(|_| declaration.ends_with(DECLARATION))?;
        let name = directory.file_name()?.to_str()?;
        let name = name.split_once('-').map_or(name, |(name, _)| name);
        let content = Some(hex(&hash_of(&read(declaration)?)));
        Some(Self { name: normal(name), content })
    }

    fn is_known(&self, known: &[Self]) -> bool {
        let is_same = |own: &Self| own.content.is_none() || own.content == self.content;
        known.iter().any(|own| own.name == self.name && is_same(own))
    }
}

/// A distribution's name as Python compares it.
fn normal(name: &str) -> String {
    name.to_lowercase().replace(['_', '.'], "-")
}

/// Words of the project's manifests that are names of distributions with plugins.
fn needed(root: &Path, directory: &Path) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for place in directory.ancestors().map(|place| root.join(place)) {
        let named = children(&place, |name| name.starts_with(REQUIREMENTS));
        let inner = children(&place.join(REQUIREMENTS), |_| true);
        let files = MANIFESTS.map(|name| place.join(name)).into_iter().chain(named).chain(inner);
        let texts = files.filter_map(|path| read_text(&path, MANIFEST_BYTES_MAX).ok());
        found.extend(texts.flat_map(|text| plugin_names(&text)));
    }
    found
}

fn plugin_names(text: &str) -> BTreeSet<String> {
    // Most plugins are called so; these are the widespread ones that are not.
    const OTHERS: [&str; 10] = [
        "anyio",
        "hypothesis",
        "faker",
        "requests-mock",
        "respx",
        "syrupy",
        "pyfakefs",
        "time-machine",
        "typeguard",
        "inline-snapshot",
    ];
    let is_end = |c: char| !(c.is_ascii_alphanumeric() || "-_.".contains(c));
    let words = text.split(is_end).map(|word| normal(word.trim_matches(['-', '.'])));
    words.filter(|word| word.starts_with("pytest-") || OTHERS.contains(&word.as_str())).collect()
}

/// What came into the environment at `prefix` after `since` and steers the runner: code that Python
/// runs at its start, and plugins that are not among the `known` ones. What installers put there for
/// a package to be found is left out.
pub(crate) fn steering_since(
    root: &Path,
    prefix: &Path,
    since: Option<i64>,
    known: &[RunnerPlugin],
) -> Vec<SteeringFile> {
    let steers = |path: &Path, content: &[u8]| match RunnerPlugin::of(path) {
        Some(plugin) => !plugin.is_known(known),
        None => runs_code(path, content) || leads_to_copy(root, content),
    };
    let found =
        steering(prefix).into_iter().filter(|path| is_young(path, since)).filter_map(|path| {
            let content = read(&path)?;
            steers(&path, &content).then(|| SteeringFile { path, content: hex(&hash_of(&content)) })
        });
    found.collect()
}

/// Whether the file was written after `since`.
fn is_young(path: &Path, since: Option<i64>) -> bool {
    let written = fs::metadata(path).ok().map(|found| Stat::of_metadata(&found).ctime);
    written.is_some_and(|written| since.is_none_or(|since| written > since))
}

fn steering(prefix: &Path) -> Vec<PathBuf> {
    libraries(prefix).iter().flat_map(|place| steering_in(place)).collect()
}

/// Where the environment at `prefix` has its packages.
fn libraries(prefix: &Path) -> Vec<PathBuf> {
    let versions = children(&prefix.join("lib"), |name| name.starts_with("python"));
    versions.iter().map(|version| version.join("site-packages")).collect()
}

/// Whether it leads to another copy of a package that the project has.
fn leads_to_copy(root: &Path, content: &[u8]) -> bool {
    let text = String::from_utf8_lossy(content);
    let places = text.lines().map(|line| Path::new(line.trim()));
    let outside = places.filter(|place| place.is_absolute() && !place.starts_with(root));
    let is_package = |path: &Path| path.join("__init__.py").is_file();
    let is_own = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default();
        let places = [root.join(name), root.join("src").join(name), root.join("lib").join(name)];
        is_package(path) && places.iter().any(|own| is_package(own))
    };
    outside.take(PLACES_MAX).flat_map(|place| children(place, |_| true)).any(|path| is_own(&path))
}

/// Whether a file of installed packages does more than to say where packages are.
fn runs_code(path: &Path, content: &[u8]) -> bool {
    const INSTALLERS: [&str; 6] = [
        "__editable__",
        "_virtualenv.pth",
        "distutils-precedence.pth",
        "a1_coverage.pth",
        "_uv_ephemeral_overlay.pth",
        "_editable_impl_",
    ];
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    if name.ends_with("customize.py") {
        return true;
    }
    let is_known =
        INSTALLERS.iter().any(|own| name.starts_with(own)) || name.ends_with("-nspkg.pth");
    let text = String::from_utf8_lossy(content);
    let imports = |line: &str| line.starts_with("import ") || line.starts_with("import\t");
    path.extension().is_some_and(|end| end == "pth") && !is_known && text.lines().any(imports)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(found: &[SteeringFile], site: &Path) -> Vec<String> {
        let inner =
            |file: &SteeringFile| file.path.strip_prefix(site).unwrap().display().to_string();
        found.iter().map(inner).collect()
    }

    fn declare(site: &Path, distribution: &str) {
        let directory = site.join(format!("{distribution}.dist-info"));
        fs::create_dir_all(&directory).unwrap();
        let name = distribution.split('-').next().unwrap();
        fs::write(directory.join(DECLARATION), format!("[pytest11]\n{name} = {name}\n")).unwrap();
    }

    #[test]
    fn an_environment_that_was_made_may_say_where_packages_are_and_run_no_code() {
        let directory = tempfile::tempdir().unwrap();
        let site = directory.path().join("lib/python3.12/site-packages");
        fs::create_dir_all(&site).unwrap();
        fs::write(site.join("mine.pth"), "/opt/lib\n").unwrap();
        fs::write(site.join("__editable__.mine-1.pth"), "import __editable___mine_finder\n")
            .unwrap();
        fs::write(site.join("_virtualenv.pth"), "import _virtualenv").unwrap();
        assert_eq!(steering_since(directory.path(), directory.path(), None, &[]), []);
        fs::write(site.join("hush.pth"), "/opt\nimport hush\n").unwrap();
        fs::write(site.join("sitecustomize.py"), "import hush\n").unwrap();
        let found =
            |since| names(&steering_since(directory.path(), directory.path(), since, &[]), &site);
        assert_eq!(found(Some(0)), ["sitecustomize.py", "hush.pth"]);
        assert!(found(Some(i64::MAX)).is_empty());
    }

    #[test]
    fn a_plugin_is_new_unless_it_was_there_in_any_version_or_was_needed() {
        let directory = tempfile::tempdir().unwrap();
        let site = directory.path().join("lib/python3.12/site-packages");
        declare(&site, "pytest_cov-4.0");
        fs::write(directory.path().join("requirements-dev.txt"), "pytest_asyncio>=1\n").unwrap();
        let prefix = directory.path().to_path_buf();
        let known = RunnerPlugin::note(&prefix, Path::new(""), std::slice::from_ref(&prefix));
        fs::remove_dir_all(&site).unwrap();
        declare(&site, "pytest_cov-5.1");
        declare(&site, "pytest_asyncio-1.2");
        declare(&site, "neat-1.0");
        let found = steering_since(directory.path(), directory.path(), Some(0), &known);
        assert_eq!(names(&found, &site), ["neat-1.0.dist-info/entry_points.txt"]);
    }

    #[test]
    fn environments_are_found_in_the_project_and_in_the_command() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().canonicalize().unwrap();
        for prefix in ["venv", "api/.venv", "tools/py", "api/plain"] {
            fs::create_dir_all(root.join(prefix)).unwrap();
        }
        for prefix in ["venv", "api/.venv", "tools/py"] {
            fs::write(root.join(prefix).join(MARKER), "home = /usr/bin\n").unwrap();
        }
        let command = "cd /; ../tools/py/bin/python -m pytest && plain/bin/x";
        let found = in_reach(&root, Path::new("api"), command);
        assert_eq!(found, ["api/.venv", "tools/py", "venv"].map(|prefix| root.join(prefix)));
        assert_eq!(in_reach(&root, Path::new(""), "make"), [root.join("venv")]);
    }
}
