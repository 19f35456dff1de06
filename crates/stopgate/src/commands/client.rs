//! Claude Code, played: a throwaway project, and programs started as the client does.
//!
//! Nothing of a person's is touched: stopgate's home is a temporary directory, and what the
//! surrounding shell says about clients and loops does not reach the programs.

mod answer;

pub(crate) mod door;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use stopgate_agents::settings::{CAP_VARIABLE, EntryCommand as HookCommand};
use stopgate_agents::{Agent, StopSample};
use stopgate_engine::Failure;
use stopgate_system::CanonicalPath;
use tempfile::TempDir;

pub(crate) use self::answer::ClientReading;
pub(crate) use self::door::{ProgramOutput, ProgramTrouble};

#[cfg(test)]
mod tests;

/// A client as it was seen, and a version that accepts every form of answer.
const AI_AGENT: &str = "claude-code_2-1-325_harness";

/// A throwaway project with a throwaway home.
pub(crate) struct ThrowawayProject {
    directory: TempDir,
    household: Household,
}

/// Whose home directory programs see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Household {
    /// The person's, as the client's hooks do.
    Real,
    /// An empty one.
    Empty,
}

/// One stop of a played session.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PlayedStop<'a> {
    /// The session.
    pub(crate) session: PlayedSession,
    /// What the agent said last.
    pub(crate) words: &'a str,
    /// Whether the turn was held before.
    pub(crate) continued: Continued,
}

/// One session of the played client.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PlayedSession {
    /// Its name.
    pub(crate) id: &'static str,
}

impl ThrowawayProject {
    /// A new one; it goes when it is dropped.
    pub(crate) fn new(household: Household) -> Result<Self, Failure> {
        let trouble = |error| {
            Failure::fault("could not make a temporary directory")
                .hint("set TMPDIR to a directory that you may write to")
                .because(error)
        };
        door::note_interrupts();
        let directory = tempfile::Builder::new().prefix("stopgate-").tempdir().map_err(trouble)?;
        for name in ["project", "home", "person"] {
            std::fs::create_dir(directory.path().join(name)).map_err(trouble)?;
        }
        // A project's root ends the search for one, whatever lies above the temporary directory.
        std::fs::create_dir(directory.path().join("project/.git")).map_err(trouble)?;
        Ok(Self { directory, household })
    }

    /// Removes everything, and says so where that fails.
    pub(crate) fn close(self) -> Result<(), Failure> {
        let path = self.directory.path().to_path_buf();
        self.directory.close().map_err(|error| {
            Failure::fault(format!("could not remove {}", path.display())).because(error)
        })
    }

    /// The project's directory.
    pub(crate) fn project(&self) -> PathBuf {
        let project = self.directory.path().join("project");
        project.canonical().unwrap_or(project)
    }

    /// Puts a file into the project.
    pub(crate) fn write(&self, path: &str, text: &str) -> Result<(), Failure> {
        let file = self.project().join(path);
        let directory = file.parent().map_or(Ok(()), std::fs::create_dir_all);
        directory.and_then(|()| std::fs::write(&file, text)).map_err(|error| {
            Failure::fault(format!("could not write {}", file.display())).because(error)
        })
    }

    /// Runs a command as a person would type it in the project.
    pub(crate) fn person(
        &self,
        program: &Path,
        arguments: &[&str],
    ) -> Result<ProgramOutput, ProgramTrouble> {
        let mut command = self.command(program.as_os_str());
        command.args(arguments);
        door::run(command, String::new())
    }

    /// Runs a hook as the client does, with this payload.
    pub(crate) fn hook(
        &self,
        hook: &HookCommand,
        session: PlayedSession,
        payload: &Value,
    ) -> Result<ProgramOutput, ProgramTrouble> {
        let mut command = self.started(hook);
        command
            .env("AI_AGENT", AI_AGENT)
            .env("CLAUDECODE", "1")
            .env("CLAUDE_PID", std::process::id().to_string())
            .env("CLAUDE_EFFORT", "medium")
            .env("CLAUDE_PROJECT_DIR", self.project())
            .env("CLAUDE_CODE_SESSION_ID", session.id)
            .env("CLAUDE_CODE_CHILD_SESSION", "1")
            .env("CLAUDE_CODE_ENTRYPOINT", "cli")
            .env("CLAUDE_CODE_SESSION_ATTENDED", "1")
            .env(CAP_VARIABLE, "0");
        door::run(command, format!("{payload}\n"))
    }

    /// Runs a hook as the client of `agent` does at a stop after these last words.
    pub(crate) fn stop_of(
        &self,
        agent: Agent,
        hook: &HookCommand,
        stop: &PlayedStop<'_>,
    ) -> Result<ProgramOutput, ProgramTrouble> {
        let transcript = self.directory.path().join(format!("{}.jsonl", stop.session.id));
        // A transcript that can't be written is one that the hook can't read.
        let _ = std::fs::write(&transcript, agent.transcript_sample(stop.words));
        let (project, transcript) = (self.project(), transcript.display().to_string());
        let payload = agent.stop_payload(&StopSample {
            session: stop.session.id,
            cwd: &project.display().to_string(),
            transcript: &transcript,
            message: stop.words,
            continued: stop.continued == Continued::Before,
        });
        let mut command = self.started(hook);
        let variables = agent.variables();
        command.envs(variables.marks.iter().map(|mark| (mark, "1")));
        command.envs(variables.session.map(|name| (name, stop.session.id)));
        command.envs(variables.project.map(|name| (name, &project)));
        command.envs(variables.version.map(|name| (name, AI_AGENT)));
        command
            .envs(variables.cap.map(|name| (name, if agent.has_switches() { "0" } else { "100" })));
        door::run(command, payload.to_string())
    }

    /// The program of a hook, about to be started as its entry says.
    fn started(&self, hook: &HookCommand) -> Command {
        match hook {
            HookCommand::Exec(argv) => {
                let mut words = argv.iter();
                let mut command = self.command(OsStr::new(words.next().map_or("", |w| w.as_str())));
                command.args(words);
                command
            }
            HookCommand::Shell(line) => {
                let mut command = self.command(OsStr::new("/bin/sh"));
                command.arg("-c").arg(line);
                command
            }
        }
    }

    fn command(&self, program: &OsStr) -> Command {
        let mut command = door::command(program);
        for (name, _) in stopgate_engine::variables().filter(|(name, _)| is_about_clients(name)) {
            command.env_remove(name);
        }
        let home = self.directory.path().join("home");
        // The person's own settings may name a journal that others share.
        command.env("STOPGATE_STORE", format!("sqlite:{}", home.join("journal.db").display()));
        command.env("STOPGATE_HOME", home);
        if self.household == Household::Empty {
            command.env("HOME", self.directory.path().join("person"));
        }
        command.current_dir(self.project());
        command
    }
}

impl PlayedSession {
    /// The agent is about to stop, after these last words.
    pub(crate) fn stops(
        self,
        stage: &ThrowawayProject,
        words: &str,
        continued: Continued,
    ) -> Value {
        let mut payload = self.payload(stage, "Stop");
        payload["stop_hook_active"] = json!(continued == Continued::Before);
        payload["last_assistant_message"] = json!(words);
        payload["background_tasks"] = json!([]);
        payload["session_crons"] = json!([]);
        payload
    }

    /// The session begins.
    pub(crate) fn begins(self, stage: &ThrowawayProject) -> Value {
        let mut payload = self.payload(stage, "SessionStart");
        payload["source"] = json!("startup");
        payload
    }

    /// The session ends.
    pub(crate) fn ends(self, stage: &ThrowawayProject) -> Value {
        let mut payload = self.payload(stage, "SessionEnd");
        payload["reason"] = json!("prompt_input_exit");
        payload
    }

    /// The agent used a tool: it wrote this file.
    pub(crate) fn wrote(self, stage: &ThrowawayProject, path: &Path, content: &str) -> Value {
        let mut payload = self.payload(stage, "PostToolBatch");
        payload["tool_calls"] = json!([{
            "tool_name": "Write",
            "tool_input": {"file_path": path, "content": content},
            "tool_use_id": "toolu_0123456789abcdef01234567",
            "tool_response": "File created successfully",
        }]);
        payload
    }

    fn payload(self, stage: &ThrowawayProject, event: &str) -> Value {
        let transcript = stage.directory.path().join(format!("{}.jsonl", self.id));
        json!({
            "session_id": self.id,
            "transcript_path": transcript,
            "cwd": stage.project(),
            "prompt_id": "312ebcaf-0000-4000-8000-000000000000",
            "permission_mode": "default",
            "effort": {"level": "medium"},
            "hook_event_name": event,
        })
    }
}

/// Whether the turn was held before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Continued {
    /// It was.
    Before,
    /// This is its first stop.
    Never,
}

/// Whether a variable would tell the programs about another client, loop or switch.
fn is_about_clients(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    // Tests hold the clock and the names of loops still.
    if name.starts_with("STOPGATE_TEST_") {
        return false;
    }
    let prefixes = ["CLAUDE", "AI_AGENT", "STOPGATE_", "IDLE_LOOP_", "RALPH_LOOP_"];
    let is_of = |agent: Agent| {
        let variables = agent.variables();
        let others = [variables.session, variables.project, variables.cap].into_iter().flatten();
        variables.marks.iter().copied().chain(others).any(|variable| variable == name)
    };
    prefixes.iter().any(|prefix| name.starts_with(prefix)) || Agent::ALL.into_iter().any(is_of)
}
