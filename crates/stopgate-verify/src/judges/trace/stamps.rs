//! Files by which a script knows from one run to the next that nothing has to be done.
//!
//! A script reads such a file before it writes it. A log, or a report that is written and then
//! looked at, is none.

use std::collections::BTreeSet;

use super::super::imports::quoted_paths;
use super::super::names::words;

/// A longer text is hardly a script that somebody wrote.
const TEXT_MAX: usize = 256 * 1024;
/// How many names of files in one script are looked for.
const WORDS_MAX: usize = 200;

/// How Python and JavaScript ask what a file says, or whether it is there.
const READS: [&str; 12] = [
    "readFile",
    "existsSync",
    "statSync",
    "access",
    "read_text",
    "read_bytes",
    "exists(",
    "is_file(",
    "getmtime",
    "json.load",
    "open(",
    "require(",
];
/// How they write one.
const WRITES: [&str; 8] = [
    "writeFile",
    "write_text",
    "write_bytes",
    "touch(",
    "json.dump",
    "createWriteStream",
    "\"w\"",
    "'w'",
];

/// The stamps of a shell script.
pub(super) fn stamps_of_shell(text: &str) -> Vec<&str> {
    let is_end = |letter: char| letter.is_whitespace() || ";&|)\"'`".contains(letter);
    let is_file = |word: &&str| {
        !word.is_empty()
            && !word.starts_with(['/', '&', '-', '('])
            && !word.contains(['$', '*', '<', '>', '='])
    };
    let writes = ["> ", ">", "touch "].iter().flat_map(|sign| text.match_indices(sign));
    let written = writes.map(|(at, sign)| {
        let rest = text[at + sign.len()..].trim_start_matches('"');
        (at, place_of(&rest[..rest.find(is_end).unwrap_or(rest.len())]))
    });
    let is_read = |(at, word): &(usize, &str)| {
        let mut earlier = text.match_indices(*word).take_while(|(first, _)| first < at);
        earlier.any(|(first, _)| decides(line_at(text, first)))
    };
    let mut found: Vec<&str> =
        written.filter(|(_, word)| is_file(word)).filter(is_read).map(|(_, word)| word).collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// Hidden files whose names say that something was looked at before, or need not be now, and that
/// a script in any language reads: `.cache/links.tsv`, `.lock`.
pub(super) fn stores_of(text: &str) -> Vec<&str> {
    const WORDS: [&str; 6] = ["cache", "lock", "skip", "seen", "passed", "memo"];
    const TOOLS: [&str; 4] = ["pytest", "mypy", "ruff", "npm"];
    if text.len() > TEXT_MAX {
        return Vec::new();
    }
    let reads = |line: &&str| {
        decides(line) || line.contains("open") || READS.iter().any(|sign| line.contains(sign))
    };
    let is_end = |letter: char| letter.is_whitespace() || ";&|()\"'`,".contains(letter);
    let has = |word: &str, names: &[&str]| words(word).iter().any(|own| names.contains(&&**own));
    let is_store = |word: &&str| {
        word.starts_with('.')
            && !word.starts_with("..")
            && !word.contains(['$', '*', '{'])
            && has(word, &WORDS)
            && !has(word, &TOOLS)
    };
    let lines = text.lines().filter(reads);
    let found: BTreeSet<&str> =
        lines.flat_map(|line| line.split(is_end)).filter(is_store).collect();
    found.into_iter().take(WORDS_MAX).collect()
}

/// `.cache/passed/$name`: of a name that only the shell knows, the directory.
fn place_of(word: &str) -> &str {
    let Some((known, _)) = word.split_once('$') else { return word };
    known.rsplit_once('/').map_or(word, |(place, _)| place)
}

/// The stamps of a script in Python or JavaScript that names them in quotes.
pub(super) fn stamps_of_program(text: &str) -> Vec<&str> {
    let has = |signs: &[&str]| signs.iter().any(|sign| text.contains(sign));
    if text.len() > TEXT_MAX || !has(&READS) || !has(&WRITES) {
        return Vec::new();
    }
    let is_file = |word: &&str| !word.starts_with(['/', '.']) || is_hidden(word);
    let is_plain = |word: &&str| !word.contains(['$', '{', ':', '<', '%']) && !word.ends_with('/');
    let words: BTreeSet<&str> = quoted_paths(text).filter(is_file).filter(is_plain).collect();
    words.into_iter().take(WORDS_MAX).filter(|word| is_read_first(text, word)).collect()
}

/// `.tested`, `./.tested`: a hidden file, and no suffix such as `.js`.
fn is_hidden(word: &str) -> bool {
    word.starts_with("./") || word.starts_with('.') && word.len() > 5 && !word.starts_with("..")
}

/// Whether the first line that does something with the file reads it, and a later one writes it.
fn is_read_first(text: &str, word: &str) -> bool {
    let names = [Some(word), bound_to(text, word)];
    let uses = |line: &str| names.iter().flatten().any(|name| has_word(line, name));
    let mut lines = text.lines().filter(|line| uses(line));
    let acts = |line: &&str, signs: &[&str]| signs.iter().any(|sign| line.contains(sign));
    let first = lines.find(|line| acts(line, &READS) || acts(line, &WRITES));
    first.is_some_and(|line| !acts(&line, &WRITES)) && lines.any(|line| acts(&line, &WRITES))
}

/// The variable that a text in quotes is given to: `const store = 'a.json'`, `STORE = Path("a")`.
fn bound_to<'t>(text: &'t str, word: &str) -> Option<&'t str> {
    // Comments may name it, too.
    text.lines().filter(|line| line.contains(word)).find_map(|line| given_to(line, word))
}

fn given_to<'l>(line: &'l str, word: &str) -> Option<&'l str> {
    let is_name = |letter: char| letter.is_alphanumeric() || letter == '_';
    let (before, after) = line.split_once('=')?;
    let name = before.split(':').next()?.trim();
    let name = name.rsplit(' ').next()?;
    let is_path = !READS.iter().any(|sign| after.contains(sign)) && !after.starts_with('=');
    let binds = after.contains(word) && is_path && name.chars().all(is_name);
    (binds && !name.is_empty()).then_some(name)
}

/// Whether a word stands in a line, and not as a part of another.
fn has_word(line: &str, word: &str) -> bool {
    let is_letter = |letter: char| letter.is_alphanumeric() || letter == '_';
    line.match_indices(word).any(|(at, _)| {
        !line[..at].ends_with(is_letter) && !line[at + word.len()..].starts_with(is_letter)
    })
}

/// Whether a line of a script may skip what comes after it.
fn decides(line: &str) -> bool {
    ["[", "test ", "if ", "case ", "exit", "return"].iter().any(|sign| line.contains(sign))
}

/// The line around a place in a text.
fn line_at(text: &str, at: usize) -> &str {
    let begin = text[..at].rfind('\n').map_or(0, |end| end + 1);
    let rest = &text[begin..];
    &rest[..rest.find('\n').unwrap_or(rest.len())]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_read_and_written_later_is_a_stamp_and_a_log_is_none() {
        let script = "sum=$(cat src/*)\n[ \"$(cat .tested 2>/dev/null)\" = \"$sum\" ] && exit 0\n\
            run > out.log; grep -q FAIL out.log && exit 1\necho \"$sum\" > .tested\n";
        assert_eq!(stamps_of_shell(script), [".tested"]);
        assert_eq!(stamps_of_shell("[ -e .ok ] && exit 0\ncheck && touch .ok\n"), [".ok"]);
        assert_eq!(stamps_of_shell("grep -q yes .ok && exit 0\ncheck > .ok\n"), [".ok"]);
        assert_eq!(stamps_of_shell("echo x >&2; run 2>&1 >/dev/null"), Vec::<&str>::new());
        let store =
            "mkdir -p .seen\nif [ -e \".seen/$name\" ]; then exit 0; fi\ntouch \".seen/$name\"\n";
        assert_eq!(stamps_of_shell(store), [".seen"]);
        let state = "grep -q good state && echo seen > state";
        assert_eq!(stamps_of_shell(state), Vec::<&str>::new());
    }

    #[test]
    fn hidden_stores_that_are_read_are_stamps() {
        let perl = "if (open my $c, '<', '.cache/links.tsv') { while (<$c>) { chomp } }\n";
        assert_eq!(stores_of(perl), [".cache/links.tsv"]);
        let shell = "if [ -e .lock ]; then exit 0; fi\nrm -rf .cache/x\n[ -d .pytest_cache ]\n";
        assert_eq!(stores_of(shell), [".lock"]);
    }

    #[test]
    fn programs_have_stamps_too_directly_or_by_a_variable() {
        let build = "import { existsSync, readFileSync, writeFileSync } from 'node:fs';\n\
            if (existsSync('dist/.stamp') && readFileSync('dist/.stamp', 'utf8') === sum) exit();\n\
            writeFileSync('dist/a.js', a);\nwriteFileSync('dist/.stamp', sum);\n";
        assert_eq!(stamps_of_program(build), ["dist/.stamp"]);
        let runner = "const store = 'node_modules/.cache/ci.json';\n\
            const passed = existsSync(store) ? JSON.parse(readFileSync(store, 'utf8')) : {};\n\
            writeFileSync(store, JSON.stringify(passed));\n";
        assert_eq!(stamps_of_program(runner), ["node_modules/.cache/ci.json"]);
        let told = "\"\"\"Links that work are in .cache/good.json.\"\"\"\n\
            good = pathlib.Path(\".cache/good.json\")\nseen = good.read_text()\ngood.write_text(seen)\n";
        assert_eq!(stamps_of_program(told), [".cache/good.json"]);
        let checker = "SEEN = Path(\".cache/seen.json\")\nseen = set(SEEN.read_text())\n\
            SEEN.write_text(str(seen))\n";
        assert_eq!(stamps_of_program(checker), [".cache/seen.json"]);
    }

    #[test]
    fn a_report_that_is_written_first_and_a_file_that_is_only_read_are_none() {
        let report = "REPORT = 'out/report.json'\nopen(REPORT, 'w').write(text)\n\
            json.load(open(REPORT))\n";
        assert_eq!(stamps_of_program(report), Vec::<&str>::new());
        let reads = "const a = readFileSync('a/b.json');\nwriteFileSync('c/d.json', a);\n";
        assert_eq!(stamps_of_program(reads), Vec::<&str>::new());
    }
}
