//! Hook entries of the client's settings files.

use std::path::PathBuf;

use serde_json::{Map, Value, json};

/// How the client is to start a hook.
#[derive(Clone, Debug)]
pub enum HookLaunch {
    /// A command line for `/bin/sh -c`.
    Shell(String),
    /// A program and its arguments, without a shell.
    Exec {
        /// The program.
        program: PathBuf,
        /// Its arguments.
        args: Vec<String>,
    },
}

/// Whose settings file is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// `.claude/settings.json` in the home directory.
    User,
    /// `.claude/settings.json` in the project.
    Project,
}

impl HookLaunch {
    /// A settings file that has this hook on these events and nothing else.
    pub(crate) fn settings(&self, events: &[&str]) -> Value {
        let entry = match self {
            Self::Shell(command) => json!({"type": "command", "command": command}),
            Self::Exec { program, args } => {
                json!({"type": "command", "command": program, "args": args})
            }
        };
        let on = |event: &&str| ((*event).to_owned(), json!([{"hooks": [entry]}]));
        let hooks = events.iter().map(on).collect::<Map<_, _>>();
        json!({ "hooks": hooks })
    }
}
