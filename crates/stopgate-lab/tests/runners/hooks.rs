//! A scripted hook in the configuration of each client.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;
use serde_json::{Value, json};
use stopgate_lab::{Lab, LabAgent};

/// Where the hook writes a line for each call.
pub(crate) fn log(stage: &Lab) -> PathBuf {
    stage.state().join("stops.log")
}

/// Has the client of `stage` ask a hook that holds it this many times, and then lets it go.
pub(crate) fn write(stage: &Lab, agent: LabAgent, holds: usize) -> Result<()> {
    let script = stage.state().join("hook.sh");
    fs::write(&script, script_text(stage, agent, holds))?;
    let command = format!("sh '{}'", script.display());
    let home = stage.home();
    let group = |entry: Value| json!([{"hooks": [entry]}]);
    let entry = json!({"type": "command", "command": command});
    match agent {
        LabAgent::Claude => merge(&home.join(".claude/settings.json"), "Stop", group(entry)),
        LabAgent::Codex => merge(&home.join(".codex/hooks.json"), "Stop", group(entry)),
        LabAgent::Gemini => merge(&home.join(".gemini/settings.json"), "AfterAgent", group(entry)),
        LabAgent::Qwen => merge(&home.join(".qwen/settings.json"), "Stop", group(entry)),
        LabAgent::Copilot => {
            let path = home.join(".copilot/hooks/lab.json");
            put(&path, r#"{"version": 1}"#)?;
            merge(&path, "Stop", json!([{"type": "command", "bash": command}]))
        }
        LabAgent::Kimi => {
            let table = format!("\n[[hooks]]\nevent = \"Stop\"\ncommand = {}\n", json!(command));
            append(&home.join(".kimi-code/config.toml"), &table)
        }
        LabAgent::OpenCode => {
            let text = OPENCODE_PLUGIN.replace("SCRIPT", &json!(script).to_string());
            put(&home.join(".config/opencode/plugins/lab.js"), &text)
        }
        LabAgent::Pi => {
            let text = PI_EXTENSION.replace("SCRIPT", &json!(script).to_string());
            put(&home.join(".pi/agent/extensions/lab.ts"), &text)
        }
    }
}

/// Counts its calls in the log, and answers each in the form that the client reads.
fn script_text(stage: &Lab, agent: LabAgent, holds: usize) -> String {
    let answer = match agent {
        LabAgent::Kimi => format!("echo \"held $held of {holds}\" >&2; exit 2"),
        _ => format!(r#"printf '{{"decision":"block","reason":"held %s of {holds}"}}' $held"#),
    };
    let log = log(stage);
    format!(
        "cat >/dev/null\n\
         echo stop >>'{log}'\n\
         held=$(wc -l <'{log}' | tr -d ' ')\n\
         [ $held -gt {holds} ] && exit 0\n\
         {answer}\n",
        log = log.display()
    )
}

fn put(path: &Path, text: &str) -> Result<()> {
    fs::create_dir_all(path.parent().unwrap_or(path))?;
    Ok(fs::write(path, text)?)
}

fn append(path: &Path, text: &str) -> Result<()> {
    put(path, &(fs::read_to_string(path).unwrap_or_default() + text))
}

/// Sets the hooks of one event in a JSON file.
fn merge(path: &Path, event: &str, hooks: Value) -> Result<()> {
    let text = fs::read_to_string(path).unwrap_or_else(|_| "{}".into());
    let mut settings: Value = serde_json::from_str(&text)?;
    settings["hooks"][event] = hooks;
    put(path, &settings.to_string())
}

/// Asks the script when a text is complete: a headless run would be over before it hears that
/// the session is idle.
const OPENCODE_PLUGIN: &str = r#"
import { spawnSync } from "node:child_process"
export const Lab = async ({ client }) => ({
  "experimental.text.complete": async (input) => {
    const { stdout } = spawnSync("sh", [SCRIPT], { input: "{}", encoding: "utf8" })
    if (!stdout) return
    const parts = [{ type: "text", text: JSON.parse(stdout).reason }]
    await client.session.promptAsync({ path: { id: input.sessionID }, body: { parts } })
  },
})
"#;

const PI_EXTENSION: &str = r#"
import { spawnSync } from "node:child_process"
export default function (pi: any) {
  pi.on("agent_before_settle", async (event: any) => {
    // A model that failed, or was interrupted, has not stopped.
    if (event.outcome !== "completed") return
    const { stdout } = spawnSync("sh", [SCRIPT], { input: "{}", encoding: "utf8" })
    if (stdout) pi.sendUserMessage(JSON.parse(stdout).reason, { deliverAs: "followUp" })
  })
}
"#;
