use serde_json::{Value, json};

use super::ToolCall;

const FILE: &str = ".claude/idle-loop.local.md";

fn changes(tool: &str, input: &Value) -> bool {
    let payload = json!({"hook_event_name": "PreToolUse", "tool_name": tool, "tool_input": input});
    ToolCall::read(&payload).expect("a tool call").changes(FILE)
}

#[test]
fn writing_to_the_state_is_told_from_reading_it() {
    assert!(changes("Edit", &json!({"file_path": "/p/.claude/idle-loop.local.md"})));
    assert!(changes("Write", &json!({"file_path": ".claude/idle-loop.local.md"})));
    assert!(changes("Bash", &json!({"command": "rm -f .claude/idle-loop.local.md"})));
    assert!(changes("Bash", &json!({"command": "echo x > .claude/idle-loop.local.md"})));
    assert!(!changes("Read", &json!({"file_path": ".claude/idle-loop.local.md"})));
    assert!(!changes("Bash", &json!({"command": "cat .claude/idle-loop.local.md"})));
    assert!(!changes("Edit", &json!({"file_path": "src/main.rs"})));
    let other = json!({"hook_event_name": "Stop"});
    assert!(ToolCall::read(&other).is_none());
}
