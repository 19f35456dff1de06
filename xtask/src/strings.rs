//! Every text that a person or a model may read, with its place, to be read from top to bottom.
//!
//! Texts are the literals of the program's crates that hold at least two words, and the comments that
//! become a command's help. Tests, attributes and other comments are left out.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::Verdict;

/// Crates that never ship.
const NOT_SHIPPED: [&str; 3] = ["stopgate-lab", "stopgate-sim", "stopgate-conformance"];

pub(crate) fn run() -> Result<Verdict> {
    let mut files = Vec::new();
    for krate in fs::read_dir("crates").context("run this in the repository's root")? {
        let krate = krate?;
        if !NOT_SHIPPED.iter().any(|name| krate.file_name() == *name) {
            collect(&krate.path().join("src"), &mut files)?;
        }
    }
    files.sort();
    let mut count = 0;
    for file in &files {
        let text = fs::read_to_string(file)?;
        for (line, said) in texts(&text, Comments::of(file)) {
            println!("{}:{line}: {said}", file.display());
            count += 1;
        }
    }
    eprintln!("{count} texts in {} files", files.len());
    Ok(Verdict::Fine)
}

fn collect(directory: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        let name = path.file_stem().and_then(|name| name.to_str()).unwrap_or_default();
        if path.is_dir() && name != "tests" {
            collect(&path, files)?;
        } else if path.extension().is_some_and(|kind| kind == "rs") && !name.ends_with("tests") {
            files.push(path);
        }
    }
    Ok(())
}

/// What the documentation comments of a file are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Comments {
    /// Read by engineers only.
    Internal,
    /// Printed by `--help`.
    Help,
}

impl Comments {
    fn of(file: &Path) -> Self {
        let is_help = file.starts_with("crates/stopgate/src/commands")
            || file.ends_with("stopgate/src/cli.rs");
        if is_help { Self::Help } else { Self::Internal }
    }
}

/// The texts of a source with the lines they begin at, up to its tests.
fn texts(source: &str, comments: Comments) -> Vec<(usize, String)> {
    let source = source.split("\n#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let mut found = Vec::new();
    let mut rest = source;
    while let Some(piece) = next_piece(rest) {
        let line = source[..source.len() - piece.from.len()].lines().count().max(1);
        let is_wanted =
            piece.is_literal || (comments == Comments::Help && piece.said.starts_with('/'));
        let said = joined(piece.said.trim_start_matches('/'));
        if is_wanted && said.contains(' ') && said.chars().any(char::is_alphabetic) {
            found.push((line, said));
        }
        rest = piece.rest;
    }
    found
}

/// A literal or a comment.
struct Piece<'s> {
    from: &'s str,
    said: &'s str,
    rest: &'s str,
    is_literal: bool,
}

fn next_piece(text: &str) -> Option<Piece<'_>> {
    let mut at = 0;
    while let Some(step) = text[at..].find(['"', '/', '\'', '#']) {
        at += step;
        let from = &text[at..];
        let piece = |open: usize, close: usize, end: usize, is_literal| {
            Some(Piece { from, said: &from[open..close], rest: &from[end..], is_literal })
        };
        if from.starts_with("//") {
            let end = from.find('\n').unwrap_or(from.len());
            return piece(2, end, end, false);
        }
        if from.starts_with("#[") {
            at += attribute(from);
        } else if from.starts_with('\'') {
            at += character(from);
        } else if from.starts_with('"') {
            let hashes = text[..at].bytes().rev().take_while(|byte| *byte == b'#').count();
            let is_raw = text[..at - hashes].ends_with('r');
            let close = if is_raw { raw_end(from, hashes) } else { plain_end(from) };
            return piece(1, close, close + 1, true);
        } else {
            at += 1;
        }
    }
    None
}

/// The length of an attribute.
fn attribute(text: &str) -> usize {
    let mut depth = 0_usize;
    for (at, char) in text.char_indices() {
        match char {
            '[' => depth += 1,
            ']' if depth == 1 => return at + 1,
            ']' => depth -= 1,
            _ => {}
        }
    }
    text.len()
}

/// The length of a character in quotes, or of the mark of a lifetime.
fn character(text: &str) -> usize {
    let mut inner = text[1..].char_indices();
    match inner.next() {
        Some((_, '\\')) => text[3..].find('\'').map_or(1, |end| end + 4),
        Some(_) => inner.next().filter(|(_, next)| *next == '\'').map_or(1, |(at, _)| at + 2),
        None => 1,
    }
}

fn plain_end(text: &str) -> usize {
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            b'"' if !escaped => return at,
            _ => escaped = byte == b'\\' && !escaped,
        }
    }
    text.len() - 1
}

fn raw_end(text: &str, hashes: usize) -> usize {
    let close = format!("\"{}", "#".repeat(hashes));
    text[1..].find(&close).map_or(text.len() - 1, |end| end + 1)
}

/// A literal as one line: a backslash at a line's end joins it to the next.
fn joined(said: &str) -> String {
    let mut lines = said.split("\\\n");
    let first = lines.next().unwrap_or_default().to_owned();
    let text = lines.fold(first, |text, line| text + line.trim_start());
    text.trim().replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::{Comments, texts};

    #[track_caller]
    fn check(source: &str, wanted: &[(usize, &str)]) {
        let found = texts(source, Comments::Internal);
        let found: Vec<(usize, &str)> = found.iter().map(|(line, text)| (*line, &**text)).collect();
        assert_eq!(found, wanted, "{source}");
    }

    #[test]
    fn literals_of_several_words_are_found_with_their_lines() {
        check(
            "let a = \"one two\";\nlet b = \"word\";\nsay(\"x \\\"y\\\" z\");",
            &[(1, "one two"), (3, "x \\\"y\\\" z")],
        );
        check("a(\n  \"one \\\n     two\",\n)", &[(2, "one two")]);
        check("r#\"a \"b\" c\"#; r\"d e\"", &[(1, "a \"b\" c"), (1, "d e")]);
    }

    #[test]
    fn what_nobody_reads_is_left_out() {
        check(
            "// it's a \"comment here\"\nlet c = '\"'; let d = '\\''; f::<'a>(\"f g\")",
            &[(2, "f g")],
        );
        check("#[expect(x, reason = \"a b\")]\nfn f() {}", &[]);
        check("fn f() {}\n#[cfg(test)]\nmod tests { const A: &str = \"a b\"; }", &[]);
        // Declared elsewhere, or only spoken of.
        check("#[cfg(test)]\nmod tests;\nconst A: &str = \"a b\";", &[(3, "a b")]);
        check("const A: &str = \"a #[cfg(test)] b\";", &[(1, "a #[cfg(test)] b")]);
    }

    #[test]
    fn comments_count_where_they_become_help() {
        assert_eq!(
            texts("/// The loop to end\nloop_id: String,", Comments::Help),
            [(1, "The loop to end".into())]
        );
        assert_eq!(texts("// why it is so\n//! What this is\n", Comments::Help), []);
    }
}
