//! What happened to a loop. The journal keeps these; the state is a fold over them.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::criterion::Criterion;
use crate::gate::{GateWord, LoopGate};
use crate::ground::Ground;
use crate::marker::Marker;
use crate::outcome::Outcome;
use crate::parking::{Parking, UnparkedBy};
use crate::policy::{Policy, Rule};
use crate::receipt::Receipt;
use crate::seen::{SpokenExit, ToolUse};
use crate::spend::Spend;
use crate::state::{Frame, LoopId, Rest, SessionId, Surface};
use crate::stored::is_default;
use crate::tally::Tally;
use crate::time::Timestamp;
use crate::word::{Origin, Vouch};
use crate::worktree::{LoopWorktree, Repository};

/// The version of the stored form of events and states.
pub const FORMAT: u32 = 1;

/// One thing that happened to a loop.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// It began.
    Started(Box<Started>),
    /// It holds this session from now on.
    Bound {
        /// The session.
        session: SessionId,
        /// How it came to hold it.
        how: Binding,
    },
    /// Its session is gone: it holds nobody, and the first session to come by until then is
    /// held instead.
    Detached {
        /// Until when a session may claim it.
        claim_until: Timestamp,
    },
    /// A nested frame was put on top.
    Pushed {
        /// The frame.
        frame: Frame,
    },
    /// The top frame was taken off by a command.
    Popped,
    /// The agent asked to stop and was answered.
    Stopped(Box<Stopped>),
    /// What the agent has used was brought up to date.
    Metered(Box<Spend>),
    /// The agent asked for verification.
    Claimed,
    /// The agent asked a person something.
    Asked {
        /// What it asked.
        question: String,
    },
    /// A person answered by command; the session hears it at its next prompt, start or stop.
    Answered {
        /// What they said.
        text: String,
    },
    /// A person changed what the loop is about.
    Edited(Box<LoopEdit>),
    /// The loop is parked until something happens.
    Parked(Box<Parking>),
    /// What a parked loop waits for has happened, and nobody could be woken at once.
    ConditionHeld,
    /// What a parked loop waits for has happened, and it goes on.
    Unparked {
        /// Who found out.
        by: UnparkedBy,
    },
    /// The client that was started after a wait did not come to a stop.
    WakeFailed {
        /// Why, in a sentence.
        why: String,
    },
    /// Somebody or something prompted the agent.
    Prompted {
        /// The prompt's name.
        prompt_id: Option<String>,
        /// Who spoke.
        speaker: Speaker,
    },
    /// A person asked the loop to stand aside.
    Paused {
        /// For how long.
        rest: Rest,
    },
    /// A person let it go on.
    Resumed {
        /// The new limit of the outermost frame, if it was raised.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        max_iterations: Option<u32>,
    },
    /// The session's context was cleared by this client process.
    Cleared {
        /// The client's process.
        client: String,
    },
    /// The session's context is about to be compacted.
    Compacted {
        /// What set it off.
        trigger: String,
    },
    /// The agent's turn broke off because its model could not be reached.
    TurnFailed {
        /// The kind of error.
        error: String,
        /// What the service said.
        text: String,
    },
    /// The session ended; the loop waits for it to be resumed.
    SessionEnded {
        /// Why, in the agent's word.
        reason: String,
    },
    /// Another tool's file, which is the truth, says that its frames are these.
    Synced {
        /// The frames, the outermost first.
        frames: Vec<Frame>,
    },
    /// A person attested a criterion that only a person can attest.
    Approved {
        /// The criterion.
        criterion: String,
    },
    /// A person accepted what was changed of that which the checks are judged by.
    Resealed {
        /// The fingerprint of what they are judged by from now on.
        seal: String,
        /// What had been changed.
        changes: Vec<String>,
        /// The project's file as it is now, where that was among it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        source: Option<String>,
    },
    /// A person accepted the changes of judges that were shown to them.
    JudgesApproved {
        /// Identifies exactly these changes.
        digest: String,
        /// Who accepted them.
        by: String,
    },
    /// The end as `done` was signed, so that an edited record can be told from a proven one.
    Certified {
        /// The key's name.
        key: String,
        /// The signature over what was proven.
        signature: String,
        /// The repository that it was proven in, where it was one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        repository: Option<Repository>,
    },
    /// Its sessions work in a git worktree of its own from now on.
    Placed(Box<LoopWorktree>),
    /// What was proven in its worktree is on the branch that it was begun on.
    Merged {
        /// The commit that the branch leads to now.
        commit: String,
    },
    /// Checks whose first run `start` did not wait for have ended, on the tree as it was then.
    Preflighted {
        /// What they said.
        receipts: Vec<Receipt>,
    },
    /// A person vouched for what an agent began.
    Vouched {
        /// How.
        how: Vouch,
    },
    /// Something happened to the task that the loop is, on the surface of tools.
    Task(Box<TaskNote>),
    /// It is over, by command.
    Ended {
        /// How it ended.
        outcome: Outcome,
        /// Why, in a sentence.
        why: String,
    },
}

/// How a loop began.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Started {
    /// Its name.
    pub id: LoopId,
    /// What it is for.
    pub goal: String,
    /// The directory it belongs to.
    pub project: String,
    /// The session it holds from the start.
    pub session: Option<SessionId>,
    /// Until when a session may claim it.
    pub claim_until: Option<Timestamp>,
    /// How it is judged.
    pub policy: Policy,
    /// Its outermost frame.
    pub frame: Frame,
    /// What must hold before it is done.
    pub criteria: Vec<Criterion>,
    /// What the criteria rest on.
    #[serde(default, skip_serializing_if = "Ground::is_bare")]
    pub ground: Ground,
    /// Who steers it.
    #[serde(default, skip_serializing_if = "Surface::is_hook")]
    pub surface: Surface,
    /// What else must agree before the agent goes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gates: Vec<LoopGate>,
    /// Who began it.
    #[serde(default, skip_serializing_if = "Origin::is_blank")]
    pub origin: Origin,
    /// The commit that was checked out when it began, where that was looked at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
}

impl Started {
    /// A loop with one frame, which holds no session yet and of which nothing else is asked.
    pub fn new(
        id: LoopId,
        goal: impl Into<String>,
        project: impl Into<String>,
        frame: Frame,
    ) -> Self {
        Self {
            id,
            goal: goal.into(),
            project: project.into(),
            session: None,
            claim_until: None,
            policy: Policy::default(),
            frame,
            criteria: Vec::new(),
            ground: Ground::default(),
            surface: Surface::Hook,
            gates: Vec::new(),
            origin: Origin::default(),
            commit: None,
        }
    }
}

/// What a person changed of a running loop.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct LoopEdit {
    /// Another goal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub goal: Option<String>,
    /// Another limit of the outermost frame.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_iterations: Option<u32>,
    /// Another limit of time; 0 means no limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_minutes: Option<u32>,
    /// Another limit of tokens; 0 means no limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u64>,
    /// Another limit of money, in millionths of a dollar; 0 means no limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_cost_micros: Option<u64>,
    /// Another limit on the subscription's window, in percent; 0 means no limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_quota: Option<u8>,
    /// Criteria that must hold from now on.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub added: Vec<Criterion>,
    /// The names of criteria that no longer count.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub dropped: Vec<String>,
    /// The fingerprint of what the checks are judged by from now on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seal: Option<String>,
}

/// Steps of a task, and what they mean for whom its loop holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskNote {
    /// The steps, in a form that only the room of gates reads.
    pub steps: Vec<String>,
    /// What becomes of the loop.
    #[serde(default, skip_serializing_if = "TaskHold::is_kept")]
    pub hold: TaskHold,
}

/// What becomes of a task's loop.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskHold {
    /// It stays as it is.
    #[default]
    Keep,
    /// Iterations begin or go on: it holds this session, if that is known.
    Begin {
        /// The session.
        session: Option<SessionId>,
        /// The frame that is worked on.
        frame: Frame,
    },
    /// It goes on and holds nobody.
    Open,
    /// It is over until somebody goes on with the task.
    End {
        /// How it ended.
        outcome: Outcome,
        /// Why, in a sentence.
        why: String,
    },
}

impl TaskHold {
    const fn is_kept(&self) -> bool {
        matches!(self, Self::Keep)
    }
}

/// How a loop came to hold a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Binding {
    /// The session was the first to come by while it was pending.
    Claimed,
    /// The session follows one whose context was cleared.
    Carried,
    /// A person attached it to this session, because the one before was gone.
    Attached,
}

/// Who prompted the agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Speaker {
    /// A person, during a turn that is still running.
    Interjection,
    /// A person, with a prompt of its own.
    Person,
    /// The client itself, because background work finished.
    Notification,
}

/// One stop and its answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stopped {
    /// The rule that answered.
    pub rule: Rule,
    /// What was ruled.
    pub ruling: Ruling,
    /// Why, in a sentence.
    pub why: String,
    /// How many frames were taken off.
    #[serde(default, skip_serializing_if = "is_default")]
    pub popped: u32,
    /// The text that the agent was sent.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// What the checks produced.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub receipts: Vec<Receipt>,
    /// What the loop's gates said, where they were asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gates: Option<GateWord>,
    /// What else was seen.
    pub facts: Facts,
    /// What is counted from now on.
    pub tally: Tally,
}

/// What was ruled at a stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ruling {
    /// The stop was allowed and not counted.
    Allow(Leave),
    /// The agent was sent back to work.
    Continue,
    /// The loop ended as it should.
    Complete(Outcome),
    /// The loop ended and a person is needed.
    Escalate(Outcome),
}

crate::words! {
    /// The word for a ruling, whatever it says beyond that.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum RulingWord {
        /// The stop was allowed and not counted.
        Allow = "allow",
        /// The agent was sent back to work.
        Continue = "continue",
        /// The loop ended as it should.
        Complete = "complete",
        /// The loop ended and a person is needed.
        Escalate = "escalate",
    }
}

impl Ruling {
    /// Which of the four it is.
    pub const fn word(self) -> RulingWord {
        match self {
            Self::Allow(_) => RulingWord::Allow,
            Self::Continue => RulingWord::Continue,
            Self::Complete(_) => RulingWord::Complete,
            Self::Escalate(_) => RulingWord::Escalate,
        }
    }

    /// How the loop ended by it, if it did.
    pub const fn outcome(self) -> Option<Outcome> {
        match self {
            Self::Complete(outcome) | Self::Escalate(outcome) => Some(outcome),
            Self::Allow(_) | Self::Continue => None,
        }
    }
}

/// Why a stop was allowed without ending the loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Leave {
    /// The loop had ended before.
    Ended,
    /// A person paused it.
    Paused,
    /// The agent waits for a person's answer.
    Waiting,
    /// Background work will wake the agent.
    Background,
    /// A person spoke during the turn.
    Person,
    /// The frame on top was closed; the one below goes on at the next stop.
    Popped,
    /// The file lists nothing that is to be proven.
    Empty,
    /// Nobody trusted the project's file, so its checks were not run.
    Untrusted,
    /// All that is left is a person's word.
    Approval,
    /// Proven in its worktree: what is left is the merge.
    Merge,
}

/// What was seen at a stop, beside the receipts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Facts {
    /// The markers that stood as signals.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub markers: Vec<Marker>,
    /// The exit that was asked for in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit: Option<SpokenExit>,
    /// Whether a tool was used.
    pub tools: ToolUse,
    /// Background tasks that ran.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub background: Vec<String>,
    /// How many refusals in a row the agent's client accepts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cap: Option<u32>,
    /// Whether the client said that a hook had sent the agent back; earlier versions did not note
    /// it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub continued: Option<bool>,
    /// Whether the project's file asked for commands that nobody trusted.
    #[serde(default, skip_serializing_if = "is_default")]
    pub untrusted: bool,
    /// The last message's fingerprint, where the tally has not taken it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<u64>,
    /// Where the agent's tool counter stood, where the tally has not taken it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_mark: Option<u64>,
    /// Where the transcript ended, where the tally has not taken it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transcript_mark: Option<u64>,
    /// How many files differ from the last look at them, where they were looked at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changed_files: Option<u32>,
}
