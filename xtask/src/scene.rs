//! A machine in small: a home, a project, loops, and the calls that an agent makes.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use stopgate_store::Stored;
use tempfile::TempDir;

use crate::engines::place;
use crate::{journal, tools, transcript};

/// Options of a loop that no brake ends while it is measured.
pub(crate) const ENDLESS: [&str; 4] = ["--max-idle", "0", "--max-iterations", "1000000"];

/// How many variables an agent hands down beside those that matter here.
pub(crate) const OTHER_VARIABLES: usize = 28;

/// One machine, gone when dropped.
#[derive(Debug)]
pub(crate) struct Scene {
    directory: TempDir,
    /// The program under test.
    pub(crate) program: PathBuf,
    /// Variables that every call gets, such as the store's address.
    pub(crate) variables: Vec<(&'static str, String)>,
}

/// One program to be called, always in the same way.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    /// The program and its arguments.
    pub(crate) line: Vec<PathBuf>,
    /// Where stopgate keeps its things.
    pub(crate) home: PathBuf,
    /// The directory it is called in.
    pub(crate) project: PathBuf,
    /// What it is given on standard input.
    pub(crate) payload: PathBuf,
    /// Variables of its own, such as the store's address.
    pub(crate) variables: Vec<(&'static str, String)>,
    /// How many variables it gets beside those that matter.
    pub(crate) other_variables: usize,
}

/// What came of a call.
#[derive(Debug)]
pub(crate) struct Ran {
    /// What it printed.
    pub(crate) stdout: Vec<u8>,
    /// How it ended.
    pub(crate) status: ExitStatus,
    /// How long it took, from before the start until it was gone.
    pub(crate) took: Duration,
}

/// What a hook said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Said {
    /// Nothing: the agent may stop.
    Nothing,
    /// A valid refusal.
    Continue,
    /// That the loop ended.
    Farewell,
    /// That the agent may stop, with a word to the person; the loop did not end.
    Warning,
    /// Something else.
    Nonsense(String),
}

impl Scene {
    /// An empty machine with the released program.
    pub(crate) fn new() -> Result<Self> {
        Self::of(tools::program()?)
    }

    /// An empty machine with `program`.
    pub(crate) fn of(program: PathBuf) -> Result<Self> {
        // A path of the same length on every machine: its bytes are among the counted instructions.
        let directory = tempfile::Builder::new().prefix("stopgate-chore-").tempdir_in("/tmp")?;
        fs::create_dir_all(directory.path().join("project/.git"))?;
        Ok(Self { directory, program, variables: Vec::new() })
    }

    /// An empty machine with the released program, whose store is at this address.
    pub(crate) fn on(store: &str) -> Result<Self> {
        let mut scene = Self::new()?;
        scene.variables.push(("STOPGATE_STORE", store.into()));
        Ok(scene)
    }

    /// Copies the program into the machine, as an installer does, and calls that one from now on.
    pub(crate) fn installed(mut self) -> Result<Self> {
        self.program = self.install(&self.program)?;
        Ok(self)
    }

    /// Copies a program into the machine, once.
    ///
    /// The pages of a fresh copy are in memory, in large pieces. Those of a file that was read
    /// back after a shortage of memory are not, and a call of it takes a quarter longer. And the
    /// name has the same length on every machine: a process looks at it when it starts.
    pub(crate) fn install(&self, program: &Path) -> Result<PathBuf> {
        let to = self.path(&program.file_name().unwrap_or_default().to_string_lossy());
        if !to.exists() {
            fs::copy(program, &to).with_context(|| format!("copy {}", program.display()))?;
        }
        Ok(to)
    }

    /// A path in the machine.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Where stopgate keeps its things.
    pub(crate) fn home(&self) -> PathBuf {
        self.path("home")
    }

    /// The agent's directory.
    pub(crate) fn project(&self) -> PathBuf {
        self.path("project")
    }

    /// Runs a command of the program; gives what it printed.
    pub(crate) fn command(&self, arguments: &[&str]) -> Result<Ran> {
        self.call(arguments).run()
    }

    /// A call of the program without a payload.
    pub(crate) fn call(&self, arguments: &[&str]) -> Call {
        let mut line = vec![self.program.clone()];
        line.extend(arguments.iter().map(PathBuf::from));
        let payload = PathBuf::from("/dev/null");
        let (home, project) = (self.home(), self.project());
        let variables = self.variables.clone();
        Call { line, home, project, payload, variables, other_variables: OTHER_VARIABLES }
    }

    /// Begins a loop that holds `session`.
    pub(crate) fn start(&self, session: &str, options: &[&str]) -> Result<()> {
        let mut arguments = vec!["start", "migrate the tests", "--session", session];
        arguments.extend(options);
        let ran = self.command(&arguments)?;
        if !ran.status.success() {
            bail!("begin a loop: {}", ran.status);
        }
        Ok(())
    }

    /// The one loop's view, as `status --json` gives it.
    pub(crate) fn status(&self, session: &str) -> Result<Value> {
        let ran = self.command(&["status", "--json", "--session", session])?;
        let view: Value = serde_json::from_slice(&ran.stdout)
            .with_context(|| format!("read the status: {}", ran.status))?;
        Ok(view["loop"].clone())
    }

    /// A hook call with the payload of `event`, its last message included.
    pub(crate) fn hook(&self, session: &str, event: &str) -> Result<Call> {
        let transcript = self.path("transcript.jsonl");
        if !transcript.exists() {
            transcript::write(&transcript, 100 * 1024)?;
        }
        let mut payload = self.payload(session, event, &transcript);
        payload["last_assistant_message"] = json!(transcript::MESSAGE);
        self.hook_with(&format!("{session}-{event}"), &payload)
    }

    /// A stop as short as they come, with hardly a variable in its environment.
    pub(crate) fn shortest_stop(&self, session: &str) -> Result<Call> {
        let mut payload = self.payload(session, "Stop", &self.path("transcript.jsonl"));
        payload["last_assistant_message"] = json!("first answer");
        let mut call = self.hook_with(&format!("{session}-shortest"), &payload)?;
        call.other_variables = 0;
        Ok(call)
    }

    /// A stop whose payload has no message: it is read from `transcript`.
    pub(crate) fn stop_by_transcript(&self, session: &str, transcript: &Path) -> Result<Call> {
        let payload = self.payload(session, "Stop", transcript);
        self.hook_with(&format!("{session}-by-transcript"), &payload)
    }

    /// A stop whose payload has the message and names `transcript`.
    pub(crate) fn stop_beside(&self, session: &str, transcript: &Path) -> Result<Call> {
        let mut payload = self.payload(session, "Stop", transcript);
        payload["last_assistant_message"] = json!(transcript::MESSAGE);
        self.hook_with(&format!("{session}-beside"), &payload)
    }

    /// A hook call with this payload.
    pub(crate) fn hook_with(&self, name: &str, payload: &Value) -> Result<Call> {
        let path = self.path(&format!("{name}.json"));
        fs::write(&path, payload.to_string())?;
        let mut call = self.call(&["hook", "claude"]);
        call.payload = path;
        Ok(call)
    }

    /// What the client sends, without the last message.
    pub(crate) fn payload(&self, session: &str, event: &str, transcript: &Path) -> Value {
        json!({"session_id": session, "transcript_path": transcript, "cwd": self.project(),
            "prompt_id": "6f1c2f7e-1c1e-4f0e-9a55-0d4b7d9f5f10", "permission_mode": "default",
            "effort": {"level": "high"}, "hook_event_name": event, "stop_hook_active": true,
            "background_tasks": [], "session_crons": []})
    }

    /// Lines in the log of faults.
    pub(crate) fn faults(&self) -> usize {
        let log = fs::read_to_string(self.home().join("stopgate.log"));
        log.map_or(0, |text| text.lines().count())
    }

    /// The write-ahead log's length.
    pub(crate) fn wal_bytes(&self) -> u64 {
        journal::wal_bytes(&self.home())
    }

    /// Every loop in the store, once the whole of it is proven sound.
    pub(crate) fn inspect(&self) -> Result<Vec<Stored>> {
        match self.variables.iter().find(|(name, _)| *name == "STOPGATE_STORE") {
            Some((_, address)) => place::inspect(address),
            None => journal::inspect(&self.home()),
        }
    }

    /// Keeps the home as it is now, under `name`.
    pub(crate) fn keep(&self, name: &str) -> Result<()> {
        copy(&self.home(), &self.path(name))
    }

    /// Puts back the home that was kept as `name`.
    pub(crate) fn restore(&self, name: &str) -> Result<()> {
        copy(&self.path(name), &self.home())
    }
}

impl Call {
    /// The same, as a shell runs it.
    pub(crate) fn by_shell(&self) -> Self {
        let words: Vec<String> = self.line.iter().map(|w| w.display().to_string()).collect();
        let line = ["sh".into(), "-c".into(), words.join(" ").into()];
        Self { line: line.into(), ..self.clone() }
    }

    /// The same program under `tool`.
    pub(crate) fn under(&self, tool: &[&str]) -> Self {
        let mut line: Vec<PathBuf> = tool.iter().map(PathBuf::from).collect();
        line.extend(self.line.iter().cloned());
        Self { line, ..self.clone() }
    }

    /// The process, not yet started.
    pub(crate) fn process(&self) -> Result<Command> {
        let Some((program, arguments)) = self.line.split_first() else {
            bail!("call nothing");
        };
        let mut command = Command::new(program);
        command.args(arguments).current_dir(&self.project).env_clear();
        command.env("PATH", "/usr/local/bin:/usr/bin:/bin").env("HOME", &self.project);
        for number in 0..self.other_variables {
            command.env(format!("AGENT_SETTING_{number:02}"), "as the agent was started with it");
        }
        command.env("STOPGATE_HOME", &self.home).env("CLAUDE_PROJECT_DIR", &self.project);
        command.env("CLAUDE_CODE_STOP_HOOK_BLOCK_CAP", "0");
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        let payload = File::open(&self.payload)
            .with_context(|| format!("read {}", self.payload.display()))?;
        command.stdin(payload).stdout(Stdio::piped()).stderr(Stdio::null());
        Ok(command)
    }

    /// Starts it.
    pub(crate) fn spawn(&self) -> Result<Child> {
        let mut command = self.process()?;
        command.spawn().with_context(|| format!("start {}", self.line[0].display()))
    }

    /// Runs it to its end.
    pub(crate) fn run(&self) -> Result<Ran> {
        let mut command = self.process()?;
        let begun = Instant::now();
        let mut child = command.spawn().context("start a program")?;
        let mut stdout = Vec::new();
        if let Some(mut pipe) = child.stdout.take() {
            pipe.read_to_end(&mut stdout)?;
        }
        let status = child.wait()?;
        Ok(Ran { stdout, status, took: begun.elapsed() })
    }
}

impl Ran {
    /// What the hook said.
    pub(crate) fn said(&self) -> Said {
        said(&self.stdout)
    }
}

/// Reads what a hook printed.
pub(crate) fn said(stdout: &[u8]) -> Said {
    if stdout.is_empty() {
        return Said::Nothing;
    }
    let nonsense = || Said::Nonsense(String::from_utf8_lossy(stdout).into_owned());
    let Ok(Value::Object(reply)) = serde_json::from_slice::<Value>(stdout) else {
        return nonsense();
    };
    let text = |key: &str| reply.get(key).and_then(Value::as_str).unwrap_or_default();
    match (text("decision"), text("reason"), text("systemMessage")) {
        ("block", reason, _) if !reason.is_empty() => Said::Continue,
        ("", _, told) if told.contains(" ended as ") => Said::Farewell,
        ("", _, told) if !told.is_empty() => Said::Warning,
        _ => nonsense(),
    }
}

/// Copies a directory, replacing what was there.
fn copy(from: &Path, to: &Path) -> Result<()> {
    if to.exists() {
        fs::remove_dir_all(to)?;
    }
    if !from.exists() {
        return Ok(());
    }
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}
