//! Programs of other systems under an emulator: a loop is held, proven and cancelled, a check that
//! hangs is ended, and hooks are installed.

mod system;

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::TrialRow;
use super::room::{TrialRoom, start_up};
pub(super) use system::GuestSystem;

/// After this a check that was not ended has left its file.
const LATE: Duration = Duration::from_secs(7);

/// Uses the program in `archive` as a person and a client would.
pub(super) fn by_emulator(system: GuestSystem, archive: &Path) -> Result<TrialRow> {
    let room = TrialRoom::new(system.tools())?;
    fs::create_dir(room.path("project"))?;
    let program = system.unpack(&room, archive)?;
    let guest = Guest { system, room: &room, program: &program };
    // An emulator may have to set itself up first.
    guest.run(&["--version"])?;
    let begun = Instant::now();
    guest.prove()?;
    guest.cancel()?;
    guest.hang()?;
    guest.install()?;
    guest.plugin()?;
    let spent = begun.elapsed();
    let start_up = start_up(|| guest.command(&["--version"]))?;
    let fetched = fs::metadata(archive)?.len();
    Ok(TrialRow { way: system.way(), fetched, first_value: spent, start_up })
}

/// A program that runs under the emulator.
struct Guest<'a> {
    system: GuestSystem,
    room: &'a TrialRoom,
    program: &'a Path,
}

impl Guest<'_> {
    /// Held until the check passes, then done.
    fn prove(&self) -> Result<()> {
        let check = format!("made={}", self.system.made_check());
        let check = ["--check", &check, "--no-preflight"];
        let begun = self.run(
            &[&["start", "make it", "--session", "s1", "--json"], check.as_slice()].concat(),
        )?;
        let begun: Value = serde_json::from_str(&begun)?;
        let id = begun["loop"]["id"].as_str().context("find the loop's id")?;
        let held = self.stop("s1")?;
        ensure!(held.contains("Loop 1/"), "hold the agent: {held}");
        ensure!(self.loop_of(id)?["iteration"] == 1, "count the stop");
        fs::write(self.room.path("project/made.txt"), "")?;
        let released = self.stop("s1")?;
        ensure!(!released.contains("\"decision\""), "let the agent go: {released}");
        ensure!(self.loop_of(id)?["outcome"] == "done", "end as done: {}", self.loop_of(id)?);
        Ok(())
    }

    /// What is cancelled lets the agent go.
    fn cancel(&self) -> Result<()> {
        self.run(&["start", "more", "--session", "s1", "--criterion", "never"])?;
        let held = self.stop("s1")?;
        ensure!(held.contains("\"decision\""), "hold the agent: {held}");
        self.run(&["cancel"])?;
        let free = self.stop("s1")?;
        ensure!(!free.contains("\"decision\""), "stay cancelled: {free}");
        Ok(())
    }

    /// A check that hangs is ended, with what it started.
    fn hang(&self) -> Result<()> {
        let Some(line) = self.system.late_check(self.room)? else { return Ok(()) };
        let check = format!("late={line}");
        let start = ["start", "hang", "--session", "s2", "--check-timeout", "1s"];
        self.run(&[&start[..], &["--no-preflight", "--check", &check]].concat())?;
        let begun = Instant::now();
        let held = self.stop("s2")?;
        ensure!(held.contains("1 s"), "say that the check took too long: {held}");
        self.run(&["cancel"])?;
        std::thread::sleep(LATE.saturating_sub(begun.elapsed()));
        ensure!(!self.room.path("project/late.txt").exists(), "end the check: it went on");
        Ok(())
    }

    /// Hooks come into the client's settings, and go.
    fn install(&self) -> Result<()> {
        let settings = self.system.home(self.room)?.join(".claude/settings.json");
        self.run(&["install", "claude"])?;
        let text = fs::read_to_string(&settings).context("read the client's settings")?;
        ensure!(text.contains("stopgate") && text.contains("Stop"), "install hooks: {text}");
        self.run(&["uninstall", "claude"])?;
        let left = fs::read_to_string(&settings).unwrap_or_default();
        ensure!(!left.contains("stopgate"), "remove hooks: {left}");
        Ok(())
    }

    /// A plugin's line finds the program on the PATH, itself or by the starter that npm writes.
    fn plugin(&self) -> Result<()> {
        for place in self.system.places_on_path(self.room, self.program)? {
            self.run(&["start", "plug", "--session", "s3", "--criterion", "never"])?;
            let held = self.answer(self.system.plugin_command(self.room, &place)?, "s3")?;
            ensure!(held.contains("\"decision\""), "hold by {}: {held}", place.display());
            self.run(&["cancel"])?;
        }
        Ok(())
    }

    fn loop_of(&self, id: &str) -> Result<Value> {
        let mut status: Value = serde_json::from_str(&self.run(&["status", id, "--json"])?)?;
        Ok(status["loop"].take())
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = self.room.command(self.system.emulator());
        self.system.surround(&mut command, self.room);
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
    fn stop(&self, session: &str) -> Result<String> {
        self.answer(self.command(&["hook", "claude"]), session)
    }

    fn answer(&self, mut hook: Command, session: &str) -> Result<String> {
        let payload = json!({
            "session_id": session,
            "cwd": self.system.seen(&self.room.path("project")),
            "hook_event_name": "Stop",
            "stop_hook_active": false,
            "last_assistant_message": "It is done.",
        });
        let mut hook = hook.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let mut input = hook.stdin.take().context("write to the hook")?;
        input.write_all(payload.to_string().as_bytes())?;
        drop(input);
        let said = hook.wait_with_output()?;
        ensure!(said.status.success(), "run the hook: {}", said.status);
        Ok(String::from_utf8_lossy(&said.stdout).into_owned())
    }
}
