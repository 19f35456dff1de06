//! Shell code of the work that judges read into themselves: `. lib/greet.sh` in `tests/run.sh`.
//!
//! It is work, but whatever it defines answers in the judges' place from then on.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::files::{ProjectFiles, directory_of, extension_of, name_of, normal};
use super::shell::{ShellScript, UNKNOWN};

/// Commands of the shell, and of every machine, by which scripts judge.
const COMMANDS: &str = "[ test true false : exit return trap set shift read eval exec command \
    builtin kill wait break continue export unset local declare echo printf cat head tail diff \
    cmp comm grep egrep fgrep sed awk gawk tr cut sort uniq wc tee find xargs expr seq date mktemp \
    rm cp mv ls touch mkdir basename dirname env timeout sleep od xxd md5sum sha1sum sha256sum \
    cksum jq git sh bash dash python python3 node perl curl make";

/// How many files are followed from one to the next.
const SOURCED_MAX: usize = 200;
/// How many files one of them may read.
const READ_MAX: usize = 20;

/// The files of a project by their names.
type ByName<'a> = BTreeMap<&'a str, Vec<&'a PathBuf>>;

/// What judges read into themselves, and which commands they run.
#[derive(Default)]
pub(super) struct SourcedFiles {
    pub(super) files: BTreeSet<PathBuf>,
    pub(super) commands: BTreeSet<String>,
}

/// What these judges and the command read into themselves; nothing where no judge is shell code.
pub(super) fn sourced(files: &dyn ProjectFiles, judges: &[PathBuf], command: &str) -> SourcedFiles {
    let judges = judges.iter().filter(|path| is_shell(path));
    let texts = judges.filter_map(|path| Some((path.clone(), files.text(path)?)));
    let mut texts = texts.peekable();
    let mut found = SourcedFiles::default();
    if texts.peek().is_none() {
        return found;
    }
    let by_name = by_name(files);
    for (path, text) in texts.chain([(PathBuf::new(), command.to_string())]) {
        let script = ShellScript::parse(&text);
        found.files.extend(files_read(&script, &path, files, &by_name));
        found.commands.extend(commands_run(&script));
    }
    found.files = closure(found.files, files);
    found
}

/// Those files, and what they read into themselves in turn.
pub(super) fn closure(mut found: BTreeSet<PathBuf>, files: &dyn ProjectFiles) -> BTreeSet<PathBuf> {
    let mut open: Vec<PathBuf> = found.iter().cloned().collect();
    let by_name = if open.is_empty() { ByName::new() } else { by_name(files) };
    while let Some(path) = open.pop().filter(|_| found.len() < SOURCED_MAX) {
        let script = ShellScript::parse(&files.text(&path).unwrap_or_default());
        for next in files_read(&script, &path, files, &by_name) {
            if found.insert(next.clone()) {
                open.push(next);
            }
        }
    }
    found
}

fn by_name(files: &dyn ProjectFiles) -> ByName<'_> {
    let mut found = ByName::new();
    for path in files.paths() {
        found.entry(name_of(path)).or_default().push(path);
    }
    found
}

/// The files of the project that a script at `path` reads into itself.
fn files_read(
    script: &ShellScript,
    path: &Path,
    files: &dyn ProjectFiles,
    by_name: &ByName<'_>,
) -> Vec<PathBuf> {
    let reads = |words: &&[String]| {
        words.first().is_some_and(|word| [".", "source", "load"].contains(&word.as_str()))
    };
    let steps = script.steps().map(|step| step.words.as_slice()).filter(reads);
    let words = steps.filter_map(|words| words.get(1)).take(READ_MAX);
    words.filter_map(|word| file_of(word, &directory_of(path), files, by_name)).collect()
}

/// The file that a word names, whose beginning only the shell may know: `$here/lib/greet.sh`.
fn file_of(
    word: &str,
    directory: &Path,
    files: &dyn ProjectFiles,
    by_name: &ByName<'_>,
) -> Option<PathBuf> {
    let known = word.rsplit(UNKNOWN).next()?.trim_start_matches('/');
    if known.is_empty() {
        return None;
    }
    let forms = ["", ".bash", ".sh"].map(|end| format!("{known}{end}"));
    let places = [Path::new(""), directory];
    let paths = forms.iter().flat_map(|form| places.map(|place| normal(&place.join(form))));
    let is_there = |path: &PathBuf| files.paths().contains(path);
    let found = paths.flatten().find(is_there);
    // `$ROOT` may be anywhere, but the end of the path is known.
    found.or_else(|| {
        let end = Path::new(known.trim_start_matches("../"));
        let named = by_name.get(name_of(end)).filter(|named| named.len() <= READ_MAX)?;
        let mut fitting = named.iter().filter(|path| path.ends_with(end));
        fitting.next().filter(|_| fitting.next().is_none()).map(|path| (*path).clone())
    })
}

/// The known commands that a script runs.
fn commands_run(script: &ShellScript) -> BTreeSet<String> {
    let is_known = |word: &&String| COMMANDS.split_whitespace().any(|own| own == word.as_str());
    // `run diff a b` of bats.
    let first = |words: &'_ [String]| -> Option<String> {
        let at = usize::from(words.first().is_some_and(|word| word == "run"));
        words.get(at).filter(is_known).cloned()
    };
    script.steps().filter_map(|step| first(&step.words)).collect()
}

fn is_shell(path: &Path) -> bool {
    let is_plain = extension_of(path).is_empty() && !name_of(path).starts_with('.');
    is_plain || ["sh", "bash", "bats", "zsh", "ksh"].contains(&extension_of(path))
}
