//! How a loop is judged, as data.

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
    /// How long a loop may go without any activity.
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

crate::words! {
    /// How an agent is to work on a goal, as clear as that is.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum GoalShape {
        /// Alone, until the end.
        Tool = "tool",
        /// With a person, who is asked after each step.
        Colleague = "colleague",
    }
}

crate::words! {
    /// Whether verdicts bind the agent.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Enforcement {
        /// A refused stop is refused.
        Enforce = "enforce",
        /// Decide and record, always allow.
        Shadow = "shadow",
    }
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

/// Declares the rules: each with its word, and the question that it asks.
macro_rules! rules {
    ($($rule:ident, $word:literal, $question:literal;)+) => {
        crate::words! {
            /// One question of the judgement.
            #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
            #[serde(rename_all = "snake_case")]
            pub enum Rule {
                $(#[doc = $question] $rule = $word,)+
            }
        }

        impl Rule {
            /// The question the rule asks, for people.
            pub const fn question(self) -> &'static str {
                match self {
                    $(Self::$rule => $question,)+
                }
            }
        }
    };
}

rules! {
    Ended, "ended", "has the loop ended already?";
    Paused, "paused", "did a person pause it?";
    Corrupt, "corrupt", "is the record sound?";
    Stale, "stale", "has nobody touched it for too long?";
    Waiting, "waiting", "does it wait for a person's answer, or for a condition?";
    Trust, "trust", "did a person trust the project's file?";
    Background, "background", "did background work start that will wake the agent?";
    Person, "person", "did a person speak during this turn?";
    Tampered, "tampered", "was what judges the work changed, and not put right when asked?";
    Proof, "proof", "do all criteria pass?";
    Infra, "infra", "could a check not be run, twice in a row?";
    Iterations, "iterations", "was the agent sent back as often as allowed?";
    Time, "time", "is the time used up?";
    Budget, "budget", "are the tokens, the money or the quota used up?";
    Idle, "idle", "did the agent do nothing for several turns?";
    Repeat, "repeat", "do the same criteria fail in the same way again and again?";
    Oscillation, "oscillation", "do two sets of failures take turns?";
    Cap, "cap", "would the agent's own cap throw the answer away?";
    FrameLimit, "frame_limit", "is a nested frame at its limit?";
    Signals, "signals", "what did the agent say?";
    Gates, "gates", "what do the loop's gates say?";
    TopLimit, "top_limit", "is the frame on top at its limit?";
    Said, "said", "did the agent say that the frame on top is over?";
    Errors, "errors", "do the errors that the agent wrote down need a person?";
    Spend, "spend", "is the money used up?";
    Empty, "empty", "does the file list nothing that is to be proven?";
    Stuck, "stuck", "is the file's own circuit breaker open?";
    Written, "written", "does the file say that all is met, and does the agent mean to finish?";
    Continue, "continue", "no rule lets the agent stop, so it continues";
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
