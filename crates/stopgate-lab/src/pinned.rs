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

    /// The name that `stopgate install` takes, the npm package, and its version.
    const fn facts(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::Claude => ("claude", "@anthropic-ai/claude-code", "2.1.325"),
            Self::Codex => ("codex", "@openai/codex", "0.166.0"),
            Self::Gemini => ("gemini", "@google/gemini-cli", "0.61.0"),
            Self::Qwen => ("qwen", "@qwen-code/qwen-code", "0.24.4"),
            Self::Copilot => ("copilot", "@github/copilot", "1.0.102"),
            Self::Kimi => ("kimi", "@moonshot-ai/kimi-code", "2.1.0"),
            Self::OpenCode => ("opencode", "opencode-ai", "1.18.33"),
            Self::Pi => ("pi", "@earendil-works/pi-coding-agent", "0.87.1"),
        }
    }

    /// The name that `stopgate install` takes.
    pub const fn name(self) -> &'static str {
        self.facts().0
    }

    /// Its npm package.
    pub(crate) const fn package(self) -> &'static str {
        self.facts().1
    }

    /// The version that is installed.
    pub const fn version(self) -> &'static str {
        self.facts().2
    }

    /// The variable that names a program to use instead of the installed one.
    pub fn variable(self) -> String {
        format!("STOPGATE_LAB_{}", self.name().to_ascii_uppercase())
    }
}
