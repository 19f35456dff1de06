//! A server on the Node SDK with one tool that does nothing.

use std::path::PathBuf;
use std::process::Command;

use anyhow::Result;

use crate::tools;

const SDK: &str = "@modelcontextprotocol/sdk@1.32.2";
const SERVER: &str = include_str!("peer.mjs");

/// Where it lies.
#[derive(Debug)]
pub(super) struct Peer {
    script: PathBuf,
}

impl Peer {
    pub(super) fn command(&self) -> Command {
        let mut command = Command::new("node");
        command.arg(&self.script);
        command
    }
}

/// The peer, installed at first use; nothing where that can't be done.
pub(super) fn command() -> Result<Option<Peer>> {
    if !tools::has("node") || !tools::has("npm") {
        return Ok(None);
    }
    let directory = tools::root()?.join("target/lab/mcp-peer");
    let installed = directory.join("node_modules/@modelcontextprotocol/sdk/package.json");
    if !installed.is_file() {
        std::fs::create_dir_all(&directory)?;
        std::fs::write(directory.join("package.json"), "{\"private\": true}\n")?;
        let mut npm = Command::new("npm");
        npm.args(["install", "--no-audit", "--no-fund", "--loglevel=error", SDK]);
        if !npm.current_dir(&directory).status().is_ok_and(|status| status.success()) {
            return Ok(None);
        }
    }
    let script = directory.join("peer.mjs");
    std::fs::write(&script, SERVER)?;
    Ok(Some(Peer { script }))
}
