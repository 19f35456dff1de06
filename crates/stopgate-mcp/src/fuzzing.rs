//! Doors for the fuzzer to what only this crate sees. Nothing else uses them.

use serde_json::Value;

use crate::incoming::{Incoming, read};

/// What a client is answered that sent these bytes, where they can't be read.
pub fn answer(bytes: &[u8]) -> Option<Value> {
    match read(bytes) {
        Incoming::Unreadable(why) => Some(why.answer()),
        Incoming::Message(_) | Incoming::Nothing => None,
    }
}
