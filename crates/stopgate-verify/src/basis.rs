//! What the work is judged by, fixed when a loop begins: the judges' contents, the variables
//! and programs of the checks, files outside the project that steer them, the commit.
//!
//! A basis only remembers and compares. Contents are kept outside the work tree by their
//! fingerprints, so that the judges of the start can be asked about today's work. Nothing in
//! the work tree is written.

mod build_settings;
mod changes;
mod committed;
mod environments;
mod git_refs;
mod git_settings;
mod git_state;
mod git_undo;
mod imported;
mod installed;
mod keep;
mod lasting;
mod linked;
mod listing;
mod moved;
mod outside;
mod programs;
mod text;

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use stopgate_core::{Criterion, JudgesAre, Proof};
use stopgate_system::CanonicalPath;
use stopgate_system::ffi::OsStrExt;

use self::build_settings::BuildSettings;
pub(crate) use self::changes::{GitUndo, GitUse, JudgeChanges};
use self::changes::{note_lists, note_makers, note_watched, package_names};
use self::environments::RunnerPlugin;
use self::git_state::GitState;
use self::imported::ImportedPackage;
use self::installed::InstalledProgram;
pub(crate) use self::keep::ContentStore;
use self::keep::KEPT_BYTES_MAX;
pub(crate) use self::keep::content_of;
use self::linked::LinkedPackage;
use self::listing::listing;
use self::outside::{Reach, Reached, Variables};
pub(crate) use self::outside::{directory_of_above, is_read_at_home};
use self::programs::FoundProgram;
use self::text::{BasisText, CriterionText, FileText, VERSION, path_text, text_path};
use crate::env::{Variable, kept_variables};
use crate::git::GitFilters;
use crate::judges::{
    JudgeOptions, JudgeRole, JudgeRules, JudgeSet, JudgeSetError, JudgeStance, ListedFiles,
    ProjectFiles, Why, is_test_path,
};
use crate::kinds::GitBasis;
use crate::program::{definition, uses};
use crate::prove::FirstWrites;
use crate::tree::{FileKind, TreeError, TreeFile, hash_of, hex};

/// How long git may take to name a commit.
const GIT_TIMEOUT: Duration = Duration::from_secs(5);

/// What the work is judged by, as it was at the start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Basis {
    text: BasisText,
}

/// One file that judges, for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JudgeLine {
    /// Its path from the root.
    pub path: PathBuf,
    /// Why it is a judge.
    pub why: String,
}

/// Why a basis could not be taken or compared.
#[derive(Debug, thiserror::Error)]
pub enum BasisError {
    /// The files could not be looked at.
    #[error("look at the files that judge the work")]
    Tree(#[from] TreeError),
    /// A content could not be kept.
    #[error("keep {} as it is now", path.display())]
    Keep {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// It can't be told what judges a criterion.
    #[error("tell what judges the work")]
    Judges(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The text is not a basis.
    #[error("read what was noted at the start: {0}")]
    Text(String),
}

/// Where a basis keeps its things.
#[derive(Clone, Copy, Debug)]
pub struct BasisStore<'a> {
    /// The directory of contents.
    pub objects: &'a Path,
    /// The directory of fingerprints.
    pub trees: &'a Path,
}

impl Basis {
    /// Notes what `criteria` are judged by; `writes` is what each check wrote when it was run
    /// before the work began.
    pub fn take(
        root: &Path,
        criteria: &[Criterion],
        writes: &[FirstWrites],
        store: BasisStore<'_>,
    ) -> Result<Self, BasisError> {
        let root = &whole(root)?;
        let variables = kept_variables();
        let found = listing(root, criteria, store.trees)?;
        let files = ListedFiles::new(root, &found.paths());
        let mut keep = ContentStore::new(store.objects, KEPT_BYTES_MAX);
        let asks_git = criteria.iter().any(|c| matches!(c.proof, Proof::Git { .. }));
        let git = asks_git.then(|| GitBasis::take(root)).flatten();
        let mut noted: Vec<CriterionText> = Vec::new();
        for (at, criterion) in criteria.iter().enumerate() {
            let judges = JudgeSet::find(root, criterion, &files, options(criterion))?;
            let writes = writes.get(at).cloned().unwrap_or_default();
            let self_judged = judges.is_self_judged(&files);
            let mut imported = imported(root, &judges, &files);
            let own = note_criterion(root, criterion, judges, &writes, &variables);
            let runners = own.installed.iter().filter_map(InstalledProgram::package);
            imported.extend(ImportedPackage::note_runners(root, own.judges.directory(), runners));
            let watched =
                if writes.failed { note_watched(&own.judges, &found) } else { Vec::new() };
            let makers = note_makers(root, &own.judges, &found, &mut keep)?;
            let lists = note_lists(root, &own.judges, &found, &mut keep)?;
            noted.push(CriterionText { self_judged, imported, makers, watched, lists, ..own });
        }
        let (asked, criteria) = (criteria, noted);
        let rules: Vec<JudgeRules<'_>> = criteria.iter().map(|own| own.judges.rules()).collect();
        let mut judging = Vec::new();
        let outputs = writes.iter().flat_map(|own| &own.outputs);
        let products = found.products(outputs.map(PathBuf::as_path));
        let is_product = |file: &&TreeFile| products.iter().any(|own| file.path.starts_with(own));
        let commit = commit_of(root);
        let asking = criteria.iter().zip(writes).filter(|(own, _)| own.judges.asks_git());
        let outputs = asking.flat_map(|(_, writes)| &writes.outputs);
        let mut committed = committed::references(root, commit.as_deref(), outputs);
        for file in found.files().filter(|file| !is_product(file)) {
            if rules.iter().any(|rules| rules.role(&file.path) != JudgeRole::Work) {
                let committed = committed.remove(&file.path);
                judging.push(note_file(root, file, committed, &mut keep)?);
            }
        }
        drop(rules);
        let links = criteria.iter().flat_map(|own| own.judges.links());
        let linked = links.flat_map(|link| link.files.iter().map(|file| file.0.clone()));
        let around = outside_of(&variables);
        let mut reached = reached(root, &around, asked, &criteria, &judging);
        let tools: BTreeSet<&String> = criteria.iter().flat_map(|own| own.judges.tools()).collect();
        reached.files.extend(linked);
        let outside = outside::note(root, &around, &tools, reached, &mut keep);
        let variables = variables.iter().map(variable_text).collect();
        let node = criteria.iter().filter(|own| own.judges.uses_node());
        let packages = node.flat_map(|own| package_names(root, own.judges.directory())).collect();
        let bytecode = writes.iter().find_map(|own| own.bytecode.clone());
        let text = BasisText {
            version: VERSION,
            criteria,
            files: judging,
            variables,
            outside,
            git,
            commit,
            bytecode,
            packages,
        };
        Ok(Self { text })
    }

    /// This basis without the criteria that are `dropped`, and with those of a later one.
    ///
    /// What is noted in both stays as it was first: the start is what counts.
    #[must_use]
    pub fn with(mut self, later: Self, dropped: &[String]) -> Self {
        let text = &mut self.text;
        text.criteria.retain(|own| !dropped.contains(&own.name));
        text.criteria.extend(later.text.criteria);
        for file in later.text.files {
            if !text.files.iter().any(|known| known.path == file.path) {
                text.files.push(file);
            }
        }
        for file in later.text.outside {
            if !text.outside.iter().any(|known| known.path == file.path) {
                text.outside.push(file);
            }
        }
        text.git = text.git.take().or(later.text.git);
        text.packages.extend(later.text.packages);
        text.bytecode = text.bytecode.take().or(later.text.bytecode);
        self
    }

    /// The basis as text.
    pub fn to_text(&self) -> String {
        serde_json::to_string(&self.text).unwrap_or_default()
    }

    /// Reads a basis back.
    pub fn from_text(text: &str) -> Result<Self, BasisError> {
        let text: BasisText =
            serde_json::from_str(text).map_err(|error| BasisError::Text(error.to_string()))?;
        if text.version != VERSION {
            let why = format!("it has the form {}, and this program knows {VERSION}", text.version);
            return Err(BasisError::Text(why));
        }
        Ok(Self { text })
    }

    /// How git was set up at the start.
    pub(crate) const fn git(&self) -> Option<&GitBasis> {
        self.text.git.as_ref()
    }

    /// The commit that was checked out at the start.
    pub fn commit(&self) -> Option<&str> {
        self.text.commit.as_deref()
    }

    /// Whether a package of this name was installed.
    pub(crate) fn had_package(&self, name: &str) -> bool {
        self.text.packages.contains(name)
    }

    /// Compiled Python of the first run, as it is called among the contents.
    pub(crate) fn bytecode(&self) -> Option<&str> {
        self.text.bytecode.as_deref()
    }

    /// The files that judge a criterion, for people.
    pub fn judges(&self, criterion: &str) -> Vec<JudgeLine> {
        let Some(own) = self.criterion(criterion) else { return Vec::new() };
        let rules = own.judges.rules();
        let line = |file: &FileText| {
            let path = text_path(&file.path);
            let role = rules.role(&path);
            role.is_shown().then(|| JudgeLine { path, why: role.to_string() })
        };
        self.text.files.iter().filter_map(line).collect()
    }

    /// Whether nothing was there at the start that could judge this criterion.
    pub(crate) fn is_self_judged(&self, criterion: &Criterion) -> bool {
        self.criterion(&criterion.name).is_some_and(|own| own.self_judged)
            || self.judges(&criterion.name).is_empty()
    }

    /// Whether a file that was there at the start judges this criterion.
    pub(crate) fn has_judge(&self, criterion: &str, path: &Path) -> bool {
        let judges = |own: &CriterionText| matches!(own.judges.role(path), JudgeRole::Whole(_));
        self.criterion(criterion).is_some_and(judges)
            && self.text.files.iter().any(|file| text_path(&file.path) == path)
    }

    /// Whether the file is a script that the check runs, or data that such a script reads.
    pub(crate) fn is_script_or_its_settings(&self, criterion: &str, path: &Path) -> bool {
        let own = self.criterion(criterion).map(|own| own.judges.role(path));
        let is_own =
            matches!(own, Some(JudgeRole::Whole(Why::Script | Why::UsedByScript | Why::TestData)));
        // Tests change as the work does.
        is_own && !is_test_path(path)
    }

    /// Whether the check runs this script, be it called like a test or not.
    pub(crate) fn is_script(&self, criterion: &str, path: &Path) -> bool {
        let own = self.criterion(criterion).map(|own| own.judges.role(path));
        own == Some(JudgeRole::Whole(Why::Script))
    }

    /// Whether something in this directory judged the work at the start, also in parts.
    pub(crate) fn has_files_below(&self, directory: &Path) -> bool {
        self.text.files.iter().any(|file| text_path(&file.path).starts_with(directory))
    }

    /// Whether a file judges no criterion, by its name or by any part of it.
    pub(crate) fn is_work(&self, path: &Path) -> bool {
        self.text.criteria.iter().all(|own| own.judges.role(path) == JudgeRole::Work)
    }

    /// Files that the check itself writes.
    pub(crate) fn outputs(&self, criterion: &str) -> Vec<PathBuf> {
        let own = self.criterion(criterion);
        own.map(|own| own.outputs.iter().map(|path| text_path(path)).collect()).unwrap_or_default()
    }

    /// Whether the check itself makes what git ignores there.
    pub(crate) fn makes(&self, criterion: &str, path: &Path) -> bool {
        let made = self.criterion(criterion).map(|own| own.made.as_slice()).unwrap_or_default();
        let place = path.parent().unwrap_or(path);
        made.iter().map(|own| text_path(own)).any(|own| own == place || own == path)
    }

    /// Files by which the check knows that it need not run.
    pub(crate) fn stamps(&self, criterion: &str) -> Vec<PathBuf> {
        let own = self.criterion(criterion).into_iter().flat_map(|own| own.judges.stamps());
        own.map(Path::to_path_buf).collect()
    }

    /// The variables that checks see.
    pub(crate) fn variables(&self) -> Vec<Variable> {
        let pair = |(name, value): &(String, String)| {
            (text_path(name).into_os_string(), text_path(value).into_os_string())
        };
        self.text.variables.iter().map(pair).collect()
    }

    fn criterion(&self, name: &str) -> Option<&CriterionText> {
        self.text.criteria.iter().find(|own| own.name == name)
    }

    fn path(&self, criterion: &Criterion) -> Option<OsString> {
        let own = criterion.terms.set.iter().rev().find(|(name, _)| name == "PATH");
        let own = own.map(|(_, value)| OsString::from(value));
        let noted = || self.variables().into_iter().find(|(name, _)| name == "PATH");
        own.or_else(|| noted().map(|(_, value)| value))
    }
}

impl From<JudgeSetError> for BasisError {
    fn from(error: JudgeSetError) -> Self {
        Self::Judges(Box::new(error))
    }
}

fn options(criterion: &Criterion) -> JudgeOptions<'_> {
    let stance = match criterion.terms.judges {
        JudgesAre::Fixed => JudgeStance::Judges,
        JudgesAre::Work => JudgeStance::Work,
    };
    JudgeOptions { may_change: &criterion.terms.may_change, stance }
}

fn note_criterion(
    root: &Path,
    criterion: &Criterion,
    judges: JudgeSet,
    writes: &FirstWrites,
    variables: &[Variable],
) -> CriterionText {
    let own = criterion.terms.set.iter().rev().find(|(name, _)| name == "PATH");
    let path = own.map(|(_, value)| OsString::from(value));
    let path = path.or_else(|| value_of(variables, "PATH"));
    let names = uses(root, criterion).programs;
    let installed = {
        let is_on_path = |name: &str| judges.has_found(name);
        InstalledProgram::note(root, judges.directory(), judges.called(), is_on_path)
    };
    let linked = LinkedPackage::note(root, judges.directory());
    let command = criterion.command().unwrap_or_default();
    let environments = environments::in_reach(root, judges.directory(), &command);
    let plugins = RunnerPlugin::note(root, judges.directory(), &environments);
    let built = BuildSettings::note(root, judges.tools());
    let git = judges.asks_git().then(|| GitState::take(root)).flatten();
    CriterionText {
        name: criterion.name.clone(),
        definition: definition(criterion),
        judges,
        programs: names
            .iter()
            .filter_map(|name| FoundProgram::note(name, path.as_deref()))
            .collect(),
        installed,
        linked,
        outputs: writes.outputs.iter().map(|path| path_text(path)).collect(),
        made: writes.made.iter().map(|path| path_text(path)).collect(),
        self_judged: false,
        imported: Vec::new(),
        plugins,
        git,
        built,
        makers: Vec::new(),
        watched: Vec::new(),
        lists: Vec::new(),
    }
}

/// Files outside the project that the commands and the judges lead to.
fn reached(
    root: &Path,
    variables: &Variables,
    asked: &[Criterion],
    noted: &[CriterionText],
    judging: &[FileText],
) -> Reached {
    let command = |criterion: &Criterion| {
        let set = criterion.terms.set.iter().map(|(name, value)| format!("{name}={value}\n"));
        let set: String = set.collect();
        set + &criterion.command().unwrap_or_default()
    };
    let directories = noted.iter().map(|own| own.judges.directory().to_path_buf());
    let reach = Reach {
        root,
        variables,
        judges: judging.iter().map(|file| text_path(&file.path)).collect(),
        commands: asked.iter().map(command).zip(directories).collect(),
        called: noted.iter().flat_map(|own| own.judges.called()).collect(),
        compared: noted
            .iter()
            .flat_map(|own| own.programs.iter().map(|p| p.name.clone()))
            .collect(),
    };
    outside::reached(&reach)
}

/// The installed packages that the judges in JavaScript import.
fn imported(root: &Path, judges: &JudgeSet, files: &ListedFiles) -> Vec<ImportedPackage> {
    const JAVASCRIPT: [&str; 6] = ["js", "mjs", "cjs", "jsx", "ts", "tsx"];
    let rules = judges.rules();
    let is_script = |path: &&PathBuf| {
        let end = path.extension().and_then(OsStr::to_str).unwrap_or_default();
        JAVASCRIPT.contains(&end) && matches!(rules.role(path), JudgeRole::Whole(_))
    };
    let scripts = files.paths().iter().filter(is_script);
    ImportedPackage::note(root, scripts.filter_map(|path| Some((path.clone(), files.text(path)?))))
}

/// Notes what a file says, or what git has of it.
fn note_file(
    root: &Path,
    file: &TreeFile,
    committed: Option<Vec<u8>>,
    keep: &mut ContentStore<'_>,
) -> Result<FileText, BasisError> {
    let path = root.join(&file.path);
    let failed = |source| BasisError::Keep { path: path.clone(), source };
    let mut noted = FileText {
        path: path_text(&file.path),
        kind: file.kind,
        content: hex(&file.content),
        kept: false,
    };
    if file.kind != FileKind::Unreadable && file.size <= KEPT_BYTES_MAX {
        let content = committed.map_or_else(|| content_of(&path), Ok).map_err(failed)?;
        noted.content = hex(&hash_of(&content));
        noted.kept = keep.put(&noted.content, &content).map_err(failed)?;
    }
    Ok(noted)
}

fn outside_of(variables: &[Variable]) -> Variables {
    let path = |name: &str| value_of(variables, name).map(PathBuf::from);
    let pythons = value_of(variables, "PATH").map(|path| pythons_of(&path)).unwrap_or_default();
    let home = path("HOME");
    let cargo_home = path("CARGO_HOME");
    let text = |(name, value): &Variable| Some((name.to_str()?.into(), value.to_str()?.into()));
    let all = variables.iter().filter_map(text).collect();
    Variables { home, cargo_home, virtual_env: path("VIRTUAL_ENV"), pythons, all }
}

/// The environments of every `python3` on the path.
fn pythons_of(path: &OsStr) -> Vec<PathBuf> {
    let prefix = |directory: PathBuf| {
        let found =
            ["python3", "python", "pytest"].iter().any(|name| directory.join(name).exists());
        found.then(|| directory.parent().map(Path::to_path_buf)).flatten()
    };
    std::env::split_paths(path).filter_map(prefix).collect()
}

fn path_of(bytes: &[u8]) -> PathBuf {
    PathBuf::from(OsStr::from_bytes(bytes))
}

fn value_of(variables: &[Variable], name: &str) -> Option<OsString> {
    variables.iter().rev().find(|(own, _)| own == name).map(|(_, value)| value.clone())
}

fn variable_text((name, value): &Variable) -> (String, String) {
    let text = |part: &OsStr| path_text(Path::new(OsStr::from_bytes(part.as_bytes())));
    (text(name), text(value))
}

fn commit_of(root: &Path) -> Option<String> {
    let words = ["rev-parse", "--verify", "-q", "HEAD"];
    let said = crate::git::git(&words, root, GitFilters::Run, GIT_TIMEOUT);
    let said = said.ok().filter(crate::ToolOutput::is_fine)?;
    let commit = String::from_utf8(said.stdout).ok()?;
    Some(commit.trim().to_string()).filter(|commit| !commit.is_empty())
}

fn whole(root: &Path) -> Result<PathBuf, BasisError> {
    root.canonical().map_err(|source| TreeError::Root { path: root.into(), source }.into())
}
