//! The lines of a record as they come.

use memchr::memchr;
use stopgate_core::{ContextUse, QuotaUse, Timestamp, TokenUse, UsageFile};

use crate::format::{Line, UsageFormat};

/// One call of a model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UsageCall {
    /// The fingerprint of its name; the same call may be written more than once.
    pub id: u64,
    /// The model, in the client's words; empty where it does not tell.
    pub model: String,
    /// Its tokens.
    pub tokens: TokenUse,
    /// What it cost in billionths of a dollar, where the client tells.
    pub nanos: Option<u64>,
    /// When it was recorded.
    pub at: Option<Timestamp>,
}

/// What some lines said.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UsageNews {
    /// Calls, in the order of the record.
    pub calls: Vec<UsageCall>,
    /// How full the context was at last.
    pub context: Option<ContextUse>,
    /// How much of the subscription's window was used at last.
    pub quota: Option<QuotaUse>,
}

/// Reads a record of one client from where it was left.
#[derive(Clone, Debug)]
pub struct UsageReader {
    format: UsageFormat,
    file: UsageFile,
    scope: u64,
}

impl UsageReader {
    /// Goes on with `file` from where it was left.
    pub fn resume(format: UsageFormat, file: UsageFile) -> Self {
        let scope = stopgate_core::Digest::new().part(file.path.as_bytes()).value();
        Self { format, file, scope }
    }

    /// The end of what was read.
    pub const fn offset(&self) -> u64 {
        self.file.offset
    }

    /// Where it is now.
    pub fn into_file(self) -> UsageFile {
        self.file
    }

    /// Takes the bytes that follow; an unfinished last line stays unread, to be given again.
    pub fn read(&mut self, mut bytes: &[u8], news: &mut UsageNews) {
        while let Some(end) = memchr(b'\n', bytes) {
            let (line, rest) = (&bytes[..end], &bytes[end + 1..]);
            if !core::mem::take(&mut self.file.inside_line) {
                self.line(line, news);
            }
            self.advance(end + 1);
            bytes = rest;
        }
    }

    /// Passes over bytes of a line that is too long to be read.
    pub(crate) fn pass_over(&mut self, bytes: usize) {
        self.advance(bytes);
        self.file.inside_line = true;
    }

    fn advance(&mut self, bytes: usize) {
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
        self.file.offset = self.file.offset.saturating_add(bytes);
    }

    fn line(&mut self, bytes: &[u8], news: &mut UsageNews) {
        if bytes.len() < 2 || !self.format.may_matter(bytes) {
            return;
        }
        let place = Line { bytes, scope: self.scope, offset: self.file.offset };
        self.format.read(&place, &mut self.file, news);
    }
}
