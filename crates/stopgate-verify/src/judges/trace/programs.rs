//! What each program does with its arguments.

use std::path::{Path, PathBuf};

use super::super::by_path::is_product;
use super::super::files::{extension_of, inner, name_of};
use super::super::names::{is_code, is_foreign, name_says_judge, said, says_judge, says_program};
use super::super::role::Why;
use super::super::shell::{OutputFate, assignment, is_open};
use super::super::tools::{
    BENCHES, Trade, is_interpreter, is_shell, mentioned, plain_name, trade_of,
};
use super::lists::LoopBody;
use super::scripts::is_of_tools;
use super::{Rank, Stand, Tracer, git};

impl Tracer<'_> {
    pub(super) fn program(
        &mut self,
        program: &str,
        rest: &[&str],
        fate: OutputFate,
        stand: &Stand,
    ) {
        let name = plain_name(program);
        if is_open(program) || program.contains('/') {
            let is_known =
                trade_of(name) != Trade::Unknown || is_interpreter(name) || is_shell(name);
            // An installed tool by its path.
            if is_known && program.contains("/bin/") | program.contains("/.bin/") {
                return self.known(name, rest, fate, stand);
            }
            return self.run_file(program, rest, fate, stand);
        }
        self.trace.programs.insert(program.into());
        self.put_on_path(program, stand);
        if super::linked_programs::linked_program(self, program, rest, fate, stand) {
            return;
        }
        self.known(name, rest, fate, stand);
    }

    /// A program of the project in a directory of tools that a judging script puts on the path.
    fn put_on_path(&mut self, program: &str, stand: &Stand) {
        if stand.rank != Rank::Judge {
            return;
        }
        let is_known = |place: &&PathBuf| is_of_tools(place) || says_judge(place);
        let places = self.trace.path_directories.iter().filter(is_known);
        let found = places.map(|place| place.join(program));
        let found = found.into_iter().find(|path| self.files.paths().contains(path));
        if let Some(path) = found.filter(|path| !is_foreign(path)) {
            self.follow(&path, Why::UsedByScript, stand);
        }
    }

    pub(super) fn known(&mut self, name: &str, rest: &[&str], fate: OutputFate, stand: &Stand) {
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
                self.inner_program(name, rest, fate, stand);
            }
            "git" => git::asks(self, rest, stand),
            "make" | "gmake" => self.make(rest, stand),
            "just" => self.just(rest, stand),
            "cargo" | "go" | "dotnet" | "mix" | "swift" | "flutter" | "dart" | "bazel" | "zig"
            | "coverage" => self.subcommand(name, rest, fate, stand),
            name if is_interpreter(name) => self.interpreter(name, rest, fate, stand),
            name => self.other(name, rest, fate, stand),
        }
    }

    pub(super) fn other(&mut self, name: &str, rest: &[&str], fate: OutputFate, stand: &Stand) {
        if ["java", "javac"].contains(&name) {
            self.class_path(rest, stand);
        }
        super::watched::watch_arguments(self, name, rest, stand);
        match trade_of(name) {
            Trade::Runner => {
                self.tool(name);
                self.described(name, stand);
                self.runner_arguments(name, rest, stand);
            }
            Trade::Linter => {
                self.tool(name);
                self.described(name, stand);
                self.settings(rest, stand);
            }
            Trade::Builder => self.tool(name),
            Trade::Plain => self.looked_at(name, rest, fate, stand),
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
                    self.described(name, stand);
                }
                if name == "java" {
                    self.java_class(rest, stand);
                }
                self.mentions(rest, stand);
                self.unknown.insert(name.into());
            }
        }
    }

    /// `java -cp out pace.PaceCheck`: the source of a class whose name says that it checks.
    fn java_class(&mut self, rest: &[&str], stand: &Stand) {
        let takes = ["-cp", "-classpath", "--class-path", "-p", "--module-path"];
        let is_value = |at: usize| at > 0 && takes.contains(&rest[at - 1]);
        let is_option = |at: &usize| rest[*at].starts_with(['-', '@']) || is_value(*at);
        // `java @run.args pace.PaceCheck`: options in a file.
        for word in rest.iter().filter_map(|word| word.strip_prefix('@')) {
            self.loaded(Some(word), stand);
        }
        let class = (0..rest.len()).find(|at| !is_option(at));
        let Some(class) = class.map(|at| rest[at]) else { return };
        let end = format!("{}.java", class.replace('.', "/"));
        let source = self.scanned().find(|path| path.ends_with(&end)).cloned();
        if let Some(source) = source.filter(|path| says_judge(path)) {
            self.follow(&source, Why::Named, stand);
        }
    }

    /// `-cp lib/expect.jar:out`: what tests are written with comes in archives, which nobody edits.
    fn class_path(&mut self, rest: &[&str], stand: &Stand) {
        let is_option = |word: &str| ["-cp", "-classpath", "--class-path"].contains(&word);
        let values = rest.windows(2).filter(|pair| is_option(pair[0])).map(|pair| pair[1]);
        let places: Vec<&str> = values.flat_map(|value| value.split(':')).collect();
        let is_archive = |path: &PathBuf| extension_of(path) == "jar" && !is_product(path);
        for place in places {
            let found = self.files_of(stand, place).into_iter();
            for path in found.filter(is_archive) {
                self.judge(path, Why::Named);
            }
        }
    }

    /// A tool whose own file says what it runs.
    fn described(&mut self, tool: &str, stand: &Stand) {
        let names: &[&str] = match tool {
            "tox" => &["tox.ini", "tox.toml", "setup.cfg", "pyproject.toml"],
            "nox" => &["noxfile.py"],
            "task" => &["Taskfile.yml", "Taskfile.yaml"],
            "invoke" | "inv" => &["tasks.py"],
            "rake" => &["Rakefile"],
            "poe" => &["pyproject.toml"],
            "pre-commit" => &[".pre-commit-config.yaml"],
            _ => &[],
        };
        let mut found = Vec::new();
        let is_judge = |path: &PathBuf| {
            self.files.paths().contains(path) && says_judge(path) && is_script_name(path)
        };
        for name in names {
            let text = self.files.text(&stand.directory.join(name)).unwrap_or_default();
            self.trace.tools.extend(mentioned(&text).into_iter().map(Into::into));
            let is_sign = |letter: char| letter.is_whitespace() || "\"'[](),".contains(letter);
            for word in text.split(is_sign).filter(|word| word.contains(['/', '.'])) {
                let path = inner(self.root, &stand.directory, word).filter(is_judge);
                found.extend(path);
            }
        }
        for path in found {
            self.script_file(path, &[], OutputFate::Shown, stand);
        }
        if tool == "task" {
            self.included_tasks(names, stand);
        }
    }

    /// Other files that a Taskfile includes.
    fn included_tasks(&mut self, names: &[&str], stand: &Stand) {
        for name in names {
            let text = self.files.text(&stand.directory.join(name)).unwrap_or_default();
            let words = text.split(|letter: char| letter.is_whitespace() || "\"'".contains(letter));
            let is_tasks = |word: &&str| ["yml", "yaml"].contains(&extension_of(Path::new(word)));
            let files = words.filter(is_tasks).filter_map(|word| self.file(stand, word));
            for path in files.collect::<Vec<_>>() {
                self.judge(path, Why::UsedByScript);
            }
        }
    }

    fn shell_program(&mut self, rest: &[&str], fate: OutputFate, stand: &Stand) {
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

    /// `cargo test`, `go test`, `coverage run -m pytest`…
    fn subcommand(&mut self, name: &str, rest: &[&str], fate: OutputFate, stand: &Stand) {
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
        if inner == "run" || [("cargo", "xtask"), ("go", "generate")].contains(&(name, inner)) {
            self.project_program(name, inner, rest, fate, stand);
        }
        let whole = format!("{name}-{inner}");
        self.trace.programs.extend((name == "cargo").then(|| whole.clone()));
        if name == "cargo" && ["llvm-cov", "tarpaulin", "insta", "mutants"].contains(&inner) {
            self.tool("cargo-test");
            let nextest = rest.contains(&"nextest").then_some("cargo-nextest");
            self.trace.tools.extend(nextest.map(Into::into));
        }
        if name == "cargo" && runs_benches(inner, rest) {
            self.tool(BENCHES);
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
    fn inner_program(&mut self, name: &str, rest: &[&str], fate: OutputFate, stand: &Stand) {
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
        // `hatch run test`, `rye test`: a script of the project's own.
        let is_own = |word: &&&str| {
            name_says_judge(word) && !matches!(trade_of(word), Trade::Runner | Trade::Linter)
        };
        if words.iter().take(2).find(is_own).is_some() {
            self.unknown.insert(name.into());
        }
        if let [verb, inner @ ..] = words
            && ["run", "exec", "x", "tool", "dotenv", "--"].contains(verb)
        {
            let skipped = usize::from(name == "direnv");
            let from = inner.iter().skip(skipped).position(|word| is_program(word));
            let from = from.map_or(inner.len(), |from| from + skipped);
            self.words(&inner[from..], fate, stand);
        }
    }

    fn find_exec(&mut self, rest: &[&str], fate: OutputFate, stand: &Stand) {
        let is_exec = |word: &&str| ["-exec", "-execdir", "-ok"].contains(word);
        let Some(at) = rest.iter().position(is_exec) else { return };
        let words = &rest[at + 1..];
        self.words(words, fate, stand);
        let runs =
            words.first().is_some_and(|word| is_shell(word) || is_interpreter(plain_name(word)));
        let place = rest.first().filter(|word| !word.starts_with('-'));
        if let Some(place) = place.filter(|_| runs || words.first() == Some(&"{}")) {
            let files = self.files_of(stand, place).into_iter();
            for path in files.filter(|path| is_code(extension_of(path))) {
                self.script_file(path, &[], fate, stand);
            }
        }
    }

    /// `for f in ci/*.sh`: what is listed is likely run.
    fn each(&mut self, rest: &[&str], stand: &Stand) {
        let Some(at) = rest.iter().position(|word| *word == "in") else { return };
        let is_check = self.says_judge || stand.rank != Rank::Command;
        let body = std::mem::take(&mut self.loop_body);
        let runs = body == LoopBody::Runs && is_check;
        if body == LoopBody::Compares {
            self.compared_cases(&rest[at + 1..], stand);
        }
        for word in &rest[at + 1..] {
            let is_script = |path: &PathBuf| is_code(extension_of(path)) || said(path).is_some();
            let says = |path: &PathBuf| said(path).is_some() || says_judge(path);
            let is_part = |path: &PathBuf| runs && is_script_name(path) && !says_program(path);
            let all = self.files_of(stand, word);
            let (known, more): (Vec<_>, Vec<_>) =
                all.into_iter().partition(|path| is_script(path) && says(path));
            // `checks/*.sh`; of `packages/*` not every file is run.
            let pattern = inner(self.root, &stand.directory, word)
                .filter(|_| word.contains("*.") && !known.is_empty());
            let pattern = pattern.and_then(|pattern| pattern.to_str().map(str::to_string));
            self.trace.test_patterns.extend(pattern);
            for path in known {
                self.script_file(path, &[], OutputFate::Shown, stand);
            }
            for path in more.iter().filter(|path| is_part(path)) {
                self.follow(path, Why::Script, stand);
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
        // `env $(cat x.env) pytest`
        let is_more = is_open(word) && words.len() > at + 1;
        if ["-u", "-g", "-C", "-s", "-k"].contains(word) && words.len() > at + 2 {
            at += 2;
        } else if is_more || word.starts_with(['-', '+']) || assignment(word).is_some() || is_number
        {
            at += 1;
        } else {
            break;
        }
    }
    &words[at.min(words.len())..]
}

/// Whether an invocation of Cargo runs benches, be it once and as tests.
fn runs_benches(inner: &str, rest: &[&str]) -> bool {
    let mut words = rest.iter().take_while(|word| **word != "--");
    let is_said = |word: &&str| {
        ["--all-targets", "--benches", "--bench"].contains(word) || word.starts_with("--bench=")
    };
    inner == "bench" || (["test", "nextest", "llvm-cov"].contains(&inner) && words.any(is_said))
}

/// Whether a word after options may be the program.
fn is_program(word: &str) -> bool {
    !word.starts_with('-')
        && assignment(word).is_none()
        && !word.bytes().all(|byte| byte.is_ascii_digit())
        && !["{}", "run"].contains(&word)
}

/// The name of a script that may be one of the project's.
pub(super) fn is_script_name(path: &Path) -> bool {
    is_code(extension_of(path)) || !name_of(path).contains('.')
}
