//! Short fingerprints of what was seen: to notice that something repeats, never to prove it.

/// A running FNV-1a hash.
#[derive(Clone, Copy, Debug)]
pub struct Digest(u64);

impl Digest {
    /// The hash of nothing.
    pub const fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    /// Takes in one part; parts are told apart, so `ab`+`c` is not `a`+`bc`.
    #[must_use]
    pub fn part(mut self, bytes: &[u8]) -> Self {
        for byte in bytes {
            self.byte(*byte);
        }
        self.byte(0xff);
        self
    }

    /// Takes in a text as people compare it: digits and white space don't count.
    #[must_use]
    pub fn words(mut self, text: &str) -> Self {
        for byte in text.bytes().filter(|b| !b.is_ascii_digit() && !b.is_ascii_whitespace()) {
            self.byte(byte);
        }
        self.byte(0xff);
        self
    }

    /// The hash so far.
    pub const fn value(self) -> u64 {
        self.0
    }

    fn byte(&mut self, byte: u8) {
        self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
}

impl Default for Digest {
    fn default() -> Self {
        Self::new()
    }
}

/// The fingerprint of one text, white space aside; other digits make it another text.
pub fn digest_of(text: &str) -> u64 {
    let mut digest = Digest::new();
    for byte in text.bytes().filter(|byte| !byte.is_ascii_whitespace()) {
        digest.byte(byte);
    }
    digest.value()
}
