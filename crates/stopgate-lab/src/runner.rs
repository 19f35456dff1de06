//! How each client is run: the home it finds, its environment and its command line.
//!
//! A home is empty but for what a person would have answered or written to use their own model;
//! hooks are the test's business.

mod claude;
mod codex;
mod copilot;
mod gemini;
mod kimi;
mod opencode;
mod pi;
mod qwen;

use std::path::{Path, PathBuf};

use crate::pinned::LabAgent;
use crate::prompt::{Prompt, PromptKind};
use crate::turn::ScriptedTurn;

/// A key that opens nothing. Short enough for a client to remember it whole when a person
/// approves it.
pub(crate) const DUMMY_KEY: &str = "dummy-key-for-lab";
/// What the model is called where a client accepts any name.
const MODEL: &str = "fake-model";

/// Where a client runs, and where its model is.
pub(crate) struct RunnerPlace<'a> {
    pub(crate) home: &'a Path,
    pub(crate) project: &'a Path,
    /// Without a version at its end.
    pub(crate) url: &'a str,
}

/// A file of a client's home, and its content.
pub(crate) type HomeFile = (PathBuf, String);

/// How one client is run.
pub(crate) trait ClientRunner {
    /// The files it finds in its home.
    fn settings(&self, place: &RunnerPlace<'_>) -> Vec<HomeFile>;

    /// The variables it runs with, besides those of the stage.
    fn environment(&self, place: &RunnerPlace<'_>) -> Vec<(&'static str, String)>;

    /// Its command line for one prompt.
    fn arguments(&self, prompt: &Prompt) -> Vec<String>;

    /// A turn in which the model has it run a shell command.
    fn shell(&self, command: &str) -> ScriptedTurn;
}

impl LabAgent {
    /// A turn in which the model has this client run a shell command.
    pub fn shell(self, command: &str) -> ScriptedTurn {
        self.runner().shell(command)
    }

    pub(crate) fn runner(self) -> &'static dyn ClientRunner {
        match self {
            Self::Claude => &claude::ClaudeRunner,
            Self::Codex => &codex::CodexRunner,
            Self::Gemini => &gemini::GeminiRunner,
            Self::Qwen => &qwen::QwenRunner,
            Self::Copilot => &copilot::CopilotRunner,
            Self::Kimi => &kimi::KimiRunner,
            Self::OpenCode => &opencode::OpenCodeRunner,
            Self::Pi => &pi::PiRunner,
        }
    }
}

/// A command line: `before`, what the prompt adds, `again` where it continues a session, `last`.
fn line(before: &[&str], prompt: &Prompt, again: &[&str], last: &[&str]) -> Vec<String> {
    let again = match prompt.asking {
        PromptKind::First => &[],
        PromptKind::Again => again,
    };
    let more: Vec<&str> = prompt.args.iter().map(String::as_str).collect();
    [before, &more, again, last].concat().into_iter().map(str::to_owned).collect()
}
