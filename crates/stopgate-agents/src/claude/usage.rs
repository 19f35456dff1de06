//! How full the context is, by a line of Claude Code's transcript.

use serde::Deserialize;

#[cfg(test)]
mod tests;

/// The tokens that were in the context after this line; nothing where it does not say so,
/// or where it is a subagent's.
pub(crate) fn context_tokens(line: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(line).ok()?;
    // Most lines can be told by a glance, which costs far less than reading them.
    if !text.contains("\"usage\"") {
        return None;
    }
    let record: RecordWire = serde_json::from_str(text).ok()?;
    let main = record.kind.as_deref() == Some("assistant") && record.is_sidechain != Some(true);
    let usage = record.message.filter(|_| main)?.usage?;
    let parts = [usage.input, usage.cache_written, usage.cache_read, usage.output];
    let sum = parts.into_iter().flatten().fold(0_u64, u64::saturating_add);
    // A message that the client made up itself used nothing.
    (sum > 0).then_some(sum)
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RecordWire {
    #[serde(rename = "type")]
    kind: Option<String>,
    is_sidechain: Option<bool>,
    message: Option<MessageWire>,
}

#[derive(Deserialize)]
struct MessageWire {
    usage: Option<UsageWire>,
}

#[derive(Deserialize)]
struct UsageWire {
    #[serde(rename = "input_tokens")]
    input: Option<u64>,
    #[serde(rename = "cache_creation_input_tokens")]
    cache_written: Option<u64>,
    #[serde(rename = "cache_read_input_tokens")]
    cache_read: Option<u64>,
    #[serde(rename = "output_tokens")]
    output: Option<u64>,
}
