//! New names that hide what was found elsewhere at the start.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use super::JudgeSet;
use super::files::{ProjectFiles, directory_of, extension_of, name_of};
use super::names::is_foreign;
use super::python_modules::{is_known_module, is_tool_module};
use super::role::{CheckConduct, Why};
use super::rules::NODE;
use super::stored_path::StoredPath;
use super::trace::{JUSTFILES, MAKEFILES};
use crate::environment::variable;
use crate::program;

const PYTHON: [&str; 16] = [
    "python",
    "pypy",
    "pytest",
    "py.test",
    "unittest",
    "nose2",
    "nosetests",
    "tox",
    "nox",
    "behave",
    "coverage",
    "robot",
    "trial",
    "mypy",
    "pylint",
    "flake8",
];

/// Names that would hide something, but were there before.
pub(super) fn note_modules(set: &mut JudgeSet, files: &dyn ProjectFiles) {
    let is_there = |path: &StoredPath| files.exists(&path.0);
    set.reach.file_like_targets.retain(|path| !is_there(path));
    if !uses_python(set) {
        return;
    }
    let is_python = |path: &&PathBuf| ["py", "so", "pyd"].contains(&extension_of(path));
    let found = files.paths().iter().filter(is_python);
    let found: BTreeSet<(PathBuf, String)> =
        found.filter_map(|path| module_of(set, path, files)).collect();
    let known = found.into_iter().filter(|(_, name)| is_found_elsewhere(set, name));
    set.modules = known.map(|(place, name)| StoredPath(place.join(name))).collect();
}

/// Files that are called like something else, but were there before.
pub(super) fn note_hiding(set: &mut JudgeSet, files: &dyn ProjectFiles) {
    let hides = |path: &&PathBuf| hidden(set, path, files).is_some();
    let found = files.paths().iter().filter(hides).cloned().map(StoredPath);
    set.hiding = found.collect();
}

/// What a file at `path` hides, where it hides something.
pub(super) fn hidden(set: &JudgeSet, path: &Path, files: &dyn ProjectFiles) -> Option<String> {
    if set.hiding.contains(path) {
        return None;
    }
    // A directory of that name is as good as a file.
    let target = path.ancestors().find(|own| set.reach.file_like_targets.contains(*own));
    if let Some(target) = target {
        return Some(format!("the make target {}", name_of(target)));
    }
    hidden_makefile(set, path)
        .or_else(|| hidden_by_package(set, path, files))
        .or_else(|| nearer(set, path))
        .or_else(|| hidden_module(set, path, files))
        .or_else(|| set.test_modules.hidden(set, path, files))
        .or_else(|| hidden_program(set, path))
        .or_else(|| hidden_package(set, path))
        .or_else(|| hidden_header(set, path, files))
        .or_else(|| hidden_perl(set, path))
        .or_else(|| hidden_ruby(set, path))
        .or_else(|| hidden_class(set, path, files))
        .or_else(|| hidden_java(set, path))
        .or_else(|| hidden_in_archive(set, path, files))
        .or_else(|| hidden_source(set, path, files))
        .or_else(|| hidden_go_modules(set, path))
}

/// `vendor/modules.txt`, since which Go looks for modules beside it and nowhere else.
fn hidden_go_modules(set: &JudgeSet, path: &Path) -> Option<String> {
    let is_used = || set.uses(&["go", "go-test", "gotestsum", "ginkgo"]);
    (path.ends_with("vendor/modules.txt") && is_used())
        .then(|| "modules that were found elsewhere".into())
}

/// `lib/pace/Pace.class`, which `-cp lib:out` finds before what `src/pace/Pace.java` becomes.
fn hidden_class(set: &JudgeSet, path: &Path, files: &dyn ProjectFiles) -> Option<String> {
    let is_used = set.reach.tools.contains("javac") || set.programs.contains_key("java");
    let class = path.to_str().filter(|_| is_used)?.strip_suffix(".class")?;
    // Of the path only its end is the name of a package.
    let name = class.split('$').next().unwrap_or(class);
    let mut ends = name.match_indices('/').map(|(at, _)| format!("{}.java", &name[at + 1..]));
    let is_there = |end: &String| files.paths().iter().any(|own| own.ends_with(end));
    ends.find(is_there).map(|end| format!("the class of {end}"))
}

/// `src/pace/System.java`, which every class of its package takes for the one of the language.
fn hidden_java(set: &JudgeSet, path: &Path) -> Option<String> {
    const CLASSES: &str = "System Math StrictMath Objects Object String StringBuilder Integer Long \
        Double Float Boolean Character Byte Short Number Enum Record Runtime Thread ThreadLocal \
        Process ProcessBuilder Class ClassLoader Throwable Exception Error RuntimeException \
        AssertionError IllegalStateException IllegalArgumentException Override Iterable Comparable";
    let is_used = set.reach.tools.contains("javac") || set.programs.contains_key("java");
    let class = name_of(path).strip_suffix(".java").filter(|_| is_used)?;
    let is_known = CLASSES.split_whitespace().any(|own| own == class);
    is_known.then(|| format!("the class java.lang.{class}"))
}

/// `scripts/rules/__init__.py`, which Python finds before `scripts/rules.py`.
fn hidden_by_package(set: &JudgeSet, path: &Path, files: &dyn ProjectFiles) -> Option<String> {
    let package = path.parent().filter(|_| name_of(path) == "__init__.py")?;
    let module = package.with_extension("py");
    let is_judge = set.judges.contains_key(module.as_path()) && files.paths().contains(&module);
    is_judge.then(|| module.display().to_string())
}

/// `lib/commons.jar` with a class that the project has the source of.
fn hidden_in_archive(set: &JudgeSet, path: &Path, files: &dyn ProjectFiles) -> Option<String> {
    let is_used = set.reach.tools.contains("javac") || set.programs.contains_key("java");
    let is_archive = ["jar", "zip"].contains(&extension_of(path));
    // The list of an archive's entries is plain text.
    let entries = files.text(path).filter(|_| is_used && is_archive)?;
    let class_of = |source: &PathBuf| {
        let package = name_of(&directory_of(source)).to_string();
        let stem = source.file_stem()?.to_str()?;
        (extension_of(source) == "java").then(|| format!("{package}/{stem}.class"))
    };
    let is_sign = |letter: char| !(letter.is_alphanumeric() || "/._$-".contains(letter));
    let listed: BTreeSet<&str> =
        entries.split(is_sign).filter_map(|entry| tail_of(entry, 2)).collect();
    let mut classes = files.paths().iter().filter_map(class_of);
    classes.find(|class| listed.contains(class.as_str())).map(|class| format!("the class {class}"))
}

/// The last parts of an entry that is a class; what follows the name in the archive is cut off.
fn tail_of(entry: &str, parts: usize) -> Option<&str> {
    let end = entry.find(".class")? + ".class".len();
    let entry = &entry[..end];
    let from = entry.rmatch_indices('/').nth(parts - 1).map_or(0, |(at, _)| at + 1);
    Some(&entry[from..])
}

/// `lib/minitest/autorun.rb` before the one of the gem.
fn hidden_ruby(set: &JudgeSet, path: &Path) -> Option<String> {
    const LIBRARIES: [&str; 6] =
        ["minitest", "rspec", "rspec-core", "test-unit", "test/unit", "rake"];
    let tools = ["ruby", "rake", "rspec", "minitest", "bundle", "cucumber"];
    let is_used = tools.iter().any(|tool| set.reach.tools.contains(*tool));
    let name = path.to_str().filter(|_| is_used)?.strip_suffix(".rb")?;
    let library = name.rsplit_once("lib/").map_or(name, |(_, library)| library);
    let is_known = |own: &&&str| {
        library.strip_prefix(**own).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    LIBRARIES.iter().find(is_known).map(|own| format!("the library {own}"))
}

/// `lib/range`, which `require('../lib/range')` finds before `lib/range.js`; `cart.js` beside
/// `cart.ts`; `cart.js` beside `cart/index.js`.
fn hidden_source(set: &JudgeSet, path: &Path, files: &dyn ProjectFiles) -> Option<String> {
    const SCRIPTS: [&str; 4] = ["js", "mjs", "cjs", "jsx"];
    const TYPED: [&str; 4] = ["ts", "tsx", "mts", "cts"];
    let end = extension_of(path);
    let is_plain = !name_of(path).contains('.');
    if is_foreign(path) || !(is_plain || SCRIPTS.contains(&end)) || !set.uses(&NODE) {
        return None;
    }
    let text = path.to_str()?;
    let stem = if is_plain { text } else { text.strip_suffix(end)?.strip_suffix('.')? };
    let scripts = SCRIPTS.iter().filter(|_| is_plain);
    let beside = scripts.chain(&TYPED).map(|own| format!("{stem}.{own}"));
    let inside = SCRIPTS.iter().chain(&TYPED).map(|own| format!("{stem}/index.{own}"));
    let mut found = beside.chain(inside).map(PathBuf::from);
    found.find(|own| files.paths().contains(own)).map(|own| own.display().to_string())
}

/// `lib/Test/More.pm` or `lib/strict.pm` before the one that came with Perl.
fn hidden_perl(set: &JudgeSet, path: &Path) -> Option<String> {
    const MODULES: &str = "strict warnings utf8 vars base parent lib constant overload feature \
        bytes integer overloading Exporter Carp Config POSIX Symbol Scalar/Util List/Util Storable \
        Data/Dumper File/Spec File/Temp Test/More Test/Simple Test/Builder Test/Harness Test/Deep \
        Test/Exception Test/Fatal Test/Differences Test/Most App/Prove";
    const FAMILIES: [&str; 3] = ["Test/Builder/", "Test2/", "TAP/"];
    let is_used = ["prove", "perl"].iter().any(|tool| set.reach.tools.contains(*tool));
    let text = path.to_str().filter(|_| is_used)?;
    let name = text.strip_suffix(".pm")?;
    let module = name.rsplit_once("lib/").map_or(name, |(_, module)| module);
    let is_known = MODULES.split_whitespace().any(|own| own == module)
        || FAMILIES.iter().any(|own| module.starts_with(own))
        || comes_with_perl(module);
    is_known.then(|| format!("the module {module}"))
}

/// Whether this machine's Perl has a module of that name.
fn comes_with_perl(module: &str) -> bool {
    let versions = ["/usr/share/perl", "/usr/local/share/perl", "/usr/lib/x86_64-linux-gnu/perl"];
    let versions = versions.iter().flat_map(std::fs::read_dir).flatten().flatten();
    let places = versions.map(|entry| entry.path());
    let places = places.chain([PathBuf::from("/usr/share/perl5")]);
    places.into_iter().any(|place| place.join(format!("{module}.pm")).is_file())
}

/// `src/assert.h` before the system's, for everything that is compiled with `-Isrc`; `src/expect.h`
/// before the one that only tests include.
fn hidden_header(set: &JudgeSet, path: &Path, files: &dyn ProjectFiles) -> Option<String> {
    // Among them what the system's `assert.h` includes, and what tests are written with.
    const HEADERS: [&str; 14] = [
        "assert.h",
        "cassert",
        "setjmp.h",
        "stdio.h",
        "stdlib.h",
        "features.h",
        "cdefs.h",
        "stdc-predef.h",
        "cmocka.h",
        "unity.h",
        "criterion.h",
        "doctest.h",
        "catch.hpp",
        "gtest.h",
    ];
    let builds = ["make", "cmake", "ctest", "cc", "gcc", "clang", "just", "task"];
    let is_built = set.reach.conduct == CheckConduct::Unknown
        || builds.iter().any(|tool| set.reach.tools.contains(*tool));
    let name = name_of(path);
    let is_helper = |(own, why): (&StoredPath, &Why)| {
        *why == Why::Helper && name_of(&own.0) == name && files.paths().contains(&own.0)
    };
    let is_header = ["h", "hh", "hpp", "hxx", "inc"].contains(&extension_of(path));
    let hides = HEADERS.contains(&name) || (is_header && set.judges.iter().any(is_helper));
    (is_built && hides).then(|| format!("the header {name}"))
}

/// Whether the check's runner imports Python modules.
pub(super) fn uses_python(set: &JudgeSet) -> bool {
    set.reach.conduct == CheckConduct::Unknown
        || PYTHON.iter().any(|tool| set.reach.tools.contains(*tool))
}

/// `GNUmakefile` before `makefile` before `Makefile`; and `Makefile.sh`, from which make makes a
/// makefile by a rule of its own.
fn hidden_makefile(set: &JudgeSet, path: &Path) -> Option<String> {
    let source = path.to_str()?;
    let made = [".sh", ",v"].iter().find_map(|end| source.strip_suffix(end));
    if let Some(used) = made.filter(|own| set.reach.makefiles.contains_key(Path::new(own))) {
        return Some(used.into());
    }
    let rank = |path: &Path| MAKEFILES.iter().position(|name| *name == name_of(path));
    let own = rank(path)?;
    let directory = directory_of(path);
    let in_use = set.reach.makefiles.keys().find(|other| {
        directory_of(&other.0) == directory && rank(&other.0).is_some_and(|other| other > own)
    });
    in_use.map(|other| other.0.display().to_string())
}

/// A justfile or a package that is found before the one in use.
fn nearer(set: &JudgeSet, path: &Path) -> Option<String> {
    let directory = directory_of(path);
    let is_inside =
        |used: &Path| directory.starts_with(used) && set.reach.directory.0.starts_with(&directory);
    if JUSTFILES.contains(&name_of(path)) {
        let used = set.reach.justfiles.keys().find(|used| is_inside(&directory_of(&used.0)))?;
        return (used.0 != path).then(|| used.0.display().to_string());
    }
    if name_of(path) == "package.json" {
        let used =
            set.reach.packages.keys().find(|used| is_inside(&used.0) && used.0 != directory)?;
        return Some(used.0.join("package.json").display().to_string());
    }
    None
}

fn hidden_module(set: &JudgeSet, path: &Path, files: &dyn ProjectFiles) -> Option<String> {
    if !uses_python(set) || is_foreign(path) {
        return None;
    }
    if let Some(name) = hidden_distribution(path, files) {
        return Some(name);
    }
    let (place, name) = module_of(set, path, files)?;
    let key = StoredPath(place.join(&name));
    // A program under test may have modules of any name; the runner's are another matter.
    let counts = set.reach.conduct != CheckConduct::Looks || is_tool_module(&name);
    let is_own = set.modules.contains(&key) || has_moved(set, &name, files);
    (counts && !is_own && is_found_elsewhere(set, &name)).then(|| format!("the module {name}"))
}

/// Whether the project itself has a module of this name, and it was elsewhere at the start.
fn has_moved(set: &JudgeSet, name: &str, files: &dyn ProjectFiles) -> bool {
    let is_gone = |own: &Path| {
        let places = [own.with_extension("py"), own.join("__init__.py")];
        !places.iter().any(|path| files.paths().contains(path))
    };
    let mut own = set.modules.iter().map(|own| own.0.as_path());
    own.any(|own| name_of(own) == name && is_gone(own))
}

/// Whether a module of this name comes with Python, or is installed where the check's runner is.
pub(super) fn is_found_elsewhere(set: &JudgeSet, name: &str) -> bool {
    let places = || set.installed.0.get_or_init(|| installed_modules(set));
    is_known_module(name) || places().iter().any(|place| has_module(place, name))
}

/// The directories of installed packages, looked for once. They are of this machine and of this
/// moment, so two sets don't differ by them.
#[derive(Clone, Debug, Default)]
pub(super) struct InstalledModules(OnceLock<Vec<PathBuf>>);

impl PartialEq for InstalledModules {
    fn eq(&self, _other: &Self) -> bool {
        true
    }
}

impl Eq for InstalledModules {}

/// The directories of installed packages beside the check's programs.
fn installed_modules(set: &JudgeSet) -> Vec<PathBuf> {
    let programs = set.programs.values().map(|program| program.0.as_path());
    let prefixes: BTreeSet<&Path> =
        programs.filter_map(|program| program.parent()?.parent()).collect();
    let libraries = prefixes.into_iter().filter(|prefix| prefix.is_absolute());
    let libraries = libraries.flat_map(|prefix| std::fs::read_dir(prefix.join("lib")));
    let versions = libraries.flatten().flatten().filter(|entry| {
        let name = entry.file_name();
        name.to_str().is_some_and(|name| name.starts_with("python3."))
    });
    versions.map(|entry| entry.path().join("site-packages")).collect()
}

fn has_module(place: &Path, name: &str) -> bool {
    place.join(format!("{name}.py")).exists() || place.join(name).join("__init__.py").exists()
}

/// The place and the name of the top-level module that the file belongs to.
pub(super) fn module_of(
    set: &JudgeSet,
    path: &Path,
    files: &dyn ProjectFiles,
) -> Option<(PathBuf, String)> {
    for place in set.reach.import_roots.iter().map(|place| &place.0) {
        let Ok(rest) = path.strip_prefix(place) else { continue };
        let mut parts = rest.components().filter_map(|part| part.as_os_str().to_str());
        let Some(first) = parts.next() else { continue };
        if parts.next().is_some() {
            // Without this file a directory hides nothing that is found elsewhere.
            let package = place.join(first).join("__init__.py");
            if files.paths().contains(&package) {
                return Some((place.clone(), first.into()));
            }
        } else if ["py", "pyc", "so", "pyd"].contains(&extension_of(path)) {
            return Some((place.clone(), first.split('.').next().unwrap_or(first).into()));
        }
    }
    None
}

/// Metadata of an installed package: by it pytest finds plugins, and programs their versions.
fn hidden_distribution(path: &Path, files: &dyn ProjectFiles) -> Option<String> {
    let is_it = |part: &&Path| {
        let name = name_of(part);
        name.ends_with(".dist-info") || name.ends_with(".egg-info")
    };
    let directory = path.ancestors().find(is_it)?;
    let name = name_of(directory).split(['-', '.']).next().unwrap_or_default().to_lowercase();
    let points = files.text(&directory.join("entry_points.txt")).unwrap_or_default();
    let has_plugin = points.contains("pytest11");
    if has_plugin || is_known_module(&name.replace('-', "_")) {
        let what =
            if has_plugin { "pytest's plugins".into() } else { format!("the package {name}") };
        return Some(what);
    }
    None
}

/// A program in a directory of the path, before the one that was found.
fn hidden_program(set: &JudgeSet, path: &Path) -> Option<String> {
    let directory = directory_of(path);
    let is_on_path = set.path_directories.contains(directory.as_path())
        || directory.ends_with("node_modules/.bin")
        || directory.ends_with(".venv/bin")
        || directory.ends_with("venv/bin");
    let name = name_of(path);
    if !is_on_path {
        return None;
    }
    let hides = set.programs.get(name).map_or_else(
        // Scripts in such a directory may start any program of the machine.
        || set.path_directories.contains(directory.as_path()) && is_known_program(name),
        |was| was.0 != path,
    );
    hides.then(|| format!("the program {name}"))
}

fn is_known_program(name: &str) -> bool {
    program::find(name, variable("PATH").as_deref()).is_some()
}

/// The directories that a command puts on its path: `PATH=bin:$PATH check`.
pub(super) fn path_directories(command: &str) -> Vec<String> {
    let is_end = |c: char| c.is_whitespace() || ";&|()".contains(c);
    let values = command.split(is_end).filter_map(|word| word.strip_prefix("PATH="));
    let places = values.flat_map(|value| value.split(':'));
    let places = places.map(|place| place.trim_matches(['"', '\'']));
    let places = places.map(|place| place.strip_prefix("$PWD/").unwrap_or(place));
    places.filter(|place| !place.is_empty() && !place.contains('$')).map(str::to_string).collect()
}

/// `node_modules/jest` in a directory below the one where it was found.
fn hidden_package(set: &JudgeSet, path: &Path) -> Option<String> {
    let text = path.to_str()?;
    let (place, rest) = text.rsplit_once("node_modules/")?;
    let place = place.trim_end_matches('/');
    let name = rest.split('/').next()?;
    let was = set.node_packages.get(name)?;
    (was.0 != Path::new(place)).then(|| format!("the package {name}"))
}

#[cfg(test)]
mod tests {
    use super::path_directories;

    #[test]
    fn a_command_names_directories_of_its_path() {
        let rows: [(&str, &[&str]); 5] = [
            ("PATH=bin:$PATH check", &["bin"]),
            ("export PATH=\"$PWD/tools:/opt/x:$PATH\"; check", &["tools", "/opt/x"]),
            ("env PATH=./bin check", &["./bin"]),
            ("echo MYPATH=bin", &[]),
            ("pytest -q", &[]),
        ];
        for (command, expected) in rows {
            assert_eq!(path_directories(command), expected, "{command}");
        }
    }
}
