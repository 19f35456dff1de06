//! Modules that judges import: where they were found, and what they take where it is there.
//!
//! `from helpers import check` is `tests/helpers.py` until there is a `src/helpers.py`;
//! `try: from settings_local import *` is nothing until somebody writes that file.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::JudgeSet;
use super::files::{ProjectFiles, directory_of, extension_of, name_of};
use super::imports::{language_of, python_file, quoted};
use super::names::{is_foreign, words};
use super::role::{CheckConduct, Why};
use super::shadows::{is_found_elsewhere, uses_python};
use super::stored_path::StoredPath;

/// How many judges are read.
const FILES_MAX: usize = 6_000;
/// More names than these are not kept.
const NAMES_MAX: usize = 1_000;
/// Ends of the names of modules.
const MODULES: [&str; 4] = ["py", "pyc", "so", "pyd"];

/// What judges import by name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct TestModules {
    /// Where each top-level module was found, in a place of judges or elsewhere in the project.
    found: BTreeMap<String, BTreeSet<StoredPath>>,
    /// Local settings that judges read where there are any; there were none.
    wanted: BTreeSet<String>,
}

impl TestModules {
    pub(super) fn is_empty(&self) -> bool {
        self.found.is_empty() && self.wanted.is_empty()
    }

    /// Looks through the judges; the set is not whole yet.
    pub(super) fn note(set: &JudgeSet, files: &dyn ProjectFiles) -> Self {
        let mut own = Self::default();
        if set.reach.conduct == CheckConduct::Looks {
            return own;
        }
        let judges: BTreeSet<PathBuf> = set.whole(files).into_iter().collect();
        let readable = judges.iter().filter(|path| language_of(path).is_some());
        for path in readable.take(FILES_MAX) {
            let Some(text) = files.text(path) else { continue };
            own.wanted.extend(local_files(&text));
            if extension_of(path) == "py" {
                own.note_imports(set, path, &text, &judges, files);
            }
        }
        let named: BTreeSet<&str> = files.paths().iter().map(|path| name_of(path)).collect();
        own.wanted.retain(|name| !named.contains(name.as_str()));
        if own.found.len() > NAMES_MAX || own.wanted.len() > NAMES_MAX {
            return Self::default();
        }
        own.note_places(set, files);
        own
    }

    fn note_imports(
        &mut self,
        set: &JudgeSet,
        path: &Path,
        text: &str,
        judges: &BTreeSet<PathBuf>,
        files: &dyn ProjectFiles,
    ) {
        let own = directory_of(path);
        // What lies beside a script is found first.
        let is_script = matches!(set.judges.get(path), Some(Why::Script | Why::UsedByScript));
        for import in imports(text) {
            let top = import.module.split('.').next().unwrap_or_default();
            let found = python_file(&own, import.module, files);
            let judging = found.as_ref().filter(|file| judges.contains(*file) && !is_script);
            if let Some(place) = judging.and_then(|file| place_of(file, top)) {
                self.found.entry(top.into()).or_default().insert(StoredPath(place));
            }
            if found.is_none() && import.is_local_setting() && !is_found_elsewhere(set, top) {
                let is_of_work = import.module.contains('.')
                    && python_file(&own, top, files).is_some_and(|own| !judges.contains(&own));
                let last = import.module.rsplit('.').next().unwrap_or_default();
                self.wanted.extend((!is_of_work).then(|| format!("{last}.py")));
            }
        }
    }

    /// Other places in which modules of these names are found at the start.
    fn note_places(&mut self, set: &JudgeSet, files: &dyn ProjectFiles) {
        if self.found.is_empty() {
            return;
        }
        let is_module = |path: &&PathBuf| MODULES.contains(&extension_of(path));
        for path in files.paths().iter().filter(is_module) {
            for (place, name) in modules_of(set, path, files) {
                let known = self.found.get_mut(name);
                let _ = known.map(|places| places.insert(StoredPath(place)));
            }
        }
    }

    /// The module of judges in whose place the new file at `path` may be found.
    pub(super) fn hidden(
        &self,
        set: &JudgeSet,
        path: &Path,
        files: &dyn ProjectFiles,
    ) -> Option<String> {
        if self.found.is_empty() || !uses_python(set) || is_foreign(path) {
            return None;
        }
        let hides = |(place, name): &(PathBuf, &str)| {
            self.found.get(*name).is_some_and(|places| !places.contains(place.as_path()))
        };
        let found = modules_of(set, path, files).into_iter().find(hides);
        found.map(|(_, name)| format!("the module {name} of the tests"))
    }

    /// Whether judges read the new file because it is there.
    pub(super) fn wants(&self, path: &Path) -> bool {
        let name = name_of(path);
        let module = || {
            let stem = name.split('.').next().unwrap_or_default();
            let package = directory_of(path);
            let name = if stem == "__init__" { name_of(&package) } else { stem };
            MODULES.contains(&extension_of(path)) && self.wanted.contains(&format!("{name}.py"))
        };
        !self.wanted.is_empty() && !is_foreign(path) && (self.wanted.contains(name) || module())
    }
}

/// The places and names of the top-level modules that the file may be, or be part of.
fn modules_of<'p>(
    set: &JudgeSet,
    path: &'p Path,
    files: &dyn ProjectFiles,
) -> Vec<(PathBuf, &'p str)> {
    let roots = || set.reach.import_roots.iter().map(|place| place.0.as_path());
    // A package that is installed for editing is found there, after all else: its modules hide
    // nothing, but a package hides a directory that is none.
    let usual =
        ["src", "lib"].map(Path::new).into_iter().filter(|own| !roots().any(|at| at == *own));
    let usual = usual.filter(|place| path.parent() != Some(place));
    let own = roots().chain(usual).filter_map(|place| {
        let rest = path.strip_prefix(place).ok()?;
        let mut parts = rest.iter().filter_map(|part| part.to_str());
        let first = parts.next()?;
        // Without this file a directory hides nothing that is found elsewhere.
        let is_package = parts.next().is_some();
        let counts = if is_package {
            files.paths().contains(&place.join(first).join("__init__.py"))
        } else {
            MODULES.contains(&extension_of(path))
        };
        let name = if is_package { first } else { first.split('.').next()? };
        counts.then(|| (place.to_path_buf(), name))
    });
    own.collect()
}

/// The directory in which the top-level module of a file is found.
fn place_of(file: &Path, top: &str) -> Option<PathBuf> {
    let is_it = |part: &&Path| {
        let name = name_of(part);
        name == top || name.strip_suffix(".py") == Some(top)
    };
    // The outermost: `support/support.py` is found beside `support`.
    file.ancestors().filter(is_it).last().map(directory_of)
}

/// One import of a module by its whole name.
struct Import<'t> {
    module: &'t str,
    kind: ImportKind,
}

/// Whether a file goes on without the module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ImportKind {
    Needed,
    Optional,
    /// Optional, and it takes all that the module has.
    OptionalStar,
}

impl Import<'_> {
    fn is_local_setting(&self) -> bool {
        match self.kind {
            ImportKind::Needed => false,
            ImportKind::Optional => says_local(self.module),
            ImportKind::OptionalStar => true,
        }
    }
}

/// The imports of a text of Python, those within `try` as optional.
fn imports(text: &str) -> Vec<Import<'_>> {
    const TRIES: [&str; 3] = ["try:", "with suppress(", "with contextlib.suppress("];
    let mut found = Vec::new();
    // The indentation of each `try` around the line.
    let mut open: Vec<usize> = Vec::new();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let bare = line.trim_start();
        let indent = line.len() - bare.len();
        open.retain(|own| *own < indent);
        if TRIES.iter().any(|begin| bare.starts_with(begin)) {
            open.push(indent);
        }
        let bare = bare.strip_prefix("try:").map_or(bare, str::trim_start);
        found.extend(imports_in(bare).map(|(module, is_star)| {
            let kind = match () {
                () if open.is_empty() => ImportKind::Needed,
                () if is_star => ImportKind::OptionalStar,
                () => ImportKind::Optional,
            };
            Import { module, kind }
        }));
        for call in ["find_spec(", "import_module(", "__import__("] {
            let named = bare.split(call).nth(1).and_then(|rest| quoted(rest).next());
            found.extend(named.map(|module| Import { module, kind: ImportKind::Optional }));
        }
    }
    found.retain(|import| !import.module.is_empty() && !import.module.starts_with('.'));
    found
}

/// The modules that one line imports, and whether it takes all that they have.
fn imports_in(line: &str) -> impl Iterator<Item = (&str, bool)> {
    let names = line.strip_prefix("import ").unwrap_or_default().split(',');
    let whole = names.filter_map(|name| Some((name.split_whitespace().next()?, false)));
    let parts = line.strip_prefix("from ").and_then(|rest| rest.split_once(" import"));
    let part = parts.map(|(module, names)| (module.trim(), names.trim_start().starts_with('*')));
    whole.chain(part)
}

/// Files that a text names and whose names say that they are somebody's own.
fn local_files(text: &str) -> impl Iterator<Item = String> {
    let is_file = |word: &&str| {
        let last = word.rsplit('/').next().unwrap_or_default();
        word.len() < 200
            && !word.contains([' ', '*', '{', '\\', '$', ':'])
            && last.trim_start_matches('.').contains('.')
            && says_local(last)
    };
    let name = |word: &str| word.rsplit('/').next().unwrap_or_default().to_string();
    quoted(text).filter(is_file).map(name)
}

/// Whether a name says that what it names is of one person or machine.
pub(super) fn says_local(name: &str) -> bool {
    const WORDS: [&str; 6] = ["local", "override", "overrides", "personal", "private", "custom"];
    words(name).iter().any(|own| WORDS.contains(&own.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judges::tests::{Scene, criterion};

    /// The role of the first new file, when the others are there as well.
    #[track_caller]
    fn check(scene: &str, new: &str, expected: &str) {
        let scene = Scene::new(scene);
        let set = scene.set(&criterion("tests", "python -m pytest"));
        scene.add(&new.replace(" + ", "\n"));
        let first = new.split([' ', '+']).next().unwrap();
        let role = set.rules().role_of_new(Path::new(first), &scene.files()).to_string();
        assert_eq!(role, expected, "{new}");
    }

    #[test]
    fn a_module_found_earlier_hides_one_of_the_tests() {
        let hides = |name: &str| format!("hides the module {name} of the tests");
        let scene = "pytest.ini = [pytest]\\npythonpath = src tests
             src/span/__init__.py
             tests/test_a.py = from helpers import check\\nfrom support.same import same
             tests/helpers.py = def check(): pass
             tests/support/same.py = def same(): pass";
        check(scene, "src/helpers.py", &hides("helpers"));
        check(scene, "helpers.py", &hides("helpers"));
        check(scene, "src/helpers/__init__.py", &hides("helpers"));
        check(scene, "src/support/same.py + src/support/__init__.py", &hides("support"));
        check(scene, "src/support/same.py", "work");
        check(scene, "src/span/helpers.py", "work");
        check(&scene.replace(" src tests", " tests"), "src/helpers.py", "work");
        let namespace = scene.replace(" src tests", " tests");
        check(&namespace, "src/support/x.py + src/support/__init__.py", &hides("support"));
        check(scene, "src/span/support/__init__.py", "work");
        check(scene, "tests/support/__init__.py", "test by name");
        let before = format!("{scene}\n src/support/__init__.py\n");
        check(&before, "src/support/more.py", "work");
        let named = "tests/test_a.py = from tests.helpers import check\ntests/helpers.py";
        check(named, "helpers.py", "work");
    }

    #[test]
    fn local_settings_that_judges_look_for_judge() {
        let scene = |text: &str| {
            format!("app.py\ntests/test_a.py = import settings\ntests/settings.py = {text}")
        };
        let wanted = "helper that only tests import";
        let star = scene("try:\\n    from own import *\\nexcept ImportError:\\n    pass");
        check(&star, "own.py", wanted);
        check(&star, "own/__init__.py", wanted);
        check(&star, "src/other.py", "work");
        let named = scene("try:\\n    import app_local\\nexcept ImportError:\\n    pass");
        check(&named, "app_local.py", wanted);
        let found = scene("if importlib.util.find_spec('app_local'):\\n    pass");
        check(&found, "app_local.py", wanted);
        let read = scene("if os.path.exists('conf/rules.local.json'):\\n    pass");
        check(&read, "conf/rules.local.json", wanted);
        // What the work is to write is imported without more ado.
        let asked = scene("import app_local\\nfrom own import thing\\nimport more");
        for path in ["app_local.py", "own.py", "more.py"] {
            check(&asked, path, "work");
        }
        let optional =
            scene("try:\\n    from fast import run\\nexcept ImportError:\\n    run = None");
        check(&optional, "fast.py", "work");
        let known = format!("{}\nrules.local.json", scene("open('rules.local.json')"));
        check(&known, "other/rules.local.json", "work");
    }
}
