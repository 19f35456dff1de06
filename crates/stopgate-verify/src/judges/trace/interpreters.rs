//! What interpreters do with their arguments: modules, scripts, code.

use std::path::{Path, PathBuf};

use super::super::files::{directory_of, extension_of};
use super::super::names::{is_code, says_program};
use super::super::python_modules::is_known_module;
use super::super::role::Why;
use super::super::shell::OutputFate;
use super::super::tools::{Trade, mentioned, trade_of};
use super::{Stand, Tracer};

impl Tracer<'_> {
    pub(super) fn interpreter(
        &mut self,
        name: &str,
        rest: &[&str],
        fate: OutputFate,
        stand: &Stand,
    ) {
        self.tool(name);
        if ["python", "pypy"].contains(&name) {
            return self.python(rest, fate, stand);
        }
        let mut words = rest.iter();
        while let Some(word) = words.next() {
            match *word {
                // `perl -c`, `ruby -c` and `php -l` only read.
                "-c" | "-l" => return,
                "-e" | "--eval" | "-p" => {
                    return words.next().iter().for_each(|text| self.code(text));
                }
                "-r" => self.loaded(words.next().copied(), stand),
                option if option.starts_with('-') && option.len() > 1 => {}
                script => {
                    // Tests of Perl, by themselves.
                    let tests = [script].into_iter().filter(|own| is_test(own));
                    self.places_of_prove(&tests.collect::<Vec<_>>(), stand);
                    return self.run_script(script, words.as_slice(), fate, stand);
                }
            }
        }
    }

    /// A file that is loaded before anything else.
    pub(super) fn loaded(&mut self, word: Option<&str>, stand: &Stand) {
        if let Some(path) = word.and_then(|word| self.file(stand, word)) {
            self.load(path, stand);
        }
    }

    /// What is loaded judges, and so does what it loads from beside it.
    pub(super) fn load(&mut self, path: PathBuf, stand: &Stand) {
        if is_code(extension_of(&path)) && !says_program(&path) {
            self.loads_of(&path, stand);
        }
        self.judge(path, Why::Named);
    }

    fn python(&mut self, rest: &[&str], fate: OutputFate, stand: &Stand) {
        let mut words = rest.iter();
        while let Some(word) = words.next() {
            if let Some(module) = word.strip_prefix("-m") {
                self.trace.import_roots.insert(stand.directory.clone());
                let module = Some(module).filter(|own| !own.is_empty());
                let all: Vec<&str> = module.into_iter().chain(words.copied()).collect();
                return self.module(&all, fate, stand);
            }
            match *word {
                "-c" => {
                    self.trace.import_roots.insert(stand.directory.clone());
                    return words.next().iter().for_each(|text| self.python_code(text, stand));
                }
                "-W" | "-X" => drop(words.next()),
                option if option.starts_with('-') && option.len() > 1 => {}
                script => {
                    let place = self.file(stand, script).map(|path| directory_of(&path));
                    self.trace.import_roots.extend(place);
                    return self.run_script(script, words.as_slice(), fate, stand);
                }
            }
        }
    }

    /// Code on the command line: the tools it names are used, what it imports is under test.
    pub(super) fn code(&mut self, text: &str) {
        self.trace.tools.extend(mentioned(text).into_iter().map(Into::into));
    }

    /// Modules that code on the command line means to have from elsewhere: a file of that name
    /// beside it would take their place.
    fn python_code(&mut self, text: &str, stand: &Stand) {
        for name in imported(text).filter(|name| is_known_module(name)) {
            let file = stand.directory.join(format!("{name}.py"));
            let package = stand.directory.join(name).join("__init__.py");
            if !self.files.exists(&file) && !self.files.exists(&package) {
                let why = Why::Hides(format!("the module {name}"));
                self.judge(file, why.clone());
                self.judge(package, why);
            }
        }
        self.code(text);
    }

    fn module(&mut self, words: &[&str], fate: OutputFate, stand: &Stand) {
        let Some((module, rest)) = words.split_first() else { return };
        match *module {
            "coverage" | "tox" | "nox" => self.known(module, rest, fate, stand),
            "doctest" => self.doctest(rest, stand),
            "py_compile" | "compileall" | "json.tool" | "pip" | "venv" | "build"
            | "http.server" | "timeit" => {}
            module if trade_of(module) != Trade::Unknown => self.other(module, rest, fate, stand),
            module => {
                let path = stand.directory.join(module.replace('.', "/"));
                let places = [path.with_extension("py"), path.join("__main__.py")];
                let found = places.into_iter().find(|path| self.files.paths().contains(path));
                match found {
                    Some(path) => self.script_file(path, &[], fate, stand),
                    None => drop(self.unknown.insert((*module).into())),
                }
            }
        }
    }

    /// Examples in source are sections of it; a text with examples is a test as a whole.
    fn doctest(&mut self, rest: &[&str], stand: &Stand) {
        self.tool("doctest");
        for word in rest.iter().filter(|word| !word.starts_with('-')) {
            let found = self.files_of(stand, word).into_iter();
            for path in found.filter(|path| extension_of(path) != "py") {
                self.judge(path, Why::Named);
            }
        }
    }

    pub(super) fn unittest_module(&mut self, word: &str, stand: &Stand) {
        if word == "discover" {
            return;
        }
        let mut parts: Vec<&str> = word.split('.').collect();
        while !parts.is_empty() {
            let path = stand.directory.join(parts.join("/")).with_extension("py");
            if self.files.paths().contains(&path) {
                return self.judge(path, Why::Named);
            }
            parts.pop();
        }
    }

    pub(super) fn plugin(&mut self, module: &str, stand: &Stand) {
        let path = stand.directory.join(module.replace('.', "/"));
        for path in [path.with_extension("py"), path.join("__init__.py")] {
            if self.files.paths().contains(&path) {
                self.judge(path, Why::Named);
            }
        }
    }
}

/// The names of the modules that Python code imports, without what is below them.
fn imported(text: &str) -> impl Iterator<Item = &str> {
    let lines = text.split([';', '\n', ':']).map(str::trim_start);
    let names = lines.filter_map(|line| {
        line.strip_prefix("import ").or_else(|| {
            let rest = line.strip_prefix("from ")?;
            rest.split_once(" import").map(|(module, _)| module)
        })
    });
    let names = names.flat_map(|names| names.split(','));
    names.filter_map(|name| name.trim().split([' ', '.']).next())
}

/// Whether a script is called as tests of Perl are.
fn is_test(script: &str) -> bool {
    extension_of(Path::new(script)) == "t"
}
