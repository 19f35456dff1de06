//! The command that a person gave: a client that is known, or any program.

use std::path::Path;

use stopgate_agents::{Agent, Headless, HeadlessTurn, TurnHelper, TurnSession};
use stopgate_engine::Failure;

#[cfg(test)]
mod tests;

const PROMPT: &str = "{prompt}";
const PROMPT_FILE: &str = "{prompt_file}";
const MODEL: &str = "{model}";
/// Flags that stand before a prompt and are ours to write.
const PROMPT_FLAGS: [&str; 5] = ["-p", "--print", "--prompt", "-i", "--prompt-interactive"];

/// What runs a session.
#[derive(Clone, Debug)]
pub struct AgentCommand {
    program: String,
    args: Vec<String>,
    known: Option<Agent>,
}

/// A turn to be started.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CommandTurn<'a> {
    pub(crate) session: TurnSession<'a>,
    pub(crate) model: Option<&'a str>,
    pub(crate) directory: &'a Path,
    pub(crate) prompt: &'a str,
    /// Where the prompt stands as a file.
    pub(crate) prompt_file: &'a Path,
    pub(crate) usage_file: Option<&'a str>,
    /// A sub-agent to hand the work to.
    pub(crate) helper: Option<&'a TurnHelper<'a>>,
}

/// What is started for a turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StartedCommand {
    pub(crate) argv: Vec<String>,
    pub(crate) env: &'static [(&'static str, &'static str)],
    /// What is written to its standard input.
    pub(crate) input: Option<CommandInput>,
}

/// What a client is told on its standard input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum CommandInput {
    /// All of it at once.
    Whole(String),
    /// A first line; the input stays open for answers until the turn is over.
    Open(String),
}

impl AgentCommand {
    /// Reads the words after `--`.
    pub fn read(words: &[String]) -> Result<Self, Failure> {
        let Some((program, args)) = words.split_first() else {
            return Err(Failure::usage("no agent was named")
                .hint("name one after two dashes: stopgate run -- claude"));
        };
        let name = Path::new(program).file_name().and_then(|name| name.to_str()).unwrap_or("");
        let known = Agent::of_program(name).filter(|agent| agent.headless().is_some());
        Ok(Self { program: program.clone(), args: args.to_vec(), known })
    }

    /// The client, if it is one that is known.
    pub fn agent(&self) -> Option<Agent> {
        self.known
    }

    pub(crate) fn headless(&self) -> Option<Headless> {
        self.known.and_then(Agent::headless)
    }

    /// Its name, for people.
    pub fn name(&self) -> &str {
        match self.known {
            Some(agent) => agent.title(),
            None => self.program.rsplit('/').next().unwrap_or(&self.program),
        }
    }

    /// Whether a model is asked for that must be known.
    pub fn needs_model(&self) -> bool {
        self.args.iter().any(|arg| arg.contains(MODEL))
    }

    /// Whether its agents can hand work to sub-agents that we define.
    pub fn has_sub_agents(&self) -> bool {
        self.headless().is_some_and(Headless::has_sub_agents)
    }

    /// The model that the person's own flags name, where they do.
    pub(crate) fn named_model(&self) -> Option<&str> {
        let is_flag = |arg: &String| arg == "-m" || arg == "--model";
        let apart = self.args.iter().position(is_flag).and_then(|at| self.args.get(at + 1));
        let joined = self.args.iter().find_map(|arg| arg.strip_prefix("--model="));
        apart.map(String::as_str).or(joined).filter(|model| !model.contains(MODEL))
    }

    /// The command for a turn without a person.
    pub(crate) fn start(&self, turn: &CommandTurn<'_>) -> StartedCommand {
        match self.headless() {
            Some(headless) => {
                let own = self.own_args(turn);
                let hosted = own.turn(&self.program, turn);
                let command = headless.hosted_command(&hosted, turn.helper);
                let input = command.opening.map(CommandInput::Open);
                StartedCommand { argv: command.argv, env: command.env, input }
            }
            None => self.plain(turn),
        }
    }

    /// The command for a turn in a terminal.
    pub(crate) fn start_in_terminal(&self, turn: &CommandTurn<'_>) -> Option<StartedCommand> {
        match self.headless() {
            Some(headless) => {
                let own = self.own_args(turn);
                let command = headless.terminal_command(&own.turn(&self.program, turn))?;
                // Retries and pauses are the person's to see and to end.
                Some(StartedCommand { argv: command.argv, env: &[], input: None })
            }
            // A terminal has no end of input, so the prompt must have a place.
            None => Some(self.plain(turn)).filter(|plain| plain.input.is_none()),
        }
    }

    fn plain(&self, turn: &CommandTurn<'_>) -> StartedCommand {
        let has_place =
            self.args.iter().any(|arg| arg.contains(PROMPT) || arg.contains(PROMPT_FILE));
        let mut argv = vec![self.program.clone()];
        argv.extend(self.args.iter().map(|arg| filled(arg, turn)));
        let input = (!has_place).then(|| CommandInput::Whole(turn.prompt.to_owned()));
        StartedCommand { argv, env: &[], input }
    }

    /// A known client is given its prompt and model by us: where the person wrote places for them,
    /// these are taken out, and what stands around a prompt becomes part of it.
    fn own_args(&self, turn: &CommandTurn<'_>) -> OwnArgs {
        let mut own = OwnArgs { args: Vec::new(), prompt: turn.prompt.to_owned() };
        for arg in &self.args {
            own.take(arg, turn);
        }
        own
    }
}

/// The person's arguments for a known client, and the prompt.
struct OwnArgs {
    args: Vec<String>,
    prompt: String,
}

impl OwnArgs {
    fn take(&mut self, arg: &str, turn: &CommandTurn<'_>) {
        let last = self.args.last().map_or("", String::as_str);
        let is_prompt = arg.contains(PROMPT);
        let is_bare_model =
            arg == MODEL && ["--model", "-m"].contains(&last) && turn.model.is_none();
        if is_bare_model || (is_prompt && PROMPT_FLAGS.contains(&last)) {
            self.args.pop();
        }
        if is_prompt {
            self.prompt = filled(arg, turn);
        } else if !is_bare_model {
            self.args.push(filled(arg, turn));
        }
    }

    fn turn<'a>(&'a self, program: &'a str, turn: &CommandTurn<'a>) -> HeadlessTurn<'a> {
        HeadlessTurn {
            program,
            own_args: &self.args,
            session: turn.session,
            model: turn.model,
            in_git: is_in_git(turn.directory),
            usage_file: turn.usage_file,
            prompt: &self.prompt,
        }
    }
}

fn filled(arg: &str, turn: &CommandTurn<'_>) -> String {
    // The prompt comes last: what it says is not replaced again.
    arg.replace(MODEL, turn.model.unwrap_or_default())
        .replace(PROMPT_FILE, &turn.prompt_file.to_string_lossy())
        .replace(PROMPT, turn.prompt)
}

fn is_in_git(directory: &Path) -> bool {
    directory.ancestors().any(|above| above.join(".git").exists())
}
