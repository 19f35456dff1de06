//! An agent as a value: all that is known of it, behind one type.
//!
//! Nothing outside this crate asks which agent it is in order to do one thing or another: what
//! differs is a field of the agent's profile, and each agent's module fills in its own.

use stopgate_core::ClientCap;
use stopgate_signals::transcript::TranscriptRecord;

use crate::claude::TypedCommand;
use crate::payload;
use crate::settings::{PluginMark, SettingsForm, TrustEntry};
use crate::{
    AgentAnswer, Call, Malformed, Reply, claude, codex, copilot, cursor, documented, gemini, kimi,
    opencode, pi, qwen, reply,
};

#[cfg(test)]
mod tests;

/// An agent that can be held by its own hooks or by a bridge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Agent {
    /// Claude Code.
    Claude,
    /// Codex CLI.
    Codex,
    /// Google's Gemini CLI.
    Gemini,
    /// Qwen Code.
    Qwen,
    /// GitHub's Copilot CLI.
    Copilot,
    /// Kimi Code.
    Kimi,
    /// `OpenCode`, by a plugin.
    OpenCode,
    /// Pi, by an extension.
    Pi,
    /// Cursor.
    Cursor,
    /// Factory's Droid.
    Droid,
    /// Google's Antigravity.
    Antigravity,
    /// Grok Build.
    Grok,
    /// Devin CLI.
    Devin,
    /// Qoder CLI.
    Qoder,
    /// VS Code's agent mode.
    VsCode,
}

/// How we know how an agent behaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Provenance {
    /// Tested with this version of the real client.
    Tested(&'static str),
    /// From its documentation, or from its published source.
    Documented,
}

/// The client that asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Client {
    /// Its version, where it is known.
    pub version: Option<ClientVersion>,
}

/// A client's version: major, minor, patch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ClientVersion(pub u16, pub u16, pub u16);

/// Variables by which an agent's client tells its hooks and shells about itself.
#[derive(Clone, Copy, Debug)]
pub struct AgentVariables {
    /// Its name and version.
    pub version: Option<&'static str>,
    /// The session.
    pub session: Option<&'static str>,
    /// The directory that it was started in.
    pub project: Option<&'static str>,
    /// The limit on continuations.
    pub cap: Option<&'static str>,
    /// The client's process.
    pub process: Option<&'static str>,
    /// Those that are set in the shells and hooks of this agent only.
    pub marks: &'static [&'static str],
    /// Others that its shells have, and that a client which is started anew must not see.
    pub shell: &'static [&'static str],
    /// Where its settings directory is, if a person moved it.
    pub home: Option<&'static str>,
    /// What it takes for the person's home, if a person moved that for it alone.
    pub user_home: Option<&'static str>,
}

/// Where an agent keeps its hooks.
#[derive(Clone, Copy, Debug)]
pub struct AgentFiles {
    /// Its own directory, below the person's home.
    pub home: &'static str,
    /// The file with a person's hooks, below that directory.
    pub user: Option<&'static str>,
    /// The file with a project's hooks, below the project.
    pub project: Option<&'static str>,
    /// The file with a person's hooks for one project, below the project.
    pub local: Option<&'static str>,
    /// What the hooks look like in these files.
    pub form: SettingsForm,
    /// The names of its program.
    pub programs: &'static [&'static str],
}

/// Where to look for a transcript that the payload does not name.
#[derive(Clone, Copy, Debug)]
pub struct TranscriptSearch {
    /// A directory below the agent's own; each of its directories may hold the session.
    pub sessions: &'static str,
    /// The transcript, below the session's directory.
    pub file: &'static str,
}

pub(crate) type ParseFn = for<'a> fn(&'a [u8], Option<&str>) -> Result<Call<'a>, Malformed>;

/// All that is known of one agent.
pub(crate) struct Profile {
    pub(crate) word: &'static str,
    pub(crate) title: &'static str,
    pub(crate) evidence: Provenance,
    pub(crate) parse: ParseFn,
    pub(crate) render: fn(&AgentAnswer<'_>, Client) -> Reply,
    pub(crate) record: fn(&[u8]) -> TranscriptRecord,
    pub(crate) is_tool_use: fn(&[u8]) -> bool,
    pub(crate) cap: fn(Option<&str>, Client) -> Option<ClientCap>,
    pub(crate) version: fn(&str) -> Option<ClientVersion>,
    pub(crate) context_tokens: fn(&[u8]) -> Option<u64>,
    pub(crate) typed: fn(&str, &str) -> Vec<TypedCommand>,
    pub(crate) variables: AgentVariables,
    pub(crate) files: AgentFiles,
    pub(crate) search: Option<TranscriptSearch>,
    /// Agents that also load this one's hook file.
    pub(crate) readers: &'static [Agent],
    /// Whether a payload of its readers is known to be this agent's, by a field that only it has.
    pub(crate) mark: Option<&'static str>,
    /// What a person should know after an installation.
    pub(crate) after_install: &'static [&'static str],
    /// How it learns which hooks a person reviewed, if it asks for that.
    pub(crate) trust: Option<TrustForm>,
    /// How to tell that it has our plugin, if there is one for it.
    pub(crate) plugin: Option<PluginMark>,
    pub(crate) status_line: StatusLineItems,
}

/// What an agent's own status line can show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatusLineItems {
    /// What a command prints.
    Command,
    /// Its own items only.
    BuiltIn,
    /// Nobody has seen.
    Unknown,
}

/// A list of hooks that a person reviewed.
#[derive(Clone, Copy)]
pub(crate) struct TrustForm {
    /// The file, in the agent's own directory.
    pub(crate) file: &'static str,
    /// What it says about our hooks in the file at a path.
    pub(crate) entries: fn(&str, &str) -> Vec<TrustEntry>,
    /// How a person reviews hooks.
    pub(crate) explanation: &'static str,
}

impl AgentVariables {
    pub(crate) const NONE: Self = Self {
        version: None,
        session: None,
        project: None,
        cap: None,
        process: None,
        marks: &[],
        shell: &[],
        home: None,
        user_home: None,
    };
}

impl Profile {
    /// An agent that nobody has described yet: it is asked and answered as most are.
    pub(crate) const fn plain(word: &'static str, title: &'static str, parse: ParseFn) -> Self {
        Self {
            word,
            title,
            evidence: Provenance::Documented,
            parse,
            render: reply::block,
            record: |_| TranscriptRecord::Other,
            is_tool_use: |_| false,
            cap: |_, _| None,
            version: |_| None,
            context_tokens: |_| None,
            typed: |_, _| Vec::new(),
            variables: AgentVariables::NONE,
            files: AgentFiles {
                home: "",
                user: None,
                project: None,
                local: None,
                form: SettingsForm::CLAUDE,
                programs: &[],
            },
            search: None,
            readers: &[],
            mark: None,
            after_install: &[],
            trust: None,
            plugin: None,
            status_line: StatusLineItems::Unknown,
        }
    }
}

impl Agent {
    /// Every one, those that were tested first.
    pub const ALL: [Self; 15] = [
        Self::Claude,
        Self::Codex,
        Self::Gemini,
        Self::Qwen,
        Self::Copilot,
        Self::Kimi,
        Self::OpenCode,
        Self::Pi,
        Self::Cursor,
        Self::Droid,
        Self::Antigravity,
        Self::Grok,
        Self::Devin,
        Self::Qoder,
        Self::VsCode,
    ];

    const fn profile(self) -> &'static Profile {
        match self {
            Self::Claude => &claude::PROFILE,
            Self::Codex => &codex::PROFILE,
            Self::Gemini => &gemini::PROFILE,
            Self::Qwen => &qwen::PROFILE,
            Self::Copilot => &copilot::PROFILE,
            Self::Kimi => &kimi::PROFILE,
            Self::OpenCode => &opencode::PROFILE,
            Self::Pi => &pi::PROFILE,
            Self::Cursor => &cursor::PROFILE,
            Self::Droid => &documented::DROID,
            Self::Antigravity => &documented::ANTIGRAVITY,
            Self::Grok => &documented::GROK,
            Self::Devin => &documented::DEVIN,
            Self::Qoder => &documented::QODER,
            Self::VsCode => &documented::VSCODE,
        }
    }

    /// The agent of this name.
    pub fn named(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|agent| agent.word() == word)
    }

    /// Its word on the command line.
    pub const fn word(self) -> &'static str {
        self.profile().word
    }

    /// What its own status line can show.
    pub const fn status_line(self) -> StatusLineItems {
        self.profile().status_line
    }

    /// Its name, as its maker writes it.
    pub const fn title(self) -> &'static str {
        self.profile().title
    }

    /// How we know how it behaves.
    pub const fn evidence(self) -> Provenance {
        self.profile().evidence
    }

    /// Reads one payload. The given event counts only where the payload names none.
    pub fn parse<'a>(self, raw: &'a [u8], event: Option<&str>) -> Result<Call<'a>, Malformed> {
        (self.profile().parse)(raw, event)
    }

    /// Puts an answer into the words that this agent accepts.
    pub fn render(self, answer: &AgentAnswer<'_>, client: Client) -> Reply {
        (self.profile().render)(answer, client)
    }

    /// Lets the agent go, without a word.
    pub fn allow(self) -> Reply {
        self.render(&AgentAnswer::Allow, Client::default())
    }

    /// What a line of its transcript tells.
    pub fn record(self, line: &[u8]) -> TranscriptRecord {
        (self.profile().record)(line)
    }

    /// Whether the main agent used a tool in this line of its transcript.
    pub fn is_tool_use(self, line: &[u8]) -> bool {
        (self.profile().is_tool_use)(line)
    }

    /// The tokens that were in the context after this line of its transcript.
    pub fn context_tokens(self, line: &[u8]) -> Option<u64> {
        (self.profile().context_tokens)(line)
    }

    /// The commands that the person of `session` typed inside the client, in the lines of a
    /// transcript's end.
    pub fn typed_commands(self, lines: &str, session: &str) -> Vec<TypedCommand> {
        (self.profile().typed)(lines, session)
    }

    /// Where to look for the transcript that a payload does not name.
    pub const fn transcript_search(self) -> Option<TranscriptSearch> {
        self.profile().search
    }

    /// Whether every stop comes with a last message, so that one without is a fault.
    pub const fn always_speaks(self) -> bool {
        matches!(self, Self::Claude)
    }

    /// Whether every payload names the agent's working directory.
    pub const fn always_names_cwd(self) -> bool {
        matches!(self, Self::Claude)
    }

    /// The limit that its client sets on continuations, by the variable that changes it.
    pub fn cap(self, variable: Option<&str>, client: Client) -> Option<ClientCap> {
        (self.profile().cap)(variable, client)
    }

    /// The client, by the variable that names it.
    pub fn client(self, variable: Option<&str>) -> Client {
        Client { version: variable.and_then(self.profile().version) }
    }

    /// The variables by which its client tells about itself.
    pub const fn variables(self) -> AgentVariables {
        self.profile().variables
    }

    /// Where it keeps its hooks.
    pub const fn files(self) -> AgentFiles {
        self.profile().files
    }

    /// What a person should know after an installation, a sentence each.
    pub const fn after_install(self) -> &'static [&'static str] {
        self.profile().after_install
    }

    /// How a person lets it run the hooks, if it asks for that.
    pub fn trust_explanation(self) -> Option<&'static str> {
        self.profile().trust.map(|trust| trust.explanation)
    }

    /// The file, in its own directory, with the hooks that a person reviewed; `None` if it runs
    /// hooks without that.
    pub fn trust_list(self) -> Option<&'static str> {
        self.profile().trust.map(|trust| trust.file)
    }

    /// Whether its client reads a project's hooks only in the directory that it was started in.
    pub const fn reads_start_directory_only(self) -> bool {
        matches!(self, Self::Claude | Self::Gemini)
    }

    /// How to tell that it has our plugin; `None` if there is none for it.
    pub const fn plugin_mark(self) -> Option<PluginMark> {
        self.profile().plugin
    }

    /// What its list of reviewed hooks says about ours in a hook file.
    pub fn trust_entries(self, path: &str, hooks: &str) -> Vec<TrustEntry> {
        self.profile().trust.map(|trust| (trust.entries)(path, hooks)).unwrap_or_default()
    }

    /// Whether its settings have switches that keep hooks from working.
    pub const fn has_switches(self) -> bool {
        matches!(self, Self::Claude)
    }

    /// Whether it reads what we have to tell about stopgate.
    pub const fn has_skill(self) -> bool {
        matches!(self, Self::Claude)
    }

    /// Agents that load this one's hook file beside their own.
    pub const fn readers(self) -> &'static [Self] {
        self.profile().readers
    }

    /// Whether a payload has a field that only this agent's have.
    pub fn wrote(self, raw: &[u8]) -> bool {
        let Some(mark) = self.profile().mark else { return false };
        let fields = payload::text(raw).ok().map(serde_json::from_str::<serde_json::Value>);
        fields.and_then(Result::ok).is_some_and(|payload| payload.get(mark).is_some())
    }
}
