//! What a person asks of a run, and what they are told of it.

use std::path::PathBuf;
use std::time::Duration;

use stopgate_engine::LoopView;

use crate::command::AgentCommand;
use crate::policy::FailureLimits;
use crate::worktree::Delivery;

/// How full a context may be before a fresh session begins, in percent.
const CONTEXT_PERCENT_MAX: u64 = 70;
/// The window of a client that tells none.
const WINDOW_TOKENS: u64 = 200_000;

/// What a person asks for.
#[derive(Clone, Debug)]
pub struct DrivePlan {
    /// What runs a session.
    pub command: AgentCommand,
    /// When a fresh session begins.
    pub fresh: FreshPolicy,
    /// What failures are borne.
    pub limits: FailureLimits,
    /// How long a client may be silent.
    pub hang_after: Duration,
    /// Where the output of sessions is kept.
    pub log: Option<PathBuf>,
    /// What happens to questions.
    pub answer: AnswerPlan,
    /// Where sessions are seen.
    pub screen: SessionScreen,
    /// The model where nothing else names one.
    pub model: Option<String>,
    /// Models by category.
    pub models: Vec<(String, String)>,
    /// Whether a run that was broken off goes on.
    pub continues: bool,
    /// Who builds a feature.
    pub builder: FeatureBuilder,
    /// Where the work is done.
    pub place: WorkPlace,
}

/// Where the work of a driven loop is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkPlace {
    /// In the project itself, or where the loop was placed before.
    Project,
    /// In a git worktree of the loop's own.
    Worktree,
}

/// When a fresh session begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FreshPolicy {
    /// With every iteration.
    Every,
    /// After so many iterations.
    After(u32),
    /// When the context is nearly full.
    OnContext,
}

/// Who builds a feature of a list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FeatureBuilder {
    /// The session itself.
    #[default]
    Session,
    /// A sub-agent of the session.
    SubAgent,
}

/// What happens to a question.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AnswerPlan {
    /// How long an answer is waited for.
    pub within: Option<Duration>,
    /// What is answered when none came.
    pub default: Option<String>,
}

/// Where sessions are seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionScreen {
    /// In the terminal, with the person's keys.
    Terminal,
    /// Each in a window of its own of the tmux that the driver runs in.
    Tmux,
    /// Nowhere: only lines about them are.
    Headless,
}

/// What a person is told while a loop is driven.
#[derive(Clone, Debug)]
pub enum DriveNews<'a> {
    /// A session begins or is resumed.
    Session {
        /// The how-many-th it is.
        number: u64,
        /// Whether it goes on with one that was begun.
        is_resumed: bool,
        /// What runs it.
        agent: &'a str,
        /// Its model, where one is named.
        model: Option<&'a str>,
        /// What it works on, where the loop has parts.
        part: Option<&'a str>,
        /// The loop.
        view: &'a LoopView,
    },
    /// The client itself tries again.
    Retry {
        /// Why.
        class: &'static str,
        /// After how long, where it says so.
        delay: Option<Duration>,
    },
    /// A session ended, and its stop was judged.
    Judged {
        /// The loop.
        view: &'a LoopView,
    },
    /// A session failed.
    Failed {
        /// Why.
        class: &'static str,
        /// In the client's words.
        message: &'a str,
    },
    /// The driver waits.
    Waits {
        /// For how long.
        wait: Duration,
    },
    /// The agent parked the loop, and the driver waits with it.
    Parked {
        /// What for.
        what: &'a str,
    },
    /// Something that a person should know before the work begins.
    Warning {
        /// What.
        text: &'a str,
    },
    /// What was proven in a worktree was merged, or waits for a person.
    Delivered {
        /// What came of it.
        delivery: &'a Delivery,
    },
    /// The agent asked something, and the driver waits for an answer.
    Asked {
        /// What it asked.
        question: &'a str,
        /// For how long.
        within: Duration,
    },
}

impl DrivePlan {
    /// The models that sessions may run with, as far as the person named them.
    pub fn models_named(&self) -> impl Iterator<Item = &str> {
        let listed = self.models.iter().map(|(_, model)| model.as_str());
        self.model.as_deref().into_iter().chain(listed).chain(self.command.named_model())
    }
}

impl FreshPolicy {
    /// Whether a session goes on that was given `turns` turns and has so much in its context.
    pub(crate) fn keeps(self, turns: u32, context: Option<(u64, Option<u64>)>) -> bool {
        match self {
            Self::Every => false,
            Self::After(most) => turns < most,
            Self::OnContext => context.is_none_or(|(tokens, window)| {
                let window = window.unwrap_or(WINDOW_TOKENS).max(tokens).max(1);
                tokens.saturating_mul(100) / window < CONTEXT_PERCENT_MAX
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::FreshPolicy;

    #[test]
    fn a_session_is_kept_as_long_as_its_policy_says() {
        assert!(!FreshPolicy::Every.keeps(1, None));
        assert!(FreshPolicy::After(2).keeps(1, None));
        assert!(!FreshPolicy::After(2).keeps(2, None));
        assert!(FreshPolicy::OnContext.keeps(9, None));
        assert!(FreshPolicy::OnContext.keeps(9, Some((100_000, None))));
        assert!(!FreshPolicy::OnContext.keeps(9, Some((150_000, None))));
        assert!(FreshPolicy::OnContext.keeps(9, Some((150_000, Some(1_000_000)))));
    }
}
