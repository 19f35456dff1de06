//! Transcripts of any length, as the client writes them.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use anyhow::{Context, Result};
use serde_json::json;

/// What the agent says at the end of every transcript and in every payload.
pub(crate) const MESSAGE: &str = "I moved the fixtures of the parser tests and fixed their imports. \
Twelve of forty files are done; the next one is `lexer_test.rs`.\n\n\
- `parser_test.rs`: passes\n- `token_test.rs`: passes\n- `lexer_test.rs`: two assertions still use the old helper\n\n\
The remaining files follow the same pattern, and I will go on with them now.";

const BLOCK_BYTES: u64 = 1024 * 1024;

/// Writes a transcript of about `bytes` bytes that ends with [`MESSAGE`].
pub(crate) fn write(path: &Path, bytes: u64) -> Result<()> {
    write_ending(path, bytes, MESSAGE)
}

/// Writes a transcript of about `bytes` bytes whose last message is `last`.
pub(crate) fn write_ending(path: &Path, bytes: u64, last: &str) -> Result<()> {
    let file = File::create(path).with_context(|| format!("write {}", path.display()))?;
    let mut out = BufWriter::with_capacity(1 << 20, file);
    let end = turn(0, last);
    let mut left = bytes.saturating_sub(end.len() as u64);
    let block = block(left.min(BLOCK_BYTES));
    while left >= block.len() as u64 && !block.is_empty() {
        out.write_all(block.as_bytes())?;
        left -= block.len() as u64;
    }
    out.write_all(end.as_bytes())?;
    Ok(out.flush()?)
}

/// Whole turns, together a little less than `bytes` long.
fn block(bytes: u64) -> String {
    let mut text = String::new();
    for number in 1.. {
        let next = turn(number, MESSAGE);
        if (text.len() + next.len()) as u64 > bytes {
            break;
        }
        text.push_str(&next);
    }
    text
}

/// A tool call, its result, and a message.
fn turn(number: u32, said: &str) -> String {
    let call = json!({"type": "tool_use", "id": format!("toolu_{number}"), "name": "Bash",
        "input": {"command": "cargo test --workspace", "description": "Run the tests"}});
    let output = "test parser::reads_a_word ... ok\n".repeat(40);
    let result = json!({"type": "tool_result", "tool_use_id": format!("toolu_{number}"),
        "content": output, "is_error": false});
    let records = [
        record(
            number,
            "assistant",
            &json!({"id": format!("msg_a{number}"), "type": "message",
            "role": "assistant", "content": [call]}),
        ),
        record(number, "user", &json!({"role": "user", "content": [result]})),
        record(
            number,
            "assistant",
            &json!({"id": format!("msg_b{number}"), "type": "message",
            "role": "assistant", "content": [{"type": "text", "text": said}]}),
        ),
    ];
    records.concat()
}

fn record(number: u32, kind: &str, message: &serde_json::Value) -> String {
    let line = json!({"parentUuid": format!("00000000-0000-4000-8000-{number:012}"),
        "isSidechain": false, "userType": "external", "sessionId": "measured",
        "version": "2.1.0", "type": kind, "message": message,
        "timestamp": "2026-01-01T00:00:00.000Z"});
    format!("{line}\n")
}
