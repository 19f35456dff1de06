//! A home with a project, and two programs that share it.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use tempfile::TempDir;

/// Where both programs are used.
pub(super) struct UpgradeStage {
    root: TempDir,
    earlier: PathBuf,
    next: PathBuf,
}

impl UpgradeStage {
    /// An empty home and project.
    pub(super) fn new(earlier: &Path, next: &Path) -> Result<Self> {
        let root = tempfile::Builder::new().prefix("stopgate-upgrade-").tempdir()?;
        for directory in ["home", "project"] {
            fs::create_dir(root.path().join(directory))?;
        }
        Ok(Self { root, earlier: fs::canonicalize(earlier)?, next: fs::canonicalize(next)? })
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    /// What the earlier program says.
    pub(super) fn earlier(&self, words: &[&str]) -> Result<String> {
        self.run(&self.earlier, words)
    }

    /// What the next program says.
    pub(super) fn next(&self, words: &[&str]) -> Result<String> {
        self.run(&self.next, words)
    }

    /// Whether the earlier program can read a loop.
    pub(super) fn understands_earlier(&self, id: &str) -> bool {
        self.earlier(&["status", id, "--json"]).is_ok()
    }

    /// Begins a loop with the earlier program; gives its id.
    pub(super) fn start_earlier(&self, session: &str, check: &str) -> Result<String> {
        let check = format!("check={check}");
        let words = ["start", session, "--session", session, "--json", "--check", &check];
        let started: Value = serde_json::from_str(&self.earlier(&words)?)?;
        Ok(started["loop"]["id"].as_str().context("find the loop's id")?.to_owned())
    }

    /// The loop as the next program sees it, without what grows by itself.
    pub(super) fn loop_of(&self, id: &str) -> Result<Value> {
        let mut status: Value = serde_json::from_str(&self.next(&["status", id, "--json"])?)?;
        let mut shown = status["loop"].take();
        if let Some(members) = shown.as_object_mut() {
            members.remove("progress_age_ms");
        }
        Ok(shown)
    }

    /// Ends the process that watches for parked loops: nobody else would.
    pub(super) fn end_background(&self) {
        for program in [&self.next, &self.earlier] {
            let _ = self.run(program, &["daemon", "--stop"]);
        }
    }

    /// What the earlier program's hook answers to a stop.
    pub(super) fn stop_earlier(&self, session: &str) -> Result<Value> {
        self.stop(&self.earlier, session)
    }

    /// What the next program's hook answers to a stop.
    pub(super) fn stop_next(&self, session: &str) -> Result<Value> {
        self.stop(&self.next, session)
    }

    /// Makes the journal one of a format that is not known yet.
    pub(super) fn raise_format(&self) -> Result<()> {
        let journal = self.path("home/.local/state/stopgate/journal.db");
        let journal = rusqlite::Connection::open(journal)?;
        let format: i64 = journal.query_row("PRAGMA user_version", [], |row| row.get(0))?;
        Ok(journal.pragma_update(None, "user_version", format + 1)?)
    }

    fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.env_clear().env("HOME", self.path("home")).env("PATH", "/usr/bin:/bin");
        command.current_dir(self.path("project")).stdout(Stdio::piped());
        command
    }

    fn run(&self, program: &Path, words: &[&str]) -> Result<String> {
        let said = self.command(program).args(words).stderr(Stdio::piped()).output()?;
        let error = String::from_utf8_lossy(&said.stderr);
        ensure!(said.status.success(), "run {} {words:?}: {error}", program.display());
        Ok(String::from_utf8_lossy(&said.stdout).into_owned())
    }

    fn stop(&self, program: &Path, session: &str) -> Result<Value> {
        let payload = json!({
            "session_id": session,
            "cwd": self.path("project"),
            "hook_event_name": "Stop",
            "stop_hook_active": false,
            "last_assistant_message": "It is done.",
        });
        let mut hook = self.command(program);
        let mut hook = hook.args(["hook", "claude"]).stdin(Stdio::piped()).spawn()?;
        let mut input = hook.stdin.take().context("write to the hook")?;
        input.write_all(payload.to_string().as_bytes())?;
        drop(input);
        let said = hook.wait_with_output()?;
        ensure!(said.status.success(), "run the hook: {}", said.status);
        let text = said.stdout.trim_ascii();
        if text.is_empty() {
            return Ok(Value::Null);
        }
        serde_json::from_slice(text).context("read the hook's answer")
    }
}

/// Whether the agent is sent back.
pub(super) fn blocks(answer: &Value) -> bool {
    answer["decision"] == "block"
}

/// What the client shows to the person.
pub(super) fn message(answer: &Value) -> String {
    answer["systemMessage"].as_str().unwrap_or_default().to_owned()
}
