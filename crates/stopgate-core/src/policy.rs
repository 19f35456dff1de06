//! How a loop is judged, as data.

use core::fmt;

use serde::{Deserialize, Serialize};

use crate::order;
use crate::stored::is_default;

/// The limits of a loop and the order in which it is judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Policy {
    /// Minutes of work allowed; 0 means no limit.
    pub max_minutes: u32,
    /// Idle continuations in a row allowed; 0 means no limit.
    pub max_idle: u32,
    /// Continuations with the same failures in a row allowed; 0 means no limit.
    pub max_repeat: u32,
    /// Rounds of two sets of failures taking turns allowed; 0 means no limit.
    pub max_rounds: u32,
    /// How long a loop may lie untouched.
    pub stale_after_ms: i64,
    /// Whether verdicts bind.
    pub enforcement: Enforcement,
    /// In which order the rules are asked.
    pub order: Order,
    /// Tokens that the agent may use; 0 means no limit.
    #[serde(default, skip_serializing_if = "is_default")]
    pub max_tokens: u64,
    /// Money that it may spend, in millionths of a dollar; 0 means no limit.
    #[serde(default, skip_serializing_if = "is_default")]
    pub max_cost_micros: u64,
    /// Percent of the subscription's window that may be used; 0 means no limit.
    #[serde(default, skip_serializing_if = "is_default")]
    pub max_quota: u8,
    /// Whether what the agent uses is counted although nothing of the above limits it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub metered: bool,
    /// Percent of the context at which the agent is asked to hand over, where somebody chose
    /// it; 0 is never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_warn: Option<u8>,
    /// How clear the goal is, of ten points, where somebody looked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<u8>,
    /// How the agent is to work, where a person said so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shape: Option<GoalShape>,
}

/// How an agent is to work on a goal, as clear as that is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GoalShape {
    /// Alone, until the end.
    Tool,
    /// With a person, who is asked after each step.
    Colleague,
}

impl GoalShape {
    /// The word that users and JSON use.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Tool => "tool",
            Self::Colleague => "colleague",
        }
    }
}

/// Whether verdicts bind the agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Enforcement {
    /// A refused stop is refused.
    Enforce,
    /// Decide and record, always allow.
    Shadow,
}

/// A documented order of judgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// Brakes before wishes; only proof comes before them.
    Native,
    /// As the idle plugin judges: the frame on top is the loop.
    Idle,
    /// As the feature list judges: complete, then the limit.
    Features,
    /// As the criteria file judges.
    Criteria,
    /// As the task record judges.
    Task,
    /// As the widely used plugin judges: the limit, then the promise.
    RalphLoop,
}

/// One question of the judgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rule {
    /// Has the loop ended already?
    Ended,
    /// Did a person ask it to stand aside?
    Paused,
    /// Is the record sound?
    Corrupt,
    /// Has nobody touched it for too long?
    Stale,
    /// Is the agent waiting for a person's answer, or parked until something happens?
    Waiting,
    /// Did a person trust the project's file?
    Trust,
    /// Did background work start that will wake the agent?
    Background,
    /// Did a person speak during this turn?
    Person,
    /// Was what judges the work changed, and not put right when asked?
    Tampered,
    /// Do all criteria pass?
    Proof,
    /// Could the checks not be run twice in a row?
    Infra,
    /// Was the agent sent back as often as allowed?
    Iterations,
    /// Is the time used up?
    Time,
    /// Are the tokens, the money or the quota used up?
    Budget,
    /// Did the agent do nothing for several turns?
    Idle,
    /// Do the same criteria fail in the same way again and again?
    Repeat,
    /// Do two sets of failures take turns?
    Oscillation,
    /// Would the agent's own cap throw our answer away?
    Cap,
    /// Is a nested frame at its limit?
    FrameLimit,
    /// What did the agent say?
    Signals,
    /// What do the loop's gates say?
    Gates,
    /// Is the frame on top at its limit?
    TopLimit,
    /// Did the agent say that the frame on top is over?
    Said,
    /// Do the errors that the agent wrote down need a person?
    Errors,
    /// Is the money used up?
    Spend,
    /// Does the file list nothing that is to be proven?
    Empty,
    /// Is the file's own circuit breaker open?
    Stuck,
    /// Does the file say that everything is met, and does the agent mean to finish?
    Written,
    /// Nothing lets it go: it works on.
    Continue,
}

const NATIVE: [Rule; 22] = [
    Rule::Ended,
    Rule::Paused,
    Rule::Corrupt,
    Rule::Stale,
    Rule::Waiting,
    Rule::Trust,
    Rule::Background,
    Rule::Person,
    Rule::Tampered,
    Rule::Proof,
    Rule::Infra,
    Rule::Iterations,
    Rule::Time,
    Rule::Budget,
    Rule::Idle,
    Rule::Repeat,
    Rule::Oscillation,
    Rule::Cap,
    Rule::Signals,
    Rule::FrameLimit,
    Rule::Gates,
    Rule::Continue,
];

impl Order {
    /// The rules in the order they are asked; the last one always answers.
    pub const fn rules(self) -> &'static [Rule] {
        match self {
            Self::Native => &NATIVE,
            Self::Idle => &order::IDLE,
            Self::Features => &order::FEATURES,
            Self::Criteria => &order::CRITERIA,
            Self::Task => &order::TASK,
            Self::RalphLoop => &order::RALPH_LOOP,
        }
    }
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            max_minutes: 240,
            max_idle: 3,
            max_repeat: 5,
            max_rounds: 3,
            stale_after_ms: 12 * 60 * 60 * 1000,
            enforcement: Enforcement::Enforce,
            order: Order::Native,
            max_tokens: 0,
            max_cost_micros: 0,
            max_quota: 0,
            metered: false,
            context_warn: None,
            score: None,
            shape: None,
        }
    }
}

impl Policy {
    /// Whether what the agent uses must be counted at each stop.
    pub const fn counts_spend(&self) -> bool {
        self.metered || self.max_tokens > 0 || self.max_cost_micros > 0 || self.max_quota > 0
    }
}

impl Rule {
    /// The word that users, JSON and SQL use.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Ended => "ended",
            Self::Paused => "paused",
            Self::Corrupt => "corrupt",
            Self::Stale => "stale",
            Self::Waiting => "waiting",
            Self::Trust => "trust",
            Self::Background => "background",
            Self::Person => "person",
            Self::Tampered => "tampered",
            Self::Proof => "proof",
            Self::Infra => "infra",
            Self::Iterations => "iterations",
            Self::Time => "time",
            Self::Budget => "budget",
            Self::Idle => "idle",
            Self::Repeat => "repeat",
            Self::Oscillation => "oscillation",
            Self::Cap => "cap",
            Self::FrameLimit => "frame_limit",
            Self::Signals => "signals",
            Self::Gates => "gates",
            Self::TopLimit => "top_limit",
            Self::Said => "said",
            Self::Errors => "errors",
            Self::Spend => "spend",
            Self::Empty => "empty",
            Self::Stuck => "stuck",
            Self::Written => "written",
            Self::Continue => "continue",
        }
    }

    /// The question the rule asks, for people.
    pub const fn question(self) -> &'static str {
        match self {
            Self::Ended => "has the loop ended already?",
            Self::Paused => "did a person pause it?",
            Self::Corrupt => "is the record sound?",
            Self::Stale => "has nobody touched it for too long?",
            Self::Waiting => "does it wait for a person's answer, or for a condition?",
            Self::Trust => "did a person trust the project's file?",
            Self::Background => "did background work start that will wake the agent?",
            Self::Person => "did a person speak during this turn?",
            Self::Tampered => "was what judges the work changed, and not put right when asked?",
            Self::Proof => "do all criteria pass?",
            Self::Infra => "could a check not be run, twice in a row?",
            Self::Iterations => "was the agent sent back as often as allowed?",
            Self::Time => "is the time used up?",
            Self::Budget => "are the tokens, the money or the quota used up?",
            Self::Idle => "did the agent do nothing for several turns?",
            Self::Repeat => "do the same criteria fail in the same way again and again?",
            Self::Oscillation => "do two sets of failures take turns?",
            Self::Cap => "would the agent's own cap throw the answer away?",
            Self::FrameLimit => "is a nested frame at its limit?",
            Self::Signals => "what did the agent say?",
            Self::Gates => "what do the loop's gates say?",
            Self::TopLimit => "is the frame on top at its limit?",
            Self::Said => "did the agent say that the frame on top is over?",
            Self::Errors => "do the errors that the agent wrote down need a person?",
            Self::Spend => "is the money used up?",
            Self::Empty => "does the file list nothing that is to be proven?",
            Self::Stuck => "is the file's own circuit breaker open?",
            Self::Written => {
                "does the file say that all is met, and does the agent mean to finish?"
            }
            Self::Continue => "no rule lets the agent stop, so it continues",
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}
