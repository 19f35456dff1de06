//! What checks are judged by, fixed at the start: their definitions, protected files, the
//! scripts and programs they run, and files that steer test runners.
//!
//! A seal only says what is different. Times do not count, and what is put back as it was is no
//! change. Nothing in the work tree is written.

mod hooks;
mod keep;
mod text;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs;
use std::io::{self, Read as _};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use stopgate_core::{Criterion, Site};

use self::hooks::{Family, families, family_of, is_skipped};
use self::keep::{KEPT_BYTES_MAX, content_of};
use self::text::{
    ActText, CriterionText, FileText, KindText, ProgramText, SealText, path_text, settled,
    text_path,
};
use crate::files::open_regular;
use crate::glob::Globs;
use crate::program::{Uses, definition, find, path_of, runs, uses};
use crate::tree::{
    Choice, Chosen, Clock, Kind, Stat, Tree, TreeError, TreeFile, hash_of, hex, look,
};

pub(crate) use self::keep::Keep;

/// More than this of a program is not looked at.
const PROGRAM_BYTES_MAX: u64 = 1024 * 1024 * 1024;

const VERSION: u32 = 1;

/// What checks are judged by, as it was at the start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seal {
    text: SealText,
}

/// Something that is not as it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The criterion whose check it touches; nothing where it is all of them.
    pub criterion: Option<String>,
    /// What it is, for people.
    pub text: String,
}

/// Why a seal could not be taken or compared.
#[derive(Debug, thiserror::Error)]
pub enum SealError {
    /// The files could not be looked at.
    #[error("look at what the checks are judged by")]
    Tree(#[from] TreeError),
    /// A protected content could not be kept.
    #[error("keep {} as it is now", path.display())]
    Keep {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The text is no seal.
    #[error("read the seal: {0}")]
    Text(String),
}

impl Seal {
    /// Seals what `criteria` are judged by.
    ///
    /// Protected contents are kept in the folder `store`; `cache` is the one of fingerprints.
    pub fn take(
        root: &Path,
        criteria: &[Criterion],
        store: &Path,
        cache: &Path,
    ) -> Result<Self, SealError> {
        let taken = Clock::start().taken;
        let root = &whole(root)?;
        let criteria: Vec<CriterionText> =
            criteria.iter().map(|criterion| seal_one(root, criterion)).collect();
        let tree = watch(root, &criteria, cache)?;
        let mut keep = Keep::new(store, KEPT_BYTES_MAX);
        let mut files = Vec::new();
        for file in tree.files() {
            files.push(seal_file(root, &file, &mut keep)?);
        }
        // Equal content gives an equal seal: the time matters only for what changed just now.
        let taken = settled(&criteria, taken);
        Ok(Self { text: SealText { version: VERSION, taken, criteria, files } })
    }

    /// The seal as text.
    pub fn to_text(&self) -> String {
        serde_json::to_string(&self.text).unwrap_or_default()
    }

    /// Reads a seal back.
    pub fn from_text(text: &str) -> Result<Self, SealError> {
        let text: SealText =
            serde_json::from_str(text).map_err(|error| SealError::Text(error.to_string()))?;
        if text.version != VERSION {
            let why = format!("it has the form {}, and this program knows {VERSION}", text.version);
            return Err(SealError::Text(why));
        }
        Ok(Self { text })
    }

    /// What is not as it was, criterion by criterion.
    pub fn changes(
        &self,
        root: &Path,
        criteria: &[Criterion],
        cache: &Path,
    ) -> Result<Vec<Change>, SealError> {
        let root = &whole(root)?;
        let tree = watch(root, &self.text.criteria, cache)?;
        let now: BTreeMap<PathBuf, TreeFile> =
            tree.files().map(|file| (file.path.clone(), file)).collect();
        let mut changes = Vec::new();
        for sealed in &self.text.criteria {
            let own = criteria.iter().find(|criterion| criterion.name == sealed.name);
            let mut texts = BTreeSet::new();
            match own {
                None => drop(texts.insert("it is no longer among the criteria".to_string())),
                Some(own) => self.changed_criterion(root, sealed, own, &mut texts),
            }
            // A pristine copy has these files as they were, whatever became of them since.
            if own.is_none_or(|own| own.terms.site == Site::Tree) {
                texts.extend(self.changed_files(root, sealed, &now)?);
            }
            let change = |text| Change { criterion: Some(sealed.name.clone()), text };
            changes.extend(texts.into_iter().map(change));
        }
        Ok(changes)
    }

    fn changed_criterion(
        &self,
        root: &Path,
        sealed: &CriterionText,
        own: &Criterion,
        texts: &mut BTreeSet<String>,
    ) {
        if definition(own) != sealed.definition {
            texts.insert("its command was changed".into());
        }
        let path = path_of(own);
        for program in &sealed.programs {
            let now = find(&program.name, path.as_deref());
            texts.extend(changed_program(program, now.as_deref(), self.text.taken));
        }
        let package = package_scripts(&uses(root, own));
        for (name, text) in &sealed.package {
            let now = package.iter().find(|(own, _)| own == name).map(|(_, text)| text);
            if now != Some(text) {
                texts.insert(format!("the script «{name}» in package.json was changed"));
            }
        }
        let is_new = |name: &String| !sealed.package.iter().any(|(own, _)| own == name);
        let new = package.into_iter().map(|(name, _)| name).filter(is_new);
        // A script that the command itself names may well be the work; one around it is not.
        let around = new.filter(|name| name.starts_with("pre") || name.starts_with("post"));
        texts.extend(around.map(|name| format!("a new script in package.json: «{name}»")));
    }

    fn changed_files(
        &self,
        root: &Path,
        sealed: &CriterionText,
        now: &BTreeMap<PathBuf, TreeFile>,
    ) -> Result<Vec<String>, SealError> {
        let ground = GroundOf::new(sealed)?;
        let mut texts = Vec::new();
        let mut known = BTreeSet::new();
        for file in &self.text.files {
            let path = text_path(&file.path);
            let role = ground.role(&path);
            known.insert(path.clone());
            let counts = match role {
                Role::Judge => true,
                Role::Hook => ground.protects() || is_emptied(root, &path),
                Role::None => false,
            };
            match now.get(&path).filter(|_| counts) {
                Some(now) if !is_same(file, now) => {
                    texts.push(format!("{} was changed", path.display()));
                }
                None if counts => texts.push(format!("{} was deleted", path.display())),
                Some(_) | None => {}
            }
        }
        let new = now.keys().filter(|path| !known.contains(*path) && ground.is_hook(path));
        texts.extend(
            new.map(|path| format!("a new file that steers the tests: {}", path.display())),
        );
        Ok(texts)
    }

    /// What a pristine copy for this criterion must have, and what it must not have.
    pub(crate) fn ground(&self, criterion: &str) -> Result<Option<Sealed<'_>>, SealError> {
        let Some(sealed) = self.text.criteria.iter().find(|own| own.name == criterion) else {
            return Ok(None);
        };
        Ok(Some(Sealed { ground: GroundOf::new(sealed)?, files: &self.text.files }))
    }
}

impl Change {
    /// Whether it touches the check of this criterion.
    pub fn concerns(&self, criterion: &str) -> bool {
        self.criterion.as_deref().is_none_or(|own| own == criterion)
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// What one criterion is judged by, for whoever makes a copy.
pub(crate) struct Sealed<'a> {
    ground: GroundOf,
    files: &'a [FileText],
}

/// A file as it was at the start.
pub(crate) struct Original {
    pub(crate) path: PathBuf,
    pub(crate) form: Form,
    /// The name of its content.
    pub(crate) content: String,
}

/// How a file can be put back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Plain,
    Executable,
    Link,
    /// Not at all: its content was not kept.
    Lost,
}

impl Form {
    const fn of(file: &FileText) -> Self {
        match file.kind {
            KindText::Plain if file.kept => Self::Plain,
            KindText::Executable if file.kept => Self::Executable,
            KindText::Link if file.kept => Self::Link,
            KindText::Plain | KindText::Executable | KindText::Link | KindText::Unreadable => {
                Self::Lost
            }
        }
    }
}

impl Sealed<'_> {
    /// Whether the file is not the work's to decide: it is as it was at the start, or not there.
    pub(crate) fn decides(&self, path: &Path) -> bool {
        self.ground.role(path) != Role::None
    }

    /// The files as they were at the start.
    pub(crate) fn originals(&self) -> impl Iterator<Item = Original> {
        let original = |file: &'_ FileText| Original {
            path: text_path(&file.path),
            form: Form::of(file),
            content: file.content.clone(),
        };
        self.files.iter().map(original).filter(|original| self.decides(&original.path))
    }
}

/// What a file is to a criterion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    /// Its check judges by it.
    Judge,
    /// It steers the runner of its check.
    Hook,
    None,
}

/// The files that one criterion is judged by.
struct GroundOf {
    protect: Globs,
    scripts: Vec<PathBuf>,
    families: BTreeSet<Family>,
    guard: Guard,
}

/// Whether somebody said that the criterion's files are to be protected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Guard {
    Asked,
    Usual,
}

impl GroundOf {
    fn new(sealed: &CriterionText) -> Result<Self, TreeError> {
        let guard = if sealed.protect.is_empty() { Guard::Usual } else { Guard::Asked };
        let families = match sealed.act {
            ActText::Run => families(sealed.used.iter().map(String::as_str)),
            ActText::Look => BTreeSet::new(),
        };
        Ok(Self {
            protect: Globs::new(&sealed.protect).map_err(TreeError::Pattern)?,
            scripts: sealed.scripts.iter().map(|path| text_path(path)).collect(),
            families,
            guard,
        })
    }

    fn protects(&self) -> bool {
        self.guard == Guard::Asked
    }

    fn is_hook(&self, path: &Path) -> bool {
        let family = family_of(path.as_os_str().as_bytes());
        family.is_some_and(|family| self.families.contains(&family))
    }

    fn role(&self, path: &Path) -> Role {
        let is_judge = self.protect.takes(path.as_os_str().as_bytes())
            || self.scripts.iter().any(|script| script == path);
        match (is_judge, self.is_hook(path)) {
            (true, _) => Role::Judge,
            (false, true) => Role::Hook,
            (false, false) => Role::None,
        }
    }
}

/// All files that any criterion is judged by.
struct Watch {
    globs: Globs,
    scripts: BTreeSet<Vec<u8>>,
}

impl Chosen for Watch {
    fn takes(&self, path: &[u8]) -> bool {
        self.globs.takes(path) || self.scripts.contains(path) || family_of(path).is_some()
    }

    fn enters(&self, path: &[u8]) -> bool {
        let mut parts = path.split(|byte| *byte == b'/');
        // Patterns for all folders do not mean what was installed, unless they say so.
        parts.all(|name| !is_skipped(name) || (self.globs.names(name) && self.globs.enters(path)))
            || self.has_script_below(path)
    }
}

impl Watch {
    fn has_script_below(&self, path: &[u8]) -> bool {
        let below = [path, b"/"].concat();
        let next = self.scripts.range(below.clone()..).next();
        next.is_some_and(|script| script.starts_with(&below))
    }
}

fn watch(root: &Path, criteria: &[CriterionText], cache: &Path) -> Result<Tree, SealError> {
    let patterns: Vec<&String> = criteria.iter().flat_map(|own| &own.protect).collect();
    let scripts: Vec<&String> = criteria.iter().flat_map(|own| &own.scripts).collect();
    let key = format!("seal {patterns:?} {scripts:?}");
    let bytes = |script: &&String| text_path(script).as_os_str().as_bytes().to_vec();
    let globs = Globs::new(&patterns).map_err(TreeError::Pattern)?;
    let watch = Watch { globs, scripts: scripts.iter().map(bytes).collect() };
    Ok(look(&[root], Choice::Picked(&watch), key.as_bytes(), cache)?)
}

fn whole(root: &Path) -> Result<PathBuf, SealError> {
    root.canonicalize().map_err(|source| TreeError::Root { path: root.into(), source }.into())
}

fn seal_one(root: &Path, criterion: &Criterion) -> CriterionText {
    let used = uses(root, criterion);
    let path = path_of(criterion);
    let package = package_scripts(&used);
    let mut scripts = used.files;
    let mut programs = Vec::new();
    for name in &used.programs {
        let Some(found) = find(name, path.as_deref()) else { continue };
        // A program of the project is one of its files.
        scripts.extend(found.strip_prefix(root).ok().map(Path::to_path_buf));
        programs.extend(seal_program(name, &found));
    }
    let own = used.own.iter().map(|script| script.to_string_lossy().into_owned());
    CriterionText {
        name: criterion.name.clone(),
        definition: definition(criterion),
        act: if runs(criterion) { ActText::Run } else { ActText::Look },
        used: used.programs.iter().cloned().chain(own).collect(),
        protect: criterion.terms.protect.clone(),
        scripts: scripts.iter().map(|script| path_text(script)).collect(),
        programs,
        package,
    }
}

fn seal_program(name: &str, path: &Path) -> Option<ProgramText> {
    let stat = Stat::of_metadata(&fs::metadata(path).ok()?);
    Some(ProgramText {
        name: name.into(),
        path: path_text(path),
        content: program_content(path),
        mtime: stat.mtime,
        ctime: stat.ctime,
        size: stat.size,
        inode: stat.inode,
        mode: stat.mode,
    })
}

/// The fingerprint of a program; a mark where it may be run but not read.
fn program_content(path: &Path) -> String {
    let mut hasher = blake3::Hasher::new();
    let read = open_regular(path)
        .and_then(|file| hasher.update_reader(file.take(PROGRAM_BYTES_MAX)).map(|_| ()));
    match read {
        Ok(()) => hex(&hasher.finalize().as_bytes()[..16]),
        Err(_) => "unreadable".into(),
    }
}

fn changed_program(sealed: &ProgramText, now: Option<&Path>, taken: i64) -> Option<String> {
    let name = &sealed.name;
    let was = text_path(&sealed.path);
    let Some(now) = now else { return Some(format!("{name} is gone: it was {}", was.display())) };
    if now != was {
        return Some(format!(
            "{name} is another program than at the start: {}, was {}",
            now.display(),
            was.display()
        ));
    }
    let then = Stat {
        mtime: sealed.mtime,
        ctime: sealed.ctime,
        size: sealed.size,
        inode: sealed.inode,
        mode: sealed.mode,
    };
    let is_same = fs::metadata(now)
        .is_ok_and(|metadata| Stat::of_metadata(&metadata).still_is(&then, taken))
        || program_content(now) == sealed.content;
    (!is_same).then(|| {
        format!("{name} is another program than at the start: {} was changed", now.display())
    })
}

/// The scripts of `package.json` that the command runs, with fingerprints of their texts.
fn package_scripts(used: &Uses) -> Vec<(String, String)> {
    let print = |(name, text): (&String, &String)| (name.clone(), hex(&hash_of(text.as_bytes())));
    used.scripts.iter().map(print).collect()
}

fn seal_file(root: &Path, file: &TreeFile, keep: &mut Keep<'_>) -> Result<FileText, SealError> {
    let path = root.join(&file.path);
    let failed = |source| SealError::Keep { path: path.clone(), source };
    let kind = match file.kind {
        Kind::Plain => KindText::Plain,
        Kind::Executable => KindText::Executable,
        Kind::Link => KindText::Link,
        Kind::Unreadable => KindText::Unreadable,
    };
    let mut sealed =
        FileText { path: path_text(&file.path), kind, content: hex(&file.content), kept: false };
    if kind != KindText::Unreadable && file.size <= KEPT_BYTES_MAX {
        let content = content_of(&path).map_err(failed)?;
        sealed.content = hex(&hash_of(&content));
        sealed.kept = keep.put(&sealed.content, &content).map_err(failed)?;
    }
    Ok(sealed)
}

/// Whether a file is what it was; that it can be executed makes no difference to a test.
fn is_same(sealed: &FileText, now: &TreeFile) -> bool {
    let is_link = now.kind == Kind::Link;
    (sealed.kind == KindText::Link) == is_link && sealed.content == hex(&now.content)
}

fn is_emptied(root: &Path, path: &Path) -> bool {
    content_of(&root.join(path)).is_ok_and(|content| content.trim_ascii().is_empty())
}

#[cfg(test)]
mod tests;
