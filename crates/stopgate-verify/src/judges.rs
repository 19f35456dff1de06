//! Which files decide what "pass" means for a check, and which are the work that it judges.
//!
//! A [`JudgeSet`] is found once, when the work is given out, and stored. It then says of any path,
//! also of one that did not exist, what it is to the check. Nothing is run or written.

mod aliases;
mod build_scripts;
mod comparing_scripts;
mod configuration;
pub(crate) mod coverage_marks;
mod dev_crates;
mod files;
mod git_questions;
mod ground;
mod helpers;
mod imports;
mod links;
mod loaded_code;
mod mixed_source;
mod names;
mod pytest_settings;
mod python_modules;
mod role;
mod rules;
mod rust_documents;
mod rust_helpers;
mod rust_reach;
mod script_settings;
mod shadows;
mod shell;
mod sourced;
mod specifications;
mod steering;
mod stored_path;
pub(crate) mod suppressions;
mod test_content;
mod test_data;
mod test_modules;
mod test_registrars;
mod tools;
mod trace;
mod warnings;

pub(crate) mod by_path;
pub(crate) mod sections;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use stopgate_core::Criterion;
use stopgate_system::CanonicalPath;

use self::ground::JudgeGround;
use self::role::CheckConduct;
use self::stored_path::StoredPath;
use self::test_modules::TestModules;
use self::trace::CommandTrace;
use crate::glob::Globs;

pub use self::by_path::check_warnings;
pub use self::by_path::steering_variables;
pub(crate) use self::by_path::{is_installed, is_product, is_test_path, is_test_source, may_judge};
pub(crate) use self::files::{ListedFiles, ProjectFiles, normal};
pub(crate) use self::git_questions::asks_git;
pub(crate) use self::links::JudgeLink;
pub(crate) use self::names::is_code;
pub(crate) use self::python_modules::is_known_module;
pub(crate) use self::role::{JudgeRole, MixedKind, Why};
pub(crate) use self::rules::JudgeRules;

const VERSION: u32 = 1;

/// Whether a check's own files judge, or are part of the work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum JudgeStance {
    /// They judge.
    #[default]
    Judges,
    /// They are work: a person said so beforehand. Protected files still judge.
    Work,
}

/// The judges of one criterion, as they were found when the work was given out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct JudgeSet {
    version: u32,
    stance: JudgeStance,
    protect: Vec<String>,
    may_change: Vec<String>,
    /// Whole files that judge whatever they are called.
    judges: BTreeMap<StoredPath, Why>,
    /// Programs under test, whatever they are called.
    work: BTreeSet<StoredPath>,
    /// Programs under test that make what the check has git compare.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    makers: BTreeSet<StoredPath>,
    /// Files that make would make, and that it has git compare.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    made: BTreeSet<StoredPath>,
    /// Python source with tests beside the code that they are about.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    mixed_python: BTreeSet<StoredPath>,
    /// Shell code of the work that judges read into themselves.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    sourced: BTreeSet<StoredPath>,
    /// Commands of the shell that those judges run.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    commands: BTreeSet<String>,
    /// Source with tests for vitest in it.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    mixed_vitest: BTreeSet<StoredPath>,
    reach: CommandReach,
    /// Sources that switch a tool off for all of themselves; none was looked for where it is absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    silenced: Option<suppressions::SilencedSources>,
    /// Words by which judging scripts find their settings in a manifest.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    settings: BTreeSet<String>,
    /// Features of Cargo packages that switch tests.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    features: BTreeSet<String>,
    /// What tests and documentation depend on beside their own files.
    #[serde(default, skip_serializing_if = "JudgeGround::is_empty")]
    ground: JudgeGround,
    /// Modules of the project that had the name of a known one at the start.
    modules: BTreeSet<StoredPath>,
    /// Modules that judges import, and those that they would if they were there.
    #[serde(default, skip_serializing_if = "TestModules::is_empty")]
    test_modules: TestModules,
    /// Marked lines of the work, where the check measures coverage.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    coverage_marks: Option<BTreeSet<String>>,
    /// Files that would hide something if they were new.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    hiding: BTreeSet<StoredPath>,
    /// Where each program was found.
    programs: BTreeMap<String, StoredPath>,
    /// Directories of the project on the path.
    path_directories: BTreeSet<StoredPath>,
    /// Directories in whose `node_modules` each tool was found.
    node_packages: BTreeMap<String, StoredPath>,
    links: Vec<JudgeLink>,
    #[serde(skip)]
    installed: shadows::InstalledModules,
}

/// What the check's command leads to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct CommandReach {
    directory: StoredPath,
    tools: BTreeSet<String>,
    conduct: CheckConduct,
    packages: BTreeMap<StoredPath, BTreeSet<String>>,
    makefiles: BTreeMap<StoredPath, BTreeSet<String>>,
    justfiles: BTreeMap<StoredPath, BTreeSet<String>>,
    import_roots: BTreeSet<StoredPath>,
    file_like_targets: BTreeSet<StoredPath>,
    test_patterns: BTreeSet<String>,
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    stamps: BTreeSet<StoredPath>,
    /// Programs that it calls by name.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    called: BTreeSet<String>,
    /// Variables of the environment that it expands.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    variables: BTreeSet<String>,
    /// Pages whose examples its scripts try out, and the languages of those.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pages: BTreeMap<StoredPath, BTreeSet<String>>,
    /// Patterns and directories by which it finds what it reads.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    watched: BTreeSet<String>,
    /// Files that its scripts read and that may list what they look at.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    lists: BTreeSet<StoredPath>,
}

/// What a person said about which files judge, beyond the criterion.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct JudgeOptions<'a> {
    /// Patterns of files that are work whatever they look like.
    pub(crate) may_change: &'a [String],
    /// Whether the check's own files judge at all.
    pub(crate) stance: JudgeStance,
}

/// Why a set of judges could not be read or made.
#[derive(Debug, thiserror::Error)]
pub(crate) enum JudgeSetError {
    /// A pattern is not one.
    #[error("read the pattern `{0}`")]
    Pattern(String),
}

impl JudgeSet {
    /// Finds the judges of a criterion among the files of a project.
    pub(crate) fn find(
        root: &Path,
        criterion: &Criterion,
        files: &dyn ProjectFiles,
        options: JudgeOptions<'_>,
    ) -> Result<Self, JudgeSetError> {
        let mut trace = trace::trace(root, criterion, files);
        if ["pytest", "py.test", "tox", "nox"].iter().any(|tool| trace.tools.contains(*tool)) {
            pytest_settings::read(root, files, &mut trace);
        }
        let mut set = Self::new(root, criterion, options, trace);
        for patterns in [&set.protect, &set.may_change] {
            Globs::new(patterns).map_err(JudgeSetError::Pattern)?;
        }
        if set.stance == JudgeStance::Judges {
            set.note_programs(root, criterion);
            shadows::note_modules(&mut set, files);
            shadows::note_hiding(&mut set, files);
            let loaded = set.add_configured(root, files);
            set.add_rust_modules(files);
            set.note_mixed_python(files);
            set.note_vitest_source(files);
            set.add_tests_by_content(files);
            set.add_benches(files);
            build_scripts::add_generators(&mut set, files);
            specifications::leave_specifications(&mut set, files);
            set.add_helpers(files, loaded);
            set.test_modules = TestModules::note(&set, files);
            ground::note_ground(&mut set, files);
            set.note_settings(files);
            suppressions::note_silenced(&mut set, files);
            let command = criterion.command().unwrap_or_default();
            set.add_data(files, &command);
            set.coverage_marks = coverage_marks::note(&set, &command, files);
            set.note_sourced(files, &command);
        }
        set.add_links(root, files);
        Ok(set)
    }

    fn new(
        root: &Path,
        criterion: &Criterion,
        options: JudgeOptions<'_>,
        trace: CommandTrace,
    ) -> Self {
        let cwd = criterion.terms.cwd.as_deref();
        let directory = cwd.and_then(|cwd| files::inner(root, Path::new(""), cwd));
        let stored = |paths: BTreeSet<PathBuf>| paths.into_iter().map(StoredPath).collect();
        let keyed = |map: BTreeMap<PathBuf, BTreeSet<String>>| {
            map.into_iter().map(|(path, names)| (StoredPath(path), names)).collect()
        };
        let compared = |paths: BTreeSet<PathBuf>| {
            if trace.compares_by_git { stored(paths) } else { BTreeSet::new() }
        };
        Self {
            version: VERSION,
            stance: options.stance,
            protect: criterion.terms.protect.clone(),
            may_change: options.may_change.to_vec(),
            judges: trace.judges.into_iter().map(|(path, why)| (StoredPath(path), why)).collect(),
            makers: compared(trace.work.clone()),
            made: compared(trace.made),
            work: stored(trace.work),
            mixed_python: BTreeSet::new(),
            mixed_vitest: BTreeSet::new(),
            sourced: BTreeSet::new(),
            commands: BTreeSet::new(),
            reach: CommandReach {
                directory: StoredPath(directory.unwrap_or_default()),
                tools: trace.tools,
                conduct: trace.conduct,
                packages: keyed(trace.packages),
                makefiles: keyed(trace.makefiles),
                justfiles: keyed(trace.justfiles),
                import_roots: stored(trace.import_roots),
                file_like_targets: stored(trace.file_like_targets),
                test_patterns: trace.test_patterns,
                stamps: stored(trace.stamps),
                called: trace.programs.clone(),
                variables: trace.variables,
                pages: keyed(trace.pages),
                watched: trace.watched,
                lists: stored(trace.lists),
            },
            silenced: None,
            settings: BTreeSet::new(),
            features: BTreeSet::new(),
            ground: JudgeGround::default(),
            modules: BTreeSet::new(),
            test_modules: TestModules::default(),
            coverage_marks: None,
            hiding: BTreeSet::new(),
            programs: trace
                .programs
                .into_iter()
                .map(|name| (name, StoredPath::from(PathBuf::new())))
                .collect(),
            path_directories: stored(trace.path_directories),
            node_packages: BTreeMap::new(),
            links: Vec::new(),
            installed: shadows::InstalledModules::default(),
        }
    }

    fn note_programs(&mut self, root: &Path, criterion: &Criterion) {
        let path = crate::program::path_of(criterion);
        let names = std::mem::take(&mut self.programs);
        for name in names.into_keys() {
            if let Some(found) = crate::program::find(&name, path.as_deref()) {
                let own = found.strip_prefix(root).map(Path::to_path_buf).unwrap_or(found);
                self.programs.insert(name, StoredPath(own));
            }
        }
        let directories = path.as_deref().map(std::env::split_paths).into_iter().flatten();
        let own = directories.filter_map(|own| own.strip_prefix(root).ok().map(Path::to_path_buf));
        self.path_directories.extend(own.map(StoredPath));
        let command = criterion.command().unwrap_or_default();
        let here = self.reach.directory.0.clone();
        let assigned = shadows::path_directories(&command);
        let inner = assigned.iter().filter_map(|place| files::inner(root, &here, place));
        self.path_directories.extend(inner.map(StoredPath));
        let places: Vec<PathBuf> =
            self.reach.directory.0.ancestors().map(Path::to_path_buf).collect();
        for tool in &self.reach.tools {
            let has = |place: &&PathBuf| root.join(place).join("node_modules").join(tool).exists();
            if let Some(place) = places.iter().find(has) {
                self.node_packages.insert(tool.clone(), StoredPath(place.clone()));
            }
        }
    }

    /// Code that the configuration of a JavaScript runner names.
    fn add_configured(&mut self, root: &Path, files: &dyn ProjectFiles) -> BTreeSet<PathBuf> {
        let found = loaded_code::loaded(root, files, &JudgeRules::of(self).configuration);
        self.add(found.clone(), &Why::Named);
        found
    }

    /// Tests that nothing but what they say gives away.
    fn add_tests_by_content(&mut self, files: &dyn ProjectFiles) {
        if self.reach.conduct == CheckConduct::Looks {
            return;
        }
        let languages = [
            ("python", &rules::PYTHON[..]),
            ("javascript", &rules::NODE[..]),
            ("c", &rules::C[..]),
        ];
        let used = languages.iter().filter(|(_, tools)| self.uses(tools));
        let used: Vec<&str> = used.map(|(name, _)| *name).collect();
        let rules = JudgeRules::of(self);
        let is_work = |path: &Path| rules.role(path) == JudgeRole::Work;
        let found = test_content::tests(files, &used, &is_work);
        drop(rules);
        self.add(found, &Why::TestByContent);
    }

    fn add(&mut self, found: impl IntoIterator<Item = PathBuf>, why: &Why) {
        for path in found.into_iter().map(StoredPath) {
            if !self.work.contains(&path) {
                self.judges.entry(path).or_insert_with(|| why.clone());
            }
        }
    }

    fn add_helpers(&mut self, files: &dyn ProjectFiles, loaded: BTreeSet<PathBuf>) {
        let judges = self.whole(files);
        let judges: BTreeSet<&Path> = judges.iter().map(PathBuf::as_path).collect();
        let mut found = helpers::helpers(files, &judges, loaded);
        found.extend(comparing_scripts::scripts(files, &judges));
        if self.judges_rust() {
            found.extend(dev_crates::sources(files));
            found.extend(rust_helpers::helpers(files, &judges));
        }
        self.add(found, &Why::Helper);
    }

    fn add_data(&mut self, files: &dyn ProjectFiles, command: &str) {
        if self.reach.conduct == CheckConduct::Looks {
            return;
        }
        let judges = self.whole(files);
        let judges: BTreeSet<&Path> = judges.iter().map(PathBuf::as_path).collect();
        self.add(test_data::data(command, files, &judges), &Why::TestData);
    }

    /// The files that judge as a whole.
    fn whole(&self, files: &dyn ProjectFiles) -> Vec<PathBuf> {
        let rules = JudgeRules::of(self);
        let is_whole = |path: &&PathBuf| matches!(rules.role(path), JudgeRole::Whole(_));
        files.paths().iter().filter(is_whole).cloned().collect()
    }

    /// Files by which the check knows that it need not run.
    pub(crate) fn stamps(&self) -> impl Iterator<Item = &Path> {
        self.reach.stamps.iter().map(|path| path.0.as_path())
    }

    fn add_links(&mut self, root: &Path, files: &dyn ProjectFiles) {
        let Ok(whole_root) = root.canonical() else { return };
        let listed = files.paths().iter().chain(self.judges.keys().map(|path| &path.0));
        self.links = links::of(root, &whole_root, listed, &JudgeRules::of(self));
        let mut inner = links::inner(&self.links, &whole_root);
        // Where a directory is a link, that decides which content it is.
        let through = self.links.iter().flat_map(|link| link.link.0.ancestors().skip(1));
        inner.extend(through.filter(|path| files.paths().contains(*path)).map(Path::to_path_buf));
        let is_work = |path: &PathBuf| self.role(path) == JudgeRole::Work;
        for path in inner.into_iter().filter(is_work).collect::<Vec<_>>() {
            self.judges.entry(StoredPath(path)).or_insert(Why::BehindLink);
        }
    }

    /// What the file at `path` is to the check, by what was known at the start.
    pub(crate) fn role(&self, path: &Path) -> JudgeRole {
        self.rules().role(path)
    }

    /// The same for many paths: patterns are read once.
    pub(crate) fn rules(&self) -> JudgeRules<'_> {
        JudgeRules::of(self)
    }

    /// Scripts and programs of the work that the check runs.
    pub(crate) fn work(&self) -> impl Iterator<Item = &Path> {
        self.work.iter().map(|path| path.0.as_path())
    }

    /// Whether the check asks git about the files.
    pub(crate) fn asks_git(&self) -> bool {
        self.reach.tools.contains("git")
    }

    /// The directory that the check runs in, from the root.
    pub(crate) fn directory(&self) -> &Path {
        &self.reach.directory.0
    }

    /// The tools that the check uses, and every other program that it calls by name.
    pub(crate) fn called(&self) -> BTreeSet<&String> {
        self.reach.tools.iter().chain(&self.reach.called).collect()
    }

    /// Whether the program was found on the path at the start.
    pub(crate) fn has_found(&self, program: &str) -> bool {
        self.programs.contains_key(program)
    }

    /// The tools that the check uses.
    pub(crate) fn tools(&self) -> impl Iterator<Item = &String> {
        self.reach.tools.iter()
    }

    /// Whether the check may run code in JavaScript.
    pub(crate) fn uses_node(&self) -> bool {
        self.uses(&rules::NODE)
    }

    /// Judges that are links, and what they lead to, also outside of the project.
    pub(crate) fn links(&self) -> &[JudgeLink] {
        &self.links
    }

    /// Every file of the project that judges, as a whole or by its sections.
    fn listed(&self, files: &dyn ProjectFiles) -> Vec<(PathBuf, JudgeRole)> {
        let rules = self.rules();
        let listed = files.paths().iter().map(|path| (path.clone(), rules.role(path)));
        // Scripts behind linked directories and ignored ones are not among the files.
        let named =
            self.judges.keys().map(|path| &path.0).filter(|path| !files.paths().contains(*path));
        let named =
            named.filter(|path| files.exists(path)).map(|path| (path.clone(), rules.role(path)));
        let mut found: Vec<_> = listed.chain(named).filter(|(_, role)| role.is_shown()).collect();
        found.sort_by(|one, other| one.0.cmp(&other.0));
        found
    }

    /// Whether the check runs tests, but had none at the start: the work writes its own.
    pub(crate) fn is_self_judged(&self, files: &dyn ProjectFiles) -> bool {
        let judges = |(path, role): &(PathBuf, JudgeRole)| match role {
            JudgeRole::Work | JudgeRole::Whole(Why::Configuration(_)) => false,
            JudgeRole::Whole(_) => true,
            JudgeRole::Sections(MixedKind::RustSource) => {
                let text = files.text(path).unwrap_or_default();
                let found = sections::judging(MixedKind::RustSource, &text, &self.reach_of(path));
                found.is_ok_and(|found| !found.is_empty())
            }
            JudgeRole::Sections(_) => false,
        };
        self.reach.conduct != CheckConduct::Looks && !self.listed(files).iter().any(judges)
    }

    fn uses(&self, tools: &[&str]) -> bool {
        self.reach.conduct == CheckConduct::Unknown
            || tools.iter().any(|tool| self.reach.tools.contains(*tool))
    }
}

#[cfg(test)]
mod tests;
