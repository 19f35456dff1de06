//! Which programs and files a command uses, looked at a little further than its first word.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

use stopgate_system::CanonicalPath;

use super::shell::{commands, is_assignment};

use crate::files::read_regular;

/// No `package.json` is longer.
const PACKAGE_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// Commands within commands are followed this far.
const DEPTH_MAX: usize = 4;

/// What the shell does itself.
const BUILTINS: [&str; 16] = [
    "test", "[", "echo", "cd", "true", "false", "exit", "set", "export", ":", "printf", "read",
    "pwd", "wait", "unset", "ulimit",
];

/// Files that programs read without being told, and that say what is run.
const DEFAULT_FILES: [(&str, &[&str]); 8] = [
    ("make", &["GNUmakefile", "makefile", "Makefile"]),
    ("gmake", &["GNUmakefile", "makefile", "Makefile"]),
    ("just", &["justfile", "Justfile", ".justfile"]),
    ("rake", &["Rakefile"]),
    ("nox", &["noxfile.py"]),
    ("invoke", &["tasks.py"]),
    ("task", &["Taskfile.yml", "Taskfile.yaml"]),
    ("tox", &["tox.ini"]),
];

/// Files that every piece of work may have to change, even where a command names them.
const MANIFESTS: [&str; 8] = [
    "Cargo.toml",
    "package.json",
    "pyproject.toml",
    "go.mod",
    "requirements.txt",
    "pom.xml",
    "build.gradle",
    "Gemfile",
];

/// Directories whose files are made by the work itself.
const PRODUCTS: [&str; 9] =
    ["target", "build", "dist", "out", "_build", "zig-out", "obj", ".build", "bazel-bin"];

/// Programs whose arguments are tests.
const RUNNERS: [&str; 16] = [
    "pytest",
    "py.test",
    "jest",
    "vitest",
    "mocha",
    "ava",
    "tap",
    "rspec",
    "phpunit",
    "bats",
    "playwright",
    "cypress",
    "prove",
    "shunit2",
    "behave",
    "nose2",
];

/// What is known about the programs and files of a command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Uses {
    /// Programs by name, as they are looked for on the path; later ones are run by earlier ones.
    pub(crate) programs: BTreeSet<String>,
    /// Programs and scripts of the project, from its root.
    pub(crate) files: BTreeSet<PathBuf>,
    /// Those of them that are run without an interpreter being named.
    pub(crate) own: BTreeSet<PathBuf>,
    /// Scripts of the project's `package.json`, and their texts.
    pub(crate) scripts: BTreeMap<String, String>,
}

/// Looks into commands in one directory of a project.
pub(crate) struct CommandLook<'a> {
    /// The project's root.
    pub(crate) root: &'a Path,
    /// Where the command runs.
    pub(crate) directory: PathBuf,
    pub(crate) uses: Uses,
}

impl CommandLook<'_> {
    /// Looks into a shell command.
    pub(crate) fn shell(&mut self, text: &str, depth: usize) {
        for words in commands(text) {
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            self.words(&words, depth);
        }
    }

    /// Looks into a program and its arguments.
    pub(crate) fn words(&mut self, words: &[&str], depth: usize) {
        let Some((program, arguments)) = words.split_first() else { return };
        if depth > DEPTH_MAX {
            return;
        }
        let name = program.rsplit('/').next().unwrap_or(program);
        if program.contains('/') {
            self.program_file(program);
        } else {
            self.uses.programs.insert((*program).into());
        }
        if is_builtin(program) {
            return;
        }
        self.inside(name, arguments, depth);
        let files =
            DEFAULT_FILES.iter().filter(|(own, _)| *own == name).flat_map(|(_, files)| *files);
        files.for_each(|file| self.file(file));
    }

    fn inside(&mut self, name: &str, arguments: &[&str], depth: usize) {
        match name {
            "sh" | "bash" | "dash" | "zsh" | "ksh" => self.shell_program(arguments, depth),
            "env" | "time" | "nice" | "nohup" | "command" | "exec" | "xvfb-run" | "stdbuf"
            | "setsid" => {
                self.words(after_options(arguments), depth + 1);
            }
            "timeout" => {
                self.words(after_options(arguments).get(1..).unwrap_or_default(), depth + 1);
            }
            "npx" | "bunx" => self.tool(after_options(arguments), depth),
            "npm" | "pnpm" | "yarn" | "bun" => self.node_manager(arguments, depth),
            "uv" | "poetry" | "pipenv" | "hatch" | "rye" | "pdm" | "mise" | "bundle" => {
                if let [_, rest @ ..] = arguments {
                    self.tool(after_options(rest), depth);
                }
            }
            "cargo" | "git" => {
                let inner = after_options(arguments).first().map(|inner| format!("{name}-{inner}"));
                self.uses.programs.extend(inner);
                self.plain(arguments);
            }
            name if is_interpreter(name) => self.interpreter(arguments),
            name if RUNNERS.contains(&name) => self.arguments(arguments),
            _ => self.plain(arguments),
        }
    }

    fn shell_program(&mut self, arguments: &[&str], depth: usize) {
        let is_option = |word: &str| word.starts_with(['-', '+']) && !word.starts_with("--");
        let mut rest = arguments.iter();
        let mut takes_text = false;
        let operand = loop {
            match rest.next() {
                Some(option) if is_option(option) => {
                    takes_text |= option.contains('c');
                    // The name of a setting follows.
                    let _ = option.ends_with('o').then(|| rest.next());
                }
                Some(option) if option.starts_with("--") => {}
                Some(operand) => break operand,
                None => return,
            }
        };
        if takes_text { self.shell(operand, depth + 1) } else { self.argument(operand) }
    }

    /// A module or a script, and what it is to look at.
    fn interpreter(&mut self, arguments: &[&str]) {
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            match *argument {
                "-m" => return self.module(rest.as_slice()),
                "-c" | "-e" => return,
                "-W" | "-X" | "-r" => drop(rest.next()),
                option if option.starts_with('-') => {}
                script => {
                    self.argument(script);
                    return self.plain(rest.as_slice());
                }
            }
        }
    }

    fn module(&mut self, words: &[&str]) {
        let Some((module, arguments)) = words.split_first() else { return };
        if RUNNERS.contains(module) || *module == "unittest" {
            self.arguments(arguments);
        } else {
            self.plain(arguments);
        }
    }

    fn arguments(&mut self, arguments: &[&str]) {
        for argument in arguments {
            self.argument(argument);
        }
    }

    /// A tool that a project installed for itself.
    fn tool(&mut self, words: &[&str], depth: usize) {
        let Some(name) = words.first().filter(|name| !name.contains('/')) else {
            return self.words(words, depth + 1);
        };
        for directory in ["node_modules/.bin", ".venv/bin", "venv/bin"] {
            self.file(&format!("{directory}/{name}"));
        }
        self.words(words, depth + 1);
    }

    fn node_manager(&mut self, arguments: &[&str], depth: usize) {
        match after_options(arguments) {
            ["exec" | "dlx" | "x", rest @ ..] => self.tool(after_options(rest), depth),
            ["t" | "tst", ..] => self.script("test", depth),
            ["run" | "run-script", script, ..] | [script, ..] => self.script(script, depth),
            [] => {}
        }
    }

    /// A script of `package.json`, with those that are run before and after it.
    fn script(&mut self, name: &str, depth: usize) {
        let package = read_regular(&self.directory.join("package.json"), PACKAGE_BYTES_MAX).ok();
        let package = package.and_then(|text| serde_json::from_slice(&text).ok());
        let package: serde_json::Value = package.unwrap_or_default();
        for name in [format!("pre{name}"), name.into(), format!("post{name}")] {
            let Some(text) = package["scripts"][&name].as_str() else { continue };
            if self.uses.scripts.insert(name, text.into()).is_some() {
                continue;
            }
            for words in commands(text) {
                let words: Vec<&str> = words.iter().map(String::as_str).collect();
                self.tool(&words, depth + 1);
            }
        }
    }

    /// Arguments of a program that may as well look at the work: only what looks like a test,
    /// a script or a setting is taken for what it judges by.
    fn plain(&mut self, arguments: &[&str]) {
        for argument in arguments.iter().filter(|argument| steers(argument)) {
            self.argument(argument);
        }
    }

    /// A file of the project that an argument names, also as `--option=file` or `file::test`.
    fn argument(&mut self, argument: &str) {
        let value = argument.split_once('=').filter(|_| argument.starts_with('-'));
        let value = value.map_or(argument, |(_, value)| value);
        let file = value.split("::").next().unwrap_or(value);
        let name = file.rsplit('/').next().unwrap_or(file);
        if !is_assignment(argument) && !MANIFESTS.contains(&name) {
            self.file(file);
        }
    }

    /// A program that the command names by its path.
    fn program_file(&mut self, path: &str) {
        let whole = self.whole_path(path);
        match whole.strip_prefix(self.root) {
            Ok(inner) => {
                self.uses.own.insert(inner.into());
                self.file(path);
            }
            Err(_) => drop(self.uses.programs.insert(whole.to_string_lossy().into_owned())),
        }
    }

    /// A file that the check judges by, and what it points to, where they are in the project.
    fn file(&mut self, path: &str) {
        let whole = self.whole_path(path);
        let target = whole.canonical().ok();
        for file in [Some(whole), target].into_iter().flatten() {
            let Ok(inner) = file.strip_prefix(self.root) else { continue };
            let is_product = |part: Component<'_>| {
                PRODUCTS.iter().any(|product| part == Component::Normal(product.as_ref()))
            };
            if !inner.components().any(is_product) && file.is_file() {
                self.uses.files.insert(inner.into());
            }
        }
    }

    fn whole_path(&self, path: &str) -> PathBuf {
        let mut whole = PathBuf::new();
        for part in self.directory.join(path).components() {
            match part {
                Component::ParentDir => drop(whole.pop()),
                Component::CurDir => {}
                Component::Normal(_) | Component::RootDir | Component::Prefix(_) => {
                    whole.push(part);
                }
            }
        }
        whole
    }
}

/// Whether the shell does it itself.
pub(crate) fn is_builtin(name: &str) -> bool {
    BUILTINS.contains(&name)
}

/// What follows options and variables.
fn after_options<'a>(arguments: &'a [&'a str]) -> &'a [&'a str] {
    let skipped = |word: &&&str| word.starts_with(['-', '+']) || is_assignment(word);
    &arguments[arguments.iter().take_while(skipped).count()..]
}

fn is_interpreter(name: &str) -> bool {
    let plain = name.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '.');
    ["python", "pypy", "node", "ruby", "perl", "php", "deno", "tsx", "ts-node", "lua", "Rscript"]
        .contains(&plain)
}

/// Whether a path looks like a test, a script or a setting.
fn steers(argument: &str) -> bool {
    const DIRECTORIES: [&str; 8] =
        ["test", "tests", "spec", "specs", "__tests__", "ci", ".github", "scripts"];
    const ENDS: [&str; 12] = [
        ".sh", ".bash", ".bats", ".mk", ".toml", ".yaml", ".yml", ".json", ".cfg", ".ini", ".conf",
        "Makefile",
    ];
    let path = argument.rsplit('=').next().unwrap_or(argument);
    let (directory, name) = path.rsplit_once('/').unwrap_or(("", path));
    let is_test = ["test_", "test."].iter().any(|begin| name.starts_with(begin))
        || ["_test.", ".test.", ".spec.", "_spec."].iter().any(|mark| name.contains(mark));
    is_test
        || ENDS.iter().any(|end| name.ends_with(end))
        || directory.split('/').any(|part| DIRECTORIES.contains(&part))
}
