//! The plugins of each agent, made from one source: the hooks, the skill and the commands that an
//! installation has, too.
//!
//! They are kept in the repository, because agents load plugins from a checkout; a test holds the
//! copies to what is made here.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde_json::{Value, json};
use stopgate_agents::settings::plugin_hooks;
use stopgate_agents::{Agent, SKILL, SKILL_PATH};

use super::about::PackageFacts;
use super::archive::PackedFile;
use crate::tools;

#[cfg(test)]
mod tests;

/// The line of the skill that only a client with slash commands fills in.
const TYPED: &str = "What was typed after `/stopgate`: $ARGUMENTS";
const SAID: &str = "What the person says after the word stopgate:";

/// Every plugin and marketplace file, by its path in the repository.
pub(crate) fn plugin_files(facts: &PackageFacts) -> Result<Vec<PackedFile>> {
    let commands = PluginCommand::all()?;
    let mut files = vec![
        PackedFile::text(".claude-plugin/marketplace.json", pretty(&claude_marketplace(facts))),
        PackedFile::text(".agents/plugins/marketplace.json", pretty(&codex_marketplace(facts))),
        PackedFile::text("plugins/README.md", README),
    ];
    let trees = [
        ("plugins/claude", claude(facts, &commands)?),
        ("plugins/codex", codex(facts)?),
        ("plugins/gemini", gemini(facts, &commands)?),
        ("plugins/portable", portable(facts)),
    ];
    for (directory, tree) in trees {
        files.push(PackedFile::text(format!("{directory}/LICENSE"), facts.license_text.clone()));
        files.extend(tree.into_iter().map(|file| file.below(directory)));
    }
    Ok(files)
}

/// Writes them into the repository; what is there and no longer made goes.
pub(crate) fn write_plugins(facts: &PackageFacts) -> Result<()> {
    let root = tools::root()?;
    let old = root.join("plugins");
    if old.exists() {
        fs::remove_dir_all(&old).with_context(|| format!("remove {}", old.display()))?;
    }
    for file in plugin_files(facts)? {
        place(&root, &file)?;
        println!("{}", file.path);
    }
    Ok(())
}

/// Writes a file of a package below `root`.
pub(crate) fn place(root: &Path, file: &PackedFile) -> Result<()> {
    let path = root.join(&file.path);
    path.parent().map_or(Ok(()), fs::create_dir_all)?;
    fs::write(&path, &file.bytes).with_context(|| format!("write {}", path.display()))?;
    if file.mode & 0o111 != 0 {
        tools::run(std::process::Command::new("chmod").arg("755").arg(&path))?;
    }
    Ok(())
}

const README: &str = "\
# Plugins

Made by `cargo xtask package --plugins` from `packages/`, the skill and the hooks that `stopgate install` writes; changes belong there.
They look for `stopgate` on the PATH and hold nobody where it is missing. [docs/install.md](../docs/install.md) says how each is installed.
";

/// A slash command: `packages/commands/NAME.md`.
struct PluginCommand {
    name: String,
    /// The file's first line.
    about: String,
    /// Its second line, if that is not blank: what may be typed behind the name.
    hint: Option<String>,
    text: String,
}

impl PluginCommand {
    fn all() -> Result<Vec<Self>> {
        let directory = tools::root()?.join("packages/commands");
        let mut commands = Vec::new();
        for entry in fs::read_dir(&directory).context("read packages/commands")? {
            let path = entry?.path();
            let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            let text = fs::read_to_string(&path)?;
            commands.push(
                Self::parse(name, &text).with_context(|| format!("read {}", path.display()))?,
            );
        }
        commands.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(commands)
    }

    fn parse(name: String, text: &str) -> Result<Self> {
        let (head, body) = text.split_once("\n\n").context("find the blank line")?;
        let mut head = head.lines().map(String::from);
        let about = head.next().context("find the first line")?;
        Ok(Self { name, about, hint: head.next(), text: body.into() })
    }

    fn as_markdown(&self) -> String {
        let hint = self.hint.as_ref().map(|hint| format!("argument-hint: {}\n", json!(hint)));
        let hint = hint.unwrap_or_default();
        format!("---\ndescription: {}\n{hint}---\n\n{}", self.about, self.text)
    }

    fn as_toml(&self) -> String {
        let text = self.text.replace("$ARGUMENTS", "{{args}}").replace('\\', "\\\\");
        format!("description = {}\nprompt = \"\"\"\n{text}\"\"\"\n", json!(self.about))
    }
}

/// The skill without what only Claude Code understands.
fn portable_skill() -> String {
    let lines = SKILL.lines().filter(|line| !line.starts_with("argument-hint:"));
    let lines: Vec<&str> = lines.map(|line| if line == TYPED { SAID } else { line }).collect();
    format!("{}\n", lines.join("\n"))
}

fn server() -> Value {
    json!({"stopgate": {"command": "stopgate", "args": ["mcp"]}})
}

fn hooks(agent: Agent) -> Result<PackedFile> {
    let text = plugin_hooks(agent).context("find the hooks of a plugin")?;
    Ok(PackedFile::text("hooks/hooks.json", text))
}

fn claude(facts: &PackageFacts, commands: &[PluginCommand]) -> Result<Vec<PackedFile>> {
    let mut files = vec![
        PackedFile::text(".claude-plugin/plugin.json", pretty(&manifest(facts))),
        PackedFile::text(".mcp.json", pretty(&json!({ "mcpServers": server() }))),
        PackedFile::text("README.md", about(facts, "a Claude Code plugin")),
        PackedFile::text(SKILL_PATH, SKILL),
        hooks(Agent::Claude)?,
    ];
    let command = |command: &PluginCommand| {
        PackedFile::text(format!("commands/{}.md", command.name), command.as_markdown())
    };
    files.extend(commands.iter().map(command));
    Ok(files)
}

fn codex(facts: &PackageFacts) -> Result<Vec<PackedFile>> {
    let mut manifest = manifest(facts);
    manifest["skills"] = "./skills/".into();
    manifest["mcpServers"] = "./.mcp.json".into();
    manifest["hooks"] = "./hooks/hooks.json".into();
    Ok(vec![
        PackedFile::text(".codex-plugin/plugin.json", pretty(&manifest)),
        PackedFile::text(".mcp.json", pretty(&json!({ "mcpServers": server() }))),
        PackedFile::text("README.md", about(facts, "a Codex plugin")),
        PackedFile::text(SKILL_PATH, portable_skill()),
        hooks(Agent::Codex)?,
    ])
}

fn gemini(facts: &PackageFacts, commands: &[PluginCommand]) -> Result<Vec<PackedFile>> {
    let manifest = json!({
        "name": facts.name,
        "version": facts.version,
        "description": facts.description,
        "mcpServers": server(),
    });
    let mut files = vec![
        PackedFile::text("gemini-extension.json", pretty(&manifest)),
        PackedFile::text("README.md", about(facts, "a Gemini CLI extension")),
        PackedFile::text(SKILL_PATH, portable_skill()),
        hooks(Agent::Gemini)?,
    ];
    let command = |command: &PluginCommand| {
        PackedFile::text(format!("commands/stopgate/{}.toml", command.name), command.as_toml())
    };
    files.extend(commands.iter().map(command));
    Ok(files)
}

/// The vendor-neutral form has skills and MCP servers, and no hooks: it teaches, it does not hold.
fn portable(facts: &PackageFacts) -> Vec<PackedFile> {
    let schema = |name: &str| format!("https://agent-plugins.org/schemas/1.0.0/{name}.schema.json");
    let mut manifest = manifest(facts);
    manifest["$schema"] = schema("plugin").into();
    let mut server = server();
    server["stopgate"]["type"] = "stdio".into();
    let servers = json!({"$schema": schema("mcp"), "mcpServers": server});
    vec![
        PackedFile::text("plugin.json", pretty(&manifest)),
        PackedFile::text("mcp.json", pretty(&servers)),
        PackedFile::text("README.md", about(facts, "a portable agent plugin, without hooks")),
        PackedFile::text(SKILL_PATH, portable_skill()),
    ]
}

fn manifest(facts: &PackageFacts) -> Value {
    json!({
        "name": facts.name,
        "version": facts.version,
        "description": facts.description,
        "author": {"name": facts.author},
        "license": facts.license,
        "keywords": facts.keywords,
    })
}

fn claude_marketplace(facts: &PackageFacts) -> Value {
    json!({
        "name": facts.name,
        "owner": {"name": facts.author},
        "metadata": {"description": facts.description, "version": facts.version},
        "plugins": [{
            "name": facts.name,
            "source": "./plugins/claude",
            "description": facts.description,
            "version": facts.version,
            "license": facts.license,
            "keywords": facts.keywords,
            "category": "workflow",
        }],
    })
}

fn codex_marketplace(facts: &PackageFacts) -> Value {
    json!({
        "name": facts.name,
        "interface": {"displayName": facts.name},
        "plugins": [{
            "name": facts.name,
            "source": {"source": "local", "path": "./plugins/codex"},
            "policy": {"installation": "AVAILABLE", "authentication": "ON_INSTALL"},
            "category": "Productivity",
        }],
    })
}

fn about(facts: &PackageFacts, what: &str) -> String {
    let PackageFacts { name, description, .. } = facts;
    format!(
        "# {name}, as {what}\n\n{description}.\n\nIt needs the program `stopgate` on the PATH. Where it is missing, nothing is held and the \
         agent may stop.\nWhere `stopgate install` was used as well, the hooks of the settings answer and those of a plugin stand down.\n"
    )
}

/// JSON as people read it, with a last line end.
pub(crate) fn pretty(value: &Value) -> String {
    format!("{value:#}\n")
}
