//! The lab drives every real client: a scripted hook shows it.
//!
//! What a client does here is what every expectation on the product's own adapters rests on. A
//! client that can't be fetched fails its own scenes by name.

mod hooks;

use std::fs;

use anyhow::{Context, Result, ensure};
use stopgate_lab::{Exit, Lab, LabAgent, LabClient, Prompt, PromptRun, ScriptedTurn};

/// A stage of one client, with a hook that holds it a number of times.
struct Scene {
    stage: Lab,
}

impl Scene {
    fn new(agent: LabAgent, holds: usize) -> Result<Self> {
        let client = LabClient::install_agent(agent).context("could not")?;
        let stage = Lab::new(client)?;
        hooks::write(&stage, agent, holds)?;
        Ok(Self { stage })
    }

    /// The client's answer to a prompt, however it ends.
    fn ask(&self, prompt: Prompt) -> Result<PromptRun> {
        let client = self.stage.client();
        let prompt = match client.agent() {
            // Nobody has reviewed the scripted hook.
            LabAgent::Codex => prompt.args(&["--dangerously-bypass-hook-trust"]),
            _ => prompt,
        };
        Ok(self.stage.ask(client, &prompt)?)
    }

    /// The same where nothing may go wrong.
    fn answered(&self, prompt: Prompt) -> Result<PromptRun> {
        let asked = self.ask(prompt)?;
        ensure!(asked.exit == Exit::Code(0), "{asked}");
        Ok(asked)
    }

    /// How often the hook was called.
    fn stops(&self) -> usize {
        fs::read_to_string(hooks::log(&self.stage)).map_or(0, |log| log.lines().count())
    }
}

/// Each hold reached the model, in order, and the session ended when the hook let it go.
fn check_held(agent: LabAgent) -> Result<()> {
    let scene = Scene::new(agent, 3)?;
    // Three prompts where the client asks its hook once for each, one where it asks at every stop.
    if agent == LabAgent::Kimi {
        for turn in 1..=3 {
            let prompt = if turn == 1 { Prompt::first("begin") } else { Prompt::again("go on") };
            let asked = scene.answered(prompt)?;
            assert_eq!(asked.model_calls, 2, "{asked}");
            assert_eq!(asked.told_at(&format!("held {turn} of 3")), [2], "{asked}");
        }
        let asked = scene.answered(Prompt::again("go on"))?;
        assert_eq!(asked.model_calls, 1, "{asked}");
    } else {
        let asked = scene.answered(Prompt::first("begin"))?;
        assert_eq!(asked.model_calls, 4, "{asked}");
        for held in 1..=3 {
            assert_eq!(asked.told_at(&format!("held {held} of 3")), [held + 1], "{asked}");
        }
    }
    assert_eq!(scene.stops(), 4);
    Ok(())
}

/// The client runs the command that the model wants, and tells the model how it went.
fn check_shell(agent: LabAgent) -> Result<()> {
    let scene = Scene::new(agent, 0)?;
    let turns =
        [agent.shell("echo seen >made.txt && cat made.txt"), ScriptedTurn::text("It is made.")];
    scene.stage.model().script(agent.name(), turns);
    let asked = scene.answered(Prompt::first("make the file"))?;
    assert_eq!(asked.model_calls, 2, "{asked}");
    assert_eq!(asked.told_at("seen"), [2], "{asked}");
    let made = fs::read_to_string(scene.stage.project().join("made.txt"));
    assert_eq!(made.unwrap_or_default(), "seen\n", "{asked}");
    Ok(())
}

/// A refused request ends the session, and the hook is not asked.
fn check_refused(agent: LabAgent) -> Result<()> {
    let scene = Scene::new(agent, 3)?;
    scene.stage.model().default_turn(ScriptedTurn::status(400));
    let asked = scene.ask(Prompt::first("begin"))?;
    assert!(matches!(asked.exit, Exit::Code(code) if code != 0), "{asked}");
    assert_eq!(scene.stops(), 0, "{asked}");
    Ok(())
}

macro_rules! scenes {
    ($($module:ident: $agent:expr;)*) => {
        $(mod $module {
            use super::*;

            #[test]
            fn each_hold_reaches_the_model() -> Result<()> {
                check_held($agent)
            }

            #[test]
            fn a_command_of_the_model_is_run() -> Result<()> {
                check_shell($agent)
            }

            #[test]
            fn a_refused_request_is_not_a_stop() -> Result<()> {
                check_refused($agent)
            }
        })*
    };
}

scenes! {
    claude: LabAgent::Claude;
    codex: LabAgent::Codex;
    gemini: LabAgent::Gemini;
    qwen: LabAgent::Qwen;
    copilot: LabAgent::Copilot;
    kimi: LabAgent::Kimi;
    opencode: LabAgent::OpenCode;
    pi: LabAgent::Pi;
}
