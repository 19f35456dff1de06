//! The clients that the lab runs, each at one version.

/// A client that the lab can install and run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LabAgent {
    /// Claude Code.
    Claude,
    /// Codex CLI.
    Codex,
    /// Gemini CLI.
    Gemini,
    /// Qwen Code.
    Qwen,
    /// GitHub Copilot CLI.
    Copilot,
    /// Kimi Code.
    Kimi,
    /// `OpenCode`.
    OpenCode,
    /// Pi.
    Pi,
}

impl LabAgent {
    /// Every client there is.
    pub const ALL: [Self; 8] = [
        Self::Claude,
        Self::Codex,
        Self::Gemini,
        Self::Qwen,
        Self::Copilot,
        Self::Kimi,
        Self::OpenCode,
        Self::Pi,
    ];

    /// The name that `stopgate install` takes.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
            Self::Qwen => "qwen",
            Self::Copilot => "copilot",
            Self::Kimi => "kimi",
            Self::OpenCode => "opencode",
            Self::Pi => "pi",
        }
    }

    /// Its npm package.
    pub(crate) const fn package(self) -> &'static str {
        match self {
            Self::Claude => "@anthropic-ai/claude-code",
            Self::Codex => "@openai/codex",
            Self::Gemini => "@google/gemini-cli",
            Self::Qwen => "@qwen-code/qwen-code",
            Self::Copilot => "@github/copilot",
            Self::Kimi => "@moonshot-ai/kimi-code",
            Self::OpenCode => "opencode-ai",
            Self::Pi => "@earendil-works/pi-coding-agent",
        }
    }

    /// The version that the lab's expectations were seen on.
    pub const fn version(self) -> &'static str {
        match self {
            Self::Claude => "2.1.325",
            Self::Codex => "0.166.0",
            Self::Gemini => "0.61.0",
            Self::Qwen => "0.24.4",
            Self::Copilot => "1.0.102",
            Self::Kimi => "2.1.0",
            Self::OpenCode => "1.18.33",
            Self::Pi => "0.87.1",
        }
    }

    /// The variable that names a program to use instead of the installed one.
    pub fn variable(self) -> String {
        format!("STOPGATE_LAB_{}", self.name().to_ascii_uppercase())
    }
}
