//! The forms in which clients record what they use, one module each.

mod claude;
mod codex;
mod copilot;
mod gemini;
mod kimi;
mod pi;
mod qwen;
mod stream;

use memchr::memmem;
use stopgate_core::{Digest, Timestamp, UsageFile};

use crate::reader::{UsageCall, UsageNews};

/// A form of record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UsageFormat {
    /// Claude Code's transcript, and those of its sub-agents.
    Claude,
    /// Codex's rollout.
    Codex,
    /// Gemini CLI's session file.
    Gemini,
    /// Qwen Code's transcript.
    Qwen,
    /// Copilot CLI's events.
    Copilot,
    /// Kimi Code's wire record.
    Kimi,
    /// Pi's session file.
    Pi,
    /// What a driver heard in the output of a client that keeps no record of its own.
    Heard,
}

/// A whole line and where it stands.
pub(crate) struct Line<'a> {
    pub(crate) bytes: &'a [u8],
    /// The fingerprint of the file's path.
    pub(crate) scope: u64,
    /// Where the line begins.
    pub(crate) offset: u64,
}

impl UsageFormat {
    /// The form that an agent's client writes; nothing where it writes none that can be read.
    pub fn of_agent(word: &str) -> Option<Self> {
        Some(match word {
            "claude" => Self::Claude,
            "codex" => Self::Codex,
            "gemini" => Self::Gemini,
            "qwen" => Self::Qwen,
            "copilot" => Self::Copilot,
            "kimi" => Self::Kimi,
            "pi" => Self::Pi,
            "opencode" => Self::Heard,
            _unknown => return None,
        })
    }

    /// The directory with the records of a session's sub-agents, where they are kept apart.
    pub fn companions(self, transcript: &str) -> Option<String> {
        match self {
            Self::Claude => {
                transcript.strip_suffix(".jsonl").map(|session| format!("{session}/subagents"))
            }
            Self::Codex
            | Self::Gemini
            | Self::Qwen
            | Self::Copilot
            | Self::Kimi
            | Self::Pi
            | Self::Heard => None,
        }
    }

    /// Whether the client writes what it did a little after it tells its hooks.
    pub const fn is_late(self) -> bool {
        matches!(self, Self::Claude)
    }

    /// Whether a line may say something, by a look that is cheaper than reading it.
    pub(crate) fn may_matter(self, line: &[u8]) -> bool {
        let words: &[&[u8]] = match self {
            Self::Claude => &[b"\"usage\"", b"rate_limit_info"],
            Self::Codex => &[b"token_usage_record", b"token_count", b"turn_context"],
            Self::Gemini => &[b"\"tokens\""],
            Self::Qwen => &[b"api_response", b"usageMetadata"],
            Self::Copilot => &[b"session.usage_record"],
            Self::Kimi => &[b"usage.record", b"token_counting.measured"],
            Self::Pi => &[b"\"usage\""],
            Self::Heard => &[b"stopgate.use"],
        };
        words.iter().any(|word| memmem::find(line, word).is_some())
    }

    pub(crate) fn read(self, line: &Line<'_>, file: &mut UsageFile, news: &mut UsageNews) {
        // A line that can't be understood says nothing; the next one may.
        let _understood: Option<()> = match self {
            Self::Claude => claude::read(line, news),
            Self::Codex => codex::read(line, file, news),
            Self::Gemini => gemini::read(line, news),
            Self::Qwen => qwen::read(line, file, news),
            Self::Copilot => copilot::read(line, news),
            Self::Kimi => kimi::read(line, news),
            Self::Pi => pi::read(line, news),
            Self::Heard => stream::read(line, news),
        };
    }
}

/// The fingerprint of a name that has several parts.
pub(crate) fn name<const N: usize>(parts: [&str; N]) -> u64 {
    parts.iter().fold(Digest::new(), |digest, part| digest.part(part.as_bytes())).value()
}

/// Tells of a call, unless nothing was used.
pub(crate) fn tell(news: &mut UsageNews, call: UsageCall) {
    if call.tokens.total() > 0 {
        news.calls.push(call);
    }
}

/// When a record was written.
pub(crate) fn time(text: Option<&str>) -> Option<Timestamp> {
    text.and_then(crate::instant::rfc3339)
}
