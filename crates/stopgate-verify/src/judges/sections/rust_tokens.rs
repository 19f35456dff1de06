//! Rust source as tokens: strings, raw strings, chars, lifetimes and nested comments are told
//! apart, so that brackets can be counted.

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TokenKind {
    /// A name, a keyword, a number or a lifetime.
    Word,
    /// A string or a char.
    Literal,
    /// One sign.
    Sign(u8),
    /// A comment, also one of documentation.
    Comment,
}

/// A token and where it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RustToken {
    pub(super) kind: TokenKind,
    pub(super) from: usize,
    pub(super) to: usize,
}

impl RustToken {
    /// Its text.
    pub(super) fn text<'t>(&self, source: &'t str) -> &'t str {
        source.get(self.from..self.to).unwrap_or_default()
    }

    /// Whether it is this sign.
    pub(super) fn is(&self, sign: u8) -> bool {
        self.kind == TokenKind::Sign(sign)
    }
}

/// The tokens of a text. A text that is not Rust has tokens as well.
pub(super) fn tokens(source: &str) -> Vec<RustToken> {
    let mut lexer = Lexer { bytes: source.as_bytes(), at: 0 };
    let mut found = Vec::new();
    while let Some(byte) = lexer.byte(0) {
        let from = lexer.at;
        if byte.is_ascii_whitespace() {
            lexer.at += 1;
            continue;
        }
        let kind = lexer.token(byte);
        found.push(RustToken { kind, from, to: lexer.at });
    }
    found
}

struct Lexer<'s> {
    bytes: &'s [u8],
    at: usize,
}

const fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

impl Lexer<'_> {
    fn byte(&self, ahead: usize) -> Option<u8> {
        self.bytes.get(self.at + ahead).copied()
    }

    fn token(&mut self, byte: u8) -> TokenKind {
        match (byte, self.byte(1)) {
            (b'/', Some(b'/')) => {
                self.until(b'\n');
                TokenKind::Comment
            }
            (b'/', Some(b'*')) => {
                self.block_comment();
                TokenKind::Comment
            }
            (b'"', _) => self.string(),
            (b'\'', _) => self.quote(),
            (b'r' | b'b' | b'c', _) if self.prefixed() => TokenKind::Literal,
            (byte, _) if is_word(byte) => {
                while self.byte(0).is_some_and(is_word) {
                    self.at += 1;
                }
                TokenKind::Word
            }
            (sign, _) => {
                self.at += 1;
                TokenKind::Sign(sign)
            }
        }
    }

    fn until(&mut self, end: u8) {
        while self.byte(0).is_some_and(|byte| byte != end) {
            self.at += 1;
        }
    }

    fn block_comment(&mut self) {
        let mut depth = 0_usize;
        loop {
            let step = match (self.byte(0), self.byte(1)) {
                (Some(b'/'), Some(b'*')) => {
                    depth += 1;
                    2
                }
                (Some(b'*'), Some(b'/')) => {
                    depth -= 1;
                    2
                }
                (Some(_), _) => 1,
                (None, _) => return,
            };
            self.at += step;
            if depth == 0 {
                return;
            }
        }
    }

    /// A string whose opening quote is next.
    fn string(&mut self) -> TokenKind {
        self.at += 1;
        while let Some(byte) = self.byte(0) {
            match byte {
                b'\\' => self.at += 1 + self.width(1),
                b'"' => {
                    self.at += 1;
                    break;
                }
                _ => self.at += 1,
            }
        }
        self.at = self.at.min(self.bytes.len());
        TokenKind::Literal
    }

    /// How many bytes the letter takes that begins so far ahead.
    fn width(&self, ahead: usize) -> usize {
        match self.byte(ahead) {
            None => 0,
            Some(byte) if byte < 0x80 => 1,
            Some(_) => {
                let more = |own: &usize| self.byte(ahead + own).is_some_and(|b| b & 0xc0 == 0x80);
                1 + (1..4).take_while(more).count()
            }
        }
    }

    /// A char or a lifetime.
    fn quote(&mut self) -> TokenKind {
        if self.byte(1) == Some(b'\\') {
            self.at += 2 + self.width(2);
            while self.byte(0).is_some_and(|byte| byte != b'\'' && byte != b'\n') {
                self.at += 1;
            }
            if self.byte(0) == Some(b'\'') {
                self.at += 1;
            }
            return TokenKind::Literal;
        }
        let width = self.width(1);
        if width > 0 && self.byte(1 + width) == Some(b'\'') {
            self.at += width + 2;
            return TokenKind::Literal;
        }
        self.at += 1;
        while self.byte(0).is_some_and(is_word) {
            self.at += 1;
        }
        TokenKind::Word
    }

    /// `r"…"`, `r#"…"#`, `b"…"`, `br#"…"#`, `b'x'`, `c"…"`; `r#name` is a word.
    fn prefixed(&mut self) -> bool {
        let mut ahead = 1;
        let first = self.byte(0);
        if matches!(first, Some(b'b' | b'c')) && self.byte(1) == Some(b'r') {
            ahead = 2;
        }
        let is_raw = first == Some(b'r') || ahead == 2;
        let after = self.bytes.get(self.at + ahead..).unwrap_or_default();
        let hashes = after.iter().take_while(|byte| **byte == b'#').count();
        match self.byte(ahead + hashes) {
            Some(b'"') if is_raw => {
                self.at += ahead + hashes + 1;
                self.raw(hashes);
                true
            }
            Some(b'"') if hashes == 0 => {
                self.at += ahead;
                self.string();
                true
            }
            Some(b'\'') if first == Some(b'b') && ahead == 1 && hashes == 0 => {
                self.at += 1;
                self.quote();
                true
            }
            _ => false,
        }
    }

    fn raw(&mut self, hashes: usize) {
        while let Some(byte) = self.byte(0) {
            self.at += 1;
            if byte == b'"' && (0..hashes).all(|own| self.byte(own) == Some(b'#')) {
                self.at += hashes;
                return;
            }
        }
    }
}
