//! What package managers and runners of JavaScript do with their arguments.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::super::files::{directory_of, inner, name_of};
use super::super::names::is_foreign;
use super::super::shell::{OutputFate, ShellScript};
use super::programs::after_options;
use super::{DEPTH_MAX, Stand, Tracer};

impl Tracer<'_> {
    pub(super) fn node_program(
        &mut self,
        name: &str,
        rest: &[&str],
        fate: OutputFate,
        stand: &Stand,
    ) {
        self.tool(name);
        match name {
            "npx" | "bunx" | "pnpx" | "nyc" | "c8" | "corepack" => {
                self.words(after_options(rest), fate, stand);
            }
            "node" | "nodejs" => self.node(rest, fate, stand),
            "deno" => self.deno(rest, fate, stand),
            "react-scripts" | "ng" => {
                let inner = after_options(rest).first().copied().unwrap_or_default();
                if inner == "test" {
                    self.tool(&format!("{name}-test"));
                    self.tool("jest");
                }
            }
            "concurrently" => {
                for text in rest.iter().filter(|word| !word.starts_with('-')) {
                    match text.split_once(':') {
                        Some((_, script)) if !text.contains(' ') => self.scripts(script, stand),
                        _ => self.text(text, stand),
                    }
                }
            }
            "npm-run-all" | "run-s" | "run-p" => {
                for script in rest.iter().filter(|word| !word.starts_with('-')) {
                    self.scripts(script, stand);
                }
            }
            "turbo" | "nx" | "lerna" => {
                let words: Vec<&str> =
                    rest.iter().copied().filter(|word| !word.starts_with('-')).collect();
                let verbs = ["run", "run-many", "affected", "exec"];
                let scripts = words.iter().filter(|word| !verbs.contains(word));
                for script in scripts {
                    let script = script.rsplit(':').next().unwrap_or(script);
                    self.everywhere(script, stand);
                }
            }
            _ => self.manager(name, rest, fate, stand),
        }
    }

    fn manager(&mut self, name: &str, rest: &[&str], fate: OutputFate, stand: &Stand) {
        let mut own = stand.clone();
        let mut all = false;
        let mut words = Vec::new();
        let mut letters = rest.iter();
        while let Some(word) = letters.next() {
            match *word {
                "--prefix" | "-C" | "--cwd" | "--dir" => {
                    let to = letters.next().and_then(|to| inner(self.root, &stand.directory, to));
                    own.directory = to.unwrap_or_default();
                }
                "-r" | "--recursive" | "--workspaces" | "-ws" | "workspaces" | "foreach" => {
                    all = true;
                }
                "-w" | "--workspace" | "--filter" | "-F" | "workspace" => {
                    all = true;
                    letters.next();
                }
                "--" if !words.is_empty() => break,
                option if option.starts_with('-') => {}
                word => words.push(word),
            }
        }
        let script = match words.as_slice() {
            ["exec" | "dlx" | "x", inner @ ..] => return self.words(inner, fate, &own),
            ["install" | "ci" | "i" | "add" | "audit" | "pack" | "publish" | "version", ..] => {
                return;
            }
            ["test", ..] if name == "bun" => {
                self.tool("bun-test");
                return self.runner_arguments("bun-test", &words[1..], &own);
            }
            ["t" | "tst", ..] => "test",
            ["run" | "run-script" | "rum", script, ..] | [script, ..] => script,
            [] => return,
        };
        if all {
            return self.everywhere(script, &own);
        }
        if !self.package_script(script, &own) && ["yarn", "pnpm", "bun"].contains(&name) {
            // A name without a script is a tool of the project.
            let from = usize::from(words.first().is_some_and(|word| *word == "run"));
            let tool = words.get(from..).unwrap_or_default();
            self.words(tool, fate, &own);
        }
    }

    /// Scripts by name or by a pattern such as `test:*`.
    fn scripts(&mut self, name: &str, stand: &Stand) {
        let Some(begin) = name.strip_suffix('*').map(|begin| begin.trim_end_matches('*')) else {
            self.package_script(name, stand);
            return;
        };
        let package = self.package(&stand.directory);
        let own = package["scripts"].as_object().map(|own| own.keys().cloned().collect::<Vec<_>>());
        for script in own.unwrap_or_default().iter().filter(|script| script.starts_with(begin)) {
            self.package_script(script, stand);
        }
    }

    /// A script in every package of the project.
    fn everywhere(&mut self, script: &str, stand: &Stand) {
        let is_package = |path: &&PathBuf| name_of(path) == "package.json" && !is_foreign(path);
        let packages: Vec<PathBuf> =
            self.files.paths().iter().filter(is_package).map(|path| directory_of(path)).collect();
        for directory in packages {
            self.package_script(script, &Stand { directory, ..stand.clone() });
        }
    }

    fn package(&self, directory: &Path) -> serde_json::Value {
        let text = self.files.text(&directory.join("package.json")).unwrap_or_default();
        serde_json::from_str(text.trim_start_matches('\u{feff}')).unwrap_or_default()
    }

    /// A script with those that are run before and after it; says whether it exists.
    fn package_script(&mut self, name: &str, stand: &Stand) -> bool {
        let directory = self.package_directory(&stand.directory);
        let package = self.package(&directory);
        let text = |name: &str| package["scripts"][name].as_str().map(str::to_string);
        // What is missing at the start is the work's to write.
        if text(name).is_none() {
            return false;
        }
        let names = [format!("pre{name}"), name.into(), format!("post{name}")];
        let known: &mut BTreeSet<String> =
            self.trace.packages.entry(directory.clone()).or_default();
        if !known.insert(name.into()) {
            return true;
        }
        known.extend(names.iter().cloned());
        for (name, text) in names.iter().filter_map(|name| Some((name, text(name)?))) {
            let script = ShellScript::parse(&text);
            let own = stand.named(name, &directory, script.steps().count());
            if own.depth < DEPTH_MAX {
                self.script(&script, &own);
            }
        }
        self.settings_in(&package, &Stand { directory, ..stand.clone() });
        true
    }

    /// Package managers look for a package in the directories above as well.
    fn package_directory(&self, directory: &Path) -> PathBuf {
        let has = |place: &&Path| self.files.exists(&place.join("package.json"));
        directory.ancestors().find(has).unwrap_or(directory).to_path_buf()
    }

    /// Files that the settings of a test runner name.
    fn settings_in(&mut self, package: &serde_json::Value, stand: &Stand) {
        for tool in ["jest", "mocha", "ava", "vitest", "nyc", "c8"] {
            let text = package[tool].to_string();
            for path in super::super::imports::settings_paths(&text) {
                let path = path.trim_start_matches("<rootDir>/");
                self.loaded(Some(path), stand);
            }
        }
    }

    fn node(&mut self, rest: &[&str], fate: OutputFate, stand: &Stand) {
        let mut words = rest.iter();
        let mut is_test = false;
        while let Some(word) = words.next() {
            match *word {
                "--test" => {
                    is_test = true;
                    self.tool("node-test");
                }
                "--check" | "-c" => return,
                "-e" | "-p" | "--eval" | "--print" | "-pe" => {
                    return words.next().iter().for_each(|text| self.code(text));
                }
                "--run" => {
                    let script = words.next().copied().unwrap_or_default();
                    self.package_script(script, stand);
                    return;
                }
                "-r" | "--require" | "--import" | "--loader" | "--experimental-loader" => {
                    self.loaded(words.next().copied(), stand);
                }
                option if option.starts_with('-') => {
                    self.settings(&[option], stand);
                }
                _ if is_test => {
                    let mut all = vec![*word];
                    all.extend(words.as_slice());
                    return self.runner_arguments("node-test", &all, stand);
                }
                script => return self.run_script(script, words.as_slice(), fate, stand),
            }
        }
    }

    fn deno(&mut self, rest: &[&str], fate: OutputFate, stand: &Stand) {
        match after_options(rest) {
            ["run", rest @ ..] => {
                if let [script, rest @ ..] = after_options(rest) {
                    self.run_script(script, rest, fate, stand);
                }
            }
            ["task", ..] => self.tool("deno-test"),
            [verb @ ("test" | "lint" | "check"), rest @ ..] => {
                self.tool(&format!("deno-{verb}"));
                self.runner_arguments("deno-test", rest, stand);
            }
            _ => {}
        }
    }
}
