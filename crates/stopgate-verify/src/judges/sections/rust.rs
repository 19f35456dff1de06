//! Rust source: items that are compiled for tests only, macros that take the place of the
//! assertions, and examples in documentation.
//!
//! Such an item has `#[cfg(test)]`, `#[cfg(all(test, …))]`, `#[test]` or `#[tokio::test]`. What
//! `cfg(any(test, …))` and `cfg(not(test))` say is work: other builds have it, too.

use std::collections::BTreeMap;

use super::Judging;
use super::rust_docs::{examples, with_examples};
use super::rust_tokens::{RustToken, TokenKind, tokens};

/// Where an item is: the blocks around it, its own head, and which of several it is.
type Key = (Vec<String>, String, usize);

/// An item for tests.
pub(super) struct TestItem {
    key: Key,
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) says: String,
}

/// What was found in a text.
#[derive(Default)]
pub(super) struct Found {
    pub(super) items: Vec<TestItem>,
    /// Where each block that has a name ends.
    ends: BTreeMap<Vec<String>, usize>,
}

pub(super) fn judging(text: &str) -> Result<Judging, String> {
    let mut sections: Vec<String> = find(text)?
        .items
        .into_iter()
        .map(|item| {
            format!("{} {} #{}: {}", item.key.0.join(" > "), item.key.1, item.key.2, item.says)
        })
        .collect();
    sections.sort_unstable();
    Ok(Judging { sections, members: examples(text) })
}

pub(super) fn restore(original: &str, today: &str) -> Option<String> {
    let was = find(original).ok()?;
    let now = find(today).ok()?;
    let mut edits: Vec<(usize, usize, String)> = Vec::new();
    let texts: BTreeMap<&Key, &str> = was
        .items
        .iter()
        .filter_map(|item| Some((&item.key, original.get(item.from..item.to)?)))
        .collect();
    for item in &now.items {
        let text = texts.get(&item.key).copied().unwrap_or_default();
        edits.push((item.from, item.to, text.into()));
    }
    let is_here = |key: &Key| now.items.iter().any(|item| item.key == *key);
    for (key, text) in texts.iter().filter(|(key, _)| !is_here(key)) {
        let at = if key.0.is_empty() { today.len() } else { *now.ends.get(&key.0)? };
        edits.push((at, at, format!("\n{text}\n")));
    }
    // Stable: what is put at the same place stays in order.
    edits.sort_by_key(|(from, _, _)| *from);
    let mut text = String::new();
    let mut at = 0;
    for (from, to, own) in edits {
        text.push_str(today.get(at..from)?);
        text.push_str(&own);
        at = to;
    }
    text.push_str(today.get(at..)?);
    let kept = examples(&text);
    Some(with_examples(&text, examples(original).difference(&kept)))
}

/// Files of modules that are compiled for tests only: the names after `mod`, with `#[path]`.
pub(in crate::judges) fn test_modules(text: &str) -> Vec<(String, Option<String>)> {
    let Ok(found) = find(text) else { return Vec::new() };
    let mut modules = Vec::new();
    for item in found.items.iter().filter(|item| item.key.0.is_empty()) {
        let Some(name) = item.key.1.strip_prefix("mod ") else { continue };
        if item.says.ends_with(';') {
            let path = item.says.split("path = \"").nth(1).and_then(|rest| rest.split('"').next());
            modules.push((name.to_string(), path.map(str::to_string)));
        }
    }
    modules
}

struct Scan<'s> {
    source: &'s str,
    /// Without comments.
    tokens: Vec<RustToken>,
    found: Found,
    /// The open brackets, with the name of the block where it is one.
    open: Vec<(u8, Option<String>)>,
    seen: BTreeMap<(Vec<String>, String), usize>,
}

pub(super) fn find(source: &str) -> Result<Found, String> {
    let mut all = tokens(source);
    all.retain(|token| token.kind != TokenKind::Comment);
    let mut scan = Scan {
        source,
        tokens: all,
        found: Found::default(),
        open: Vec::new(),
        seen: BTreeMap::new(),
    };
    scan.run()?;
    Ok(scan.found)
}

impl Scan<'_> {
    fn run(&mut self) -> Result<(), String> {
        let mut at = 0;
        // Where the head of a block begins, so that the block can be named.
        let mut head = 0;
        while let Some(token) = self.tokens.get(at).copied() {
            if token.is(b'#') && self.is(at + 1, b'!') && self.is(at + 2, b'[') {
                at = self.inner_attribute(at)?;
                head = at;
            } else if token.is(b'#') && self.is(at + 1, b'[') {
                at = self.attributes(at)?;
                head = at;
            } else if self.is_assertion_macro(at) {
                at = self.item(at, at)?;
                head = at;
            } else {
                self.bracket(at, head)?;
                at += 1;
                let begins = [b'{', b'}', b';', b','].iter().any(|sign| token.is(*sign));
                head = Some(at).filter(|_| begins).unwrap_or(head);
            }
        }
        if self.open.is_empty() { Ok(()) } else { Err("a bracket is not closed".into()) }
    }

    /// `#![…]`; gives where to go on.
    fn inner_attribute(&mut self, at: usize) -> Result<usize, String> {
        let end = self.closing(at + 2)?;
        let is_whole = self.open.is_empty() && self.is_for_tests(at + 3, end);
        Ok(if is_whole { self.whole() } else { end + 1 })
    }

    /// The whole text is for tests: nothing is left to look at.
    fn whole(&mut self) -> usize {
        let says = self.text(0, self.tokens.len());
        let key = (Vec::new(), "file".into(), 0);
        let to = self.source.len();
        self.found.items = vec![TestItem { key, from: 0, to, says }];
        self.tokens.len()
    }

    fn is(&self, at: usize, sign: u8) -> bool {
        self.tokens.get(at).is_some_and(|token| token.is(sign))
    }

    fn bracket(&mut self, at: usize, head: usize) -> Result<(), String> {
        let TokenKind::Sign(sign) = self.tokens[at].kind else { return Ok(()) };
        match sign {
            b'{' => self.open.push((sign, Some(self.name(head, at)))),
            b'(' | b'[' => self.open.push((sign, None)),
            b'}' | b')' | b']' => {
                let path = self.path();
                let (open, name) = self.open.pop().ok_or("a bracket is closed twice")?;
                let fits = matches!((open, sign), (b'{', b'}') | (b'(', b')') | (b'[', b']'));
                if !fits {
                    return Err("brackets do not match".into());
                }
                if name.is_some() {
                    self.found.ends.entry(path).or_insert(self.tokens[at].from);
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// The blocks around what comes next.
    fn path(&self) -> Vec<String> {
        self.open.iter().filter_map(|(_, name)| name.clone()).collect()
    }

    /// Attributes in a row; gives where to go on: behind the item, where it is for tests.
    fn attributes(&mut self, from: usize) -> Result<usize, String> {
        let mut at = from;
        let mut is_for_tests = false;
        while self.is(at, b'#') && self.is(at + 1, b'[') {
            let end = self.closing(at + 1)?;
            is_for_tests |= self.is_for_tests(at + 2, end);
            at = end + 1;
        }
        if !is_for_tests && !self.is_assertion_macro(at) && !self.is_macro_for_tests(from, at) {
            return Ok(at);
        }
        self.item(from, at)
    }

    /// An item whose attributes begin at `from`, and itself at `at`; gives where to go on.
    fn item(&mut self, from: usize, at: usize) -> Result<usize, String> {
        let end = self.item_end(at)?;
        let head = self.head(at, end);
        let path = self.path();
        let number = self.seen.entry((path.clone(), head.clone())).or_default();
        let key = (path, head, *number);
        *number += 1;
        let to = self.tokens.get(end.saturating_sub(1)).map_or(self.source.len(), |last| last.to);
        let says = self.text(from, end);
        self.found.items.push(TestItem { key, from: self.tokens[from].from, to, says });
        Ok(end)
    }

    /// `macro_rules! assert`: a macro that every test after it takes for the usual one.
    fn is_assertion_macro(&self, at: usize) -> bool {
        const NAMES: [&str; 9] = [
            "assert",
            "assert_eq",
            "assert_ne",
            "debug_assert",
            "debug_assert_eq",
            "debug_assert_ne",
            "matches",
            "panic",
            "unreachable",
        ];
        let word = |ahead: usize| self.tokens.get(at + ahead).map(|own| own.text(self.source));
        word(0) == Some("macro_rules") && word(2).is_some_and(|name| NAMES.contains(&name))
    }

    /// `#[proc_macro_attribute] pub fn test`: what every `#[test]` may come to mean.
    fn is_macro_for_tests(&self, from: usize, at: usize) -> bool {
        const NAMES: [&str; 6] = ["test", "assert", "assert_eq", "assert_ne", "panic", "cfg"];
        let word = |at: usize| self.tokens.get(at).map(|own| own.text(self.source));
        let is_macro =
            (from..at).any(|at| word(at).is_some_and(|own| own.starts_with("proc_macro")));
        is_macro
            && matches!(self.first_words(at).as_slice(), ["fn", name, ..] if NAMES.contains(name))
    }

    /// Where the bracket that opens at `from` is closed.
    fn closing(&self, from: usize) -> Result<usize, String> {
        let mut depth = 0_usize;
        for (at, token) in self.tokens.iter().enumerate().skip(from) {
            depth = match token.kind {
                TokenKind::Sign(b'(' | b'[' | b'{') => depth + 1,
                TokenKind::Sign(b')' | b']' | b'}') => depth.saturating_sub(1),
                TokenKind::Sign(_) | TokenKind::Word | TokenKind::Literal | TokenKind::Comment => {
                    depth
                }
            };
            if depth == 0 {
                return Ok(at);
            }
        }
        Err("a bracket is not closed".into())
    }

    /// Whether the attribute between these tokens is for tests only.
    fn is_for_tests(&self, from: usize, to: usize) -> bool {
        let words: Vec<&str> = self.tokens[from..to].iter().map(|t| t.text(self.source)).collect();
        match words.as_slice() {
            ["cfg", "(", "test", ")"]
            | ["cfg", "(", "test", ",", ")"]
            | [.., ":", ":", "test"]
            | [_, ":", ":", "test", "(", ..] => true,
            ["cfg", "(", "all", "(", inner @ .., ")", ")"] => {
                let mut depth = 0_i32;
                let mut previous = ",";
                inner.iter().any(|word| {
                    let is_it = depth == 0 && *word == "test" && previous == ",";
                    depth += i32::from(*word == "(") - i32::from(*word == ")");
                    previous = word;
                    is_it
                })
            }
            ["test" | "bench" | "rstest" | "test_case" | "quickcheck", ..] => {
                !matches!(words.get(1), Some(&":"))
            }
            _ => false,
        }
    }

    /// One behind the last token of the item that begins at `from`.
    fn item_end(&self, from: usize) -> Result<usize, String> {
        let ends_by_semicolon = self.starts_with_semicolon_word(from);
        let is_item = ends_by_semicolon || self.is_block_item(from);
        let (mut at, mut angles) = (from, 0_i32);
        while let Some(token) = self.tokens.get(at) {
            match token.kind {
                TokenKind::Sign(b';') => return Ok(at + 1),
                TokenKind::Sign(b'{') if !ends_by_semicolon => {
                    let end = self.closing(at)? + 1;
                    return Ok(end + usize::from(self.is(end, b',') && !is_item));
                }
                TokenKind::Sign(b'(' | b'[' | b'{') => at = self.closing(at)?,
                TokenKind::Sign(b')' | b']' | b'}') => return Ok(at),
                TokenKind::Sign(b'<') => angles += 1,
                TokenKind::Sign(b'>') if !self.follows_sign(at) => angles -= 1,
                TokenKind::Sign(b',') if angles <= 0 && !is_item => return Ok(at + 1),
                TokenKind::Sign(_) | TokenKind::Word | TokenKind::Literal | TokenKind::Comment => {}
            }
            at += 1;
        }
        Ok(self.tokens.len())
    }

    /// Whether this `>` is the end of `->` or `=>`.
    fn follows_sign(&self, at: usize) -> bool {
        at > 0 && (self.is(at - 1, b'-') || self.is(at - 1, b'='))
    }

    fn first_words(&self, from: usize) -> Vec<&str> {
        let mut at = from;
        let mut words = Vec::new();
        while let Some(token) = self.tokens.get(at).filter(|_| words.len() < 4) {
            if token.is(b'(') && words.last() == Some(&"pub") {
                at = self.closing(at).map_or(self.tokens.len(), |end| end + 1);
                continue;
            }
            words.push(token.text(self.source));
            at += 1;
        }
        words.retain(|word| !["pub", "unsafe", "async", "default"].contains(word));
        words
    }

    fn starts_with_semicolon_word(&self, from: usize) -> bool {
        match self.first_words(from).as_slice() {
            ["const", "fn" | "unsafe" | "async" | "extern", ..] => false,
            ["use" | "const" | "static" | "let" | "type", ..] | ["extern", "crate", ..] => true,
            _ => false,
        }
    }

    fn is_block_item(&self, from: usize) -> bool {
        const WORDS: [&str; 10] = [
            "fn",
            "mod",
            "struct",
            "enum",
            "union",
            "trait",
            "impl",
            "macro_rules",
            "extern",
            "const",
        ];
        self.first_words(from).first().is_some_and(|word| WORDS.contains(word))
    }

    /// What the item is: its keyword and name, or how it begins.
    fn head(&self, from: usize, end: usize) -> String {
        let words = self.first_words(from);
        let named = ["fn", "mod", "struct", "enum", "union", "trait", "const", "static", "type"];
        match words.as_slice() {
            [word, "fn", name, ..] if named.contains(word) => format!("fn {name}"),
            [word, name, ..] if named.contains(word) => format!("{word} {name}"),
            ["macro_rules", "!", name, ..] => format!("macro {name}"),
            ["impl", ..] => {
                let body = (from..end).find(|at| self.is(*at, b'{')).unwrap_or(end);
                self.text(from, body)
            }
            [first, ..] => (*first).to_string(),
            [] => String::new(),
        }
    }

    /// The name of the block whose brace is at `at`.
    fn name(&self, head: usize, at: usize) -> String {
        let words = self.first_words(head);
        match words.as_slice() {
            ["mod" | "fn" | "trait" | "struct" | "enum", name, ..] => {
                format!("{} {name}", words[0])
            }
            ["impl", ..] => self.text(head, at),
            _ => "{}".into(),
        }
    }

    fn text(&self, from: usize, to: usize) -> String {
        let to = to.min(self.tokens.len());
        let own = self.tokens.get(from..to).unwrap_or_default();
        let words: Vec<&str> = own.iter().map(|token| token.text(self.source)).collect();
        words.join(" ")
    }
}
