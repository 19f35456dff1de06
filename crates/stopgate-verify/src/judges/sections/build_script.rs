//! `build.rs`: the statements that tell tests something, with what they are made from. What the
//! script tells the work, and how it builds, is work.
//!
//! A statement tells if it names a variable, a switch or a file that only tests ask for. With it
//! judge the `let`s that it uses, whatever adds to them, the functions that it calls, and what may
//! leave `main` before it.

use std::collections::{BTreeMap, BTreeSet};

use super::Judging;
use super::rust_tokens::{RustToken, TokenKind, tokens};

/// How deep blocks within blocks are read.
const DEPTH_MAX: usize = 8;
/// More statements than this are not looked at.
const STATEMENTS_MAX: usize = 2_000;

pub(super) fn judging(text: &str, told: &BTreeSet<String>) -> Result<Judging, String> {
    let script = BuildScript::parse(text)?;
    let slice = script.slice(told);
    let statements = slice.statements.iter().map(|at| script.says(&script.statements[*at]));
    let functions = slice.functions.iter().filter_map(|name| script.functions.get(name));
    let functions = functions.map(|function| script.says(function));
    Ok(Judging { sections: statements.chain(functions).collect(), members: BTreeSet::new() })
}

/// Today's script, telling tests what the original tells them.
pub(super) fn restore(original: &str, today: &str, told: &BTreeSet<String>) -> Option<String> {
    let was = BuildScript::parse(original).ok()?;
    let now = BuildScript::parse(today).ok()?;
    let (slice, changed) = (was.slice(told), now.slice(told));
    let mut edits: Vec<(usize, usize, String)> = Vec::new();
    for at in &changed.telling {
        let (from, to) = now.place(&now.statements[*at])?;
        edits.push((from, to, String::new()));
    }
    let own = slice.statements.iter().filter_map(|at| was.text(&was.statements[*at]));
    let own = own.collect::<Vec<_>>().join("\n");
    if !own.is_empty() {
        let begin = now.begin?;
        edits.push((begin, begin, format!("\n{{\n{own}\n}}\n")));
    }
    for name in &slice.functions {
        let text = was.functions.get(name).and_then(|function| was.text(function))?;
        match now.functions.get(name) {
            Some(function) => {
                let (from, to) = now.place(function)?;
                edits.push((from, to, text.into()));
            }
            None => edits.push((today.len(), today.len(), format!("\n{text}\n"))),
        }
    }
    // Functions that only today's script tells tests by.
    let gone = changed
        .functions
        .difference(&slice.functions)
        .filter(|name| now.functions.get(*name).is_some_and(|function| now.tells(function, told)));
    for name in gone {
        let (from, to) = now.body(now.functions.get(name)?)?;
        edits.push((from, to, String::new()));
    }
    edited(today, edits)
}

fn edited(text: &str, mut edits: Vec<(usize, usize, String)>) -> Option<String> {
    edits.sort_by_key(|(from, _, _)| *from);
    let (mut found, mut at) = (String::new(), 0);
    for (from, to, own) in edits {
        found.push_str(text.get(at..from)?);
        found.push_str(&own);
        at = to;
    }
    found.push_str(text.get(at..)?);
    Some(found)
}

/// Tokens in a row, from the first to one behind the last.
type Span = (usize, usize);

/// What decides what tests are told.
#[derive(Default)]
struct ToldSlice {
    /// All statements, in their order.
    statements: BTreeSet<usize>,
    /// Those that tell.
    telling: BTreeSet<usize>,
    functions: BTreeSet<String>,
}

struct BuildScript<'s> {
    source: &'s str,
    /// Without comments.
    tokens: Vec<RustToken>,
    /// Those of `main`, also within blocks that have no condition.
    statements: Vec<Span>,
    functions: BTreeMap<String, Span>,
    /// Where `main` begins.
    begin: Option<usize>,
}

impl<'s> BuildScript<'s> {
    fn parse(source: &'s str) -> Result<Self, String> {
        let mut all = tokens(source);
        all.retain(|token| token.kind != TokenKind::Comment);
        let mut script = Self {
            source,
            tokens: all,
            statements: Vec::new(),
            functions: BTreeMap::new(),
            begin: None,
        };
        if !script.is_balanced() {
            return Err("a bracket is not closed".into());
        }
        script.read();
        Ok(script)
    }

    fn is_balanced(&self) -> bool {
        let mut open = Vec::new();
        let fits = |token: &RustToken| match token.kind {
            TokenKind::Sign(own @ (b'(' | b'[' | b'{')) => {
                open.push(own);
                true
            }
            TokenKind::Sign(b')') => open.pop() == Some(b'('),
            TokenKind::Sign(b']') => open.pop() == Some(b'['),
            TokenKind::Sign(b'}') => open.pop() == Some(b'{'),
            TokenKind::Sign(_) | TokenKind::Word | TokenKind::Literal | TokenKind::Comment => true,
        };
        self.tokens.iter().all(fits) && open.is_empty()
    }

    fn read(&mut self) {
        let mut at = 0;
        while at < self.tokens.len() {
            let end = self.statement_end(at, self.tokens.len());
            let name = (at..end).find(|own| self.word(*own) == "fn").map(|own| own + 1);
            let is_plain = |own: usize| !self.tokens[at..own].iter().any(|token| token.is(b'{'));
            match name.filter(|own| is_plain(*own)).map(|own| self.word(own).to_string()) {
                Some(name) if name == "main" => self.read_main((at, end)),
                Some(name) => drop(self.functions.insert(name, (at, end))),
                None => {}
            }
            at = end.max(at + 1);
        }
    }

    fn read_main(&mut self, function: Span) {
        let Some((from, to)) = self.inner(function) else { return };
        self.begin = self.tokens.get(from.saturating_sub(1)).map(|token| token.to);
        self.read_block(from, to, 0);
    }

    fn read_block(&mut self, from: usize, to: usize, depth: usize) {
        let mut at = from;
        while at < to && self.statements.len() < STATEMENTS_MAX {
            let end = self.statement_end(at, to).max(at + 1);
            if self.tokens[at].is(b'{') && depth < DEPTH_MAX {
                self.read_block(at + 1, end.saturating_sub(1), depth + 1);
            } else {
                self.statements.push((at, end));
            }
            at = end;
        }
    }

    /// The tokens within the braces of a function.
    fn inner(&self, (from, to): Span) -> Option<Span> {
        let open = (from..to).find(|at| self.tokens[*at].is(b'{'))?;
        Some((open + 1, to.checked_sub(1).filter(|end| *end > open)?))
    }

    /// One behind the last token of what begins at `from`.
    fn statement_end(&self, from: usize, to: usize) -> usize {
        const BLOCKS: [&str; 18] = [
            "if",
            "for",
            "while",
            "loop",
            "match",
            "unsafe",
            "fn",
            "pub",
            "async",
            "mod",
            "impl",
            "struct",
            "enum",
            "trait",
            "extern",
            "macro_rules",
            "{",
            "#",
        ];
        let is_block = BLOCKS.contains(&self.word(from));
        let mut depth = 0_usize;
        for at in from..to {
            match self.tokens[at].kind {
                TokenKind::Sign(b'(' | b'[' | b'{') => depth += 1,
                TokenKind::Sign(b')' | b']' | b'}') => depth = depth.saturating_sub(1),
                TokenKind::Sign(_) | TokenKind::Word | TokenKind::Literal | TokenKind::Comment => {}
            }
            let closes = |own: u8| depth == 0 && self.tokens[at].is(own);
            let goes_on = || ["else", "."].contains(&self.word(at + 1));
            if closes(b';') || (is_block && closes(b'}') && !goes_on()) {
                return at + 1;
            }
        }
        to
    }

    fn word(&self, at: usize) -> &'s str {
        self.tokens.get(at).map_or("", |token| token.text(self.source))
    }

    fn words(&self, (from, to): Span) -> impl Iterator<Item = &'s str> {
        (from..to).map(|at| self.word(at))
    }

    fn says(&self, span: &Span) -> String {
        self.words(*span).collect::<Vec<_>>().join(" ")
    }

    fn place(&self, (from, to): &Span) -> Option<(usize, usize)> {
        let last = self.tokens.get(to.checked_sub(1)?)?;
        Some((self.tokens.get(*from)?.from, last.to))
    }

    fn text(&self, span: &Span) -> Option<&'s str> {
        let (from, to) = self.place(span)?;
        self.source.get(from..to)
    }

    fn body(&self, function: &Span) -> Option<(usize, usize)> {
        let (from, to) = self.inner(*function)?;
        if from >= to { None } else { self.place(&(from, to)) }
    }

    /// Whether it names what only tests ask for.
    fn tells(&self, (from, to): &Span, told: &BTreeSet<String>) -> bool {
        let literals = (*from..*to).filter(|at| self.tokens[*at].kind == TokenKind::Literal);
        let is_asked = |at: usize| at > 1 && self.word(at - 2).starts_with("var");
        literals.into_iter().any(|at| {
            let text = self.word(at).trim_matches(['"', '#', 'r']);
            tells_cargo(text, told) || (!is_asked(at) && is_name_told(text, told))
        })
    }

    fn slice(&self, told: &BTreeSet<String>) -> ToldSlice {
        let mut slice = ToldSlice::default();
        let by_function: BTreeSet<&str> = self
            .functions
            .iter()
            .filter(|(_, function)| self.tells(function, told))
            .map(|(name, _)| name.as_str())
            .collect();
        for (at, statement) in self.statements.iter().enumerate() {
            let calls = || self.words(*statement).any(|word| by_function.contains(word));
            if self.tells(statement, told) || calls() {
                slice.telling.insert(at);
            }
        }
        let mut open: Vec<usize> = slice.telling.iter().copied().collect();
        if let Some(last) = open.last() {
            let leaves = |at: &usize| {
                self.words(self.statements[*at]).any(|word| word == "return" || word == "exit")
            };
            open.extend((0..*last).filter(leaves));
        }
        while let Some(at) = open.pop() {
            if slice.statements.insert(at) {
                open.extend(self.made_from(at, &mut slice.functions));
            }
        }
        slice
    }

    /// What a statement uses: functions are noted, statements are given.
    fn made_from(&self, at: usize, functions: &mut BTreeSet<String>) -> Vec<usize> {
        let mut found = Vec::new();
        let mut words: Vec<&str> = self.words(self.statements[at]).collect();
        words.extend(self.words(self.statements[at]).filter(|w| w.contains('{')).flat_map(inlined));
        let mut known = 0;
        while let Some(word) = words.get(known).copied() {
            known += 1;
            if let Some(function) = self.functions.get(word)
                && functions.insert(word.to_string())
            {
                words.extend(self.words(*function));
            }
        }
        let words: BTreeSet<&str> = words.into_iter().collect();
        let mut seen = BTreeSet::new();
        for before in (0..at).rev() {
            let (from, _) = self.statements[before];
            let is_mutable = self.word(from + 1) == "mut";
            let name = self.word(from + 1 + usize::from(is_mutable));
            if self.word(from) != "let" || !words.contains(name) || !seen.insert(name) {
                continue;
            }
            found.push(before);
            if is_mutable {
                let adds = |other: &usize| self.words(self.statements[*other]).any(|w| w == name);
                found.extend((before + 1..at).filter(adds));
            }
        }
        found
    }
}

/// The names in `"{here}/tests"`.
fn inlined(literal: &str) -> impl Iterator<Item = &str> {
    literal.split('{').skip(1).filter_map(|rest| rest.split(['}', ':']).next())
}

/// Whether a string tells Cargo what only tests ask for: `cargo:rustc-env=NAME=…`.
fn tells_cargo(text: &str, told: &BTreeSet<String>) -> bool {
    let is_sign = |letter: char| !letter.is_alphanumeric() && letter != '_';
    ["rustc-env=", "rustc-cfg="].iter().any(|directive| {
        let mut named = text.split(directive).skip(1).filter_map(|rest| rest.split(is_sign).next());
        named.any(|name| told.contains(name))
    })
}

/// Whether a string is the name of what only tests ask for, or a path that ends in it.
fn is_name_told(text: &str, told: &BTreeSet<String>) -> bool {
    // What Cargo itself says is read by every script, and `"unix"` may be about anything.
    let is_cargos = text.starts_with("CARGO_") || text == "OUT_DIR";
    let is_own = !is_cargos && text.contains(|sign: char| sign.is_ascii_uppercase() || sign == '.');
    is_own && told.contains(text.rsplit('/').next().unwrap_or_default())
}

#[cfg(test)]
mod tests;
