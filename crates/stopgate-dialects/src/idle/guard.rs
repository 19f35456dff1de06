//! Whether a tool call would change the state of the loop that holds its caller.

use serde_json::Value;

/// The tools that write to the file that they name.
const WRITERS: [&str; 5] = ["Write", "Edit", "MultiEdit", "NotebookEdit", "Update"];
/// What a shell command needs to change a file that it names.
const CHANGES: [&str; 9] =
    ["rm ", "mv ", "cp ", ">", "tee ", "sed -i", "truncate ", "unlink ", "dd "];

/// The tool that is about to be called, where the payload announces one.
#[derive(Clone, Copy, Debug)]
pub struct ToolCall<'a> {
    name: &'a str,
    input: &'a Value,
}

impl<'a> ToolCall<'a> {
    /// Reads the payload of a `PreToolUse` event; nothing for any other.
    pub fn read(payload: &'a Value) -> Option<Self> {
        if payload["hook_event_name"] != "PreToolUse" {
            return None;
        }
        Some(Self { name: payload["tool_name"].as_str()?, input: &payload["tool_input"] })
    }

    /// Whether it would change the file whose path ends with `file`.
    pub fn changes(&self, file: &str) -> bool {
        let text = |name: &str| self.input[name].as_str().unwrap_or_default();
        if WRITERS.contains(&self.name) {
            return [text("file_path"), text("notebook_path")]
                .iter()
                .any(|path| path.ends_with(file));
        }
        let name = file.rsplit('/').next().unwrap_or(file);
        let command = text("command");
        command.contains(name) && CHANGES.iter().any(|change| command.contains(change))
    }
}

#[cfg(test)]
mod tests;
