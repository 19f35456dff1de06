//! The places that an output points at: `file:line`.
//!
//! Only files that are there, in the project, and not third-party code. Errors come
//! before warnings, and what a tool says itself before what a stack shows.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

use stopgate_system::CanonicalPath;

use crate::report::without_ansi;

/// How many places are looked at in one output.
const PLACES_MAX: usize = 20_000;
/// Directories whose files nobody here has written.
const FOREIGN: [&str; 8] =
    ["target", "node_modules", "site-packages", "dist-packages", ".git", ".venv", "venv", ".tox"];

/// How telling a place is; the most telling first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Error,
    Plain,
    Stack,
    Warning,
}

/// A place, as an output writes it.
#[derive(Debug)]
struct Mention<'a> {
    file: &'a str,
    line: u64,
    rank: Rank,
}

/// Up to `max` places in `output` that lie below `root`, the most telling first.
pub fn find(output: &str, root: &Path, max: usize) -> Vec<String> {
    let output = without_ansi(output);
    let mut known = Known::new(root);
    let mut ranked: Vec<(Rank, String)> = Vec::new();
    for mention in mentions(&output) {
        if let Some(file) = known.file(mention.file) {
            ranked.push((mention.rank, format!("{file}:{}", mention.line)));
        }
    }
    // Within a rank, what comes first was said first.
    ranked.sort_by_key(|(rank, _)| *rank);
    let mut seen = BTreeSet::new();
    let spots = ranked.into_iter().map(|(_, spot)| spot);
    spots.filter(|spot| seen.insert(spot.clone())).take(max).collect()
}

/// Which names are files of the project; each is looked up once.
struct Known<'a> {
    root: &'a Path,
    real: PathBuf,
    looked_up: BTreeMap<String, Option<String>>,
}

impl<'a> Known<'a> {
    fn new(root: &'a Path) -> Self {
        let real = root.canonical().unwrap_or_else(|_| root.into());
        Self { root, real, looked_up: BTreeMap::new() }
    }

    fn file(&mut self, name: &str) -> Option<String> {
        if let Some(found) = self.looked_up.get(name) {
            return found.clone();
        }
        let found = self.look_up(name);
        self.looked_up.insert(name.into(), found.clone());
        found
    }

    fn look_up(&self, name: &str) -> Option<String> {
        let name = name.strip_prefix("file://").unwrap_or(name);
        let path = Path::new(name);
        let inside = match path.strip_prefix(self.root).or_else(|_| path.strip_prefix(&self.real)) {
            Ok(inside) => inside,
            Err(_) if path.is_absolute() => return None,
            Err(_) => path,
        };
        let mut plain = PathBuf::new();
        for part in inside.components() {
            match part {
                Component::CurDir => {}
                Component::Normal(name) if FOREIGN.iter().any(|foreign| name == *foreign) => {
                    return None;
                }
                Component::Normal(name) => plain.push(name),
                Component::ParentDir | Component::RootDir | Component::Prefix(_) => return None,
            }
        }
        let is_file = !plain.as_os_str().is_empty() && self.real.join(&plain).is_file();
        is_file.then(|| plain.to_str().map(str::to_owned))?
    }
}

fn mentions(output: &str) -> Vec<Mention<'_>> {
    let mut found = Vec::new();
    // rustc says what it is about first, and where below; eslint names a file, then its lines.
    let mut about = Rank::Plain;
    let mut file = None;
    for line in output.lines() {
        if found.len() >= PLACES_MAX {
            break;
        }
        let text = line.trim();
        if text.is_empty() {
            (about, file) = (Rank::Plain, None);
            continue;
        }
        about = heading(text).unwrap_or(about);
        if let Some((line, rank)) = eslint(text) {
            found.extend(file.map(|file| Mention { file, line, rank }));
            continue;
        }
        let before = found.len();
        take(text, about, &mut found);
        if found.len() == before && !text.contains(": ") {
            file = Some(text);
        }
    }
    found
}

/// `error[E0425]: …`, `warning: …`
fn heading(text: &str) -> Option<Rank> {
    let is = |word: &str| {
        text.strip_prefix(word)
            .is_some_and(|rest| rest.starts_with(['[', ':']) && !rest.starts_with(":/"))
    };
    if is("error") {
        return Some(Rank::Error);
    }
    if is("warning") {
        return Some(Rank::Warning);
    }
    (is("note") || is("help")).then_some(Rank::Stack)
}

/// `3:5  error  'x' is not defined  no-undef`
fn eslint(text: &str) -> Option<(u64, Rank)> {
    let mut words = text.split_whitespace();
    let (line, column) = words.next()?.split_once(':')?;
    column.parse::<u64>().ok()?;
    let rank = match words.next()? {
        "error" => Rank::Error,
        "warning" => Rank::Warning,
        _ => return None,
    };
    Some((line.parse().ok()?, rank))
}

/// Takes every place in one line.
fn take<'a>(text: &'a str, about: Rank, found: &mut Vec<Mention<'a>>) {
    let rank = rank(text, about);
    if let Some((file, line)) = python(text) {
        found.push(Mention { file, line, rank: Rank::Stack });
        return;
    }
    if let Some((file, line)) = dotnet(text) {
        found.push(Mention { file, line, rank: Rank::Stack });
    }
    for word in text.split([' ', '\t', '"', '\'', '`', '<', '>', '|', ',', ';', '=']) {
        let word = word.trim_start_matches(['(', '[']);
        if let Some((file, line)) = bracketed(word).or_else(|| colons(word)) {
            found.push(Mention { file, line, rank });
        }
    }
    // A name with spaces or commas in it, as tsc and MSBuild write it, ends at the bracket.
    if let Some((file, line)) = comma_place(text) {
        found.push(Mention { file, line, rank });
    }
}

fn rank(text: &str, about: Rank) -> Rank {
    let lower = text.to_ascii_lowercase();
    if text.starts_with("-->") {
        return about;
    }
    if text.starts_with("at ") || text.starts_with(":::") || text.contains("in <module>") {
        return Rank::Stack;
    }
    if lower.contains("panicked at") || lower.contains("error") || lower.contains("fail") {
        return Rank::Error;
    }
    if lower.contains("warning") || lower.contains(": note:") {
        return Rank::Warning;
    }
    Rank::Plain
}

/// `File "x.py", line 3, in f`
fn python(text: &str) -> Option<(&str, u64)> {
    let (file, rest) = text.strip_prefix("File \"")?.split_once("\", line ")?;
    Some((file, leading_number(rest)?))
}

/// `at Demo.Adds() in /home/me/a.cs:line 12`
fn dotnet(text: &str) -> Option<(&str, u64)> {
    let (before, rest) = text.rsplit_once(":line ")?;
    let (_, file) = before.rsplit_once(" in ")?;
    Some((file, leading_number(rest)?))
}

/// `a.ts(3,5):` and `a.cs(3):`
fn bracketed(word: &str) -> Option<(&str, u64)> {
    let (file, rest) = word.split_once('(')?;
    let is_file = file.contains('.') && !file.ends_with('.');
    let line = leading_number(rest)?;
    is_file.then_some((file, line))
}

/// The same for the whole line, because the words are split at commas.
fn comma_place(text: &str) -> Option<(&str, u64)> {
    let at = text.find("): ")?;
    let (file, place) = text[..at].rsplit_once('(')?;
    let numbers = place.bytes().all(|b| b.is_ascii_digit() || b == b',');
    (numbers && file.contains('.')).then(|| Some((file.trim(), leading_number(place)?)))?
}

/// `src/a.rs:5:9:`, `tests/t.py:12:`, `(src/a.js:3:5)`
fn colons(word: &str) -> Option<(&str, u64)> {
    let from = if word.starts_with("file://") { 7 } else { 0 };
    for (at, _) in word.get(from..)?.match_indices(':') {
        let (file, rest) = (&word[..from + at], &word[from + at + 1..]);
        if let Some(line) = leading_number(rest) {
            let is_file = file.contains(['.', '/']) || file.starts_with(char::is_uppercase);
            return (is_file && line > 0).then_some((file, line));
        }
    }
    None
}

fn leading_number(text: &str) -> Option<u64> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    text[..end].parse().ok()
}

#[cfg(test)]
mod tests;
