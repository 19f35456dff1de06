//! The hook under test: how it is called, armed and made to finish.

use stopgate_agents::Agent;
use stopgate_agents::settings::{self, EntryCommand, HookEntry};

#[cfg(test)]
mod tests;

/// Stands for the agent's word in a command line.
const AGENT: &str = "{agent}";

/// A program that is nowhere.
const ABSENT: &str = "/nonexistent/stop-hook";

/// A hook, as a person names it.
#[derive(Clone, Debug)]
pub struct HookUnderTest {
    /// Its name in a report.
    pub name: String,
    /// The command line for agents without one of their own; `{agent}` is the agent's word.
    pub line: Option<String>,
    /// Command lines for single agents.
    pub lines: Vec<(Agent, String)>,
    /// Begins a loop that must hold the session in `CONFORMANCE_SESSION`.
    pub arm: Option<String>,
    /// Makes the condition of that loop true.
    pub finish: Option<String>,
    /// Which events reach it.
    pub events: HookEvents,
    /// Agents whose limit on continuations its installation lifts.
    pub lifts_limit: Vec<Agent>,
}

/// Which events reach a hook.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HookEvents {
    /// Only stops: it is registered for nothing else.
    Stops,
    /// Any: it is registered for others, too.
    All,
}

impl HookUnderTest {
    /// A hook of which nothing is known yet.
    pub fn named(name: &str) -> Self {
        Self {
            name: name.into(),
            line: None,
            lines: Vec::new(),
            arm: None,
            finish: None,
            events: HookEvents::Stops,
            lifts_limit: Vec::new(),
        }
    }

    /// stopgate as `install` writes it for each agent.
    pub fn stopgate(program: &str) -> Self {
        let lines: Vec<(Agent, String)> =
            Agent::ALL.into_iter().map(|agent| (agent, installed(agent, program))).collect();
        let lifted = lines.iter().filter(|(_, line)| line.contains("--cap none"));
        let lifts_limit = lifted.map(|(agent, _)| *agent).collect();
        let word = quoted(program);
        // A long output and no brake: what is tested is the answer.
        let check = "seq 1 20000; test -f finished";
        Self {
            lines,
            arm: Some(format!(
                "{word} start 'finish the work' --session \"$CONFORMANCE_SESSION\" \
                 --check 'done={check}' --max-idle 0 --max-repeat 0"
            )),
            finish: Some("touch finished".into()),
            events: HookEvents::All,
            lifts_limit,
            ..Self::named("stopgate")
        }
    }

    /// The command line that this agent's client runs.
    pub(crate) fn line(&self, agent: Agent) -> Option<String> {
        let own = self.lines.iter().find(|(of, _)| *of == agent).map(|(_, line)| line.clone());
        own.or_else(|| self.line.as_ref().map(|line| line.replace(AGENT, agent.word())))
    }

    /// Whether it says how it is called by this agent.
    pub fn serves(&self, agent: Agent) -> bool {
        let is_for_all = self.line.as_ref().is_some_and(|line| line.contains(AGENT));
        is_for_all || self.lines.iter().any(|(of, _)| *of == agent)
    }
}

/// A word as a shell reads it back.
fn quoted(word: &str) -> String {
    EntryCommand::Exec(vec![word.into()]).line()
}

/// The command line that an installation writes.
fn installed(agent: Agent, program: &str) -> String {
    let entry = HookEntry::new(agent, program);
    let text = settings::install(None, &entry).map(|edited| edited.text).unwrap_or_default();
    let found = settings::find(agent, &text).unwrap_or_default();
    let stop = found.iter().find(|found| found.judges_stops());
    stop.map(|found| found.command.line()).unwrap_or_default()
}

/// The same line after its program was removed: every path in it leads nowhere; where it names
/// none, its first word does.
pub(crate) fn without_program(line: &str) -> String {
    let words = EntryCommand::Shell(line.into()).words();
    let mut paths: Vec<&String> = words.iter().filter(|word| word.contains('/')).collect();
    if paths.is_empty() {
        paths.extend(words.first());
    }
    let mut line = line.to_string();
    for path in paths {
        let written = [quoted(path), format!("\"{path}\""), format!("'{path}'"), path.clone()];
        if let Some(found) = written.iter().find(|form| line.contains(form.as_str())) {
            line = line.replacen(found.as_str(), ABSENT, 1);
        }
    }
    line
}
