//! What a judging script reads without saying where it is: its own settings by their name, variables of
//! `.env`, and data of a stage (`config/${stage}.json`).

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::super::files::{below, directory_of, extension_of, inner, name_of};
use super::super::imports::{imports_of, quoted};
use super::super::names::{
    is_code, is_data, is_environment, is_foreign, is_in_judging_place, said, says_judge, words,
};
use super::super::role::Why;
use super::stamps::stores_of;
use super::{Stand, Tracer};

/// A longer text is hardly a script that somebody wrote.
const TEXT_MAX: usize = 256 * 1024;
/// How many files of settings, data or code are looked at for one script.
const FILES_MAX: usize = 500;
/// How many names of hidden files in one script are looked at.
const WORDS_MAX: usize = 500;
/// How many names of variables a script may read.
const VARIABLES_MAX: usize = 200;
/// What data is called by which something is tried or measured.
const CASES: [&str; 15] = [
    "steps",
    "cases",
    "scenarios",
    "checks",
    "requests",
    "expect",
    "expected",
    "expectations",
    "want",
    "limits",
    "budget",
    "budgets",
    "thresholds",
    "suites",
    "assertions",
];
/// The same for data that a script names: limits and budgets may well be what is to be changed.
const TRIED: [&str; 11] = [
    "test",
    "tests",
    "cases",
    "scenarios",
    "steps",
    "expect",
    "expected",
    "expectations",
    "want",
    "assert",
    "assertions",
];
/// A shorter word says nothing about whose settings a file holds.
const WORD_MIN: usize = 3;

pub(super) fn own_settings(tracer: &mut Tracer<'_>, script: &Path, text: &str, stand: &Stand) {
    if text.len() > TEXT_MAX {
        return;
    }
    settings_by_name(tracer, script, text, stand);
    if quoted(text).any(|word| is_environment(Path::new(word))) || text.contains("dotenv") {
        let read = variables_of(text).into_iter().take(VARIABLES_MAX);
        tracer.trace.variables.extend(read.map(str::to_string));
    }
    if tries_work(tracer, script, text) {
        data_of_stages(tracer, script, text, stand);
        named_cases(tracer, text, stand);
    }
}

/// Whether a script imports what it judges.
fn tries_work(tracer: &Tracer<'_>, script: &Path, text: &str) -> bool {
    let imports = imports_of(script, text, tracer.files);
    imports.iter().any(|path| said(path).is_none() && !says_judge(path))
}

/// `json.load(open("features.json"))`, where that says `"test": "area(2, 3) == 6"`.
fn named_cases(tracer: &mut Tracer<'_>, text: &str, stand: &Stand) {
    let words: BTreeSet<&str> = quoted(text).filter(|word| is_data(Path::new(word))).collect();
    let words = words.into_iter().take(WORDS_MAX);
    let found: Vec<PathBuf> = words.filter_map(|word| tracer.file(stand, word)).collect();
    let is_case = |tracer: &Tracer<'_>, path: &Path| {
        let text = tracer.files.text(path).unwrap_or_default();
        let is_own = has_key(&text, &TRIED) && !is_foreign(path) && !is_in_judging_place(path);
        is_own && !tracer.is_read_elsewhere(path, stand)
    };
    for path in found {
        if is_case(tracer, &path) {
            tracer.judge(path, Why::TestData);
        }
    }
}

/// `path.join(place, '.lintrc.json')`: wherever it lies, and where it is not there yet.
fn settings_by_name(tracer: &mut Tracer<'_>, script: &Path, text: &str, stand: &Stand) {
    let stores: BTreeSet<&str> = stores_of(text).into_iter().collect();
    let words: BTreeSet<&str> = quoted(text).filter(|word| word.starts_with('.')).collect();
    let names = words.into_iter().filter(|word| !stores.contains(word)).take(WORDS_MAX);
    for name in names.filter(|word| is_setting_of(word, script, text)) {
        let is_own = |path: &&PathBuf| name_of(path) == name && !is_foreign(path);
        let mut found: Vec<PathBuf> =
            tracer.scanned().filter(is_own).take(FILES_MAX).cloned().collect();
        // Somebody may add one, which counts from then on.
        found.extend(inner(tracer.root, &stand.directory, name));
        for path in found {
            tracer.judge(path, Why::UsedByScript);
        }
    }
}

/// ``join('config', `${stage}.json`)``: cases of a script that tries the work.
fn data_of_stages(tracer: &mut Tracer<'_>, script: &Path, text: &str, stand: &Stand) {
    let named: BTreeSet<(String, &str)> = text.lines().flat_map(described).collect();
    let cases = named.iter().flat_map(|(place, end)| cases_in(tracer, place, end, script, stand));
    for path in cases.collect::<Vec<_>>() {
        tracer.judge(path, Why::TestData);
    }
}

/// The data of a directory, if all of it is about cases and nothing else reads it.
fn cases_in(
    tracer: &Tracer<'_>,
    place: &str,
    end: &str,
    script: &Path,
    stand: &Stand,
) -> Vec<PathBuf> {
    let places = [directory_of(script), stand.directory.clone()];
    let places = places.iter().filter_map(|own| inner(tracer.root, own, place));
    let mut found = places.map(|place| data_in(tracer, &place, end));
    let found = found.find(|found| !found.is_empty()).unwrap_or_default();
    let is_case =
        |path: &PathBuf| says_cases(tracer, path) && !place_is_read_elsewhere(tracer, path, script);
    if found.iter().all(is_case) { found } else { Vec::new() }
}

/// Whether data is about what is tried or allowed: its directory or one of its keys says so. Of
/// other settings it may be asked whether they are right.
fn says_cases(tracer: &Tracer<'_>, path: &Path) -> bool {
    let text = tracer.files.text(path).unwrap_or_default();
    CASES.contains(&name_of(&directory_of(path))) || has_key(&text, &CASES)
}

fn has_key(text: &str, words: &[&str]) -> bool {
    let is_key =
        |word: &&str| text.contains(&format!("\"{word}\"")) || text.contains(&format!("{word}:"));
    words.iter().any(is_key)
}

fn data_in(tracer: &Tracer<'_>, place: &Path, end: &str) -> Vec<PathBuf> {
    let is_own = |path: &&PathBuf| {
        path.parent() == Some(place) && extension_of(path) == end && !is_foreign(path)
    };
    let near = below(tracer.files, place).take(FILES_MAX).filter(is_own);
    near.filter(|path| is_data(path) && !is_in_judging_place(path)).cloned().collect()
}

/// Whether other code than tests names the file or its directory, or too much may do so.
fn place_is_read_elsewhere(tracer: &Tracer<'_>, path: &Path, script: &Path) -> bool {
    let place = directory_of(path);
    let place = name_of(&place);
    let forms =
        [name_of(path).into(), format!("{place}/"), format!("'{place}'"), format!("\"{place}\"")];
    let is_code = |own: &&PathBuf| {
        is_code(extension_of(own)) && said(own).is_none() && !is_foreign(own) && *own != script
    };
    let mut code = tracer.scanned().filter(is_code);
    let names = |own: &PathBuf| {
        let text = tracer.files.text(own).unwrap_or_default();
        forms.iter().any(|form| text.contains(form.as_str()))
    };
    code.by_ref().take(FILES_MAX).any(names) || code.next().is_some()
}

/// Whether a word is the name of a hidden file with settings of the script itself: `.lintrc.json` of
/// `tools/lint.cjs`. What else it names may be what it looks at, as `.nvmrc`.
fn is_setting_of(word: &str, script: &Path, text: &str) -> bool {
    const FORMS: [&str; 6] = ["json", "yml", "yaml", "toml", "ini", "conf"];
    let Some(name) = word.strip_prefix('.') else { return false };
    let (plain, end) = name.split_once('.').unwrap_or((name, ""));
    let letters = |text: &str| {
        text.chars().all(|letter| letter.is_ascii_alphanumeric() || "-_".contains(letter))
    };
    if !(end.is_empty() || FORMS.contains(&end)) || plain.is_empty() || !letters(plain) {
        return false;
    }
    let subject = ["ignore", "config", "rc"].iter().find_map(|end| plain.strip_suffix(end));
    if subject.is_none() && end.is_empty() {
        return false;
    }
    let subject = subject.unwrap_or(plain).trim_end_matches(['-', '_']).to_ascii_lowercase();
    let stem = script.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    let own = words(stem);
    let is_own = own.contains(&subject) || own.concat() == subject.replace(['-', '_'], "");
    subject.len() >= WORD_MIN && is_own && !is_written(text, word)
}

/// Whether a line that has the word also writes.
fn is_written(text: &str, word: &str) -> bool {
    let writes = ["writeFile", "write_text", "\"w\"", "'w'", "json.dump"];
    let mut lines = text.lines().filter(|line| line.contains(word));
    lines.any(|line| writes.iter().any(|sign| line.contains(sign)))
}

/// Names of variables of the environment that a program reads.
fn variables_of(text: &str) -> BTreeSet<&str> {
    const SIGNS: [&str; 6] =
        ["process.env.", "process.env[", "environ[", "environ.get(", "getenv(", "env.get("];
    let is_letter = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let behind = SIGNS.iter().flat_map(|sign| {
        text.match_indices(sign)
            .map(|(at, sign)| text[at + sign.len()..].trim_start_matches(['"', '\'']))
    });
    let names = behind.map(|rest| &rest[..rest.find(|c| !is_letter(c)).unwrap_or(rest.len())]);
    names
        .filter(|name| name.len() > 1 && name.starts_with(|c: char| c.is_ascii_uppercase()))
        .collect()
}

/// Directories and endings of data whose names only the program knows, in one line.
fn described(line: &str) -> Vec<(String, &str)> {
    const SETTINGS: [&str; 8] =
        ["config", "configs", "conf", "settings", "stage", "stages", "profiles", "environments"];
    let mut found = Vec::new();
    let mut before: Option<&str> = None;
    for word in quoted(line) {
        let Some((known, rest)) = word.split_once("${") else {
            before = Some(word);
            continue;
        };
        let end = rest.rsplit_once("}.").map_or("", |(_, end)| end);
        let place = known.strip_suffix('/').or_else(|| before.filter(|_| known.is_empty()));
        let says = |place: &&str| {
            let name = name_of(Path::new(place));
            SETTINGS.contains(&name) || CASES.contains(&name)
        };
        let place = place.filter(says).filter(|_| is_data(Path::new(&format!("x.{end}"))));
        found.extend(place.map(|place| (place.to_string(), end)));
        before = None;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_settings_have_the_name_of_their_script() {
        let of = |word: &str, script: &str| is_setting_of(word, Path::new(script), "");
        for (word, script) in [
            (".lintrc.json", "tools/lint.cjs"),
            (".lintrc", "tools/lint.cjs"),
            (".lintignore", "tools/mini-lint.cjs"),
            (".mini-lint.yml", "tools/miniLint.js"),
            (".size.json", "scripts/size.mjs"),
        ] {
            assert!(of(word, script), "{word}");
        }
        for (word, script) in [
            (".nvmrc", "scripts/check.mjs"),
            (".js", "tools/lint.cjs"),
            (".json", "tools/lint.cjs"),
            (".lintcache", "tools/lint.cjs"),
            (".lint.js", "tools/lint.cjs"),
            (".env", "tools/env.js"),
            (".prettierrc.json", "tools/lint.cjs"),
        ] {
            assert!(!of(word, script), "{word}");
        }
        let writes = "fs.writeFileSync('.sizerc.json', text)";
        assert!(!is_setting_of(".sizerc.json", Path::new("scripts/size.mjs"), writes));
    }

    #[test]
    fn variables_that_a_program_reads_are_found() {
        let text = "process.env.STAGE ?? process.env['SMOKE_SKIP'], os.environ.get(\"LEVEL\")";
        let found: Vec<&str> = variables_of(text).into_iter().collect();
        assert_eq!(found, ["LEVEL", "SMOKE_SKIP", "STAGE"]);
    }

    #[test]
    fn places_of_data_are_read_from_templates() {
        let one = "readFileSync(join('config', `${process.env.STAGE ?? 'local'}.json`))";
        assert_eq!(described(one), [("config".to_string(), "json")]);
        let other = "new URL(`../stages/${name}.yml`, import.meta.url)";
        assert_eq!(described(other), [("../stages".to_string(), "yml")]);
        for none in ["`locales/${lang}.json`", "`config/${name}.js`", "`${a}.json`", "x"] {
            assert_eq!(described(none), [], "{none}");
        }
    }
}
