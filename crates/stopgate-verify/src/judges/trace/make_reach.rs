//! Which targets and variables of makefiles a `make` command reaches.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::super::files::{directory_of, extension_of, inner};
use super::super::names::{
    NameSays, is_code, is_foreign, name_says_judge, said, says_judge, words,
};
use super::super::role::Why;
use super::super::sections::make::{BUILT, DEFAULT_GOAL, FLAGS, MakeItem, parse, phony};
use super::super::shell::{assignment, is_open};
use super::super::tools::{is_interpreter, is_shell, plain_name};
use super::arguments::is_input;
use super::goes_by::is_sample;
use super::makefiles::Makefiles;
use super::programs::is_script_name;
use super::{Stand, Tracer};

/// The names under which make looks for its file, first one first.
pub(in crate::judges) const MAKEFILES: [&str; 3] = ["GNUmakefile", "makefile", "Makefile"];

/// Before the name of a target that was looked at.
const LOOKED_AT: char = '\u{1}';
/// How many targets are looked at for tests that they are made from.
const LOOKED_AT_MAX: usize = 200;

/// How many makefiles one command may read.
const FILES_MAX: usize = 64;

impl Tracer<'_> {
    pub(super) fn make(&mut self, rest: &[&str], stand: &Stand) {
        self.tool("make");
        let words = MakeWords::read(rest);
        for directory in self.make_directories(&words, stand) {
            self.make_in(directory, &words, stand);
        }
    }

    /// Where make works: one directory, or every one that has rules where only the shell knows.
    fn make_directories(&self, words: &MakeWords, stand: &Stand) -> Vec<PathBuf> {
        let mut places: Vec<PathBuf> = stand.places().cloned().collect();
        let is_unknown = words.directories.iter().any(|to| is_open(to));
        for to in &words.directories {
            places = if is_open(to) {
                self.places_with(&MAKEFILES)
            } else {
                places.iter().filter_map(|place| inner(self.root, place, to)).collect()
            };
        }
        if is_unknown {
            return places;
        }
        let at = places.iter().position(|place| self.makefile(place, words).is_some());
        places.into_iter().skip(at.unwrap_or_default()).take(1).collect()
    }

    fn makefile(&self, directory: &Path, words: &MakeWords) -> Option<PathBuf> {
        let found = match &words.file {
            Some(file) => inner(self.root, directory, file),
            None => MAKEFILES
                .iter()
                .map(|name| directory.join(name))
                .find(|path| self.files.exists(path)),
        };
        found.filter(|path| self.files.text(path).is_some())
    }

    fn make_in(&mut self, directory: PathBuf, words: &MakeWords, stand: &Stand) {
        let Some(main) = self.makefile(&directory, words) else { return };
        let mut all = Makefiles::default();
        self.read_makefile(&main, &directory, &mut all);
        let names = self.reached(&all, words.goals.clone(), &directory);
        let key = format!("make {} {names:?}", directory.display());
        if !self.seen.insert(key) {
            return;
        }
        // What a makefile is made from says the same.
        let templates = all.files.iter().flat_map(|file| {
            ["in", "am"].map(|end| PathBuf::from(format!("{}.{end}", file.display())))
        });
        let templates = templates.filter(|file| self.files.paths().contains(file));
        for file in all.files.iter().cloned().chain(templates).collect::<Vec<_>>() {
            self.trace.makefiles.entry(file).or_default().extend(names.iter().cloned());
        }
        let made = all.made_for(&names).into_iter();
        let made = made.filter_map(|name| inner(self.root, &directory, &name));
        let made: Vec<PathBuf> = made.filter(|own| self.files.paths().contains(own)).collect();
        self.trace.made.extend(made);
        let inside = Stand { directory, others: Vec::new(), ..stand.clone() };
        self.run_recipes(&all, &names, &inside);
    }

    fn read_makefile(&self, path: &Path, directory: &Path, all: &mut Makefiles) {
        if all.files.len() >= FILES_MAX || all.files.iter().any(|own| own == path) {
            return;
        }
        let Some(text) = self.files.text(path) else { return };
        all.files.push(path.into());
        all.phony.extend(phony(&text));
        for lines in parse(&text) {
            match lines.item {
                MakeItem::Rule { targets, needs, recipe } => {
                    all.rules.push((targets, needs, recipe));
                }
                MakeItem::Variable { name, value, target, .. } => {
                    let name = match target {
                        Some(target) => format!("{target}:{name}"),
                        None => name,
                    };
                    all.variables.entry(name).or_default().push(value);
                }
                MakeItem::Include(names) => self.include(&names, directory, all),
                MakeItem::Export(_) | MakeItem::Other => {}
            }
        }
    }

    fn include(&self, names: &str, directory: &Path, all: &mut Makefiles) {
        let stand = Stand {
            directory: directory.into(),
            others: Vec::new(),
            script: None,
            rank: super::Rank::Command,
            depth: 0,
        };
        for name in all.expand(names).split_whitespace() {
            for file in self.files_of(&stand, name) {
                self.read_makefile(&file, directory, all);
            }
        }
    }

    /// The targets that are reached, and the variables that they expand as `$NAME`.
    fn reached(
        &mut self,
        all: &Makefiles,
        goals: Vec<String>,
        directory: &Path,
    ) -> BTreeSet<String> {
        let mut names = BTreeSet::new();
        let mut open = goals;
        if open.is_empty() {
            let own = all.variables.get(".DEFAULT_GOAL").and_then(|own| own.last());
            let mut targets = all.rules.iter().flat_map(|(targets, _, _)| targets);
            let first = targets.find(|name| !name.starts_with('.') && !name.contains('%'));
            open.extend(own.or(first).cloned());
            names.insert(DEFAULT_GOAL.into());
        }
        while let Some(target) = open.pop() {
            // `test-unit` by a rule for `test-%`: a rule of its own would come before that.
            let pattern = all.pattern_for(&target).map(|(pattern, _)| pattern.to_string());
            if let Some(pattern) = pattern.filter(|_| !all.has(&target)) {
                names.insert(target);
                open.push(pattern);
                continue;
            }
            // A target that is missing at the start is the work's to write.
            if !all.has(&target) || !names.insert(target.clone()) {
                continue;
            }
            if !all.phony.contains(&target) && !target.contains('%') {
                self.trace.file_like_targets.insert(directory.join(&target));
            }
            for (_, needs, recipe) in all.rules_of(&target) {
                let needed = all.expand(needs);
                self.all_made_from_tests(all, &needed, directory, &mut names);
                self.data_needed(all, &target, &needed, directory);
                open.extend(all.patterns_in(&needed).map(str::to_string));
                let is_act = |name: &&str| self.is_act(all, name, directory);
                open.extend(needed.split_whitespace().filter(is_act).map(str::to_string));
                let text = format!("{needs}\n{}", recipe.join("\n"));
                let variables = all.variables_in(&text).into_iter().filter(|own| all.decides(own));
                names.extend(variables.map(|name| format!("${name}")));
                open.extend(recipe.iter().flat_map(|line| made_by(line)));
            }
        }
        names.retain(|name| !name.starts_with(LOOKED_AT));
        names
    }

    /// A rule that makes a file from tests, such as a test program, or from something that is made
    /// from them, or runs them and leaves a stamp.
    fn made_from_tests(
        &mut self,
        all: &Makefiles,
        target: &str,
        directory: &Path,
        names: &mut BTreeSet<String>,
    ) -> bool {
        if names.contains(&format!("{BUILT}{target}")) {
            return true;
        }
        // What needs itself is not made twice, and a chain of rules has an end.
        let looked = names.iter().filter(|name| name.starts_with(LOOKED_AT)).count();
        if looked >= LOOKED_AT_MAX || !names.insert(format!("{LOOKED_AT}{target}")) {
            return false;
        }
        let rules: Vec<_> = all.expanded_rules_of(target).cloned().collect();
        let is_from_tests = rules.iter().fold(false, |found, (_, needs, recipe)| {
            let needed = all.expand(needs);
            let made = self.all_made_from_tests(all, &needed, directory, names);
            found || made || self.names_tests(&needed, &all.expand(&recipe.join("\n")), directory)
        });
        let is_mark = says_checked(target) && rules.iter().any(|(_, _, recipe)| marks(recipe));
        let is_from_tests = is_from_tests || is_mark;
        if !is_from_tests {
            return false;
        }
        names.extend([target.to_string(), format!("{BUILT}{target}")]);
        for (_, needs, recipe) in &rules {
            let leaves_stamp = marks(recipe);
            let text = format!("{needs}\n{}", recipe.join("\n"));
            let variables = all.variables_in(&text);
            if leaves_stamp {
                self.trace.stamps.extend(inner(self.root, directory, target));
                // It runs the tests, so which ones is its variables' to say.
                let decides = variables.iter().filter(|own| all.decides(own));
                names.extend(decides.map(|name| format!("${name}")));
            }
            names.extend(variables.iter().map(|name| format!("{FLAGS}{name}")));
            // What makes something else out of tests may well be what they are about.
            if is_code(extension_of(Path::new(target))) {
                self.makers_of_tests(&all.expand(&recipe.join("\n")), directory);
            }
        }
        true
    }

    /// Data that a target of the check is made from, as its name says: `fixtures/seed.sql`. Where
    /// its recipe compares, also tables that the outputs are made from.
    fn data_needed(&mut self, all: &Makefiles, target: &str, needed: &str, directory: &Path) {
        let compares = self.compares(all, target, directory);
        if !name_says_judge(target) && !compares {
            return;
        }
        let judges = |path: &PathBuf| {
            let is_fed = || is_input(path) || is_sample(path);
            said(path) == Some(NameSays::Data) || compares && is_fed()
        };
        let mut open: Vec<String> = needed.split_whitespace().map(str::to_string).collect();
        let mut seen = BTreeSet::new();
        while let Some(name) = open.pop() {
            if seen.len() >= LOOKED_AT_MAX || !seen.insert(name.clone()) {
                continue;
            }
            let path = inner(self.root, directory, &name);
            let path = path.filter(|path| self.files.paths().contains(path));
            if let Some(path) = path.filter(judges) {
                self.judge(path, Why::TestData);
            }
            let rules = all.expanded_rules_of(&name);
            open.extend(rules.flat_map(|(_, needs, _)| {
                all.expand(needs).split_whitespace().map(str::to_string).collect::<Vec<_>>()
            }));
        }
    }

    /// Whether the recipe of a target compares something with what should come out.
    fn compares(&self, all: &Makefiles, target: &str, directory: &Path) -> bool {
        let stand = Stand {
            directory: directory.into(),
            others: Vec::new(),
            script: None,
            rank: super::Rank::Command,
            depth: 0,
        };
        let recipe = all.recipes_of(target).join("\n");
        let lines = all.expand(&worked_out(&recipe));
        let lines = lines.lines().map(|line| line.trim_start().trim_start_matches(['@', '-', '+']));
        let text = lines.collect::<Vec<_>>().join("\n");
        super::ShellScript::parse(&text).steps().any(|step| {
            let program = step.words.first().map(String::as_str);
            matches!(program, Some("diff" | "cmp")) && self.has_answers(&step.words, &stand)
        })
    }

    /// Whether a rule needs a test or a directory of tests, or its recipe names a test.
    fn names_tests(&self, needed: &str, recipe: &str, directory: &Path) -> bool {
        let is_sign = |c: char| c.is_whitespace() || ";&|()<>\"'".contains(c);
        let path = |word| inner(self.root, directory, word);
        let is_test = |path: &PathBuf| {
            let judges = said(path).is_some() || says_judge(path) && is_script_name(path);
            judges && self.files.paths().contains(path)
        };
        let is_place = |path: &PathBuf| {
            !path.as_os_str().is_empty() && said(&path.join("x")).is_some() && self.has_below(path)
        };
        // `$(wildcard tests/in/*)`
        let place_of = |word| {
            path(word).map(|path| if word.contains('*') { directory_of(&path) } else { path })
        };
        needed.split(is_sign).filter_map(place_of).any(|path| is_test(&path) || is_place(&path))
            || recipe.split(is_sign).filter_map(path).any(|path| is_test(&path))
    }

    /// Scripts of the project that make the source of tests: `sh tools/gen.sh < $< > $@`.
    fn makers_of_tests(&mut self, recipe: &str, directory: &Path) {
        let stand = Stand {
            directory: directory.into(),
            others: Vec::new(),
            script: None,
            rank: super::Rank::Judge,
            depth: 1,
        };
        for step in super::ShellScript::parse(&worked_out(recipe)).steps() {
            let mut words = step.words.iter().map(String::as_str);
            let program = words.next().unwrap_or_default().trim_start_matches(['@', '-', '+']);
            let name = plain_name(program);
            let is_runner = is_shell(name) || is_interpreter(name) || name == "node";
            let script =
                if is_runner { words.find(|word| !word.starts_with('-')) } else { Some(program) };
            let script = script.and_then(|word| self.file(&stand, word));
            let makes = |path: &PathBuf| is_script_name(path) && !builds(path) && !is_foreign(path);
            if let Some(script) = script.filter(makes) {
                self.follow(&script, Why::UsedByScript, &stand);
            }
        }
    }

    /// The same for each of the files that a rule needs.
    fn all_made_from_tests(
        &mut self,
        all: &Makefiles,
        needed: &str,
        directory: &Path,
        names: &mut BTreeSet<String>,
    ) -> bool {
        let needed = needed.split_whitespace().filter(|name| *name != "|");
        let made: Vec<bool> =
            needed.map(|made| self.made_from_tests(all, made, directory, names)).collect();
        made.contains(&true)
    }

    /// Whether a prerequisite is something to do, not a file to make.
    fn is_act(&self, all: &Makefiles, name: &str, directory: &Path) -> bool {
        if all.phony.contains(name) {
            return true;
        }
        let path = directory.join(name);
        let pattern = all.pattern_for(name).map(|(pattern, _)| pattern).filter(|_| !all.has(name));
        let makes_itself = all.rules_of(pattern.unwrap_or(name)).any(|(_, _, recipe)| {
            recipe.iter().any(|line| line.contains("$@") || line.contains("$(@"))
        });
        (all.has(name) || pattern.is_some())
            && !name.contains(['.', '/', '%'])
            && !makes_itself
            && !self.files.exists(&path)
    }

    fn run_recipes(&mut self, all: &Makefiles, names: &BTreeSet<String>, stand: &Stand) {
        for target in names.iter().filter(|name| !name.starts_with(['$', BUILT, FLAGS])) {
            for recipe in all.recipes_of(target) {
                let lines = recipe.replace("\\\n\t", "\\\n");
                let lines =
                    lines.lines().map(|line| line.trim_start().trim_start_matches(['@', '-', '+']));
                let text = lines.collect::<Vec<_>>().join("\n");
                let text = all.expand(&text.replace("$(MAKE)", "make").replace("${MAKE}", "make"));
                let text = worked_out(&text).replace("$$", "$");
                let own = stand.named(target, &stand.directory, text.lines().count());
                self.recipe_text(&text, &own);
            }
        }
    }

    /// Each line is a shell of its own.
    pub(super) fn recipe_text(&mut self, text: &str, stand: &Stand) {
        let mut whole = String::new();
        for line in text.lines() {
            whole.push_str(line.strip_suffix('\\').unwrap_or(line));
            if !line.ends_with('\\') {
                self.text(&std::mem::take(&mut whole), stand);
            }
        }
    }
}

/// The arguments of `make`.
#[derive(Default)]
struct MakeWords {
    /// Where it goes first, one after the other.
    directories: Vec<String>,
    file: Option<String>,
    goals: Vec<String>,
}

impl MakeWords {
    fn read(rest: &[&str]) -> Self {
        let mut found = Self::default();
        let mut words = rest.iter();
        while let Some(word) = words.next() {
            let value = |short: &str, long: &str| {
                let joined = word.strip_prefix(long).and_then(|own| own.strip_prefix('='));
                let short = word.strip_prefix(short).filter(|own| !own.is_empty());
                joined.or(short.filter(|_| !word.starts_with("--"))).map(str::to_string)
            };
            if ["-C", "--directory"].contains(word) || value("-C", "--directory").is_some() {
                let to = value("-C", "--directory");
                found.directories.extend(to.or_else(|| words.next().map(ToString::to_string)));
            } else if ["-f", "--file", "--makefile"].contains(word) {
                found.file = words.next().map(ToString::to_string);
            } else if value("-f", "--file").is_some() {
                found.file = value("-f", "--file");
            } else if ["-j", "-l", "-o", "-W", "-I"].contains(word) {
                let is_number = |own: &&str| own.bytes().all(|byte| byte.is_ascii_digit());
                let skipped = words.as_slice().iter().take(1).take_while(|own| is_number(own));
                words = words.as_slice()[skipped.count()..].iter();
            } else if !word.starts_with('-') && assignment(word).is_none() {
                found.goals.push((*word).to_string());
            }
        }
        found
    }
}

/// Whether a recipe leaves a stamp: a file that says nothing but when it was made.
fn marks(recipe: &[String]) -> bool {
    recipe.iter().any(|line| {
        let steps = || line.split([';', '&']).map(|step| step.trim_start_matches(['@', '\t', ' ']));
        let touches = steps().any(|step| step.starts_with("touch $@"));
        touches || line.contains("> $@") && line.contains("echo")
    })
}

/// Whether a target's name says that something was checked: `build/.checked`.
fn says_checked(target: &str) -> bool {
    const WORDS: [&str; 7] =
        ["checked", "tested", "linted", "verified", "validated", "passed", "compared"];
    let path = Path::new(target);
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    name_says_judge(name) || words(name).iter().any(|word| WORDS.contains(&word.as_str()))
}

/// A recipe with some word for each variable that make sets: a shell would read from `$<`.
fn worked_out(recipe: &str) -> String {
    let own = ["$<", "$@", "$^", "$?", "$+", "$|"];
    own.iter().fold(recipe.to_string(), |text, own| text.replace(own, "$MADE"))
}

/// Whether a script's name says that it builds, which the work changes as it grows.
fn builds(path: &Path) -> bool {
    let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    words(stem).iter().any(|word| ["build", "compile", "cc", "link"].contains(&word.as_str()))
}

/// Targets that a recipe makes by calling make again in the same directory.
fn made_by(line: &str) -> Vec<String> {
    let line = line.replace("$(MAKE)", "make").replace("${MAKE}", "make");
    let mut found = Vec::new();
    for step in super::ShellScript::parse(&line).steps() {
        let words: Vec<&str> =
            step.words.iter().map(|word| word.trim_start_matches(['@', '-', '+'])).collect();
        if let ["make" | "gmake", rest @ ..] = words.as_slice()
            && !rest.iter().any(|word| word.starts_with("-C") || word.starts_with("-f"))
        {
            let goals =
                rest.iter().filter(|word| !word.starts_with('-') && assignment(word).is_none());
            found.extend(goals.map(ToString::to_string));
        }
    }
    found
}
