//! What each program does with its arguments.

use std::path::{Path, PathBuf};

use super::super::files::{directory_of, extension_of, inner, name_of};
use super::super::names::{is_code, said};
use super::super::role::Why;
use super::super::shell::{Fate, assignment, is_open};
use super::super::tools::{Trade, is_interpreter, is_shell, plain_name, trade_of};
use super::{Stand, Tracer};

/// Options of runners that say where something is written, not what is read.
const OUTPUTS: [&str; 14] = [
    "-o",
    "--output",
    "--outputFile",
    "--output-file",
    "--junitxml",
    "--junit-xml",
    "--log-file",
    "--report",
    "--reporter-options",
    "--cov",
    "--cov-report",
    "--basetemp",
    "--cache-dir",
    "--resultlog",
];

impl Tracer<'_> {
    pub(super) fn program(&mut self, program: &str, rest: &[&str], fate: Fate, stand: &Stand) {
        let name = plain_name(program);
        if is_open(program) || program.contains('/') {
            if program.contains("node_modules/.bin/") || program.contains("/bin/") {
                // An installed tool by its path.
                if trade_of(name) != Trade::Unknown || is_interpreter(name) || is_shell(name) {
                    return self.known(name, rest, fate, stand);
                }
            }
            return self.run_file(program, rest, fate, stand);
        }
        self.trace.programs.insert(program.into());
        self.known(name, rest, fate, stand);
    }

    fn known(&mut self, name: &str, rest: &[&str], fate: Fate, stand: &Stand) {
        match name {
            name if is_shell(name) => self.shell_program(rest, fate, stand),
            "." | "source" => self.source(rest, stand),
            "for" => self.each(rest, stand),
            "eval" => self.text(&rest.join(" "), stand),
            "trap" => rest.first().into_iter().for_each(|text| self.text(text, stand)),
            "env" | "time" | "nice" | "nohup" | "command" | "exec" | "xvfb-run" | "stdbuf"
            | "setsid" | "sudo" | "cross-env" | "env-cmd" | "dotenv" | "ionice" | "chronic"
            | "unbuffer" | "caffeinate" | "doas" | "builtin" => {
                for (name, value) in rest.iter().filter_map(|word| assignment(word)) {
                    self.variable(stand, name, value);
                }
                self.words(wrapped(rest), fate, stand);
            }
            "timeout" | "gtimeout" | "retry" => self.words(wrapped(rest), fate, stand),
            "flock" => self.words(wrapped(rest).get(1..).unwrap_or_default(), fate, stand),
            "xargs" | "parallel" => {
                let from = rest.iter().position(|word| is_program(word)).unwrap_or(rest.len());
                self.words(&rest[from..], fate, stand);
            }
            "find" => self.find_exec(rest, fate, stand),
            "npm" | "pnpm" | "yarn" | "bun" | "npx" | "bunx" | "pnpx" | "nyc" | "c8"
            | "concurrently" | "npm-run-all" | "run-s" | "run-p" | "turbo" | "nx" | "lerna"
            | "node" | "nodejs" | "deno" | "react-scripts" | "ng" | "wireit" | "corepack" => {
                self.node_program(name, rest, fate, stand);
            }
            "uv" | "poetry" | "pipenv" | "hatch" | "rye" | "pdm" | "mise" | "bundle" | "conda"
            | "micromamba" | "direnv" | "nix" | "nix-shell" | "devbox" | "asdf" | "uvx"
            | "pixi" | "docker" | "docker-compose" | "podman" => {
                self.inner_program(name, rest, fate, stand)
            }
            "make" | "gmake" => self.make(rest, stand),
            "just" => self.just(rest, stand),
            "cargo" | "go" | "dotnet" | "mix" | "swift" | "flutter" | "dart" | "bazel" | "zig"
            | "coverage" => self.subcommand(name, rest, fate, stand),
            name if is_interpreter(name) => self.interpreter(name, rest, fate, stand),
            name => self.other(name, rest, stand),
        }
    }

    fn other(&mut self, name: &str, rest: &[&str], stand: &Stand) {
        match trade_of(name) {
            Trade::Runner => {
                self.tool(name);
                self.runner_arguments(name, rest, stand);
            }
            Trade::Linter => {
                self.tool(name);
                self.settings(rest, stand);
            }
            Trade::Builder => self.tool(name),
            Trade::Plain => self.looked_at(name, rest, stand),
            Trade::Unknown => {
                let is_tool = [
                    "task",
                    "invoke",
                    "inv",
                    "poe",
                    "tsx",
                    "ts-node",
                    "gradle",
                    "mvn",
                    "husky",
                    "circleci",
                    "lint-staged",
                    "wireit",
                ]
                .contains(&name);
                if is_tool {
                    self.tool(name);
                }
                self.mentions(rest, stand);
                self.unknown.insert(name.into());
            }
        }
    }

    /// A program that looks at files: what it compares with is a judge, what it looks at is not.
    fn looked_at(&mut self, name: &str, rest: &[&str], stand: &Stand) {
        let compares = ["diff", "cmp", "comm"].contains(&name);
        self.mentions(rest, stand);
        let uses_file = |word: &&&str| compares || said(Path::new(word)).is_some();
        for word in rest.iter().filter(uses_file) {
            let Some(path) = self.file(stand, word) else { continue };
            if said(&path).is_some() {
                self.judge(path, Why::TestData);
            }
        }
        // `grep -f patterns`, `jq -f program`
        if let Some(at) =
            rest.iter().position(|word| ["-f", "--file", "--from-file"].contains(word))
            && ["grep", "egrep", "fgrep", "rg", "jq", "awk", "sed"].contains(&name)
            && let Some(path) = rest.get(at + 1).and_then(|word| self.file(stand, word))
        {
            self.judge(path, Why::Named);
        }
    }

    /// Arguments of a test runner: files are tests or settings.
    pub(super) fn runner_arguments(&mut self, name: &str, rest: &[&str], stand: &Stand) {
        if ["pytest", "py.test", "nose2", "nosetests", "behave"].contains(&name) {
            self.trace.import_roots.insert(stand.directory.clone());
        }
        self.settings(rest, stand);
        if name == "unittest"
            && let Some(at) = rest.iter().position(|word| *word == "-p")
        {
            self.trace.test_patterns.extend(rest.get(at + 1).map(ToString::to_string));
        }
        let mut previous = "";
        for word in rest {
            let is_value = previous.starts_with('-') && previous.len() > 1 && takes_value(previous);
            previous = word;
            if word.starts_with('-') || is_value || is_open(word) {
                continue;
            }
            let file = word.split("::").next().unwrap_or(word);
            if name == "unittest" {
                self.unittest_module(file, stand);
            }
            for path in self.files_of(stand, file) {
                self.named_test(path, stand, file);
            }
        }
    }

    fn named_test(&mut self, path: PathBuf, stand: &Stand, word: &str) {
        let is_named = inner(self.root, &stand.directory, word).as_deref() == Some(&path);
        let is_pattern = word.contains(['*', '?', '{']);
        // A directory is searched for names that say so; a file is named on purpose.
        if (is_named || is_pattern) && is_code(extension_of(&path)) {
            self.judge(path, Why::Named);
        }
    }

    fn unittest_module(&mut self, word: &str, stand: &Stand) {
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

    /// Files that options name: settings, plugins, files that are loaded first.
    pub(super) fn settings(&mut self, rest: &[&str], stand: &Stand) {
        for (at, word) in rest.iter().enumerate().filter(|(_, word)| word.starts_with('-')) {
            let (option, value) = match word.split_once('=') {
                Some((option, value)) => (option, Some(value)),
                None => (*word, rest.get(at + 1).copied()),
            };
            let Some(value) = value.filter(|value| !value.starts_with('-')) else { continue };
            if OUTPUTS.contains(&option) || is_pattern_option(option) {
                if is_pattern_option(option) && option != "-k" && option != "-m" {
                    self.trace.test_patterns.insert(value.trim_matches(['"', '\'']).into());
                }
                continue;
            }
            if option == "-p" {
                self.plugin(value, stand);
            }
            let is_setting = takes_value(option);
            let path = self.file(stand, value).filter(|_| is_setting);
            let is_manifest = |path: &PathBuf| {
                ["Cargo.toml", "package.json", "pyproject.toml", "setup.cfg", "tox.ini", "go.mod"]
                    .contains(&name_of(path))
            };
            let path = path.filter(|path| !is_manifest(path));
            if let Some(path) = path.filter(|path| self.files.paths().contains(path)) {
                self.judge(path, Why::Named);
            }
        }
    }

    fn plugin(&mut self, module: &str, stand: &Stand) {
        let path = stand.directory.join(module.replace('.', "/"));
        for path in [path.with_extension("py"), path.join("__init__.py")] {
            if self.files.paths().contains(&path) {
                self.judge(path, Why::Named);
            }
        }
    }

    fn shell_program(&mut self, rest: &[&str], fate: Fate, stand: &Stand) {
        let mut words = rest.iter();
        let (mut is_text, mut only_reads) = (false, false);
        while let Some(word) = words.next() {
            if word.starts_with("--") {
                let takes = ["--rcfile", "--init-file"].contains(word);
                let _ = takes.then(|| words.next());
            } else if word.starts_with(['-', '+']) && word.len() > 1 {
                is_text |= word.contains('c');
                only_reads |= word.starts_with('-') && word.contains('n');
                let _ = word.ends_with('o').then(|| words.next());
            } else if only_reads {
                return;
            } else if is_text {
                return self.text(word, stand);
            } else {
                return self.run_script(word, words.as_slice(), fate, stand);
            }
        }
    }

    fn interpreter(&mut self, name: &str, rest: &[&str], fate: Fate, stand: &Stand) {
        self.tool(name);
        let is_python = ["python", "pypy"].contains(&name);
        let mut words = rest.iter();
        while let Some(word) = words.next() {
            match *word {
                "-m" if is_python => {
                    self.trace.import_roots.insert(stand.directory.clone());
                    return self.module(words.as_slice(), fate, stand);
                }
                "-c" | "-e" | "-l" | "--eval" | "-p" => {
                    if is_python {
                        self.trace.import_roots.insert(stand.directory.clone());
                    }
                    let is_syntax = name != "python" && *word == "-c";
                    let text = words.next().filter(|_| !is_syntax && *word != "-l");
                    return text.into_iter().for_each(|text| self.code(text, stand));
                }
                "-W" | "-X" | "-I" if is_python => drop(words.next().filter(|_| *word != "-I")),
                "-r" => {
                    let path = words.next().and_then(|word| self.file(stand, word));
                    path.into_iter().for_each(|path| self.judge(path, Why::Named));
                }
                option if option.starts_with('-') && option.len() > 1 => {
                    // `-mpytest`, `-Wignore`
                    if let Some(module) = option.strip_prefix("-m").filter(|_| is_python) {
                        let mut all = vec![module];
                        all.extend(words.as_slice());
                        return self.module(&all, fate, stand);
                    }
                }
                script => {
                    let path = self.file(stand, script);
                    if is_python && let Some(path) = &path {
                        self.trace.import_roots.insert(directory_of(path));
                    }
                    return self.run_script(script, words.as_slice(), fate, stand);
                }
            }
        }
    }

    /// Code on the command line: the tools it names are used, what it imports is under test.
    pub(super) fn code(&mut self, text: &str, _stand: &Stand) {
        self.trace.tools.extend(super::super::tools::mentioned(text).into_iter().map(Into::into));
    }

    fn module(&mut self, words: &[&str], fate: Fate, stand: &Stand) {
        let Some((module, rest)) = words.split_first() else { return };
        match *module {
            "coverage" | "tox" | "nox" => self.known(module, rest, fate, stand),
            "py_compile" | "compileall" | "json.tool" | "doctest" | "pip" | "venv" | "build"
            | "http.server" | "timeit" => {}
            module if trade_of(module) != Trade::Unknown => self.other(module, rest, stand),
            module => {
                let path = stand.directory.join(module.replace('.', "/"));
                let places = [path.with_extension("py"), path.join("__main__.py")];
                let found = places.into_iter().find(|path| self.files.paths().contains(path));
                match found {
                    Some(path) => self.script_file(path, fate, stand),
                    None => drop(self.unknown.insert((*module).into())),
                }
            }
        }
    }

    /// `cargo test`, `go test`, `coverage run -m pytest`…
    fn subcommand(&mut self, name: &str, rest: &[&str], fate: Fate, stand: &Stand) {
        self.tool(name);
        let words = after_options(rest);
        let Some((inner, rest)) = words.split_first() else { return };
        if name == "coverage" {
            if *inner == "run" {
                self.settings(rest, stand);
                self.interpreter("python", rest, fate, stand);
            }
            return;
        }
        let inner = match (name, *inner) {
            ("cargo", "t") => "test",
            ("cargo", "b") => "build",
            ("cargo", "c") => "check",
            ("cargo", "r") => "run",
            (_, inner) => inner,
        };
        let whole = format!("{name}-{inner}");
        self.trace.programs.extend((name == "cargo").then(|| whole.clone()));
        if name == "cargo" && ["llvm-cov", "tarpaulin", "insta", "mutants"].contains(&inner) {
            self.tool("cargo-test");
            let nextest = rest.contains(&"nextest").then_some("cargo-nextest");
            nextest.into_iter().for_each(|tool| self.tool(tool));
        }
        if trade_of(&whole) == Trade::Unknown {
            // An alias or an extension may do anything, also test.
            let builds = [
                "metadata", "tree", "run", "clean", "fetch", "add", "update", "version", "env",
                "install", "list", "get", "restore", "compile", "deps.get", "package",
            ];
            if !builds.contains(&inner) {
                self.tool(&format!("{name}-test"));
            }
            return;
        }
        self.tool(&whole);
        self.settings(rest, stand);
        if name != "cargo" && trade_of(&whole) == Trade::Runner {
            self.runner_arguments(&whole, rest, stand);
        }
    }

    /// A program that starts another one.
    fn inner_program(&mut self, name: &str, rest: &[&str], fate: Fate, stand: &Stand) {
        self.tool(name);
        if name == "uvx" {
            return self.words(after_options(rest), fate, stand);
        }
        if name == "nix-shell" || name == "nix" {
            let at = rest.iter().position(|word| ["--run", "-c", "--command"].contains(word));
            match at.map(|at| &rest[at + 1..]) {
                Some([text]) => self.text(text, stand),
                Some(words) => self.words(words, fate, stand),
                None => drop(self.unknown.insert(name.into())),
            }
            return;
        }
        if ["docker", "docker-compose", "podman"].contains(&name) {
            self.unknown.insert(name.into());
            let at = rest.iter().position(|word| trade_of(plain_name(word)) == Trade::Runner);
            return self.words(at.map_or(&[], |at| &rest[at..]), fate, stand);
        }
        let words = after_options(rest);
        if let [verb, inner @ ..] = words
            && ["run", "exec", "x", "tool", "dotenv", "--"].contains(verb)
        {
            let skipped = usize::from(name == "direnv");
            let from = inner.iter().skip(skipped).position(|word| is_program(word));
            let from = from.map_or(inner.len(), |from| from + skipped);
            self.words(&inner[from..], fate, stand);
        }
    }

    fn find_exec(&mut self, rest: &[&str], fate: Fate, stand: &Stand) {
        let is_exec = |word: &&str| ["-exec", "-execdir", "-ok"].contains(word);
        let Some(at) = rest.iter().position(is_exec) else { return };
        let words = &rest[at + 1..];
        self.words(words, fate, stand);
        let runs =
            words.first().is_some_and(|word| is_shell(word) || is_interpreter(plain_name(word)));
        let place = rest.first().filter(|word| !word.starts_with('-'));
        if let Some(place) = place.filter(|_| runs || words.first() == Some(&"{}")) {
            for path in self.files_of(stand, place) {
                if is_code(extension_of(&path)) {
                    self.script_file(path, fate, stand);
                }
            }
        }
    }

    /// `for f in ci/*.sh`: what is listed is likely run.
    fn each(&mut self, rest: &[&str], stand: &Stand) {
        let Some(at) = rest.iter().position(|word| *word == "in") else { return };
        for word in &rest[at + 1..] {
            let is_script = |path: &PathBuf| is_code(extension_of(path)) || said(path).is_some();
            for path in self.files_of(stand, word).into_iter().filter(is_script) {
                if said(&path).is_some() || super::super::names::says_judge(&path) {
                    self.script_file(path, Fate::Shown, stand);
                }
            }
        }
    }
}

/// What follows options and variables.
pub(super) fn after_options<'a>(words: &'a [&'a str]) -> &'a [&'a str] {
    let skipped = |word: &&&str| word.starts_with(['-', '+']) || assignment(word).is_some();
    &words[words.iter().take_while(skipped).count()..]
}

/// The program that another one starts: what follows options, their values, and durations.
fn wrapped<'a>(words: &'a [&'a str]) -> &'a [&'a str] {
    let mut at = 0;
    while let Some(word) = words.get(at) {
        let is_number = word.starts_with(|letter: char| letter.is_ascii_digit());
        if ["-u", "-g", "-C", "-s", "-k"].contains(word) && words.len() > at + 2 {
            at += 2;
        } else if word.starts_with(['-', '+']) || assignment(word).is_some() || is_number {
            at += 1;
        } else {
            break;
        }
    }
    &words[at.min(words.len())..]
}

/// Whether a word after options may be the program.
fn is_program(word: &str) -> bool {
    !word.starts_with('-')
        && assignment(word).is_none()
        && !word.bytes().all(|byte| byte.is_ascii_digit())
        && !["{}", "run"].contains(&word)
}

/// Options that say which tests are meant, not which file is read.
fn is_pattern_option(option: &str) -> bool {
    [
        "-k",
        "--pattern",
        "-t",
        "--testNamePattern",
        "--testMatch",
        "--testPathPattern",
        "--grep",
        "-g",
    ]
    .contains(&option)
}

/// Options of runners and linters whose value is a file that decides.
fn takes_value(option: &str) -> bool {
    const NAMES: [&str; 36] = [
        "-c",
        "--config",
        "--config-file",
        "--configuration",
        "--conf",
        "--rcfile",
        "--rc",
        "--settings",
        "-r",
        "--require",
        "--import",
        "--file",
        "--setup",
        "--setupFilesAfterEnv",
        "--preload",
        "--loader",
        "--project",
        "-p",
        "-f",
        "--rules",
        "--rulesdir",
        "--opts",
        "--bootstrap",
        "--env-file",
        "--baseline",
        "--config-path",
        "--manifest-path",
        "--ignore-path",
        "--reporter",
        "--globalSetup",
        "-W",
        "-s",
        "-t",
        "--cov-config",
        "-k",
        "-m",
    ];
    NAMES.contains(&option)
}

/// The name of a script that may be one of the project's.
pub(super) fn is_script_name(path: &Path) -> bool {
    is_code(extension_of(path)) || !name_of(path).contains('.')
}
