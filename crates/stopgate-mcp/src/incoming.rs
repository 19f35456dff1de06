//! Reads one message of a client, or says why it can't be read.
//!
//! Pure: both doors hand in bytes. A request is always answered with its own id where
//! that can be read, so that nobody waits for an answer that never comes.

use rmcp::model::{ClientJsonRpcMessage, ClientRequest, ErrorCode, JsonRpcMessage};
use serde_json::{Value, json};

/// No message may be longer, over either door.
pub(crate) const MESSAGE_BYTES_MAX: usize = 4 * 1024 * 1024;
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
/// Methods that are served; anything else that can't be read is simply unknown.
const SERVED: [&str; 5] = ["initialize", "ping", "server/discover", "tools/call", "tools/list"];

/// Where requests name the revision that they follow, since there is no handshake.
const REVISION_IN_META: &str = "io.modelcontextprotocol/protocolVersion";

/// What came in.
#[derive(Debug)]
pub(crate) enum Incoming {
    Message(Box<ClientJsonRpcMessage>),
    /// Nothing that anybody waits for: an empty line, a notification that can't be read.
    Nothing,
    Unreadable(UnreadableMessage),
}

/// Why a message could not be read.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct UnreadableMessage {
    id: Value,
    code: ErrorCode,
    why: String,
}

impl UnreadableMessage {
    /// The answer, as JSON-RPC has it.
    pub(crate) fn answer(&self) -> Value {
        let error = json!({"code": self.code.0, "message": self.why});
        json!({"jsonrpc": "2.0", "id": self.id, "error": error})
    }

    fn new(id: Value, code: ErrorCode, why: impl Into<String>) -> Self {
        Self { id, code, why: why.into() }
    }

    /// For what is longer than [`MESSAGE_BYTES_MAX`].
    pub(crate) fn too_long() -> Self {
        let why = format!("Invalid request: a message has at most {MESSAGE_BYTES_MAX} bytes");
        Self::new(Value::Null, ErrorCode::INVALID_REQUEST, why)
    }
}

/// Reads `bytes` as one message.
pub(crate) fn read(bytes: &[u8]) -> Incoming {
    let bytes = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes);
    if bytes.trim_ascii().is_empty() {
        return Incoming::Nothing;
    }
    match serde_json::from_slice::<ClientJsonRpcMessage>(bytes) {
        Ok(message) => match misread(&message, bytes) {
            Some(unreadable) => Incoming::Unreadable(unreadable),
            None => Incoming::Message(Box::new(message)),
        },
        Err(_) => examine(bytes),
    }
}

/// A method that is served, with parameters that it does not take.
fn misread(message: &ClientJsonRpcMessage, bytes: &[u8]) -> Option<UnreadableMessage> {
    let JsonRpcMessage::Request(request) = message else { return None };
    let ClientRequest::CustomRequest(custom) = &request.request else { return None };
    let method = SERVED.iter().find(|served| **served == custom.method)?;
    if *method == "initialize" && is_without_handshake(bytes) {
        return None;
    }
    let why = match *method {
        "tools/call" => "tools/call takes a name and arguments, and arguments must be an object",
        "initialize" => "initialize takes protocolVersion, capabilities and clientInfo",
        _other => "these parameters don't fit the method",
    };
    let id = serde_json::to_value(&request.id).unwrap_or_default();
    Some(UnreadableMessage::new(id, ErrorCode::INVALID_PARAMS, why))
}

/// Whether a request carries its own revision, as those without a handshake do: there,
/// `initialize` is an unknown method.
fn is_without_handshake(bytes: &[u8]) -> bool {
    let message: Value = serde_json::from_slice(bytes).unwrap_or_default();
    message["params"]["_meta"][REVISION_IN_META].is_string()
}

/// Says what is wrong with something that is not a message.
fn examine(bytes: &[u8]) -> Incoming {
    let value: Value = match serde_json::from_slice(bytes) {
        Ok(value) => value,
        Err(error) => {
            let why = format!("Parse error: {error}");
            return Incoming::Unreadable(UnreadableMessage::new(
                Value::Null,
                ErrorCode::PARSE_ERROR,
                why,
            ));
        }
    };
    let id = &value["id"];
    let usable = id.is_string() || id.is_number();
    let is_notification =
        value["jsonrpc"] == "2.0" && value["method"].is_string() && value.get("id").is_none();
    if is_notification {
        return Incoming::Nothing;
    }
    let id = if usable { id.clone() } else { Value::Null };
    let why = format!("Invalid request: {}", fault(&value));
    Incoming::Unreadable(UnreadableMessage::new(id, ErrorCode::INVALID_REQUEST, why))
}

fn fault(value: &Value) -> &'static str {
    let params = value.get("params");
    match value {
        Value::Array(_) => "send one message at a time",
        Value::Object(_) if value["jsonrpc"] != "2.0" => "jsonrpc must be \"2.0\"",
        Value::Object(_) if value.get("id").is_some_and(|id| !(id.is_string() || id.is_i64())) => {
            "id must be a string or an integer"
        }
        Value::Object(_) if !value["method"].is_string() => "method must be a string",
        Value::Object(_) if params.is_some_and(|given| !given.is_object()) => {
            "params must be an object"
        }
        Value::Object(_) => "this is not a message of the protocol",
        _other => "a message is an object",
    }
}

#[cfg(test)]
mod tests;
