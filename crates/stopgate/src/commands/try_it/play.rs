//! Playing the script against the real program.

use std::path::Path;

use serde::{Deserialize, Serialize};
use stopgate_agents::settings::EntryCommand;
use stopgate_core::{Outcome, RulingWord};

use super::script::{Deed, ExpectedAnswer, PlayedTurn, ScriptedClaim, ScriptedLoop, Written};
use crate::commands::client::{
    ClientReading, Continued, PlayedSession, ProgramOutput, ProgramTrouble, ThrowawayProject,
};

/// What did not go as it must.
pub(super) struct Stumble(pub(super) String);

impl From<ProgramTrouble> for Stumble {
    fn from(trouble: ProgramTrouble) -> Self {
        Self(format!("this program did not answer: {trouble}"))
    }
}

/// A loop that runs.
pub(super) struct Acting<'a> {
    stage: &'a ThrowawayProject,
    program: &'a Path,
    scene: &'a ScriptedLoop,
    session: PlayedSession,
    hook: EntryCommand,
    /// What the agent was told when its session began.
    pub(super) told: String,
}

/// A step as it went.
#[derive(Serialize)]
pub(super) struct Played {
    pub(super) scene: &'static str,
    pub(super) step: &'static str,
    /// What the agent did.
    pub(super) did: String,
    /// Its last words.
    pub(super) said: &'static str,
    /// What stopgate answered: `continue`, `complete` …
    pub(super) verdict: Option<RulingWord>,
    /// How the loop ended by it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) outcome: Option<Outcome>,
    /// The rule that answered.
    pub(super) rule: String,
    /// Why, in a sentence.
    pub(super) why: String,
    /// The whole text of the answer.
    pub(super) answer: String,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ExplanationWire {
    verdict: Option<RulingWord>,
    outcome: Option<Outcome>,
    rule: String,
    why: String,
    stopped: StoppedWire,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct StoppedWire {
    facts: FactsWire,
    receipts: Vec<ReceiptWire>,
}

#[derive(Default, Deserialize)]
struct FactsWire {
    #[serde(default)]
    markers: Vec<String>,
}

#[derive(Deserialize)]
struct ReceiptWire {
    criterion: String,
    status: String,
    exit_code: Option<i32>,
}

impl ExplanationWire {
    fn claim(&self) -> ScriptedClaim {
        if self.stopped.facts.markers.is_empty() {
            ScriptedClaim::None
        } else {
            ScriptedClaim::Heard
        }
    }

    /// Why, in a sentence: the journal's own where it has one, else what it saw.
    fn because(&self) -> String {
        if !self.why.is_empty() {
            return self.why.clone();
        }
        let heard = match self.claim() {
            ScriptedClaim::Heard => "its claim was checked",
            ScriptedClaim::None => "no claim was heard",
        };
        let receipts = self.stopped.receipts.iter().map(|receipt| {
            let code = receipt.exit_code.map(|code| format!(" (exit {code})")).unwrap_or_default();
            format!("check {}: {}{code}", receipt.criterion, receipt.status)
        });
        std::iter::once(heard.into()).chain(receipts).collect::<Vec<_>>().join("; ")
    }
}

/// Begins the scene's loop, as a person does, and its session, as the client does.
pub(super) fn begin<'a>(
    stage: &'a ThrowawayProject,
    program: &'a Path,
    scene: &'a ScriptedLoop,
) -> Result<Acting<'a>, Stumble> {
    for file in scene.files {
        write(&stage.project().join(file.name), file.content)?;
    }
    let mut arguments = vec!["start", scene.goal];
    arguments.extend(scene.check.iter().flat_map(|check| ["--check", check]));
    arguments.extend(scene.protect.iter().flat_map(|file| ["--protect", file]));
    typed(stage.person(program, &arguments), "start")?;
    let argv = [&program.display().to_string(), "hook", "claude"].map(String::from);
    let hook = EntryCommand::Exec(argv.into());
    let session = PlayedSession { id: scene.session };
    let begun = stage.hook(&hook, session, &session.begins(stage))?;
    match ClientReading::read(&begun, "SessionStart") {
        ClientReading::Held(told) => Ok(Acting { stage, program, scene, session, hook, told }),
        other => Err(Stumble(format!("the session was not told of the loop: {other:?}"))),
    }
}

impl Acting<'_> {
    /// Plays one turn of the agent and its stop.
    pub(super) fn play(&self, step: &'static PlayedTurn) -> Result<Played, Stumble> {
        let did = self.act(&step.does)?;
        let first = self.scene.steps.first().is_some_and(|first| std::ptr::eq(first, step));
        let continued = if first { Continued::Never } else { Continued::Before };
        let payload = self.session.stops(self.stage, step.says, continued);
        let ran = self.stage.hook(&self.hook, self.session, &payload)?;
        let answer = ClientReading::read(&ran, "Stop");
        let explained = self.explain();
        judge(step, &answer, &explained)?;
        let answer = match answer {
            ClientReading::Held(text)
            | ClientReading::Told(text)
            | ClientReading::Refused(text) => text,
            ClientReading::Allowed => String::new(),
        };
        let why = explained.because();
        Ok(Played {
            scene: self.scene.title,
            step: step.title,
            did,
            said: step.says,
            verdict: explained.verdict,
            outcome: explained.outcome,
            rule: explained.rule,
            why,
            answer,
        })
    }

    /// Ends the session, as the client does.
    pub(super) fn end(self) -> Result<(), Stumble> {
        let payload = self.session.ends(self.stage);
        let ran = self.stage.hook(&self.hook, self.session, &payload)?;
        match ClientReading::read(&ran, "SessionEnd") {
            ClientReading::Allowed => Ok(()),
            other => Err(Stumble(format!("the session's end was answered with {other:?}"))),
        }
    }

    /// Does what the agent does, and reports the tool as the client would.
    fn act(&self, deed: &Deed) -> Result<String, Stumble> {
        let Deed::Writes(files) = deed else { return Ok("nothing".into()) };
        let did: Result<Vec<String>, Stumble> = files.iter().map(|file| self.write(file)).collect();
        Ok(did?.join("; "))
    }

    fn write(&self, file: &Written) -> Result<String, Stumble> {
        let Written { name, content } = file;
        let path = self.stage.project().join(name);
        write(&path, content)?;
        let payload = self.session.wrote(self.stage, &path, content);
        let ran = self.stage.hook(&self.hook, self.session, &payload)?;
        match ClientReading::read(&ran, "PostToolBatch") {
            ClientReading::Allowed => Ok(format!("writes {name}: {}", content.trim_end())),
            other => Err(Stumble(format!("a tool was answered with {other:?}"))),
        }
    }

    /// Asks the journal why the stop was answered so.
    fn explain(&self) -> ExplanationWire {
        let arguments = ["explain", "--session", self.session.id, "--json"];
        let asked = self.stage.person(self.program, &arguments).ok();
        asked.and_then(|ran| serde_json::from_str(&ran.stdout).ok()).unwrap_or_default()
    }
}

fn write(path: &Path, content: &str) -> Result<(), Stumble> {
    std::fs::write(path, content)
        .map_err(|error| Stumble(format!("could not write {}: {error}", path.display())))
}

/// Whether the stop was answered as it must be: by the hook, and in the journal.
fn judge(
    step: &PlayedTurn,
    answer: &ClientReading,
    explained: &ExplanationWire,
) -> Result<(), Stumble> {
    let outcome = explained.outcome;
    let fits = match (step.expected, answer) {
        (ExpectedAnswer::SentBack(claim), ClientReading::Held(_)) => {
            explained.verdict == Some(RulingWord::Continue) && explained.claim() == claim
        }
        (ExpectedAnswer::Ends(word), ClientReading::Told(_)) => outcome == Some(word),
        (ExpectedAnswer::SentBack(_) | ExpectedAnswer::Ends(_), _) => false,
    };
    if fits {
        return Ok(());
    }
    let wanted = match step.expected {
        ExpectedAnswer::SentBack(ScriptedClaim::Heard) => {
            "the agent's claim must be refused".into()
        }
        ExpectedAnswer::SentBack(ScriptedClaim::None) => "the agent must be sent back".into(),
        ExpectedAnswer::Ends(word) => format!("the loop must end as {word}"),
    };
    Err(Stumble(format!(
        "a step went wrong: \"{}\" Here {wanted}, but the answer was {answer:?} ({})",
        step.title,
        outcome.map_or("no end", Outcome::word)
    )))
}

fn typed(ran: Result<ProgramOutput, ProgramTrouble>, command: &str) -> Result<(), Stumble> {
    let ran = ran?;
    if ran.exit_code == Some(0) {
        return Ok(());
    }
    Err(Stumble(format!("stopgate {command} failed: {}", ran.stderr.trim())))
}
