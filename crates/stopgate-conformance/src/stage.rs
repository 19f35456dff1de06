//! A machine in small for one case: a home, a project, a transcript, and a client that asks.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;
use stopgate_agents::{HookOutput, Understood};
use tempfile::TempDir;

use crate::payload::{CapturedPayloads, Filling, filled};
use crate::remains::left_behind;
use crate::shot::{Heard, Shot, ShotEnd, ShotInput, ShotReader};
use crate::subject::HookUnderTest;

/// The session of a case; the loop is armed for it.
pub(crate) const SESSION: &str = "c0f00000-0000-4000-8000-000000000001";
/// Another session in the same project.
pub(crate) const OTHER_SESSION: &str = "c0f00000-0000-4000-8000-000000000002";
/// What the agent says when it stops without being done.
pub(crate) const MESSAGE: &str = "I have looked at it and stop here.";

/// What is told to the person above this many bytes is hidden in a file by some client.
const TOLD_MAX: usize = 10_000;

/// Why a case did not pass.
#[derive(Debug)]
pub(crate) enum Miss {
    /// It does not concern this hook or this client.
    NotApplicable(String),
    /// The hook did what it must not do, or not what it must.
    Failed(String),
}

impl From<io::Error> for Miss {
    fn from(error: io::Error) -> Self {
        Self::Failed(format!("the case could not be set up: {error}"))
    }
}

/// The machine of one case, gone when dropped.
pub(crate) struct CaseMachine<'s> {
    pub(crate) hook: &'s HookUnderTest,
    pub(crate) client: &'s CapturedPayloads,
    pub(crate) deadline: Duration,
    dir: TempDir,
    root: PathBuf,
}

impl<'s> CaseMachine<'s> {
    /// An empty machine: paths with spaces and letters of other languages, as people have them.
    pub(crate) fn new(
        hook: &'s HookUnderTest,
        client: &'s CapturedPayloads,
        deadline: Duration,
    ) -> io::Result<Self> {
        let dir = tempfile::Builder::new().prefix("stop-hook-").tempdir()?;
        let root = fs::canonicalize(dir.path())?;
        let stage = Self { hook, client, deadline, dir, root };
        for name in ["home", "tmp"] {
            fs::create_dir_all(stage.root.join(name))?;
        }
        fs::create_dir_all(stage.project().join(".git"))?;
        let transcript = stage.transcript();
        if let Some(parent) = transcript.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::write(transcript, client.transcript(MESSAGE))?;
        Ok(stage)
    }

    /// Where the machine is.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.root.join("home")
    }

    pub(crate) fn project(&self) -> PathBuf {
        self.root.join("my projekt ü")
    }

    /// The transcript, where this client keeps it.
    pub(crate) fn transcript(&self) -> PathBuf {
        let agent = self.client.agent;
        match agent.transcript_search() {
            Some(search) => {
                let sessions = self.home().join(agent.files().home).join(search.sessions);
                sessions.join("project").join(SESSION).join(search.file)
            }
            None => self.root.join("transcript.jsonl"),
        }
    }

    /// Begins a loop that must hold the session.
    pub(crate) fn arm(&self) -> Result<(), Miss> {
        let Some(line) = &self.hook.arm else {
            return Err(Miss::NotApplicable("no --arm command".into()));
        };
        self.command(line, "--arm")
    }

    /// Makes the condition of that loop true.
    pub(crate) fn finish(&self) -> Result<(), Miss> {
        let Some(line) = &self.hook.finish else {
            return Err(Miss::NotApplicable("no --finish command".into()));
        };
        self.command(line, "--finish")
    }

    fn command(&self, line: &str, option: &str) -> Result<(), Miss> {
        let mut shot = self.shot(ShotInput::Bytes(Vec::new()));
        shot.line = line.into();
        shot.variables = self.variables();
        let said = [
            ("CONFORMANCE_SESSION", SESSION.into()),
            ("CONFORMANCE_AGENT", self.client.agent.word().into()),
            ("CONFORMANCE_PROJECT", self.project().into_os_string()),
            ("CONFORMANCE_TRANSCRIPT", self.transcript().into_os_string()),
        ];
        shot.variables.extend(said.map(|(name, value)| (name.into(), value)));
        let heard = shot.fire(self.deadline)?;
        if heard.exit_code == Some(0) && heard.end == ShotEnd::Complete {
            return Ok(());
        }
        let said = String::from_utf8_lossy(&heard.stderr).trim().to_string();
        Err(Miss::Failed(format!("the {option} command failed: {said}")))
    }

    /// The first stop of a turn.
    pub(crate) fn stop(&self) -> Value {
        self.filled(self.client.stop(), SESSION)
    }

    /// A capture in this machine, for a session.
    pub(crate) fn filled(&self, payload: &Value, session: &str) -> Value {
        let (cwd, transcript) = (self.project(), self.transcript());
        let filling = Filling { session, cwd: &cwd, transcript: &transcript, message: MESSAGE };
        filled(payload, &filling)
    }

    /// A call of the hook as the client makes it.
    pub(crate) fn shot(&self, input: ShotInput) -> Shot {
        let mut variables = self.variables();
        let agent = self.client.agent.variables();
        let marks = agent.marks.iter().map(|name| (*name, OsString::from("1")));
        let session = agent.session.map(|name| (name, OsString::from(SESSION)));
        let project = agent.project.map(|name| (name, self.project().into_os_string()));
        let said = marks.chain(session).chain(project);
        variables.extend(said.map(|(name, value)| (name.into(), value)));
        Shot {
            line: self.hook.line(self.client.agent).unwrap_or_default(),
            cwd: self.project(),
            variables,
            input,
            reader: ShotReader::Reads,
        }
    }

    /// What every program on this machine sees.
    #[expect(
        clippy::disallowed_methods,
        reason = "the suite looks for programs where the person does"
    )]
    fn variables(&self) -> Vec<(OsString, OsString)> {
        let path = std::env::vars_os().filter(|(name, _)| name == "PATH");
        let own = [
            ("HOME", self.home().into_os_string()),
            ("TMPDIR", self.root.join("tmp").into_os_string()),
            ("LANG", "C.UTF-8".into()),
            // Without it, a shell on a socket may read its start-up files.
            ("SHLVL", "1".into()),
            ("STOP_HOOK_CONFORMANCE", self.mark().into()),
        ];
        path.chain(own.map(|(name, value)| (name.into(), value))).collect()
    }

    fn mark(&self) -> String {
        self.dir.path().display().to_string()
    }

    /// Asks with this payload, and reads the answer as the client does.
    pub(crate) fn ask(&self, payload: &Value) -> Result<Understood, Miss> {
        self.fire(&self.shot(ShotInput::Bytes(payload.to_string().into_bytes())))
    }

    /// Tells the hook about something that is not a stop; its answer may be anything but a hold.
    pub(crate) fn notify(&self, payload: &Value, what: &str) -> Result<(), Miss> {
        let heard =
            self.shot(ShotInput::Bytes(payload.to_string().into_bytes())).fire(self.deadline)?;
        self.settled(&heard)?;
        match self.understood(&heard) {
            Understood::Held(text) => failed(format!("{what}: it holds: {}", short(&text))),
            Understood::Allowed | Understood::Told(_) | Understood::Refused(_) => Ok(()),
        }
    }

    /// Calls the hook, and holds its answer against what is true for every one.
    pub(crate) fn fire(&self, shot: &Shot) -> Result<Understood, Miss> {
        let heard = shot.fire(self.deadline)?;
        self.judge(&heard)
    }

    /// What the client makes of an answer, if that is an answer at all.
    pub(crate) fn judge(&self, heard: &Heard) -> Result<Understood, Miss> {
        self.settled(heard)?;
        utf8(&heard.stdout, "standard output")?;
        let stderr = utf8(&heard.stderr, "standard error")?;
        let understood = self.understood(heard);
        let text_max = self.client.agent.text_bytes_max().unwrap_or(usize::MAX);
        match &understood {
            Understood::Refused(why) => failed(format!("the client drops the answer: {why}")),
            Understood::Held(text) if text.trim().is_empty() => {
                failed("holds the agent without a word".into())
            }
            Understood::Held(text) if text.len() > text_max => {
                failed(format!("a text of {} bytes: {text_max} arrive whole", text.len()))
            }
            Understood::Told(text) if text.len() > TOLD_MAX => {
                failed(format!("{} bytes for the person: {TOLD_MAX} are shown", text.len()))
            }
            Understood::Allowed | Understood::Told(_)
                if self.client.agent.shows_errors() && !stderr.trim().is_empty() =>
            {
                failed(format!("lets go, and the client shows its complaint: {}", short(stderr)))
            }
            Understood::Allowed | Understood::Told(_) | Understood::Held(_) => Ok(understood),
        }
    }

    /// What the client does, whatever the hook did.
    pub(crate) fn understood(&self, heard: &Heard) -> Understood {
        self.client.agent.understands(&HookOutput {
            exit_code: heard.exit_code,
            stdout: &String::from_utf8_lossy(&heard.stdout),
            stderr: &String::from_utf8_lossy(&heard.stderr),
        })
    }

    /// Whether the call came to its end and left nothing running.
    pub(crate) fn settled(&self, heard: &Heard) -> Result<(), Miss> {
        let seconds = self.deadline.as_secs();
        match heard.end {
            ShotEnd::Running => return failed(format!("no answer within {seconds} s")),
            ShotEnd::OutputHeld => {
                return failed("something it started keeps its output open".into());
            }
            ShotEnd::Complete => {}
        }
        let mark = format!("STOP_HOOK_CONFORMANCE={}", self.mark());
        let left = left_behind(&self.root, &mark, self.deadline);
        if left.is_empty() {
            return Ok(());
        }
        failed(format!("left running: {}", left.join(", ")))
    }
}

fn utf8<'a>(bytes: &'a [u8], name: &str) -> Result<&'a str, Miss> {
    std::str::from_utf8(bytes).map_err(|_| Miss::Failed(format!("{name} is not UTF-8")))
}

/// A case that the hook fails.
pub(crate) fn failed<T>(why: String) -> Result<T, Miss> {
    Err(Miss::Failed(why))
}

/// The beginning of a text, on one line.
pub(crate) fn short(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(100) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line,
    }
}
