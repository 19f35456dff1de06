//! The words of the field, in code, messages and documents: phrases that readers stumble over are listed here and found nowhere.

use std::fs;
use std::path::{Path, PathBuf};

/// Not to be found, and what to say instead.
const PHRASES: [(&str, &str); 12] = [
    ("whoever", "name the person, process or program"),
    ("mend", "fix, repair"),
    ("mends", "fixes, repairs"),
    ("mended", "fixed, repaired"),
    ("put up", "add, register, write"),
    ("puts up", "adds, registers, writes"),
    ("lies in", "is in"),
    ("let pass", "allow"),
    ("somebody else's", "another tool's, another process's"),
    ("folder", "directory"),
    ("folders", "directories"),
    ("leave it away", "omit it"),
];

/// Directories with texts that are kept as they were written, or that others wrote.
const KEPT: [&str; 7] = ["target", ".git", "golden", "corpus", "truth", "fixtures", "node_modules"];

#[test]
fn phrases_that_readers_stumble_over_are_found_nowhere() {
    let mut found = Vec::new();
    let mut files = 0;
    for path in texts(&root()) {
        let text = fs::read_to_string(&path).expect("a text");
        files += 1;
        for (at, line) in text.lines().enumerate() {
            let place = || format!("{}:{}", path.display(), at + 1);
            found.extend(complaint(line).map(|what| format!("{}: {what}", place())));
        }
    }
    assert!(files > 300, "the texts are found");
    assert_eq!(found, Vec::<String>::new());
}

#[test]
fn a_phrase_is_found_as_words_only() {
    for bad in
        ["Whoever asks", "it lies in a directory", "a folder.", "that is no file", "are no tags"]
    {
        assert!(complaint(bad).is_some(), "{bad}");
    }
    for good in ["recommended", "there is no file", "it is no longer", "put upon", "folderTrust"] {
        assert_eq!(complaint(good), None, "{good}");
    }
}

/// What is wrong with a line, and what to say instead.
fn complaint(line: &str) -> Option<String> {
    let line = line.replace("let pass =", "");
    let words: Vec<String> =
        line.split(|char: char| !is_of_a_word(char)).map(str::to_lowercase).collect();
    let words: Vec<&str> =
        words.iter().map(String::as_str).filter(|word| !word.is_empty()).collect();
    let has = |phrase: &str| {
        let wanted: Vec<&str> = phrase.split(' ').collect();
        words.windows(wanted.len()).any(|some| some == wanted)
    };
    let listed = PHRASES.iter().find(|(phrase, _)| has(phrase));
    let listed = listed.map(|(phrase, instead)| format!("`{phrase}`: {instead}"));
    let denials =
        || (0..words.len()).find_map(|at| odd_denial(&words[at.saturating_sub(1)..], at > 0));
    listed.or_else(denials)
}

/// "X is no Y" for "X is not a Y"; "there is no Y" and "is no longer" are fine.
fn odd_denial(words: &[&str], has_before: bool) -> Option<String> {
    let (before, rest) = if has_before { words.split_first()? } else { (&"", words) };
    let [verb, no, what, ..] = rest else { return None };
    let is_denial = ["is", "are", "was", "were"].contains(verb) && *no == "no";
    let is_fine = *before == "there" || *what == "longer";
    (is_denial && !is_fine).then(|| format!("`{verb} no {what}`: {verb} not"))
}

fn is_of_a_word(char: char) -> bool {
    char.is_alphanumeric() || char == '\'' || char == '_'
}

fn root() -> PathBuf {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    own.ancestors().nth(2).expect("the workspace's root").into()
}

/// Sources and documents below a directory; this file says the phrases and is not looked at.
fn texts(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).expect("a directory") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_symlink() || KEPT.contains(&name.as_str()) {
            continue;
        }
        if path.is_dir() {
            found.extend(texts(&path));
        } else if is_text(&path) && !path.ends_with("cli/words.rs") {
            found.push(path);
        }
    }
    found
}

fn is_text(path: &Path) -> bool {
    path.extension()
        .is_some_and(|end| ["rs", "md", "toml", "yml", "yaml", "sh"].iter().any(|one| end == *one))
}
