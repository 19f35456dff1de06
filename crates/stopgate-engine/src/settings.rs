//! The one door to the environment.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use stopgate_agents::{Agent, Client};
use stopgate_verify::{processes_above, variable_before};

use crate::checking::is_any_checking;
use crate::failure::Failure;
use crate::home::{Home, below};
use crate::signs::Signs;

/// The variable that names the person's home directory.
const HOME: &str = if cfg!(windows) { "USERPROFILE" } else { "HOME" };

/// The variable that names the loop whose driver started a session: its id, or a dialect.
pub const DRIVEN: &str = "STOPGATE_RUN";

/// What shows that an agent runs a command that has none of its variables.
const IN_CHECK: &str = "a check that runs";

/// What the environment says, asked for piece by piece.
///
/// A stop without a loop must not pay for what it does not use, so nothing is read
/// before it is wanted.
#[derive(Clone, Copy, Debug)]
pub struct Settings;

impl Settings {
    /// Whether a kill switch is thrown: then nothing else is looked at.
    ///
    /// Checks run with the switch thrown, so that a client that a check starts is not held.
    pub fn is_disabled(self) -> bool {
        is_on("STOPGATE_DISABLE") || is_on("IDLE_LOOP_DISABLE")
    }

    /// The kill switches that are on, as people know them.
    pub fn switches(self) -> Vec<String> {
        let variables = ["STOPGATE_DISABLE", "IDLE_LOOP_DISABLE"];
        let mut on: Vec<String> = variables
            .iter()
            .filter(|name| is_on(name))
            .map(|name| format!("{name}=1 is set"))
            .collect();
        if let Some(home) = self.home().ok().filter(Home::is_stopped) {
            on.push(format!("{} exists", home.directory().join("STOP").display()));
        }
        on
    }

    /// Where stopgate keeps its things.
    pub fn home(self) -> Result<Home, Failure> {
        let set = |name| var(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        if let Some(own) = set("STOPGATE_HOME") {
            return if own.is_absolute() { Ok(Home::new(own)) } else { Err(relative(&own)) };
        }
        // The XDG specification says that a relative path is to be ignored.
        let state = set("XDG_STATE_HOME").filter(|state| state.is_absolute());
        let directory = state
            .map(|state| state.join("stopgate"))
            .or_else(|| set(HOME).map(|home| home.join(".local/state/stopgate")));
        directory.map(Home::new).ok_or_else(|| {
            Failure::usage(format!("could not tell where to keep the journal: {HOME} is not set"))
                .hint(format!("set {HOME}, or set STOPGATE_HOME to a directory of your own"))
        })
    }

    /// The person's home directory.
    pub fn user_home(self) -> Option<PathBuf> {
        var(HOME).map(PathBuf::from)
    }

    /// Where an agent keeps the person's settings.
    pub fn agent_home(self, agent: Agent) -> Option<PathBuf> {
        let set = |name: Option<&str>| {
            name.and_then(var).filter(|value| !value.is_empty()).map(PathBuf::from)
        };
        let variables = agent.variables();
        let user_home = || set(variables.user_home).or_else(|| self.user_home());
        set(variables.home).or_else(|| user_home().map(|home| home.join(agent.files().home)))
    }

    /// Whether a client of `agent` set one of its own variables here.
    pub fn shows(self, agent: Agent) -> bool {
        agent.variables().marks.iter().any(|mark| var(mark).is_some())
    }

    /// Whether this runs inside tmux.
    pub fn is_in_tmux(self) -> bool {
        var("TMUX").is_some_and(|socket| !socket.is_empty())
    }

    /// The store's address, where it is not the default one.
    pub fn store(self) -> Option<String> {
        text("STOPGATE_STORE")
    }

    /// Whose loops are meant, on a server that keeps those of many.
    pub fn tenant(self) -> Option<String> {
        text("STOPGATE_TENANT")
    }

    /// How long the store may take, as it was written.
    pub fn store_deadline(self) -> Option<String> {
        text("STOPGATE_STORE_DEADLINE")
    }

    /// The file with the person's own settings, whether or not it is there.
    pub fn config_file(self) -> Option<PathBuf> {
        let set = |name| var(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        set("XDG_CONFIG_HOME")
            .map(|directory| below(&directory, ["stopgate", "config.toml"]))
            .or_else(|| set(HOME).map(|home| below(&home, [".config", "stopgate", "config.toml"])))
    }

    /// Where the log goes, where it is not the default place.
    pub fn log(self) -> Option<PathBuf> {
        var("STOPGATE_LOG").map(PathBuf::from)
    }

    /// The session whose shell this is.
    pub fn session(self) -> Option<String> {
        Agent::ALL.into_iter().find_map(|agent| self.session_of(agent))
    }

    /// The session whose shell or hook this is, as a client of `agent` names it.
    pub fn session_of(self, agent: Agent) -> Option<String> {
        agent.variables().session.and_then(text)
    }

    /// Whether an agent runs this command, not a person.
    pub fn is_agents_shell(self) -> bool {
        self.agents_mark().is_some()
    }

    /// The variable by which an agent's client shows that this is its shell, also where the
    /// command was started without it.
    pub fn agents_mark(self) -> Option<&'static str> {
        let variables = Agent::ALL.map(Agent::variables);
        let marks = variables.iter().flat_map(|own| own.marks.iter().copied().chain(own.session));
        let own = |name: &&str| var(name).is_some_and(|value| !value.is_empty());
        marks.into_iter().find(own).or_else(|| {
            let sessions: Vec<&str> = variables.iter().filter_map(|own| own.session).collect();
            let held = variable_before(&sessions, &|session| self.has_held(session));
            held.or_else(|| self.is_in_check().then_some(IN_CHECK))
        })
    }

    /// Whether this command was started by a check that runs for a loop: the work that is checked
    /// is the agent's.
    fn is_in_check(self) -> bool {
        let Ok(home) = self.home() else { return false };
        is_any_checking(&home, &processes_above())
    }

    /// Whether a loop holds this session, or held it until its end. Another session's shell above a
    /// command says nothing: a program that an agent tries out there may well play a person.
    fn has_held(self, session: &str) -> bool {
        let Ok(home) = self.home() else { return false };
        [home.signs(), home.server_notes()].into_iter().any(|at| Signs::at(at).know(session))
    }

    /// The client of `agent` that asks.
    pub fn client_of(self, agent: Agent) -> Client {
        agent.client(agent.variables().version.and_then(text).as_deref())
    }

    /// What the environment says about the limit on continuations of `agent`.
    pub fn cap_of(self, agent: Agent) -> Option<String> {
        agent.variables().cap.and_then(text)
    }

    /// The process of the client of `agent`.
    pub fn process_of(self, agent: Agent) -> Option<String> {
        agent.variables().process.and_then(text)
    }

    /// The directory that the client of `agent` was started in.
    pub fn project_of(self, agent: Agent) -> Option<PathBuf> {
        let directory = agent.variables().project.and_then(var);
        directory.filter(|value| !value.is_empty()).map(PathBuf::from)
    }

    /// The directory that the client was started in, whichever agent's it is.
    pub fn client_directory(self) -> Option<PathBuf> {
        Agent::ALL.into_iter().find_map(|agent| self.project_of(agent))
    }

    /// The list of tasks that sessions share, where they share one.
    pub fn task_list(self) -> Option<String> {
        text("CLAUDE_CODE_TASK_LIST_ID")
    }

    /// What some clients hand over beside the payload: the payload itself, or a directory.
    pub fn arguments(self) -> Option<String> {
        text("ARGUMENTS")
    }

    /// The directory of a loop over features, where it is not the default one.
    pub fn features_directory(self) -> Option<PathBuf> {
        var("RALPH_LOOP_DIR").filter(|value| !value.is_empty()).map(PathBuf::from)
    }

    /// Whether the stops of idle loops are to be traced.
    pub fn traces_idle(self) -> bool {
        is_on("IDLE_TRACE")
    }

    /// The loop whose driver started this session: its id, or a dialect.
    pub fn driven_loop(self) -> Option<String> {
        text(DRIVEN)
    }

    /// The command that tells the person that a loop is over.
    pub fn notify(self) -> Option<String> {
        text("STOPGATE_NOTIFY").filter(|command| !command.trim().is_empty())
    }

    /// The driver that runs this session, where one does.
    pub fn driver(self) -> Option<String> {
        text("STOPGATE_RUN_SESSION")
    }

    /// Whether a test wants no background process to be started.
    pub fn test_daemon_off(self) -> bool {
        in_tests().is_some() && text("STOPGATE_TEST_DAEMON").is_some_and(|value| value == "off")
    }

    /// How long the background process stays with nothing to do, for tests.
    pub fn test_quiet(self) -> Option<std::time::Duration> {
        in_tests()?;
        let millis = text("STOPGATE_TEST_QUIET")?.parse().ok()?;
        Some(std::time::Duration::from_millis(millis))
    }

    /// The name of the person, as their system has it.
    pub fn person(self) -> String {
        text("USER").or_else(|| text("LOGNAME")).unwrap_or_else(|| "a person".into())
    }

    /// The only kind of place for original runs that a test wants to see used.
    pub fn test_place(self) -> Option<String> {
        if cfg!(debug_assertions) { text("STOPGATE_TEST_PLACE") } else { None }
    }

    /// How wide the window is, where somebody says so.
    pub fn columns(self) -> Option<usize> {
        text("COLUMNS")?.parse().ok().filter(|columns| *columns > 0)
    }

    /// Whether the person wants no colours.
    pub fn is_colourless(self) -> bool {
        var("NO_COLOR").is_some_and(|value| !value.is_empty())
    }

    /// Whether the terminal is said to show UTF-8.
    pub fn is_utf8(self) -> bool {
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"]
            .into_iter()
            .find_map(|name| text(name).filter(|value| !value.is_empty()));
        let locale = locale.unwrap_or_default().to_ascii_lowercase();
        locale.contains("utf-8") || locale.contains("utf8")
    }

    /// Whether this is a machine that builds and tests, without a person at it.
    pub fn is_ci(self) -> bool {
        text("CI").is_some_and(|value| !matches!(value.as_str(), "0" | "false"))
    }

    /// A clock that stands still, for tests: milliseconds since the epoch.
    pub fn test_clock(self) -> Option<i64> {
        in_tests()?;
        text("STOPGATE_TEST_CLOCK")?.parse().ok()
    }

    /// The first pause between two tries to send something, for tests.
    pub(crate) fn test_pause() -> Option<std::time::Duration> {
        in_tests()?;
        let millis = text("STOPGATE_TEST_PAUSE")?.parse().ok()?;
        Some(std::time::Duration::from_millis(millis))
    }

    /// The person's editor.
    pub fn editor(self) -> Option<String> {
        text("VISUAL").or_else(|| text("EDITOR")).filter(|editor| !editor.trim().is_empty())
    }

    /// Where the names of new loops begin, for tests.
    pub fn test_seed(self) -> Option<u64> {
        in_tests()?;
        text("STOPGATE_TEST_SEED")?.parse().ok()
    }
}

/// Nothing in a program that is released: there nobody may move its clock.
const fn in_tests() -> Option<()> {
    if cfg!(debug_assertions) { Some(()) } else { None }
}

fn relative(path: &Path) -> Failure {
    Failure::usage(format!("STOPGATE_HOME is a relative path: {}", path.display()))
        .hint("set it to an absolute path, so that it means the same in every directory")
}

fn is_on(name: &str) -> bool {
    var(name).is_some_and(|value| value == "1")
}

fn text(name: &str) -> Option<String> {
    var(name)?.into_string().ok().filter(|value| !value.is_empty())
}

impl Settings {
    /// The directory that this process works in.
    #[expect(clippy::disallowed_methods, reason = "the door")]
    pub fn working_directory(self) -> std::io::Result<PathBuf> {
        std::env::current_dir()
    }
}

#[expect(clippy::disallowed_methods, reason = "the door")]
fn var(name: &str) -> Option<OsString> {
    std::env::var_os(name)
}
