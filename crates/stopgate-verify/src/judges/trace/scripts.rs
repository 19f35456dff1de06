//! Scripts that a command runs: whether they judge or are judged, and what they lead to.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::super::files::{below, directory_of, extension_of, inner, name_of};
use super::super::git_questions::asks_git;
use super::super::imports::{imports_of, joined_paths, quoted, quoted_paths};
use super::super::names::{
    is_among_data, is_data, is_environment, is_foreign, name_says_judge, said, says_helper,
    says_judge, says_program, says_reference, says_rules, says_settings,
};
use super::super::role::{CheckConduct, Why};
use super::super::shell::{OutputFate, is_open};
use super::super::tools::{Trade, mentioned, plain_name, trade_of};
use super::does::{makes_tests, only_looks, renews};
use super::examples::{self, has_examples};
use super::exceptions::{self, says_exceptions};
use super::goes_by::{self, is_sample, only_sets, with_language};
use super::preparing::says_preparing;
use super::programs::is_script_name;
use super::project_programs::PipedInput;
use super::stamps::{stamps_of_program, stamps_of_shell, stores_of};
use super::within::ProjectPlace;
use super::{DEPTH_MAX, Rank, Stand, Tracer};

/// How many files are searched for the name of a script's settings.
const SETTINGS_FILES_MAX: usize = 2_000;

/// How many files are searched for all such names together.
const READS_MAX: usize = 10_000;

/// How many files a script may lead to.
const JUDGES_MAX: usize = 2_000;

impl Tracer<'_> {
    /// A program that is named by its path.
    pub(super) fn run_file(
        &mut self,
        program: &str,
        rest: &[&str],
        fate: OutputFate,
        stand: &Stand,
    ) {
        if let Some(path) = self.file(stand, program) {
            self.arguments_of(rest, stand);
            return self.script_file(path, rest, fate, stand);
        }
        if is_open(program) {
            // `"$PYTHON" -m pytest`
            if rest.first() == Some(&"-m") {
                return self.words(&[&["python"], rest].concat(), fate, stand);
            }
            goes_by::follow_parts(self, program, stand);
            self.unknown.insert(program.into());
            return;
        }
        let name = plain_name(program);
        if inner(self.root, &stand.directory, program).is_none() && trade_of(name) != Trade::Unknown
        {
            let deeper = Stand { depth: stand.depth + 1, ..stand.clone() };
            return self.program(name, rest, fate, &deeper);
        }
        self.unknown.insert(program.into());
    }

    /// A script that is given to an interpreter.
    pub(super) fn run_script(
        &mut self,
        word: &str,
        rest: &[&str],
        fate: OutputFate,
        stand: &Stand,
    ) {
        self.arguments_of(rest, stand);
        // `node tools/spec`, `python3 tools/check`
        let forms = ["", "/index.js", "/index.mjs", "/__main__.py"];
        let found = forms.iter().find_map(|end| self.file(stand, &format!("{word}{end}")));
        if let Some(path) = found {
            self.script_file(path, rest, fate, stand);
        }
    }

    /// `check.sh tests/a.py`: tests among the arguments of a script are still tests.
    pub(super) fn arguments_of(&mut self, rest: &[&str], stand: &Stand) {
        self.mentions(rest, stand);
        // `manage.py test`, `bin/rails test`: it runs tests in a way of its own.
        if rest.first().is_some_and(|word| name_says_judge(word) && !word.starts_with('-')) {
            self.unknown.insert("tests".into());
        }
        for word in rest.iter().filter(|word| !word.starts_with('-') && !is_open(word)) {
            if let Some(path) = self.file(stand, word).filter(|path| said(path).is_some()) {
                self.judge(path, Why::Named);
            }
        }
    }

    /// A script of the project that is run.
    pub(super) fn script_file(
        &mut self,
        path: PathBuf,
        rest: &[&str],
        fate: OutputFate,
        stand: &Stand,
    ) {
        let why = self.why_run(&path, rest, fate, stand);
        if let Some(why) = why {
            examples::examples_for(self, &path, rest, stand);
            self.compared_with(rest, stand);
            return self.follow(&path, why, stand);
        }
        if fate == OutputFate::Shown && !is_foreign(&path) {
            // Which runner it starts counts; what else a program under test does, does not.
            let unknown = self.unknown.clone();
            self.look_into(&path, Rank::Command, stand);
            self.unknown = unknown;
            // A program that was built may well be the one that tests, as it may be before that.
            let is_built = || self.files.text(&path).is_none_or(|text| text.contains('\0'));
            if stand.rank != Rank::Command && is_built() {
                self.unknown.insert(path.display().to_string());
            }
        }
        self.trace.work.insert(path);
    }

    fn why_run(&self, path: &Path, rest: &[&str], fate: OutputFate, stand: &Stand) -> Option<Why> {
        if is_foreign(path) {
            return None;
        }
        let is_program = says_program(path) || !is_script_name(path) && extension_of(path) != "t";
        if said(path).is_some() || (says_judge(path) && !is_product(path)) {
            return Some(Why::Script);
        }
        // `golden/one.sh`, and what makes of a runner's results what it likes.
        let reads_results = self.input == PipedInput::TestResults && fate == OutputFate::Shown;
        if is_script_name(path) && (is_among_data(path) || reads_results && !is_program) {
            return Some(Why::Script);
        }
        if fate == OutputFate::Shown && !is_program && self.is_given_answers(rest, stand) {
            return Some(Why::Script);
        }
        // `pretest` that writes `test/generated.test.js`
        if is_of_tools(path) && self.files.text(path).is_some_and(|text| makes_tests(&text)) {
            return Some(Why::Script);
        }
        // `docs=python tools/docs.py`: alone, and it does nothing but look.
        let asks = |word: &&str| ["--check", "--verify", "check", "verify", "lint"].contains(word);
        if is_of_tools(path) && is_script_name(path) && !is_program && rest.iter().any(asks) {
            return Some(Why::Script);
        }
        let is_alone = rest.is_empty() || examples::are_tried(self, path, rest, stand);
        let is_alone = is_alone && fate == OutputFate::Shown && !is_program;
        if is_alone && !says_preparing(path) && self.is_checker(path) {
            return Some(Why::Script);
        }
        match stand.rank {
            // `perl bin/dockerfile.pl || problem Dockerfile`
            Rank::Judge if rest.is_empty() && is_beside(path, stand) && self.checks(path) => {
                Some(Why::UsedByScript)
            }
            Rank::Sole if says_preparing(path) => None,
            Rank::Sole if fate == OutputFate::Shown && !is_program => Some(Why::Script),
            Rank::Judge if is_program => None,
            Rank::Judge if says_helper(path) || is_beside(path, stand) => Some(Why::UsedByScript),
            Rank::Judge
                if fate == OutputFate::Shown
                    && ProjectPlace { root: self.root, files: self.files }
                        .is_foreign_suite(path, rest, stand) =>
            {
                Some(Why::Script)
            }
            // A program with arguments is tried out; a script without any is a part of this one.
            Rank::Judge if fate == OutputFate::Shown && rest.is_empty() => {
                let is_part = self.is_shell_file(path) || self.is_checker(path);
                is_part.then_some(Why::UsedByScript)
            }
            Rank::Sole | Rank::Judge | Rank::Command => None,
        }
    }

    /// A script that is read into the running one.
    pub(super) fn source(&mut self, rest: &[&str], stand: &Stand) {
        let Some(word) = rest.first() else { return };
        let Some(path) = self.file(stand, word) else {
            // It may be made later: a script that reads it if it is there would obey it.
            let path = inner(self.root, &stand.directory, word).filter(|_| !is_open(word));
            if let Some(path) = path.filter(|path| !is_foreign(path) && stand.rank == Rank::Judge) {
                self.judge(path, Why::UsedByScript);
            }
            return;
        };
        if is_foreign(&path) {
            return;
        }
        if self.judges_when_sourced(&path, stand) || self.is_setting_of_judge(&path, stand) {
            self.follow(&path, Why::UsedByScript, stand);
        } else {
            self.trace.work.insert(path);
        }
    }

    fn judges_when_sourced(&self, path: &Path, stand: &Stand) -> bool {
        if said(path).is_some() || says_judge(path) || is_beside(path, stand) {
            return true;
        }
        if says_program(path) {
            return false;
        }
        let decides = |text: String| {
            let words = ["assert", "fail", "exit 1", "exit 0", "set -", "set +", "return 1"];
            words.iter().any(|word| text.contains(word)) || !mentioned(&text).is_empty()
        };
        says_helper(path) || self.files.text(path).is_some_and(decides)
    }

    /// Whether only scripts that judge read the file, which does nothing but set variables.
    fn is_setting_of_judge(&self, path: &Path, stand: &Stand) -> bool {
        if stand.rank != Rank::Judge
            || is_environment(path)
            || !self.files.text(path).is_some_and(|text| only_sets(&text))
        {
            return false;
        }
        !self.is_read_elsewhere(path, stand)
    }

    /// Whether something else than tests and the script reads the file, or may do so.
    pub(super) fn is_read_elsewhere(&self, path: &Path, stand: &Stand) -> bool {
        let name = name_of(path);
        let may_read = |own: &&PathBuf| {
            said(own).is_none()
                && !is_foreign(own)
                && !self.trace.judges.contains_key(*own)
                && Some(own.as_path()) != stand.script.as_deref()
                && *own != path
        };
        let mut others = self.scanned().filter(may_read);
        let mut read = others.by_ref().take(SETTINGS_FILES_MAX);
        let names = |own: &PathBuf| {
            self.reads.set(self.reads.get() + 1);
            // Too much to be sure counts as read.
            self.reads.get() > READS_MAX
                || self.files.text(own).is_some_and(|text| text.contains(name))
        };
        read.any(names) || others.next().is_some()
    }

    /// Whether the file holds what a judging script goes by: a list of exceptions, or data beside
    /// the script that nothing else reads.
    pub(super) fn is_data_of_judge(&self, path: &Path, stand: &Stand) -> bool {
        !is_foreign(path)
            && !goes_by::is_program(self, path)
            && (says_exceptions(path)
                || says_reference(path)
                || (is_plain_data(path) && is_beside(path, stand)
                    || says_settings(path)
                    || says_rules(path))
                    && !self.is_read_elsewhere(path, stand))
    }

    /// Whether a tool of the project only says whether something holds.
    fn is_checker(&self, path: &Path) -> bool {
        is_of_tools(path) && self.checks(path)
    }

    /// Whether a script fails by its exit code, and writes nothing but what it compares with.
    fn checks(&self, path: &Path) -> bool {
        let fails = ["sys.exit(", "SystemExit", "process.exit", "exit(@"];
        let writes = ["write", "\"w\"", "'w'", "'>'", "\">\""];
        let has = |text: &str, words: &[&str]| words.iter().any(|word| text.contains(word));
        let only_looks = |text: String| {
            if is_shell_text(path, &text) {
                return only_looks(&text) || text.contains("```");
            }
            has(&text, &fails) && (renews(&text) || !has(&text, &writes))
        };
        self.files.text(path).is_some_and(only_looks)
    }

    fn is_shell_file(&self, path: &Path) -> bool {
        let text = self.files.text(path).filter(|text| !text.contains('\0'));
        text.is_some_and(|text| is_shell_text(path, &text))
    }

    /// Follows a script that judges.
    pub(super) fn follow(&mut self, path: &Path, why: Why, stand: &Stand) {
        if self.trace.judges.len() >= JUDGES_MAX || stand.depth > DEPTH_MAX {
            return;
        }
        self.trace.conduct = CheckConduct::Tests;
        self.judge(path.into(), why);
        self.place_of_judge(path);
        self.look_into(path, Rank::Judge, stand);
    }

    /// `checks/run.py`: data in a directory that is called so judges together with its script.
    fn place_of_judge(&mut self, script: &Path) {
        let place = directory_of(script);
        if !name_says_judge(name_of(&place)) || !self.seen.insert(format!("in {}", place.display()))
        {
            return;
        }
        let is_data = |path: &&PathBuf| !is_script_name(path) && !is_foreign(path);
        let own = below(self.files, &place).filter(is_data).filter(|path| !is_product(path));
        for path in own.take(JUDGES_MAX).cloned().collect::<Vec<_>>() {
            self.judge(path, Why::TestData);
        }
    }

    /// Looks at what the script does.
    fn look_into(&mut self, path: &Path, rank: Rank, stand: &Stand) {
        let key = format!("{} {rank:?} {}", path.display(), stand.directory.display());
        if stand.depth > DEPTH_MAX || !self.seen.insert(key) {
            return;
        }
        let Some(text) = self.files.text(path).filter(|text| !text.contains('\0')) else { return };
        let inside = Stand {
            directory: stand.directory.clone(),
            others: stand.others.clone(),
            script: Some(path.into()),
            rank,
            depth: stand.depth + 1,
        };
        if rank == Rank::Judge {
            let found = self.inner_paths(stores_of(&text), &stand.directory);
            let is_new = |path: &PathBuf| !self.files.paths().contains(path);
            let found: Vec<PathBuf> = found.into_iter().filter(is_new).collect();
            self.trace.stamps.extend(found);
            examples::examples_in_pages(self, &text, &inside);
        }
        if is_shell_text(path, &text) {
            if rank == Rank::Judge {
                let found = self.inner_paths(stamps_of_shell(&text), &stand.directory);
                self.trace.stamps.extend(found);
                examples::examples_named(self, &text, &inside);
            }
            let text = goes_by::with_settings(self, text, &inside);
            return self.text(&text, &inside);
        }
        let mut found = self.inner_paths(stamps_of_program(&text), &stand.directory);
        // What git knows is the project's: a program may well keep it up to date.
        found.retain(|path| !self.files.paths().contains(path));
        self.trace.stamps.extend(found);
        self.trace.tools.extend(mentioned(&text).into_iter().map(Into::into));
        if extension_of(path) == "py" {
            self.tool("python");
            self.trace.import_roots.insert(directory_of(path));
        }
        if rank == Rank::Judge {
            self.trace.tools.extend(asks_git(&text).then(|| "git".into()));
            super::own_settings::own_settings(self, path, &text, &inside);
            self.helpers_of(path, &text, &inside);
            super::watched::watch_in_script(self, &text, &inside);
        }
    }

    /// The files of the project among the names that a script has.
    fn inner_paths(&self, names: Vec<&str>, directory: &Path) -> Vec<PathBuf> {
        names.into_iter().filter_map(|word| inner(self.root, directory, word)).collect()
    }

    /// Code beside a file that is loaded before tests, and that it loads in turn: `./hooks.mjs`.
    pub(super) fn loads_of(&mut self, path: &Path, stand: &Stand) {
        let text = self.files.text(path).unwrap_or_default();
        let own = directory_of(path);
        let imports = imports_of(path, &text, self.files).into_iter();
        let named = quoted_paths(&text).filter(|word| word.starts_with("./"));
        let named = named.filter_map(|word| inner(self.root, &own, word));
        let found: Vec<PathBuf> = imports.chain(named).collect();
        for file in found {
            let is_beside = directory_of(&file) == own && !own.as_os_str().is_empty();
            let is_script = is_script_name(&file) && self.files.paths().contains(&file);
            if is_beside && is_script && !says_program(&file) {
                self.follow(&file, Why::UsedByScript, stand);
            }
        }
    }

    /// What a judging script in another language imports or starts.
    fn helpers_of(&mut self, path: &Path, text: &str, stand: &Stand) {
        let own = directory_of(path);
        let imports = imports_of(&with_language(path, text), text, self.files);
        let is_beside = |import: &PathBuf| {
            let is_library = import.starts_with(own.join("lib")) && is_of_tools(import);
            !own.as_os_str().is_empty()
                && import.starts_with(&own)
                && (is_library || !says_program(import))
        };
        // `python -m shelf.selfcheck` tries out the package that it is part of.
        let is_apart = !imports.iter().any(is_beside) || !self.is_in_package_of_work(path);
        for import in imports {
            let judges = said(&import).is_some() || says_judge(&import) || says_helper(&import);
            if (is_apart && is_beside(&import) || judges) && !is_foreign(&import) {
                self.follow(&import, Why::UsedByScript, stand);
            }
        }
        goes_by::rules_named(self, text, stand);
        let joined = joined_paths(text);
        let words = quoted_paths(text).chain(joined.iter().map(String::as_str));
        for word in words.collect::<BTreeSet<_>>() {
            // `"$d/.fmt"`: the nearest one counts.
            let hidden = word.rsplit_once('/').map(|(_, name)| name);
            let hidden = hidden.filter(|name| name.starts_with('.') && word.contains('$'));
            // `"$FindBin::Bin/next"`, f"{HERE}/limits.json"
            let beside = word.split_once('/').filter(|(place, _)| place.starts_with(['$', '{']));
            let word = hidden.or(beside.map(|(_, inner)| inner)).unwrap_or(word);
            let places = [own.clone(), stand.directory.clone()];
            let found = places.iter().filter_map(|place| inner(self.root, place, word));
            let found: Vec<PathBuf> = found.collect();
            if let Some(file) = found.iter().find(|file| self.files.paths().contains(*file)) {
                self.named_by_script(file, text, stand);
            } else if says_exceptions(Path::new(word)) {
                exceptions::exceptions(self, word, found);
            }
        }
    }

    /// Whether a script is beside code that files elsewhere import: tests and other work.
    fn is_in_package_of_work(&self, script: &Path) -> bool {
        let own = directory_of(script);
        let end = extension_of(script);
        let is_other = |path: &&PathBuf| {
            extension_of(path) == end && !path.starts_with(&own) && !is_foreign(path)
        };
        let imports_it = |path: &PathBuf| {
            self.reads.set(self.reads.get() + 1);
            let text = self.files.text(path).filter(|_| self.reads.get() <= READS_MAX);
            let imports = text.map(|text| imports_of(path, &text, self.files)).unwrap_or_default();
            imports.iter().any(|import| import.starts_with(&own) && import != script)
        };
        let mut others = self.scanned().filter(is_other).take(SETTINGS_FILES_MAX);
        !is_of_tools(script) && others.any(imports_it)
    }

    /// A file of the project that a judging script names.
    fn named_by_script(&mut self, file: &Path, text: &str, stand: &Stand) {
        let has_examples = has_examples(file) && text.contains("```");
        let goes_by = || self.is_data_of_judge(file, stand);
        let is_fed = || is_sample(file) && quoted(text).any(|word| says_reference(Path::new(word)));
        if said(file).is_some() || is_setting_of_tool(file) || has_examples || goes_by() || is_fed()
        {
            self.judge(file.into(), Why::UsedByScript);
            goes_by::named_by_settings(self, file, stand);
        } else if is_script_name(file)
            && (says_judge(file) || is_beside(file, stand) && !says_program(file))
        {
            self.follow(file, Why::UsedByScript, stand);
        } else if is_data(file) && renews(text) && !self.is_read_elsewhere(file, stand) {
            // What is described there was true when it was written.
            self.judge(file.into(), Why::UsedByScript);
        } else if is_plain_data(file) {
            self.trace.lists.insert(file.into());
        }
    }
}

/// Whether a file holds data, or one word in a file without an ending: `scripts/NEXT`.
fn is_plain_data(path: &Path) -> bool {
    is_data(path) || extension_of(path).is_empty()
}

/// Whether a path is among the project's tools.
pub(in crate::judges) fn is_of_tools(path: &Path) -> bool {
    let first = path.iter().next().and_then(|part| part.to_str()).unwrap_or_default();
    ["scripts", "script", "tools", "ci", "hack"].contains(&first)
}

/// Settings of a tool that a script reads in the tool's place.
fn is_setting_of_tool(path: &Path) -> bool {
    let name = name_of(path);
    extension_of(path) == "json" && ["tsconfig", "jsconfig"].iter().any(|own| name.starts_with(own))
}

/// Whether the file is in the directory of the script that uses it, other than the root.
fn is_beside(path: &Path, stand: &Stand) -> bool {
    let own = stand.script.as_deref().map(directory_of).unwrap_or_default();
    !own.as_os_str().is_empty() && path.starts_with(&own)
}

/// Whether the path is in a directory of built things.
fn is_product(path: &Path) -> bool {
    let places = ["target", "build", "dist", "out", "_build", "zig-out", "obj"];
    path.components().any(|part| places.iter().any(|own| part.as_os_str() == *own))
}

/// Whether the text is for a shell.
fn is_shell_text(path: &Path, text: &str) -> bool {
    let first = text.lines().next().unwrap_or_default();
    if let Some(program) = first.strip_prefix("#!") {
        let shells = ["/sh", "bash", "dash", "zsh", "ksh", " sh"];
        return shells.iter().any(|own| program.contains(own));
    }
    ["sh", "bash", "zsh", "ksh", "bats", ""].contains(&extension_of(path))
}
