//! What somebody outside says to a running loop: a control word, or a reviewer's answer.

use crate::json_text::{Document, Node};

/// One message to a loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SideMessage {
    /// Its first word, in lower case.
    pub word: String,
    /// What is said beside it.
    pub text: String,
    /// The run that it is for, where it says.
    pub run: Option<String>,
}

/// What a running loop is told to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// Let the agent stop until it is resumed.
    Pause,
    /// Go on.
    Resume,
    /// End for good.
    Cancel,
    /// End, for a person must look at it.
    Escalate,
}

/// What a reviewer answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Review {
    /// The work will do.
    Approved,
    /// It needs this.
    Changes(String),
}

impl SideMessage {
    /// Reads `{"command": …, "run_id": …}` (or `decision`, with `text`), else a plain text
    /// whose first word counts; nothing where there is none.
    pub fn read(text: &str) -> Option<Self> {
        if let Ok(document) = Document::read(text)
            && document.root().is_object()
        {
            let root = document.root();
            let plain = |name: &str| root.key(name).and_then(Node::plain).map(String::from);
            let word = plain("command").or_else(|| plain("decision"))?;
            let said = plain("text").or_else(|| plain("reason")).unwrap_or_default();
            return Some(Self { word: word.to_lowercase(), text: said, run: plain("run_id") });
        }
        let text = text.trim();
        let end = text.find(|c: char| !c.is_alphanumeric()).unwrap_or(text.len());
        let (word, rest) = text.split_at(end);
        let rest = rest.trim_start_matches(':').trim();
        let message = Self { word: word.to_lowercase(), text: rest.into(), run: None };
        (!message.word.is_empty()).then_some(message)
    }

    /// The control word that this is, if it is one.
    pub fn control(&self) -> Option<Control> {
        match self.word.as_str() {
            "pause" => Some(Control::Pause),
            "resume" => Some(Control::Resume),
            "cancel" | "abort" => Some(Control::Cancel),
            "escalate" => Some(Control::Escalate),
            _other => None,
        }
    }

    /// The reviewer's answer that this is: whatever does not approve asks for changes.
    pub fn review(&self) -> Review {
        match self.word.as_str() {
            "approved" | "approve" | "complete" => Review::Approved,
            "changes" if !self.text.is_empty() => Review::Changes(self.text.clone()),
            word => Review::Changes(format!("{word} {}", self.text).trim_end().into()),
        }
    }
}

#[cfg(test)]
mod tests;
