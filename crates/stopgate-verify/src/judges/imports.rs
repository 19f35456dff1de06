//! Which files of the project a source file imports, by the habits of its language.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::aliases::Aliases;
use super::files::{ProjectFiles, below, directory_of, extension_of, name_of, normal};
use super::python_modules::is_known_module;
use super::shell::{ShellScript, is_open};

/// How many files below a directory are looked at, and how many scripts in it are taken.
const BELOW_MAX: usize = 2_000;
const SCRIPTS_MAX: usize = 200;
/// In a longer line nobody joins a path.
const LINE_MAX: usize = 1_000;

const JAVASCRIPT: [&str; 8] = ["js", "mjs", "cjs", "jsx", "ts", "mts", "cts", "tsx"];

/// The language of a source file, where its imports can be read.
pub(super) fn language_of(path: &Path) -> Option<&'static str> {
    match extension_of(path) {
        "py" => Some("python"),
        "rb" => Some("ruby"),
        "go" => Some("go"),
        "sh" | "bash" | "bats" => Some("shell"),
        "pl" | "pm" | "t" => Some("perl"),
        "c" | "h" | "cc" | "cpp" | "cxx" | "hh" | "hpp" => Some("c"),
        end if JAVASCRIPT.contains(&end) => Some("javascript"),
        _ => None,
    }
}

/// The files of the project that the file at `path` imports.
pub(super) fn imports_of(path: &Path, text: &str, files: &dyn ProjectFiles) -> Vec<PathBuf> {
    imports_with(path, text, files, &Aliases::default())
}

/// The same, also by the aliases of the project.
pub(super) fn imports_with(
    path: &Path,
    text: &str,
    files: &dyn ProjectFiles,
    aliases: &Aliases,
) -> Vec<PathBuf> {
    let found = match language_of(path) {
        Some("python") => python(path, text, files),
        Some("javascript") => javascript(path, text, files, aliases),
        Some("ruby") => ruby(path, text, files),
        Some("go") => go(text, files),
        Some("shell") => shell(path, text, files),
        Some("c") => c(path, text, files),
        Some("perl") => perl(path, text, files),
        _ => BTreeSet::new(),
    };
    found.into_iter().filter(|own| own != path).collect()
}

fn python(path: &Path, text: &str, files: &dyn ProjectFiles) -> BTreeSet<PathBuf> {
    let mut modules: Vec<String> = Vec::new();
    for line in text.lines().map(str::trim_start) {
        if let Some(rest) = line.strip_prefix("import ") {
            let names = rest.split(',').filter_map(|name| name.split_whitespace().next());
            modules.extend(names.map(Into::into));
        } else if let Some(rest) = line.strip_prefix("from ")
            && let Some((module, names)) = rest.split_once(" import ")
        {
            let module = module.trim();
            modules.push(module.into());
            let is_sign = |letter: char| !letter.is_alphanumeric() && letter != '_';
            let joint = if module.ends_with('.') { "" } else { "." };
            let names = names.split(is_sign).filter(|name| !name.is_empty());
            modules.extend(names.map(|name| format!("{module}{joint}{name}")));
        } else if line.starts_with("pytest_plugins") {
            modules.extend(quoted(text_after(text, "pytest_plugins")).map(Into::into));
        }
    }
    let own = directory_of(path);
    modules.iter().filter_map(|module| python_file(&own, module, files)).collect()
}

/// The lines from a name on, a few of them.
fn text_after<'t>(text: &'t str, name: &str) -> &'t str {
    let rest = text.find(name).map_or("", |at| &text[at..]);
    let end = rest.find(']').or_else(|| rest.find('\n')).unwrap_or(rest.len());
    &rest[..end]
}

pub(super) fn python_file(own: &Path, module: &str, files: &dyn ProjectFiles) -> Option<PathBuf> {
    let dots = module.len() - module.trim_start_matches('.').len();
    let name = module.trim_start_matches('.').replace('.', "/");
    let mut places: Vec<PathBuf> = Vec::new();
    if dots > 0 {
        places.extend(own.ancestors().nth(dots - 1).map(Path::to_path_buf));
    } else {
        places.extend(own.ancestors().map(Path::to_path_buf));
        places.extend([own.join("lib"), "src".into(), "lib".into()]);
    }
    let forms = |place: &PathBuf| {
        let file = place.join(&name);
        let module = if name.is_empty() {
            None
        } else {
            Some(PathBuf::from(format!("{}.py", file.display())))
        };
        [module, Some(file.join("__init__.py"))]
    };
    let near = places.iter().flat_map(forms).flatten();
    near.into_iter()
        .find(|file| files.paths().contains(file))
        .or_else(|| if dots == 0 { only_module(&name, files) } else { None })
}

/// The module of that name in a package that lies elsewhere, as the settings of a runner or an
/// installation in place may have it: `shared/src/kit/asserts.py` for `kit/asserts`.
fn only_module(name: &str, files: &dyn ProjectFiles) -> Option<PathBuf> {
    if name.split('/').next().is_none_or(is_known_module) {
        return None;
    }
    let forms = [format!("{name}.py"), format!("{name}/__init__.py")].map(PathBuf::from);
    let alike = forms.iter().flat_map(|form| {
        let alike = files.ending_like(form).into_iter();
        alike.filter(move |path| path.ends_with(form))
    });
    // A package that is part of another one is imported by that one's name, too.
    let is_outermost = |path: &&PathBuf| {
        let depth = Path::new(name).components().count();
        let inside = if path.ends_with("__init__.py") { depth + 1 } else { depth };
        let place = path.ancestors().nth(inside);
        place.is_some_and(|place| !files.paths().contains(&place.join("__init__.py")))
    };
    let mut found = alike.filter(is_outermost);
    found.next().filter(|_| found.next().is_none()).cloned()
}

fn javascript(
    path: &Path,
    text: &str,
    files: &dyn ProjectFiles,
    aliases: &Aliases,
) -> BTreeSet<PathBuf> {
    let own = directory_of(path);
    let is_import = |line: &&str| {
        ["import", "require", "from ", "export", "mock("].iter().any(|word| line.contains(word))
    };
    let mut found = BTreeSet::new();
    for line in text.lines().filter(is_import) {
        for word in quoted(line) {
            if !word.starts_with('.') {
                found.extend(aliases.file(word, files));
            } else if let Some(place) = open_place(line, word) {
                let scripts = normal(&own.join(place)).map(|place| scripts_in(&place, files));
                found.extend(scripts.into_iter().flatten());
            } else {
                let file = normal(&own.join(word));
                found.extend(file.and_then(|path| javascript_file(&path, files)));
            }
        }
    }
    found
}

/// The directory in `` `./rules/${name}` `` or `'./rules/' + name`, of which any script may be meant.
fn open_place<'w>(line: &str, word: &'w str) -> Option<&'w str> {
    if let Some((known, _)) = word.split_once("${") {
        return known.ends_with('/').then_some(known);
    }
    let joins =
        |mark: &&str| [" +", "+"].iter().any(|sign| line.contains(&format!("{word}{mark}{sign}")));
    let is_short = word.ends_with('/') && line.len() <= LINE_MAX;
    (is_short && ["'", "\"", "`"].iter().any(joins)).then_some(word)
}

/// The scripts that are directly in a directory.
fn scripts_in(place: &Path, files: &dyn ProjectFiles) -> Vec<PathBuf> {
    let is_own =
        |path: &&PathBuf| path.parent() == Some(place) && JAVASCRIPT.contains(&extension_of(path));
    let near = below(files, place).take(BELOW_MAX).filter(is_own);
    near.take(SCRIPTS_MAX).cloned().collect()
}

pub(super) fn javascript_file(path: &Path, files: &dyn ProjectFiles) -> Option<PathBuf> {
    if files.paths().contains(path) {
        return Some(path.into());
    }
    let plain = path.display().to_string();
    // `./x.js` may be written as `./x.ts`.
    let bare = plain.strip_suffix(".js").unwrap_or(&plain);
    let forms = JAVASCRIPT.iter().flat_map(|end| {
        [format!("{plain}.{end}"), format!("{bare}.{end}"), format!("{plain}/index.{end}")]
    });
    forms.map(PathBuf::from).find(|file| files.paths().contains(file))
}

fn ruby(path: &Path, text: &str, files: &dyn ProjectFiles) -> BTreeSet<PathBuf> {
    let own = directory_of(path);
    let mut found = BTreeSet::new();
    for line in text.lines().map(str::trim_start).filter(|line| line.starts_with("require")) {
        for word in quoted(line) {
            let places = [own.clone(), PathBuf::new(), "lib".into(), "spec".into(), "test".into()];
            let forms = places.iter().filter_map(|place| normal(&place.join(format!("{word}.rb"))));
            found.extend(forms.filter(|file| files.paths().contains(file)).take(1));
        }
    }
    found
}

/// Go imports packages: every file of the directory that the end of the import names.
fn go(text: &str, files: &dyn ProjectFiles) -> BTreeSet<PathBuf> {
    let module = files.text(Path::new("go.mod")).unwrap_or_default();
    let module = module.lines().find_map(|line| line.strip_prefix("module ")).map(str::trim);
    let Some(module) = module else { return BTreeSet::new() };
    let mut found = BTreeSet::new();
    for word in quoted(text) {
        let own = word.strip_prefix(module).and_then(|rest| rest.strip_prefix('/'));
        // What is vendored is found by its whole name; the standard library has no dot in it.
        let vendored = || word.contains('.').then(|| Path::new("vendor").join(word));
        let Some(directory) = own.map(PathBuf::from).or_else(vendored) else { continue };
        let directory = directory.as_path();
        let own = |file: &&PathBuf| file.parent() == Some(directory) && extension_of(file) == "go";
        found.extend(below(files, directory).filter(own).cloned());
    }
    found
}

/// Headers of the project, where compilers are usually told to look for them.
fn c(path: &Path, text: &str, files: &dyn ProjectFiles) -> BTreeSet<PathBuf> {
    let lines = text.lines().map(str::trim_start).filter(|line| line.starts_with("#include"));
    let words = lines.filter_map(|line| line.split(['"', '<', '>']).nth(1));
    let own = directory_of(path);
    let mut places = vec![own.as_path()];
    places.extend(["", "src", "include", "lib", "inc"].map(Path::new));
    let file = |word: &str| {
        let mut forms = places.iter().filter_map(|place| normal(&place.join(word)));
        let near = forms.find(|file| files.paths().contains(file));
        near.or_else(|| {
            // `-Ithird_party/check`
            let mut found = files.ending_like(Path::new(word)).into_iter();
            let mut found = found.by_ref().filter(|path| path.ends_with(word));
            found.next().filter(|_| found.next().is_none()).cloned()
        })
    };
    words.filter_map(file).collect()
}

/// `use lib 'ci/lib'; use Report;`
fn perl(path: &Path, text: &str, files: &dyn ProjectFiles) -> BTreeSet<PathBuf> {
    let own = directory_of(path);
    let lines = || text.lines().map(str::trim_start);
    let named = lines().filter(|line| line.starts_with("use lib")).flat_map(quoted);
    let mut places: Vec<PathBuf> = named.map(PathBuf::from).collect();
    places.extend([own.clone(), own.join("lib"), PathBuf::from("lib")]);
    let module = |line: &str| {
        let rest = line.strip_prefix("use ").or_else(|| line.strip_prefix("require "))?;
        let is_end = |letter: char| !(letter.is_alphanumeric() || "_:".contains(letter));
        let name = rest.split(is_end).next().filter(|name| !name.is_empty())?;
        let file = format!("{}.pm", name.replace("::", "/"));
        let mut forms = places.iter().filter_map(|place| normal(&place.join(&file)));
        forms.find(|file| files.paths().contains(file))
    };
    lines().filter_map(module).collect()
}

fn shell(path: &Path, text: &str, files: &dyn ProjectFiles) -> BTreeSet<PathBuf> {
    let own = directory_of(path);
    let mut found = BTreeSet::new();
    for step in ShellScript::parse(text).steps() {
        let [program, word, ..] = step.words.as_slice() else { continue };
        if !["source", ".", "load", "bats_load_library"].contains(&program.as_str()) {
            continue;
        }
        let known = if is_open(word) {
            word.rsplit(super::shell::UNKNOWN).next().unwrap_or_default().trim_start_matches('/')
        } else {
            word
        };
        let names = [known.to_string(), format!("{known}.bash"), format!("{known}.sh")];
        let places = [own.clone(), PathBuf::new()];
        let forms = places.iter().flat_map(|place| names.iter().map(|name| place.join(name)));
        found.extend(
            forms.filter_map(|file| normal(&file)).find(|file| files.paths().contains(file)),
        );
    }
    found
}

/// Texts in quotes, line by line.
pub(super) fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.lines().flat_map(|line| {
        let mut found = Vec::new();
        let mut rest = line;
        while let Some(at) = rest.find(['"', '\'', '`']) {
            let mark = rest.as_bytes()[at] as char;
            let inner = &rest[at + 1..];
            let Some(end) = inner.find(mark) else { break };
            found.push(&inner[..end]);
            rest = &inner[end + 1..];
        }
        found
    })
}

/// Paths whose parts are put together in one line: `join(ROOT, "data", "seed.sql")`, `root / "data" /
/// "seed.sql"`.
pub(super) fn joined_paths(text: &str) -> Vec<String> {
    let is_part = |word: &&str| {
        !word.is_empty() && word.len() < 100 && !word.contains([' ', '*', '\\', '{', '$'])
    };
    let path_of = |line: &str| {
        let joins = line.contains("join(") || line.contains("/ \"") || line.contains("/ '");
        let parts: Vec<&str> = quoted(line).filter(is_part).collect();
        let is_path = parts.len() > 1 && parts.last().is_some_and(|last| last.contains('.'));
        (joins && is_path).then(|| parts.join("/"))
    };
    text.lines().filter_map(path_of).collect()
}

/// Texts in quotes that may be paths of scripts or data.
pub(super) fn quoted_paths(text: &str) -> impl Iterator<Item = &str> {
    quoted(text).filter(|word| {
        word.len() < 200 && word.contains(['/', '.']) && !word.contains([' ', '\n', '*', '\\'])
    })
}

/// Files that the settings of a JavaScript test runner name as code that it loads.
pub(super) fn settings_paths(text: &str) -> Vec<&str> {
    const KEYS: [&str; 14] = [
        "setupFiles",
        "setupFilesAfterEnv",
        "globalSetup",
        "globalTeardown",
        "testEnvironment",
        "transform",
        "reporters",
        "runner",
        "testRunner",
        "resolver",
        "snapshotSerializers",
        "preset",
        "require",
        "extends",
    ];
    let mut found = Vec::new();
    for key in KEYS {
        let mut rest = text;
        while let Some(at) = rest.find(key) {
            rest = &rest[at + key.len()..];
            let value = rest.trim_start_matches(['"', '\'', ' ', ':', '\n', '\t']);
            let end = match value.as_bytes().first() {
                Some(b'[') => value.find(']'),
                Some(b'{') => value.find('}'),
                _ => value.find([',', '\n', '}']),
            };
            let value = &value[..end.unwrap_or(value.len())];
            // The quote that opens a plain value was taken off with the colon.
            let plain = value.split(['"', '\'']).next().unwrap_or(value).trim();
            found.extend(quoted(value).chain([plain]).filter(|word| word.contains('/')));
        }
    }
    found
}

/// Whether a source file uses a test framework, and so is part of tests.
pub(super) fn uses_test_framework(path: &Path, text: &str) -> bool {
    let words: &[&str] = match language_of(path) {
        Some("python") => &["import pytest", "from pytest", "import unittest", "from unittest"],
        Some("javascript") => &[
            "from 'vitest'",
            "from \"vitest\"",
            "@jest/globals",
            "node:test",
            "from 'chai'",
            "from \"chai\"",
            "require('chai')",
            "@playwright/test",
            "@testing-library",
            " expect(",
            "\texpect(",
        ],
        Some("ruby") => &["rspec", "minitest"],
        Some("go") => &["*testing.T", "testing.TB"],
        // Macros that end a program whose expectation does not hold.
        Some("c") if extension_of(path).starts_with('h') && text.contains("#define ") => {
            &["exit(1)", "exit(EXIT_FAILURE)", "abort()", "longjmp(", "tests_run", "tests_failed"]
        }
        // Helpers of bats look at what `run` left.
        Some("shell") if text.contains("run ") => &["$output", "$status", "${lines["],
        _ => &[],
    };
    words.iter().any(|word| text.contains(word))
}

/// Whether a test is about the file: it has its name.
pub(super) fn is_subject(test: &Path, file: &Path) -> bool {
    let stem = name_of(file).split('.').next().unwrap_or_default().to_ascii_lowercase();
    let test = name_of(test).split('.').next().unwrap_or_default().to_ascii_lowercase();
    let plain = test.trim_start_matches("test_").trim_start_matches("test-");
    let ends = ["_test", "-test", "_tests", "_spec", "-spec", "test", "tests", "spec"];
    let plain = ends.iter().find_map(|end| plain.strip_suffix(end)).unwrap_or(plain);
    plain == stem
}
