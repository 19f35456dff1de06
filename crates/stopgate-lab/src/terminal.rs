//! The real client in a terminal, with somebody at the keys.
//!
//! The terminal is tmux's, on a socket of its own: what a person would type is sent as keys, and
//! what they would see is read from the screen. Waits end when the screen shows what is waited
//! for, or fail at a deadline.

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use serde_json::json;

use crate::door;
use crate::error::LabError;
use crate::pinned::LabAgent;
use crate::runner::DUMMY_KEY;
use crate::stage::{Lab, finish};

const DEADLINE: Duration = Duration::from_mins(1);
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// A client in a terminal; gone when dropped.
pub struct Terminal {
    socket: PathBuf,
}

impl Terminal {
    /// Starts the client of `stage` in a terminal and waits for its prompt.
    pub(crate) fn open(stage: &Lab, socket: PathBuf) -> Result<Self, LabError> {
        settle_in(stage)?;
        let terminal = Self { socket };
        let client = stage.client();
        let mut command = stage.command("tmux");
        command.envs(stage.client_environment(client, &stage.model().url()));
        command.arg("-S").arg(&terminal.socket);
        command.args([
            "-f",
            "/dev/null",
            "new-session",
            "-d",
            "-s",
            "lab",
            "-x",
            "160",
            "-y",
            "48",
        ]);
        expect(command.arg(client.path()))?;
        terminal.wait_for("❯")?;
        Ok(terminal)
    }

    /// Types a command after `!`, as a person does, and sends it.
    pub fn bang(&self, command: &str) -> Result<(), LabError> {
        self.keys(&["!"])?;
        // The prompt's sign changes when the client is in the mode for commands.
        self.wait_for("!")?;
        self.keys(&["-l", command])?;
        self.wait_for(command.split_whitespace().next_back().unwrap_or(command))?;
        self.keys(&["Enter"])
    }

    /// Types a prompt, as a person does, and sends it.
    pub fn say(&self, prompt: &str) -> Result<(), LabError> {
        self.keys(&["-l", prompt])?;
        self.wait_for(prompt.split_whitespace().next_back().unwrap_or(prompt))?;
        self.keys(&["Enter"])
    }

    /// Waits until the screen shows `text`; what it shows then.
    pub fn wait_for(&self, text: &str) -> Result<String, LabError> {
        let until = door::now() + DEADLINE;
        loop {
            let screen = self.screen()?;
            if screen.contains(text) {
                return Ok(screen);
            }
            if door::now() > until {
                let program = format!("the client, waited for to show {text:?}");
                return Err(LabError::Refused { program, said: screen });
            }
            std::thread::sleep(LOOK_EVERY);
        }
    }

    fn screen(&self) -> Result<String, LabError> {
        expect(self.tmux().args(["capture-pane", "-p", "-t", "lab"]))
    }

    fn keys(&self, keys: &[&str]) -> Result<(), LabError> {
        let (flags, keys): (Vec<&str>, Vec<&str>) = keys.iter().partition(|key| **key == "-l");
        let mut command = self.tmux();
        command.arg("send-keys").args(flags).args(["-t", "lab"]).args(keys);
        expect(&mut command).map(drop)
    }

    fn tmux(&self) -> Command {
        let mut command = door::command("tmux");
        command.arg("-S").arg(&self.socket);
        command
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // A terminal that is gone already needs no end.
        let _ = self.tmux().arg("kill-server").output();
    }
}

fn expect(command: &mut Command) -> Result<String, LabError> {
    let reply = finish(command)?;
    if reply.code == 0 {
        return Ok(reply.stdout);
    }
    Err(LabError::Refused { program: "tmux".into(), said: reply.stderr })
}

/// Answers beforehand what the client asks a person who starts it for the first time.
fn settle_in(stage: &Lab) -> Result<(), LabError> {
    let project = stage.project();
    let project = project.canonicalize().unwrap_or(project);
    let trusted = json!({ "hasTrustDialogAccepted": true, "hasCompletedProjectOnboarding": true });
    let known = json!({
        "hasCompletedOnboarding": true,
        "lastOnboardingVersion": LabAgent::Claude.version(),
        "theme": "dark",
        "customApiKeyResponses": { "approved": [DUMMY_KEY], "rejected": [] },
        "projects": { project.display().to_string(): trusted },
    });
    let path = stage.home().join(".claude.json");
    fs::write(&path, known.to_string()).map_err(LabError::file("write", &path))
}
