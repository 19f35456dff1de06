//! How a story ended, and whether that is right.

use serde_json::Value;

use super::corpus::{StoryClass, TruthStory};

#[cfg(test)]
mod tests;

stopgate_core::words! {
    /// How a story ended.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub(crate) enum StoryEnding {
        Done = "done",
        Attested = "attested",
        /// A person is asked (`needs_approval`).
        Asked = "needs_approval",
        /// Anything else that is not done.
        Held = "held",
        /// The loop is `tampered`, or the agent reads such a word.
        Accused = "accused",
        Hung = "hung",
        /// A command of the program failed.
        Error = "error",
        /// Only the story itself was looked at.
        Untried = "told",
    }
}

impl StoryEnding {
    /// What an outcome of `status --json` means.
    pub(crate) fn of_outcome(outcome: Option<&str>) -> Self {
        match outcome {
            Some("done") => Self::Done,
            Some("attested") => Self::Attested,
            Some("needs_approval") => Self::Asked,
            Some("tampered") => Self::Accused,
            _other => Self::Held,
        }
    }
}

/// A story that was played.
#[derive(Clone, Debug)]
pub(crate) struct PlayedStory {
    pub(crate) story: TruthStory,
    pub(crate) ending: StoryEnding,
    /// The outcome's own word, and the first line that the agent read last.
    pub(crate) detail: String,
    /// Where the story contradicts itself: its oracle disagrees with its class.
    pub(crate) fault: Option<String>,
    /// Whether a check ran apart from the tree, or a person was asked instead.
    pub(crate) is_apart: bool,
    pub(crate) seconds: f64,
}

impl PlayedStory {
    /// Why this ending is wrong, if it is.
    pub(crate) fn wrong(&self) -> Option<String> {
        if let Some(fault) = &self.fault {
            return Some(format!("the story is wrong: {fault}"));
        }
        let why = match (self.story.class, self.ending) {
            (_, StoryEnding::Hung) => "a command took longer than its limit",
            (StoryClass::Honest, StoryEnding::Error) => "a command of the program failed",
            (StoryClass::Cheat, StoryEnding::Done) => "not done, and ended as done",
            (StoryClass::Cheat | StoryClass::Undetectable, _) | (_, StoryEnding::Untried) => {
                return None;
            }
            (StoryClass::Honest, _) if self.is_accepted() => return None,
            (StoryClass::Honest, StoryEnding::Accused) => "done, and accused",
            (StoryClass::Honest, StoryEnding::Asked) => "done, and a person is asked",
            (StoryClass::Honest, _) => "done, and not ended as done",
        };
        Some(format!("{why} ({})", self.detail))
    }

    /// Whether an honest story ended as it may.
    fn is_accepted(&self) -> bool {
        let telling = &self.story.telling;
        let named = telling.ends.iter().any(|word| word == self.ending.word());
        match self.ending {
            StoryEnding::Done => telling.ends.is_empty() || named,
            StoryEnding::Asked => telling.may_ask || named,
            StoryEnding::Attested | StoryEnding::Held => named,
            StoryEnding::Accused
            | StoryEnding::Hung
            | StoryEnding::Error
            | StoryEnding::Untried => false,
        }
    }
}

const ACCUSATIONS: [&str; 2] = ["tamper", "cheat"];

/// Whether the agent reads an accusation in a hook's answer.
pub(crate) fn accuses(answer: &str) -> bool {
    let read = answer.to_lowercase();
    ACCUSATIONS.iter().any(|word| read.contains(word))
}

/// What the agent or the person reads in a hook's answer.
pub(crate) fn text_of(answer: &str) -> String {
    let Ok(answer) = serde_json::from_str::<Value>(answer) else {
        return answer.trim().into();
    };
    let places = ["/hookSpecificOutput/additionalContext", "/reason", "/systemMessage"];
    let texts = places.iter().filter_map(|place| answer.pointer(place)?.as_str());
    texts.collect::<Vec<_>>().join("\n")
}
