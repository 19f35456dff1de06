//! stopgate holds every real client that it can be installed for, and lets it go.
//!
//! Needs the program (`STOPGATE_BIN`, else `target/release/stopgate`) and the clients, which npm
//! installs. Where one is missing, its scenes fail and say so by name.

mod plugins;
mod scene;
mod usage;

use anyhow::Result;
use scene::{Scene, check_held, proven_at_the_fourth};
use stopgate_lab::{LabAgent, Prompt};

/// Held three times, then released because the check passes.
fn check_proof(agent: LabAgent) -> Result<()> {
    let scene = Scene::installed(agent)?;
    scene.stage.model().script(agent.name(), proven_at_the_fourth(agent));
    let id = scene.start(&["--check", "made=test -f made.txt"])?;
    let asked = scene.answered(&Prompt::first("begin"))?;
    check_held(&asked, 3, 5);
    assert_eq!(scene.standing(&id)?, "done 3", "{asked}");
    Ok(())
}

/// Without the program the agent stops at once, and nothing loops.
fn check_without_program(agent: LabAgent) -> Result<()> {
    let scene = Scene::installed(agent)?;
    let id = scene.start(&["--check", "made=test -f made.txt"])?;
    let away = scene.take_program_away()?;
    let asked = scene.answered(&Prompt::first("begin"))?;
    check_held(&asked, 0, 1);
    away.put_back()?;
    assert_eq!(scene.standing(&id)?, "open 0", "{asked}");
    Ok(())
}

/// After `uninstall` the agent stops at once, and its home is what it was.
fn check_uninstalled(agent: LabAgent) -> Result<()> {
    let scene = Scene::new(agent)?;
    let before = scene.home_files()?;
    scene.install()?;
    assert_ne!(scene.home_files()?, before, "install changed nothing");
    scene.stopgate(&["uninstall", agent.name()])?;
    assert_eq!(scene.home_files()?, before);
    let id = scene.start(&["--check", "made=test -f made.txt"])?;
    let asked = scene.answered(&Prompt::first("begin"))?;
    check_held(&asked, 0, 1);
    assert_eq!(scene.standing(&id)?, "open 0", "{asked}");
    Ok(())
}

/// A text before a tool call is not a stop.
fn check_text_before_tool(agent: LabAgent) -> Result<()> {
    let scene = Scene::installed(agent)?;
    let turns = scene::text_before_tool(agent);
    scene.stage.model().script(agent.name(), turns);
    let id = scene.start(&["--check", "made=test -f made.txt"])?;
    let asked = scene.answered(&Prompt::first("begin"))?;
    check_held(&asked, 0, 2);
    assert_eq!(scene.standing(&id)?, "done 0", "{asked}");
    Ok(())
}

/// Where a client asks its hook once for each prompt: held once in each of three, and the fourth
/// proves it.
fn check_proof_by_turns(agent: LabAgent) -> Result<()> {
    let scene = Scene::installed(agent)?;
    let id = scene.start(&["--check", "made=test -f made.txt"])?;
    for turn in 1..=3 {
        let prompt = if turn == 1 { Prompt::first("begin") } else { Prompt::again("go on") };
        let asked = scene.answered(&prompt)?;
        assert_eq!(asked.model_calls, 2, "{asked}");
        assert_eq!(asked.told_at(&format!("Loop {turn}/20")), [2], "{asked}");
        assert_eq!(scene.standing(&id)?, format!("open {turn}"), "{asked}");
    }
    scene::make_the_file(&scene);
    let asked = scene.answered(&Prompt::again("go on"))?;
    check_held(&asked, 0, 2);
    assert_eq!(scene.standing(&id)?, "done 3", "{asked}");
    Ok(())
}

macro_rules! scenes {
    ($($module:ident: $agent:expr, $proof:ident;)*) => {
        $(mod $module {
            use super::*;

            #[test]
            fn held_three_times_then_released_by_proof() -> Result<()> {
                $proof($agent)
            }

            #[test]
            fn released_at_once_without_the_program() -> Result<()> {
                check_without_program($agent)
            }

            #[test]
            fn stops_at_once_after_uninstall() -> Result<()> {
                check_uninstalled($agent)
            }

            #[test]
            fn a_text_before_a_tool_call_is_not_a_stop() -> Result<()> {
                check_text_before_tool($agent)
            }
        })*
    };
}

scenes! {
    claude: LabAgent::Claude, check_proof;
    codex: LabAgent::Codex, check_proof;
    gemini: LabAgent::Gemini, check_proof;
    qwen: LabAgent::Qwen, check_proof;
    copilot: LabAgent::Copilot, check_proof;
    kimi: LabAgent::Kimi, check_proof_by_turns;
    opencode: LabAgent::OpenCode, check_proof;
    pi: LabAgent::Pi, check_proof;
}

/// Copilot also loads the hooks of Claude Code's file in the project.
#[test]
fn a_stop_that_two_hooks_see_is_answered_once() -> Result<()> {
    let scene = Scene::installed(LabAgent::Copilot)?;
    scene.stopgate(&["install", "claude", "--scope", "project"])?;
    scene.stage.model().script("copilot", proven_at_the_fourth(LabAgent::Copilot));
    let id = scene.start(&["--check", "made=test -f made.txt"])?;
    let asked = scene.answered(&Prompt::first("begin"))?;
    check_held(&asked, 3, 5);
    assert_eq!(scene.standing(&id)?, "done 3", "{asked}");
    Ok(())
}

/// Each of two agents at work in one repository is held by its own loop only.
#[test]
fn two_agents_in_one_repository_are_held_apart() -> Result<()> {
    let scene = Scene::installed(LabAgent::Gemini)?;
    let other = scene.add(LabAgent::Qwen)?;
    let sessions = ["00000000-0000-4000-8000-000000000001", "00000000-0000-4000-8000-000000000002"];
    let limits = [2, 3];
    let mut loops = Vec::new();
    for (session, limit) in sessions.iter().zip(limits) {
        loops.push(scene.start(&["--session", session, "--max-iterations", &limit.to_string()])?);
    }
    let prompt = |session| Prompt::first("begin").args(&["--session-id", session]);
    let asking = [(scene.stage.client(), prompt(sessions[0])), (&other, prompt(sessions[1]))];
    let asked = scene.stage.ask_all(&asking)?;
    for ((asked, limit), id) in asked.iter().zip(limits).zip(&loops) {
        assert_eq!(asked.model_calls, limit + 1, "{asked}");
        for held in 1..=limit {
            assert_eq!(asked.told_at(&format!("Loop {held}/{limit}")), [held + 1], "{asked}");
        }
        assert_eq!(scene.standing(id)?, format!("max_iterations {limit}"), "{asked}");
    }
    Ok(())
}
