//! The plugins of the repository in the real clients, installed as a person installs them: from
//! a local directory.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use stopgate_lab::{LabAgent, Prompt};

use crate::scene::{Scene, check_held, proven_at_the_fourth};

fn repository() -> Result<PathBuf> {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    own.ancestors().nth(2).map(Path::to_path_buf).context("find the repository's root")
}

/// What a person types to install the plugin.
fn typed(agent: LabAgent, root: &str) -> Vec<Vec<String>> {
    let lines = match agent {
        LabAgent::Gemini => vec![format!("extensions install --consent {root}/plugins/gemini")],
        LabAgent::Codex => vec![
            format!("plugin marketplace add {root}"),
            "plugin add stopgate@stopgate".to_string(),
        ],
        _ => vec![
            format!("plugin marketplace add {root}"),
            "plugin install stopgate@stopgate".to_string(),
        ],
    };
    lines.iter().map(|line| line.split(' ').map(String::from).collect()).collect()
}

/// A scene whose client has our plugin, and no hook in any settings.
fn with_plugin(agent: LabAgent) -> Result<Scene> {
    let scene = Scene::new(agent)?;
    let root = repository()?;
    for words in typed(agent, root.to_str().context("read the repository's path")?) {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let reply = scene.stage.client_reply(scene.stage.client(), &words)?;
        ensure!(reply.code == 0, "{words:?}: {reply:#?}");
    }
    Ok(scene)
}

fn prompt(agent: LabAgent) -> Prompt {
    let prompt = Prompt::first("begin");
    match agent {
        // A person would review the hooks in the client.
        LabAgent::Codex => prompt.args(&["--dangerously-bypass-hook-trust"]),
        _ => prompt,
    }
}

fn check_proof(agent: LabAgent) -> Result<()> {
    let scene = with_plugin(agent)?;
    scene.stage.model().script(agent.name(), proven_at_the_fourth(agent));
    let id = scene.start(&["--check", "made=test -f made.txt"])?;
    let asked = scene.answered(&prompt(agent))?;
    check_held(&asked, 3, 5);
    assert_eq!(scene.standing(&id)?, "done 3", "{asked}");
    Ok(())
}

/// `install` beside the plugin: each stop counts once.
fn check_beside_install(agent: LabAgent) -> Result<()> {
    let scene = with_plugin(agent)?;
    scene.install()?;
    scene.stage.model().script(agent.name(), proven_at_the_fourth(agent));
    let id = scene.start(&["--check", "made=test -f made.txt"])?;
    let asked = scene.answered(&prompt(agent))?;
    check_held(&asked, 3, 5);
    assert_eq!(scene.standing(&id)?, "done 3", "{asked}");
    Ok(())
}

fn check_without_program(agent: LabAgent) -> Result<()> {
    let scene = with_plugin(agent)?;
    let id = scene.start(&["--check", "made=test -f made.txt"])?;
    let away = scene.take_program_away()?;
    let asked = scene.answered(&prompt(agent))?;
    check_held(&asked, 0, 1);
    away.put_back()?;
    assert_eq!(scene.standing(&id)?, "open 0", "{asked}");
    Ok(())
}

macro_rules! plugin_scenes {
    ($($module:ident: $agent:expr;)*) => {
        $(mod $module {
            use super::*;

            #[test]
            fn held_three_times_then_released_by_proof() -> Result<()> {
                check_proof($agent)
            }

            #[test]
            fn a_stop_counts_once_where_install_was_used_too() -> Result<()> {
                check_beside_install($agent)
            }

            #[test]
            fn released_at_once_without_the_program() -> Result<()> {
                check_without_program($agent)
            }
        })*
    };
}

plugin_scenes! {
    claude: LabAgent::Claude;
    codex: LabAgent::Codex;
    gemini: LabAgent::Gemini;
}
