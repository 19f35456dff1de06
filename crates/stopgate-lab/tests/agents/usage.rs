//! What a client's own record says was used is what its model said, also after a kill.

use anyhow::{Context, Result};
use serde_json::Value;
use stopgate_lab::{LabAgent, Prompt, ScriptedTurn, TurnUsage};

use crate::scene::Scene;

/// Odd numbers, so that no sum hides a part that was counted twice or not at all.
fn odd(call: u64) -> TurnUsage {
    TurnUsage { input: 1001 * call, cached: 203 * call, output: 37 + 13 * call, reasoning: 11 }
}

/// A prompt, and one that resumes its session after a kill.
fn prompts(agent: LabAgent) -> (Prompt, Prompt) {
    const SESSION: &str = "00000000-0000-4000-8000-000000000001";
    match agent {
        // It continues only what ended well; what did not is resumed by its name.
        LabAgent::Copilot => (
            Prompt::first("begin").args(&["--session-id", SESSION]),
            Prompt::first("go on").args(&[&format!("--resume={SESSION}")]),
        ),
        _other => (Prompt::first("begin"), Prompt::again("go on")),
    }
}

fn budget(scene: &Scene, id: &str) -> Result<Value> {
    Ok(scene.stopgate(&["status", id, "--json"])?.json()["loop"]["budget"].clone())
}

/// All that the model sent to this session.
fn sent(scene: &Scene, agent: LabAgent) -> u64 {
    let sent = scene.stage.model().sent();
    let own = sent.iter().filter(|answer| answer.session == agent.name());
    own.map(|answer| answer.usage.total()).sum()
}

/// A tool call, a kill in the middle of the next answer, and the rest in a resumed session.
fn check_usage(agent: LabAgent) -> Result<()> {
    let scene = Scene::installed(agent)?;
    let turns = [
        agent.shell("echo begun > begun.txt"),
        ScriptedTurn::hang(),
        ScriptedTurn::text("All done."),
        agent.shell("touch made.txt"),
        ScriptedTurn::text("Now the file is there."),
    ];
    let turns = (1..).zip(turns).map(|(call, turn)| turn.using(odd(call)));
    scene.stage.model().script(agent.name(), turns);
    let id = scene.start(&["--check", "made=test -f made.txt", "--max-tokens", "10000000"])?;
    let (first, again) = prompts(agent);
    scene.stage.kill_at(scene.stage.client(), &first, 2)?;
    let asked = scene.answered(&again)?;
    let told = budget(&scene, &id)?;
    let tokens = told["tokens"].as_u64().with_context(|| format!("{told}: {asked}"))?;
    assert_eq!(tokens, sent(&scene, agent), "{told}\n{:#?}", scene.stage.model().sent());
    assert_eq!(told["measured"], true, "{told}");
    assert_eq!(scene.standing(&id)?, "done 1", "{asked}");
    Ok(())
}

/// A limit is passed by no more than the turn that reached it.
fn check_limit(agent: LabAgent) -> Result<()> {
    let scene = Scene::installed(agent)?;
    let usage = TurnUsage { input: 1000, ..TurnUsage::default() };
    scene.stage.model().default_turn(ScriptedTurn::text("Still at it: {n}").using(usage));
    let id = scene.start(&["--max-tokens", "2500"])?;
    let asked = scene.answered(&Prompt::first("begin"))?;
    assert_eq!(scene.standing(&id)?, "budget 2", "{asked}");
    assert_eq!(asked.model_calls, 3, "{asked}");
    Ok(())
}

#[test]
fn usage_of_claude() -> Result<()> {
    check_usage(LabAgent::Claude)
}

#[test]
fn usage_of_codex() -> Result<()> {
    check_usage(LabAgent::Codex)
}

#[test]
fn usage_of_gemini() -> Result<()> {
    check_usage(LabAgent::Gemini)
}

#[test]
fn usage_of_qwen() -> Result<()> {
    check_usage(LabAgent::Qwen)
}

#[test]
fn usage_of_copilot() -> Result<()> {
    check_usage(LabAgent::Copilot)
}

#[test]
fn usage_limit_of_claude() -> Result<()> {
    check_limit(LabAgent::Claude)
}

#[test]
fn usage_limit_of_codex() -> Result<()> {
    check_limit(LabAgent::Codex)
}
