//! Agents as reviewers: how each is kept from changing anything, and which variables its client needs.

use crate::Agent;

/// How an agent is asked for its opinion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReviewerForm {
    /// Arguments that leave it nothing to do but read.
    pub args: &'static [&'static str],
    /// Variables with its client's keys and places; a `*` at the end stands for the rest.
    pub keys: &'static [&'static str],
}

const CLAUDE: ReviewerForm = ReviewerForm {
    args: &[
        "--allowedTools",
        "Read,Grep,Glob",
        "--disallowedTools",
        "Edit,Write,NotebookEdit,Bash,Task,WebFetch,WebSearch",
    ],
    keys: &[
        "ANTHROPIC_*",
        "CLAUDE_CONFIG_DIR",
        "CLAUDE_CODE_OAUTH_TOKEN",
        "CLAUDE_CODE_USE_*",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
        "IS_SANDBOX",
    ],
};
const CODEX: ReviewerForm =
    ReviewerForm { args: &["-s", "read-only"], keys: &["OPENAI_*", "CODEX_HOME", "CODEX_API_KEY"] };
const GEMINI: ReviewerForm = ReviewerForm {
    args: &[],
    keys: &["GEMINI_API_KEY", "GEMINI_CLI_HOME", "GEMINI_CLI_TRUST_WORKSPACE", "GOOGLE_*"],
};
const QWEN: ReviewerForm =
    ReviewerForm { args: &[], keys: &["OPENAI_*", "DASHSCOPE_API_KEY", "QWEN_HOME"] };
const COPILOT: ReviewerForm = ReviewerForm {
    args: &[],
    keys: &["GH_TOKEN", "GITHUB_TOKEN", "COPILOT_GITHUB_TOKEN", "COPILOT_HOME", "COPILOT_OFFLINE"],
};
const KIMI: ReviewerForm =
    ReviewerForm { args: &[], keys: &["KIMI_API_KEY", "KIMI_CODE_HOME", "MOONSHOT_*"] };
const OPENCODE: ReviewerForm = ReviewerForm {
    args: &[],
    keys: &["ANTHROPIC_*", "OPENAI_*", "GOOGLE_*", "OPENCODE_CONFIG*", "OPENCODE_API_KEY"],
};
const PI: ReviewerForm = ReviewerForm {
    args: &[],
    keys: &["ANTHROPIC_*", "OPENAI_*", "GEMINI_API_KEY", "PI_CODING_AGENT_DIR"],
};

impl Agent {
    /// How it is asked for its opinion, if it can be.
    pub const fn reviewer(self) -> Option<ReviewerForm> {
        match self {
            Self::Claude => Some(CLAUDE),
            Self::Codex => Some(CODEX),
            Self::Gemini => Some(GEMINI),
            Self::Qwen => Some(QWEN),
            Self::Copilot => Some(COPILOT),
            Self::Kimi => Some(KIMI),
            Self::OpenCode => Some(OPENCODE),
            Self::Pi => Some(PI),
            Self::Cursor
            | Self::Droid
            | Self::Antigravity
            | Self::Grok
            | Self::Devin
            | Self::Qoder
            | Self::VsCode => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A reviewer that passed the marks of another client on would be taken for it.
    #[test]
    fn no_reviewer_sees_whose_shell_it_runs_in() {
        for agent in Agent::ALL {
            let Some(form) = agent.reviewer() else { continue };
            assert!(agent.headless().is_some(), "{agent:?}");
            let passes = |name: &str| {
                form.keys.iter().any(|key| match key.strip_suffix('*') {
                    Some(begin) => name.starts_with(begin),
                    None => *key == name,
                })
            };
            let seen = Agent::ALL.iter().flat_map(|other| {
                let own = other.variables();
                let marks = own.marks.iter().copied().chain(own.session).chain(own.process);
                marks.chain(own.shell.iter().copied()).collect::<Vec<_>>()
            });
            for mark in seen {
                assert!(!passes(mark), "{agent:?} sees {mark}");
            }
        }
    }
}
