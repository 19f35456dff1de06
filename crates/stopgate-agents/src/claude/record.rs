//! One line of Claude Code's transcript.
//!
//! An answer of the model is one record per block, all with the same message id;
//! most other lines are book-keeping. Lines may be cut, foreign or from another
//! version: those are named as such and never an error.

use std::borrow::Cow;

use serde::Deserialize;
use serde::de::{Deserializer, SeqAccess};

use stopgate_signals::transcript::TranscriptRecord;

use crate::lenient::{self, FlagWire, Lenient, ObjectWire, TextWire};
use crate::surrogates::replace_lone_surrogates;

#[cfg(test)]
mod tests;

/// Reads one line.
pub(crate) fn record(line: &[u8]) -> TranscriptRecord {
    read(line, meaning).unwrap_or(TranscriptRecord::Foreign)
}

/// Whether the main agent used a tool in this line.
pub(crate) fn is_tool_use(line: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(line) else {
        return false;
    };
    // Most lines can be told by a glance, which costs far less than reading them.
    text.contains("tool_use") && read(line, |record| record.uses_tool()).unwrap_or(false)
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct RecordWire<'a> {
    #[serde(borrow, rename = "type")]
    kind: TextWire<'a>,
    is_sidechain: FlagWire,
    is_meta: FlagWire,
    is_compact_summary: FlagWire,
    #[serde(borrow)]
    message: ObjectWire<MessageWire<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct MessageWire<'a> {
    #[serde(borrow)]
    id: TextWire<'a>,
    #[serde(borrow)]
    content: ContentWire<'a>,
}

#[derive(Default)]
enum ContentWire<'a> {
    #[default]
    Nothing,
    Text(Cow<'a, str>),
    Blocks(Vec<BlockWire<'a>>),
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct BlockWire<'a> {
    #[serde(borrow, rename = "type")]
    kind: TextWire<'a>,
    #[serde(borrow)]
    text: TextWire<'a>,
}

impl<'de> Lenient<'de> for ContentWire<'de> {
    fn text(text: Cow<'de, str>) -> Self {
        Self::Text(text)
    }

    fn list<A: SeqAccess<'de>>(mut list: A) -> Result<Self, A::Error> {
        let mut blocks = Vec::new();
        while let Some(block) = list.next_element::<ObjectWire<BlockWire<'de>>>()? {
            blocks.extend(block.0);
        }
        Ok(Self::Blocks(blocks))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for ContentWire<'a> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        lenient::read::<ContentWire<'de>, D>(from)
    }
}

/// Gives the record to `use_it`, or nothing if the line holds none.
fn read<T>(line: &[u8], use_it: impl Fn(RecordWire<'_>) -> T) -> Option<T> {
    let text = std::str::from_utf8(line).ok()?.trim_ascii();
    if !text.starts_with('{') {
        return None;
    }
    match serde_json::from_str(text) {
        Ok(record) => Some(use_it(record)),
        Err(_) => serde_json::from_str(&replace_lone_surrogates(text)?).ok().map(use_it),
    }
}

fn meaning(record: RecordWire<'_>) -> TranscriptRecord {
    if record.is_sidechain.is_set() {
        return TranscriptRecord::Other;
    }
    match record.kind.0.as_deref() {
        Some("assistant") => said(record.message.0.unwrap_or_default()),
        Some("user") if record.begins_turn() => TranscriptRecord::UserTurn,
        _ => TranscriptRecord::Other,
    }
}

fn said(message: MessageWire<'_>) -> TranscriptRecord {
    TranscriptRecord::Assistant {
        message: message.id.filled().map(Cow::into_owned),
        text: message.content.into_text(),
    }
}

impl RecordWire<'_> {
    fn begins_turn(&self) -> bool {
        let written = !self.is_meta.is_set() && !self.is_compact_summary.is_set();
        written && self.message.0.as_ref().is_some_and(|message| message.content.is_prompt())
    }

    fn uses_tool(&self) -> bool {
        let main = self.kind.is("assistant") && !self.is_sidechain.is_set();
        main && self.message.0.as_ref().is_some_and(|message| message.content.has("tool_use"))
    }
}

impl ContentWire<'_> {
    fn into_text(self) -> Option<String> {
        match self {
            Self::Nothing => None,
            Self::Text(text) => Some(text.into_owned()),
            Self::Blocks(blocks) => join(blocks),
        }
    }

    fn is_prompt(&self) -> bool {
        match self {
            Self::Nothing => false,
            Self::Text(_) => true,
            Self::Blocks(blocks) => !blocks.is_empty() && !self.has("tool_result"),
        }
    }

    fn has(&self, kind: &str) -> bool {
        match self {
            Self::Nothing | Self::Text(_) => false,
            Self::Blocks(blocks) => blocks.iter().any(|block| block.kind.is(kind)),
        }
    }
}

fn join(blocks: Vec<BlockWire<'_>>) -> Option<String> {
    let texts = blocks.into_iter().filter(|block| block.kind.is("text"));
    texts.filter_map(|block| block.text.0).map(Cow::into_owned).reduce(|mut all, text| {
        all.push('\n');
        all.push_str(&text);
        all
    })
}
