//! Commands that gates and rules ask: JSON in, JSON out, with the proof's discipline.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use stopgate_core::{LoopId, Status, fenced};
use stopgate_gates::{CommandGate, Hands};
use stopgate_verify::{
    Check, CheckCommand, ChecksRun, CompiledPython, OutputWanted, Run, RunLimits, Strangers,
};

use crate::context::Context;
use crate::failure::Failure;

/// How much a command may answer.
const ANSWER_BYTES_MAX: usize = 256 * 1024;
const TAIL_BYTES_MAX: usize = 480;

/// Hands that run commands for the gates of one task.
pub(crate) struct GateHands<'a> {
    pub(crate) context: &'a mut Context,
    pub(crate) id: LoopId,
    pub(crate) directory: PathBuf,
    /// Whether somebody ended a command before it could answer.
    ended: bool,
}

impl Hands for GateHands<'_> {
    fn ask(&mut self, gate: &CommandGate, context: &str) -> Result<String, String> {
        let timeout = Duration::from_millis(gate.timeout_ms);
        self.tell(&gate.command, context, timeout)
    }

    fn micros(&mut self) -> u64 {
        self.context.world.micros()
    }
}

impl<'a> GateHands<'a> {
    /// Hands that work in `directory` for the loop called `id`.
    pub(crate) fn new(context: &'a mut Context, id: LoopId, directory: PathBuf) -> Self {
        Self { context, id, directory, ended: false }
    }

    /// `found`, unless a command was ended: then it says nothing about the work.
    pub(crate) fn unless_ended<T>(&self, found: T) -> Result<T, Failure> {
        if !self.ended {
            return Ok(found);
        }
        let hint = "nothing was stored; call again to have the commands run";
        Err(Failure::fault("the commands were ended before they could answer").hint(hint))
    }

    /// Runs a command with `told` on its standard input; what it answered.
    pub(crate) fn tell(
        &mut self,
        command: &str,
        told: &str,
        timeout: Duration,
    ) -> Result<String, String> {
        let logs = self.context.home.check_logs(&self.id);
        let name = self.context.world.new_id();
        let input = logs.join(format!("gate-{name}.json"));
        write(&input, told).map_err(|error| format!("could not hand over the context: {error}"))?;
        let line = format!("( {command}\n) < {}", quoted(&input));
        let check = Check {
            timeout,
            whole: OutputWanted::Text { bytes_max: ANSWER_BYTES_MAX },
            ..Check::new(
                "gate",
                CheckCommand::Shell(&line),
                self.directory.clone(),
                logs.join("gate.log"),
            )
        };
        let ran = self.run(&[check], timeout);
        let _ = fs::remove_file(&input);
        let run = ran?.pop().ok_or("the command was not run")?;
        answer(&run)
    }

    /// Runs commands of a task.
    pub(crate) fn run(
        &mut self,
        checks: &[Check<'_>],
        budget: Duration,
    ) -> Result<Vec<Run>, String> {
        let pass = self.context.passed_variables();
        // The server has children of its own, so it ends only those that carry a mark.
        let limits = RunLimits {
            budget,
            jobs: 2,
            pass: &pass,
            strangers: Strangers::Spare,
            compiled: CompiledPython::Anew,
        };
        match self.context.world.run(checks, limits) {
            ChecksRun::Runs(runs) => Ok(runs),
            ChecksRun::Interrupted => {
                self.ended = true;
                Err("it was ended".into())
            }
        }
    }
}

fn answer(run: &Run) -> Result<String, String> {
    let receipt = &run.receipt;
    let tail = || match fenced(&receipt.tail, TAIL_BYTES_MAX) {
        tail if tail.is_empty() => tail,
        tail => format!(":\n{}", tail.trim_end()),
    };
    match receipt.status {
        Status::Pass => {}
        Status::Timeout => return Err(format!("no answer in time ({} ms)", receipt.duration_ms)),
        _other => {
            let what = receipt.trouble.clone().unwrap_or_else(|| match receipt.exit_code {
                Some(code) => format!("the command ended with code {code}"),
                None => "the command failed".into(),
            });
            return Err(format!("{what}{}", tail()));
        }
    }
    let bytes = run.text.as_deref().unwrap_or_default();
    let text = String::from_utf8_lossy(bytes);
    // What it said beside its answer comes before it: the answer is all, or the last line.
    let text = text.trim();
    let whole = serde_json::from_str::<serde_json::Value>(text).is_ok();
    let said = if whole { text } else { text.lines().last().unwrap_or_default() };
    Ok(said.to_string())
}

fn write(path: &Path, text: &str) -> std::io::Result<()> {
    stopgate_verify::files::create_private(path, text.as_bytes())
}

/// A path as one word of the shell.
fn quoted(path: &Path) -> String {
    format!("'{}'", path.display().to_string().replace('\'', "'\\''"))
}
