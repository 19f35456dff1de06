//! The arm64 program under an emulator: a loop is held, proven and cancelled.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::TrialRow;
use super::room::TrialRoom;
use crate::tools;

/// The emulator's name, as Debian has it.
pub(super) const EMULATOR: &str = "qemu-aarch64";

/// Holds, proves and cancels with the program in `archive`.
pub(super) fn by_emulator(archive: &Path) -> Result<TrialRow> {
    let room = TrialRoom::new(&[EMULATOR, "test", "git"])?;
    let place = room.path("program");
    fs::create_dir(&place)?;
    fs::create_dir(room.path("project"))?;
    let mut tar = Command::new("tar");
    tools::run(
        tar.arg("-xzf").arg(archive).arg("-C").arg(&place).args(["--strip-components", "1"]),
    )?;
    let program = place.join("stopgate");
    let program = program.to_str().context("read the program's path")?;
    let guest = Guest { room: &room, program };
    let begun = Instant::now();
    guest.story()?;
    let fetched = fs::metadata(archive)?.len();
    room.row("arm64, emulated", fetched, begun, &room.path("bin").join(EMULATOR), &[program])
}

/// A program that runs under the emulator.
struct Guest<'a> {
    room: &'a TrialRoom,
    program: &'a str,
}

impl Guest<'_> {
    fn story(&self) -> Result<()> {
        let check = ["--check", "made=test -f made.txt", "--no-preflight"];
        let begun = self.run(
            &[&["start", "make it", "--session", "s1", "--json"], check.as_slice()].concat(),
        )?;
        let begun: Value = serde_json::from_str(&begun)?;
        let id = begun["loop"]["id"].as_str().context("find the loop's id")?;
        let held = self.stop()?;
        ensure!(held.contains("Loop 1/"), "hold the agent: {held}");
        ensure!(self.loop_of(id)?["iteration"] == 1, "count the stop");
        fs::write(self.room.path("project/made.txt"), "")?;
        let released = self.stop()?;
        ensure!(!released.contains("\"decision\""), "let the agent go: {released}");
        ensure!(self.loop_of(id)?["outcome"] == "done", "end as done: {}", self.loop_of(id)?);
        self.run(&["start", "more", "--session", "s1", "--criterion", "never"])?;
        self.run(&["cancel"])?;
        let free = self.stop()?;
        ensure!(!free.contains("\"decision\""), "stay cancelled: {free}");
        Ok(())
    }

    fn loop_of(&self, id: &str) -> Result<Value> {
        let mut status: Value = serde_json::from_str(&self.run(&["status", id, "--json"])?)?;
        Ok(status["loop"].take())
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = self.room.command(EMULATOR);
        command.arg(self.program).args(words).stdout(Stdio::piped());
        command.current_dir(self.room.path("project"));
        command
    }

    fn run(&self, words: &[&str]) -> Result<String> {
        let said = self.command(words).stderr(Stdio::piped()).output()?;
        let error = String::from_utf8_lossy(&said.stderr);
        ensure!(said.status.success(), "run {words:?}: {error}");
        Ok(String::from_utf8_lossy(&said.stdout).into_owned())
    }

    /// What the hook answers to a stop.
    fn stop(&self) -> Result<String> {
        let payload = json!({
            "session_id": "s1",
            "cwd": self.room.path("project"),
            "hook_event_name": "Stop",
            "stop_hook_active": false,
            "last_assistant_message": "It is done.",
        });
        let mut hook = self.command(&["hook", "claude"]).stdin(Stdio::piped()).spawn()?;
        let mut input = hook.stdin.take().context("write to the hook")?;
        input.write_all(payload.to_string().as_bytes())?;
        drop(input);
        let said = hook.wait_with_output()?;
        ensure!(said.status.success(), "run the hook: {}", said.status);
        Ok(String::from_utf8_lossy(&said.stdout).into_owned())
    }
}
