//! A hermetic place for sessions of the real clients.
//!
//! Own home, own git project, own stopgate state, own fake model; an empty
//! environment, a dummy key, and a dead proxy for whatever is not loopback.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

use crate::asked::PromptRun;
use crate::client::LabClient;
use crate::door;
use crate::error::LabError;
use crate::hook::{HookLaunch, Scope};
use crate::model::FakeModel;
use crate::outcome::SessionResult;
use crate::pinned::LabAgent;
use crate::program::Program;
use crate::prompt::Prompt;
use crate::runner::RunnerPlace;
use crate::running::Running;
use crate::session::Session;
use crate::terminal::Terminal;

/// Keeps a stage's directory for a look afterwards.
const KEEP_VARIABLE: &str = "STOPGATE_LAB_KEEP";

/// Looks at records that must find nothing new before they count as whole.
const STILL_LOOKS: u32 = 20;

/// A place with a project, a model and a client. Gone when dropped, unless
/// `STOPGATE_LAB_KEEP` is set.
pub struct Lab {
    root: TempDir,
    client: LabClient,
    model: FakeModel,
    sessions: AtomicUsize,
    runs: AtomicUsize,
}

/// What real clients led to is decided again before it is thrown away: the same, or the test fails.
impl Drop for Lab {
    fn drop(&mut self) {
        if !std::thread::panicking() && self.state().join("journal.db").exists() {
            let differs = Program::find().and_then(|program| self.replayed_otherwise(&program));
            assert!(
                matches!(differs.as_deref(), Ok([]) | Err(_)),
                "replayed otherwise: {differs:?}"
            );
        }
    }
}

/// What a command printed, and its exit code.
#[derive(Clone, Debug)]
pub struct LabOutput {
    /// The exit code, or -1 when a signal ended it.
    pub code: i32,
    /// Its stdout as text.
    pub stdout: String,
    /// Its stderr as text.
    pub stderr: String,
}

impl LabOutput {
    /// The JSON it printed, or null.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_default()
    }
}

impl Lab {
    /// Sets up the directories and starts the model.
    pub fn new(client: LabClient) -> Result<Self, LabError> {
        let temp = std::env::temp_dir();
        let root = tempfile::Builder::new().prefix("stopgate-lab-").tempdir_in(&temp);
        let mut root = root.map_err(LabError::file("create a directory in", &temp))?;
        root.disable_cleanup(door::variable(KEEP_VARIABLE).is_some());
        let (sessions, runs) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let stage = Self { root, client, model: FakeModel::start()?, sessions, runs };
        for directory in ["home", "project", "state", "runs", "bin", "tmp"] {
            let directory = stage.path(directory);
            fs::create_dir(&directory).map_err(LabError::file("create", &directory))?;
        }
        let reply = finish(stage.command("git").args(["init", "--quiet"]))?;
        if reply.code != 0 {
            return Err(LabError::Refused { program: "git init".into(), said: reply.stderr });
        }
        stage.set_up(&stage.client)?;
        Ok(stage)
    }

    /// The loops of this stage whose stops are decided otherwise when they are decided again.
    pub fn replayed_otherwise(&self, program: &Program) -> Result<Vec<Value>, LabError> {
        let listed = self.stopgate(program, ["list", "--json"])?.json();
        let mut differing = Vec::new();
        for known in listed["loops"].as_array().into_iter().flatten() {
            let id = known["id"].as_str().unwrap_or_default();
            let replayed = self.stopgate(program, ["replay", id, "--json"])?;
            let told = replayed.json();
            if replayed.code != 0 || told["differs"] != 0 {
                differing.push(told);
            }
        }
        Ok(differing)
    }

    /// Writes what a client needs in its home to find its model: for a second one on this stage.
    pub fn set_up(&self, client: &LabClient) -> Result<(), LabError> {
        let url = self.model.url_for(client.agent().name());
        let (home, project) = (self.home(), self.project());
        let place = RunnerPlace { home: &home, project: &project, url: &url };
        for (path, text) in (client.agent().runner().settings)(&place) {
            let directory = path.parent().unwrap_or(&path);
            fs::create_dir_all(directory).map_err(LabError::file("create", directory))?;
            fs::write(&path, text).map_err(LabError::file("write", &path))?;
        }
        Ok(())
    }

    /// The client that this stage was made for.
    pub fn client(&self) -> &LabClient {
        &self.client
    }

    /// The model that this stage's clients talk to.
    pub fn model(&self) -> &FakeModel {
        &self.model
    }

    /// The project's directory.
    pub fn project(&self) -> PathBuf {
        self.path("project")
    }

    /// The directory that stands for the person's home.
    pub fn home(&self) -> PathBuf {
        self.path("home")
    }

    /// stopgate's state directory on this stage.
    pub fn state(&self) -> PathBuf {
        self.path("state")
    }

    /// The settings file of a scope.
    pub fn settings_path(&self, scope: Scope) -> PathBuf {
        let directory = match scope {
            Scope::User => self.home(),
            Scope::Project => self.project(),
        };
        directory.join(".claude/settings.json")
    }

    /// Writes the settings file of a scope: this hook on these events, nothing else.
    pub fn hook(&self, scope: Scope, events: &[&str], hook: &HookLaunch) -> Result<(), LabError> {
        let path = self.settings_path(scope);
        let directory = path.parent().unwrap_or(&path);
        fs::create_dir_all(directory).map_err(LabError::file("create", directory))?;
        fs::write(&path, hook.settings(events).to_string()).map_err(LabError::file("write", &path))
    }

    /// A session under the next free id of this stage.
    pub fn session(&self, prompt: &str) -> Session {
        let number = self.sessions.fetch_add(1, Ordering::SeqCst) + 1;
        Session::new(format!("00000000-0000-4000-8000-{number:012}"), prompt)
    }

    /// Puts the program on this stage's search path as `stopgate`, as an installation does.
    pub fn put_on_path(&self, program: &Program) -> Result<(), LabError> {
        let link = self.path("bin").join("stopgate");
        std::os::unix::fs::symlink(program.path(), &link).map_err(LabError::file("create", &link))
    }

    /// Puts the client on this stage's search path under its own name, so that others find it.
    pub fn put_client_on_path(&self) -> Result<(), LabError> {
        let link = self.path("bin").join(self.client.agent().name());
        let path = self.client.path();
        std::os::unix::fs::symlink(path, &link).map_err(LabError::file("create", &link))
    }

    /// Puts a program of its own on this stage's search path as `stopgate`: what is installed from
    /// there names that one, and it can be removed.
    pub fn place(&self, program: &Program) -> Result<Program, LabError> {
        let path = self.path("bin").join("stopgate");
        // A link costs nothing; another file system needs a copy.
        if fs::hard_link(program.path(), &path).is_err() {
            fs::copy(program.path(), &path).map_err(LabError::file("create", &path))?;
        }
        Program::at(path)
    }

    /// Runs a stopgate command in the project, in this stage's environment.
    pub fn stopgate<A: AsRef<OsStr>>(
        &self,
        program: &Program,
        args: impl IntoIterator<Item = A>,
    ) -> Result<LabOutput, LabError> {
        finish(self.command(program.path()).args(args))
    }

    /// Runs one session to its end.
    pub fn run(&self, session: &Session) -> Result<SessionResult, LabError> {
        self.finish_session(session, self.start(session)?)
    }

    /// Runs sessions at the same time; tells their outcomes in the order given.
    pub fn run_all(&self, sessions: &[Session]) -> Result<Vec<SessionResult>, LabError> {
        let started = sessions.iter().map(|session| self.start(session));
        let started = started.collect::<Result<Vec<_>, _>>()?;
        let pairs = sessions.iter().zip(started);
        pairs.map(|(session, started)| self.finish_session(session, started)).collect()
    }

    /// Runs a client with these arguments, for what is not a prompt.
    pub fn client_reply(&self, client: &LabClient, args: &[&str]) -> Result<LabOutput, LabError> {
        let mut command = self.client_command(client, &self.model.url_for(client.agent().name()));
        finish(command.args(args))
    }

    /// Has a client answer a prompt, and waits for its end.
    pub fn ask(&self, client: &LabClient, prompt: &Prompt) -> Result<PromptRun, LabError> {
        let started = self.start_asking(client, prompt)?;
        self.finish_asking(started)
    }

    /// Has clients answer prompts at the same time, each client one; tells how each went.
    pub fn ask_all(&self, asking: &[(&LabClient, Prompt)]) -> Result<Vec<PromptRun>, LabError> {
        let started = asking.iter().map(|(client, prompt)| self.start_asking(client, prompt));
        let started = started.collect::<Result<Vec<_>, _>>()?;
        started.into_iter().map(|started| self.finish_asking(started)).collect()
    }

    /// Has a client answer a prompt, and kills it with its whole group once its session has made
    /// so many calls of the model in all.
    pub fn kill_at(
        &self,
        client: &LabClient,
        prompt: &Prompt,
        calls: usize,
    ) -> Result<(), LabError> {
        let asking = self.start_asking(client, prompt)?;
        let deadline = door::now() + asking.limit;
        while self.model.main_calls_of(asking.agent.name()).len() < calls {
            if door::now() >= deadline {
                return Err(LabError::Refused {
                    program: asking.agent.name().into(),
                    said: read(&asking.started.stderr)?,
                });
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        self.await_records(deadline);
        drop(asking.started.running);
        Ok(())
    }

    /// Clients write their records a moment after the calls: waits until nothing more comes.
    fn await_records(&self, deadline: Instant) {
        let (mut bytes, mut still) = (0, 0);
        while still < STILL_LOOKS && door::now() < deadline {
            std::thread::sleep(Duration::from_millis(50));
            let now = bytes_below(&self.home());
            still = if now == bytes { still + 1 } else { 0 };
            bytes = now;
        }
    }

    fn start_asking(&self, client: &LabClient, prompt: &Prompt) -> Result<Asking, LabError> {
        let agent = client.agent();
        let calls_before = self.model.main_calls_of(agent.name()).len();
        let mut command = self.client_command(client, &self.model.url_for(agent.name()));
        command.envs(prompt.env.iter().map(|(name, value)| (name, value)));
        command.args(agent.runner().arguments(prompt));
        let started = self.start_command(command)?;
        Ok(Asking { agent, calls_before, limit: prompt.limit, started })
    }

    fn finish_asking(&self, asking: Asking) -> Result<PromptRun, LabError> {
        let Asking { agent, calls_before, limit, started } = asking;
        let exit = started.running.finish(limit)?;
        let mut told = self.model.told();
        told.retain(|told| told.session == agent.name() && told.call > calls_before);
        for told in &mut told {
            told.call -= calls_before;
        }
        Ok(PromptRun {
            agent,
            exit,
            model_calls: self.model.main_calls_of(agent.name()).len() - calls_before,
            told,
            stdout: read(&started.stdout)?,
            stderr: read(&started.stderr)?,
        })
    }

    /// The program with the variables of this stage's client: it starts the client itself.
    pub fn driver(&self, program: &Program) -> Command {
        let url = self.model.url_for(self.client.agent().name());
        let client = self.client_command(&self.client, &url);
        let mut command = self.command(program.path());
        for (name, value) in client.get_envs() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        command
    }

    /// Starts the client in a terminal, for what can only be typed.
    pub fn terminal(&self) -> Result<Terminal, LabError> {
        Terminal::open(self, self.path("terminal"))
    }

    fn start(&self, session: &Session) -> Result<Started, LabError> {
        let mut command = self.client_command(&self.client, &self.model.url());
        command.args(&session.args).envs(session.env.iter().map(|(name, value)| (name, value)));
        self.start_command(command)
    }

    fn start_command(&self, command: Command) -> Result<Started, LabError> {
        let run = self.runs.fetch_add(1, Ordering::SeqCst) + 1;
        let stdout = self.path("runs").join(format!("{run}.jsonl"));
        let stderr = self.path("runs").join(format!("{run}.stderr"));
        let running = Running::start(command, &stdout, &stderr)?;
        Ok(Started { running, stdout, stderr })
    }

    fn finish_session(
        &self,
        session: &Session,
        started: Started,
    ) -> Result<SessionResult, LabError> {
        let exit = started.running.finish(session.limit)?;
        let stdout = read(&started.stdout)?;
        let stderr = read(&started.stderr)?;
        Ok(SessionResult::new(&session.id, exit, &stdout, stderr, &self.model))
    }

    pub(crate) fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = door::command(program);
        command.env_clear().envs(self.environment()).current_dir(self.project());
        command
    }

    /// A client of this stage whose model is at `url`.
    fn client_command(&self, client: &LabClient, url: &str) -> Command {
        let mut command = self.command(client.path());
        command.envs(self.client_environment(client, url));
        if let Some(node) = client.node() {
            let mut path = self.path("bin").into_os_string();
            path.push(":");
            path.push(door::search_path(node));
            command.env("PATH", path).env("TMPDIR", self.path("tmp"));
            // Node ignores the dead proxy otherwise.
            command.env("NODE_USE_ENV_PROXY", "1");
        }
        command
    }

    pub(crate) fn client_environment(
        &self,
        client: &LabClient,
        url: &str,
    ) -> Vec<(&'static str, String)> {
        let (home, project) = (self.home(), self.project());
        let place = RunnerPlace { home: &home, project: &project, url };
        (client.agent().runner().environment)(&place)
    }

    fn environment(&self) -> Vec<(&'static str, OsString)> {
        // Nothing listens on the discard port: what is not loopback fails at once.
        let dead = "http://127.0.0.1:9";
        vec![
            ("PATH", self.search_path()),
            ("HOME", self.home().into()),
            ("STOPGATE_HOME", self.state().into()),
            ("GIT_CONFIG_GLOBAL", "/dev/null".into()),
            ("GIT_CONFIG_NOSYSTEM", "1".into()),
            ("TERM", "xterm-256color".into()),
            ("NO_COLOR", "1".into()),
            ("LANG", "C.UTF-8".into()),
            ("HTTP_PROXY", dead.into()),
            ("HTTPS_PROXY", dead.into()),
            ("NO_PROXY", "127.0.0.1,localhost".into()),
        ]
    }

    /// This stage's own programs first, then the person's.
    fn search_path(&self) -> OsString {
        door::search_path(&self.path("bin"))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }
}

/// A client at work on a prompt.
struct Asking {
    agent: LabAgent,
    calls_before: usize,
    limit: Duration,
    started: Started,
}

struct Started {
    running: Running,
    stdout: PathBuf,
    stderr: PathBuf,
}

pub(crate) fn finish(command: &mut Command) -> Result<LabOutput, LabError> {
    let program = PathBuf::from(command.get_program());
    let output = command.output().map_err(LabError::run(&program))?;
    Ok(LabOutput {
        code: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    })
}

fn read(path: &Path) -> Result<String, LabError> {
    let bytes = fs::read(path).map_err(LabError::file("read", path))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// How large the files below a directory are in all.
fn bytes_below(directory: &Path) -> u64 {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let sizes = entries.map(|entry| match entry.file_type() {
        Ok(kind) if kind.is_dir() => bytes_below(&entry.path()),
        Ok(_) | Err(_) => entry.metadata().map_or(0, |file| file.len()),
    });
    sizes.sum()
}
