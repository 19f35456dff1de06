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
pub(crate) struct ClientRunner {
    /// The files it finds in its home.
    pub(crate) settings: fn(&RunnerPlace<'_>) -> Vec<HomeFile>,
    /// The variables it runs with, besides those of the stage.
    pub(crate) environment: fn(&RunnerPlace<'_>) -> Vec<(&'static str, String)>,
    /// What its command line begins with.
    options: &'static [&'static str],
    /// How it continues a session.
    again: &'static [&'static str],
    before_prompt: &'static [&'static str],
    /// A turn in which the model has it run a shell command.
    shell: fn(&str) -> ScriptedTurn,
}

impl ClientRunner {
    /// Its command line for one prompt.
    pub(crate) fn arguments(&self, prompt: &Prompt) -> Vec<String> {
        let again = match prompt.asking {
            PromptKind::First => &[],
            PromptKind::Again => self.again,
        };
        let more: Vec<&str> = prompt.args.iter().map(String::as_str).collect();
        let words = [self.options, &more, again, self.before_prompt, &[&prompt.text]].concat();
        words.into_iter().map(str::to_owned).collect()
    }
}

impl LabAgent {
    /// A turn in which the model has this client run a shell command.
    pub fn shell(self, command: &str) -> ScriptedTurn {
        (self.runner().shell)(command)
    }

    pub(crate) fn runner(self) -> &'static ClientRunner {
        match self {
            Self::Claude => &claude::RUNNER,
            Self::Codex => &codex::RUNNER,
            Self::Gemini => &gemini::RUNNER,
            Self::Qwen => &qwen::RUNNER,
            Self::Copilot => &copilot::RUNNER,
            Self::Kimi => &kimi::RUNNER,
            Self::OpenCode => &opencode::RUNNER,
            Self::Pi => &pi::RUNNER,
        }
    }
}
