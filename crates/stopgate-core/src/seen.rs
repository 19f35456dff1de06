//! What was seen at one stop: everything `decide` may know beside the state.

use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::gate::GateWord;
use crate::ledger::Ledger;
use crate::marker::Marker;
use crate::receipt::{Receipt, Status};
use crate::soundness::Soundness;
use crate::word::FileTrust;

/// All that was seen at one stop.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// The markers that stood as signals in the last message.
    pub markers: Vec<Marker>,
    /// The exit that the last message asks for, with its reason.
    pub exit: Option<SpokenExit>,
    /// The last message's fingerprint, white space aside.
    pub message: Option<u64>,
    /// Whether a tool ran since the last counted stop.
    pub tools: ToolUse,
    /// Where the agent's tool counter stands now.
    pub tool_mark: Option<u64>,
    /// Where the transcript ends now.
    pub transcript_mark: Option<u64>,
    /// Whether the agent says that a hook sent it back during this prompt.
    pub continued: Option<bool>,
    /// Background tasks that run now.
    pub background: Vec<String>,
    /// The prompt that the agent is answering.
    pub prompt_id: Option<String>,
    /// The limit that the agent's client sets on continuations.
    pub cap: Option<ClientCap>,
    /// Whether the project's file asks for commands that nobody trusted.
    pub untrusted: bool,
    /// What the checks that were due produced.
    pub receipts: Vec<Receipt>,
    /// What the loop's gates said, where they were asked.
    pub gates: Option<GateWord>,
    /// Why a claim of completion is not believed, where a task's own rules or gates object.
    pub objection: Option<String>,
    /// What a task's own record says about its money and its errors.
    pub ledger: Ledger,
    /// Whether a person trusts the project's file that criteria were read from; asked only where
    /// an agent began the loop.
    pub file: FileTrust,
    /// What the seals under the loop's record say.
    pub soundness: Soundness,
}

/// The limit that a client sets on continuations by hooks: past it, our answer would be thrown away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClientCap {
    /// How many refusals it accepts.
    pub refusals: u32,
    /// What starts its count again.
    pub scope: CapScope,
    /// How a person lifts it, in words; may be empty.
    pub lift: &'static str,
}

/// What starts a client's count of refusals again, beside a new prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CapScope {
    /// A tool call.
    SinceTool,
    /// Nothing: the whole turn counts.
    Turn,
}

/// An honest exit that the agent asked for in words, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SpokenExit {
    /// Something outside its reach is in the way.
    Blocked(String),
    /// The goal can't be reached.
    Impossible(String),
    /// It asks a person this question.
    Ask(String),
}

/// Whether a tool was used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolUse {
    /// At least one tool ran.
    Used,
    /// No tool ran.
    None,
    /// It can't be told.
    #[default]
    Unknown,
}

impl Seen {
    /// What the check of `criterion` produced, if it ran.
    pub fn receipt(&self, criterion: &str) -> Option<&Receipt> {
        self.receipts.iter().find(|receipt| receipt.criterion == criterion)
    }

    /// Whether the check of `criterion` ran and passed; one that nobody ran has not, and
    /// where several share a name, all must have.
    pub fn passed(&self, criterion: &str) -> bool {
        let mut named = self.receipts.iter().filter(|receipt| receipt.criterion == criterion);
        self.receipt(criterion).is_some() && named.all(|receipt| receipt.status == Status::Pass)
    }
}
