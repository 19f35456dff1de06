//! Every client is there, in the version that the lab's expectations were seen on.
//!
//! The first run installs them. A client that can't be fetched fails its own test.

use anyhow::{Context, Result, ensure};
use stopgate_lab::{Lab, LabAgent, LabClient};

fn check_version(agent: LabAgent) -> Result<()> {
    let client = LabClient::install_agent(agent).context("could not")?;
    let stage = Lab::new(client)?;
    let reply = stage.client_reply(stage.client(), &["--version"])?;
    ensure!(reply.code == 0 && reply.stdout.contains(agent.version()), "{reply:#?}");
    Ok(())
}

macro_rules! clients {
    ($($name:ident: $agent:expr;)*) => {
        $(#[test]
        fn $name() -> Result<()> {
            check_version($agent)
        })*
    };
}

clients! {
    claude: LabAgent::Claude;
    codex: LabAgent::Codex;
    copilot: LabAgent::Copilot;
    gemini: LabAgent::Gemini;
    kimi: LabAgent::Kimi;
    opencode: LabAgent::OpenCode;
    pi: LabAgent::Pi;
    qwen: LabAgent::Qwen;
}
