//! A stage of one client, with a program of its own that can be taken away.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use stopgate_lab::{
    Exit, Lab, LabAgent, LabClient, LabOutput, Program, Prompt, PromptRun, ScriptedTurn,
};

const GOAL: &str = "make the file";

pub(crate) struct Scene {
    pub(crate) stage: Lab,
    program: Program,
}

impl Scene {
    pub(crate) fn new(agent: LabAgent) -> Result<Self> {
        let found = Program::find().context("could not")?;
        let client = LabClient::install_agent(agent).context("could not")?;
        let stage = Lab::new(client)?;
        let program = stage.place(&found)?;
        Ok(Self { stage, program })
    }

    /// With whatever `install` puts in place.
    pub(crate) fn installed(agent: LabAgent) -> Result<Self> {
        let scene = Self::new(agent)?;
        scene.install()?;
        Ok(scene)
    }

    pub(crate) fn install(&self) -> Result<()> {
        self.install_for(self.stage.client().agent())
    }

    /// A second client, with the hook installed for it, too.
    pub(crate) fn add(&self, agent: LabAgent) -> Result<LabClient> {
        let client = LabClient::install_agent(agent).context("could not")?;
        self.stage.set_up(&client)?;
        self.install_for(agent)?;
        Ok(client)
    }

    pub(crate) fn stopgate(&self, args: &[&str]) -> Result<LabOutput> {
        let reply = self.stage.stopgate(&self.program, args)?;
        ensure!(reply.code == 0, "stopgate {args:?}: {reply:#?}");
        Ok(reply)
    }

    /// Starts a loop that waits for the session that comes, and tells its id.
    pub(crate) fn start(&self, options: &[&str]) -> Result<String> {
        let args = [&["start", "--json", "--max-idle", "0"], options, &[GOAL]].concat();
        let id = self.stopgate(&args)?.json()["loop"]["id"].as_str().map(str::to_owned);
        id.context("start printed no loop id")
    }

    /// How the loop stands, as `outcome iteration`.
    pub(crate) fn standing(&self, id: &str) -> Result<String> {
        let status = self.stopgate(&["status", id, "--json"])?.json();
        let outcome = status["loop"]["outcome"].as_str().unwrap_or("open");
        Ok(format!("{outcome} {}", status["loop"]["iteration"]))
    }

    /// The client's answer to a prompt, which has to end well.
    pub(crate) fn answered(&self, prompt: &Prompt) -> Result<PromptRun> {
        let asked = self.stage.ask(self.stage.client(), prompt)?;
        ensure!(asked.exit == Exit::Code(0), "{asked}");
        Ok(asked)
    }

    /// Removes the program, as an update that went wrong would.
    pub(crate) fn take_program_away(&self) -> Result<ProgramAway<'_>> {
        let path = self.program.path();
        let kept = path.with_extension("kept");
        fs::rename(path, &kept)?;
        Ok(ProgramAway { path, kept })
    }

    /// Every file in the person's home but for backups of what was there, and its content.
    pub(crate) fn home_files(&self) -> Result<BTreeMap<PathBuf, String>> {
        let mut files = BTreeMap::new();
        collect(&self.stage.home(), &mut files)?;
        files.retain(|path, _| path.extension().is_none_or(|end| end != "stopgate-backup"));
        Ok(files)
    }

    fn install_for(&self, agent: LabAgent) -> Result<()> {
        let mut args = vec!["install", agent.name()];
        if agent == LabAgent::Codex {
            // A person would review the hook in the client.
            args.push("--accept-trust");
        }
        self.stopgate(&args).map(drop)
    }
}

/// A program that is not where it was installed.
pub(crate) struct ProgramAway<'a> {
    path: &'a Path,
    kept: PathBuf,
}

impl ProgramAway<'_> {
    pub(crate) fn put_back(self) -> Result<()> {
        Ok(fs::rename(self.kept, self.path)?)
    }
}

/// The session called the model this often, and was sent back `times` times, each counted aloud,
/// by one message each.
#[track_caller]
pub(crate) fn check_held(asked: &PromptRun, times: usize, calls: usize) {
    assert_eq!(asked.model_calls, calls, "{asked}");
    for iteration in 1..=times {
        let counted = format!("Loop {iteration}/20");
        assert_eq!(asked.told_at(&counted), [iteration + 1], "{asked}");
        let told = asked.told.iter().filter(|told| told.text.matches(&counted).count() == 1);
        assert_eq!(told.count(), 1, "told more than once\n{asked}");
    }
    assert_eq!(asked.told_at("Loop ").len(), times, "{asked}");
}

/// Three claims, then the work, then another claim.
pub(crate) fn proven_at_the_fourth(agent: LabAgent) -> Vec<ScriptedTurn> {
    vec![
        ScriptedTurn::text("All done."),
        ScriptedTurn::text("It is done, really."),
        ScriptedTurn::text("Nothing is left to do."),
        agent.shell("touch made.txt"),
        ScriptedTurn::text("Now the file is there."),
    ]
}

/// The work and a claim, with a word before the work.
pub(crate) fn text_before_tool(agent: LabAgent) -> Vec<ScriptedTurn> {
    let turn =
        ScriptedTurn::text("I am going to make the file.").and(agent.shell("touch made.txt"));
    vec![turn, ScriptedTurn::text("Now the file is there.")]
}

/// Has the model make the file in its next turn.
pub(crate) fn make_the_file(scene: &Scene) {
    let agent = scene.stage.client().agent();
    let before = scene.stage.model().main_calls_of(agent.name()).len();
    let mut turns = vec![ScriptedTurn::text("All done."); before];
    turns.extend([agent.shell("touch made.txt"), ScriptedTurn::text("Now the file is there.")]);
    scene.stage.model().script(agent.name(), turns);
}

fn collect(directory: &Path, files: &mut BTreeMap<PathBuf, String>) -> Result<()> {
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
            continue;
        }
        let text = String::from_utf8_lossy(&fs::read(&path)?).into_owned();
        files.insert(path, text);
    }
    Ok(())
}
