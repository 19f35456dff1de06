//! The proof: a test stop, fired at the hook as the client would.

use std::path::Path;
use std::time::Duration;

use stopgate_agents::Agent;
use stopgate_agents::settings::EntryCommand;
use stopgate_engine::{Configured, DoctorFinding, Failure};

use super::dialects;
use crate::commands::client::{
    ClientReading, Continued, Household, PlayedSession, PlayedStop, ProgramOutput, ProgramTrouble,
    ThrowawayProject,
};

const ABOUT: &str = "proof";
const SESSION: PlayedSession = PlayedSession { id: "d0c70000-0000-4000-8000-000000000000" };
const GOAL: &str = "prove that the hook holds";

/// How long the two stops took.
struct Took {
    held: Duration,
    let_go: Duration,
}

/// Fires at every hook that is configured; at this program itself where none is.
pub(super) fn prove(program: &Path, hooks: &[Configured]) -> Result<Vec<DoctorFinding>, Failure> {
    let mut findings = Vec::new();
    for hook in hooks {
        if let Some(dialect) = &hook.dialect {
            findings.push(dialects::prove(hook, dialect)?);
            continue;
        }
        let scope = hook.scope.word();
        let (title, word) = (hook.agent.title(), hook.agent.word());
        let target = Target {
            agent: hook.agent,
            command: &hook.command,
            name: format!("{title}'s hook in the {scope} settings ({})", first_word(&hook.command)),
            repair: format!("stopgate install {word} --scope {scope}"),
        };
        findings.extend(target.version(program)?);
        findings.push(target.prove(program)?);
    }
    if hooks.iter().all(|hook| hook.dialect.is_some()) {
        let argv = [&program.display().to_string(), "hook", "claude"].map(String::from);
        let target = Target {
            agent: Agent::Claude,
            command: &EntryCommand::Exec(argv.into()),
            name: "this program (no hook is installed yet)".into(),
            repair: "reinstall stopgate".into(),
        };
        findings.push(target.prove(program)?);
    }
    Ok(findings)
}

/// What is fired at.
struct Target<'a> {
    agent: Agent,
    command: &'a EntryCommand,
    name: String,
    repair: String,
}

impl Target<'_> {
    /// Says so where another version than this one is started.
    fn version(&self, program: &Path) -> Result<Option<DoctorFinding>, Failure> {
        let asked = match self.command {
            EntryCommand::Exec(argv) => {
                let word = argv.first().cloned().unwrap_or_default();
                EntryCommand::Exec(vec![word, "--version".into()])
            }
            EntryCommand::Shell(line) => {
                let word = line.split(" hook").next().unwrap_or_default();
                EntryCommand::Shell(format!("{word} --version"))
            }
        };
        if first_word(self.command) == program.display().to_string() {
            return Ok(None);
        }
        let stage = ThrowawayProject::new(Household::Real)?;
        let Ok(ran) = stage.hook(&asked, SESSION, &serde_json::Value::Null) else {
            return Ok(None);
        };
        let (own, other) = (format!("stopgate {}", env!("CARGO_PKG_VERSION")), ran.stdout.trim());
        // A program that does not even say its version fails the proof.
        if ran.exit_code != Some(0) || other == own {
            return Ok(None);
        }
        let text = format!("{} is {other}, and this is {own}", self.name);
        Ok(Some(DoctorFinding::warning("version", text, self.repair.clone())))
    }

    fn prove(&self, program: &Path) -> Result<DoctorFinding, Failure> {
        let name = &self.name;
        if is_shadow(self.command) {
            let text = format!("{name} only watches (--shadow): it never holds an agent");
            return Ok(DoctorFinding::warning(ABOUT, text, "take --shadow out of its arguments"));
        }
        let stage = ThrowawayProject::new(Household::Real)?;
        Ok(match fire(&stage, program, self) {
            Ok(took) => {
                let (held, let_go) = (took.held.as_millis(), took.let_go.as_millis());
                let text = format!(
                    "{name} held a test stop ({held} ms) and let it go once the loop was cancelled ({let_go} ms)"
                );
                DoctorFinding::ok(ABOUT, text)
            }
            Err(why) => {
                DoctorFinding::problem(ABOUT, format!("{name} failed: {why}"), self.repair.clone())
            }
        })
    }
}

/// Begins a loop that can't be done, stops, cancels it, and stops again.
fn fire(stage: &ThrowawayProject, program: &Path, target: &Target<'_>) -> Result<Took, String> {
    let (agent, command) = (target.agent, target.command);
    let start = ["start", GOAL, "--session", SESSION.id, "--check", "never=false"];
    typed(stage.person(program, &start), "begin a loop")?;
    let first = PlayedStop { session: SESSION, words: "I am done.", continued: Continued::Never };
    let (answer, held) = heard(agent, stage.stop_of(agent, command, &first))?;
    match answer {
        ClientReading::Held(text) if text.contains(GOAL) => {}
        ClientReading::Held(_) => return Err("the agent was held, but for another loop".into()),
        ClientReading::Allowed | ClientReading::Told(_) => {
            return Err("it let an agent stop whose check fails".into());
        }
        ClientReading::Refused(why) => return Err(format!("the client would ignore it: {why}")),
    }
    typed(stage.person(program, &["cancel", "--session", SESSION.id]), "cancel the loop")?;
    let words = "I am done, as I said.";
    let second = PlayedStop { session: SESSION, words, continued: Continued::Before };
    let (answer, let_go) = heard(agent, stage.stop_of(agent, command, &second))?;
    match answer {
        ClientReading::Allowed | ClientReading::Told(_) => Ok(Took { held, let_go }),
        ClientReading::Held(_) => Err("it held an agent whose loop was cancelled".into()),
        ClientReading::Refused(why) => Err(format!("the client would ignore it: {why}")),
    }
}

fn typed(ran: Result<ProgramOutput, ProgramTrouble>, doing: &str) -> Result<(), String> {
    match ran {
        Ok(ProgramOutput { exit_code: Some(0), .. }) => Ok(()),
        Ok(ran) => Err(format!("could not {doing}: {}", ran.stderr.trim())),
        Err(trouble) => Err(format!("could not {doing}: {trouble}")),
    }
}

fn heard(
    agent: Agent,
    ran: Result<ProgramOutput, ProgramTrouble>,
) -> Result<(ClientReading, Duration), String> {
    let ran = ran.map_err(|trouble| trouble.to_string())?;
    Ok((ClientReading::of(agent, &ran), ran.took))
}

/// The program of a hook, as its entry names it.
fn first_word(command: &EntryCommand) -> &str {
    match command {
        EntryCommand::Exec(argv) => argv.first().map_or("", |word| word.as_str()),
        EntryCommand::Shell(line) => line.split(" hook").next().unwrap_or(line),
    }
}

fn is_shadow(command: &EntryCommand) -> bool {
    match command {
        EntryCommand::Exec(argv) => crate::hook::only_watches(argv.iter().map(String::as_str)),
        EntryCommand::Shell(line) => crate::hook::only_watches(line.split_whitespace()),
    }
}
