//! Patterns and directories by which a check finds the files that it reads: `shellcheck scripts/*.sh`,
//! `grep -rn DEBUG src`, `glob("config/*.json")` in a script that judges.
//!
//! A program that only lists names is none of them: that a file is called something else now may be
//! all that it asks for.

use super::super::files::inner;
use super::super::shell::{ScriptPart, ShellStep, is_open};
use super::super::tools::{Trade, plain_name, trade_of};
use super::{Stand, Tracer};

/// Programs that read what files say, and do nothing else.
const READERS: [&str; 8] = ["grep", "egrep", "fgrep", "rg", "ag", "jq", "yq", "xmllint"];
/// Modules and options by which interpreters read files without running them.
const READS: [&str; 3] = ["json.tool", "py_compile", "compileall"];
/// By these a script finds files.
const FINDS: [&str; 8] =
    ["glob(", "globSync(", "listdir(", "iterdir(", "scandir(", "walk(", "readdir(", "readdirSync("];
/// By these it reads them.
const OPENS: [&str; 6] =
    ["open(", "read_text(", "read_bytes(", "readFile", "File.read", "load_file("];
/// How many patterns are kept.
const PATTERNS_MAX: usize = 100;
/// How many words of a script are tried.
const WORDS_MAX: usize = 200;
/// How many commands behind a list read what it names.
const STEPS_MAX: usize = 4;

/// The arguments of a program that reads files.
pub(super) fn watch_arguments(tracer: &mut Tracer<'_>, name: &str, rest: &[&str], stand: &Stand) {
    if is_reader(name) {
        for word in rest {
            watch(tracer, word, stand);
        }
    }
}

/// `for f in config/*.json; do jq . "$f"; done`, `find config -name '*.json' | xargs jq .`
pub(super) fn watch_lists(
    tracer: &mut Tracer<'_>,
    step: &ShellStep,
    following: &[ScriptPart],
    stand: &Stand,
) {
    let words: Vec<&str> = step.words.iter().map(String::as_str).collect();
    let next = || {
        let steps = following.iter().filter_map(|part| match part {
            ScriptPart::Step(step) => Some(step),
            ScriptPart::Enter | ScriptPart::Leave => None,
        });
        steps.take(STEPS_MAX)
    };
    // `… | grep -q .` reads names only.
    let is_listed = || next().any(|step| begins(step, "xargs") && reads(step));
    let is_each = || next().any(|step| reads(step) && step.words.iter().any(|word| is_open(word)));
    match words.as_slice() {
        ["for", _, "in", listed @ ..] if is_each() => {
            for word in listed {
                watch(tracer, word, stand);
            }
        }
        ["find", rest @ ..] if reads(step) || is_listed() || is_each() => {
            watch_found(tracer, rest, stand);
        }
        _ => {}
    }
}

/// `find config -name '*.json'`
fn watch_found(tracer: &mut Tracer<'_>, rest: &[&str], stand: &Stand) {
    let places = rest.iter().take_while(|word| !word.starts_with(['-', '(', '!']));
    let names: Vec<&str> = rest
        .windows(2)
        .filter(|pair| ["-name", "-iname"].contains(&pair[0]))
        .map(|pair| pair[1])
        .collect();
    for place in places {
        let place = place.trim_end_matches('/');
        for name in &names {
            watch(tracer, &format!("{place}/**/{name}"), stand);
        }
        if names.is_empty() {
            watch(tracer, place, stand);
        }
    }
}

/// What a judging script in another language finds and reads.
pub(super) fn watch_in_script(tracer: &mut Tracer<'_>, text: &str, stand: &Stand) {
    let has = |words: &[&str]| words.iter().any(|word| text.contains(word));
    if !has(&FINDS) || !has(&OPENS) {
        return;
    }
    let is_word = |word: &&str| !word.is_empty() && word.len() < 200 && !word.contains([' ', '\n']);
    let words: Vec<&str> = text.split(['"', '\'', '`']).filter(is_word).take(WORDS_MAX).collect();
    let is_name = |word: &&&str| word.contains('*') && !word.contains('/');
    let names: Vec<&str> = words.iter().filter(is_name).copied().collect();
    for word in words.iter().filter(|word| word.contains('/') || !word.contains('*')) {
        if word.contains('*') || names.is_empty() {
            watch(tracer, word, stand);
            continue;
        }
        for name in &names {
            watch(tracer, &format!("{}/**/{name}", word.trim_end_matches('/')), stand);
        }
    }
}

/// A pattern, or a directory with files, other than the whole project.
fn watch(tracer: &mut Tracer<'_>, word: &str, stand: &Stand) {
    let is_pattern = word.contains(['*', '?', '[']);
    if word.starts_with('-') || is_open(word) || tracer.trace.watched.len() >= PATTERNS_MAX {
        return;
    }
    let path = inner(tracer.root, &stand.directory, word);
    let Some(path) = path.filter(|path| !path.as_os_str().is_empty()) else { return };
    if !is_pattern && (tracer.files.paths().contains(&path) || !tracer.has_below(&path)) {
        return;
    }
    // Of `src/**/*.py` the directory has to be there.
    let literal = path.iter().take_while(|part| !part.to_string_lossy().contains(['*', '?', '[']));
    let place: std::path::PathBuf = literal.collect();
    let is_there = if place.as_os_str().is_empty() { is_pattern } else { tracer.has_below(&place) };
    if let Some(pattern) = path.to_str().filter(|_| is_there) {
        tracer.trace.watched.insert(pattern.into());
    }
}

fn begins(step: &ShellStep, program: &str) -> bool {
    step.words.first().is_some_and(|word| word == program)
}

fn reads(step: &ShellStep) -> bool {
    step.words.iter().any(|word| is_reader(plain_name(word)))
}

fn is_reader(name: &str) -> bool {
    READERS.contains(&name) || READS.contains(&name) || trade_of(name) == Trade::Linter
}
