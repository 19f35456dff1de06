//! The state file of the widely used plugin: front matter, and the prompt below.
//!
//! Its promise is heard only where it is said: alone on a line, in its tag, outside of
//! code and quotes. Never decides, and never drops a file that it does not understand.

use stopgate_core::{Digest, Frame, Mode};

use crate::front_matter::FrontMatter;

/// The state file, below the project.
pub const FILE: &str = ".claude/ralph-loop.local.md";

/// A loop as its file describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RalphLoop {
    /// Whether it is switched on.
    pub active: bool,
    /// How often the agent was sent back, and how often it may be; or what makes no sense.
    pub frame: Result<Frame, FieldTrouble>,
    /// What the agent must say, where it must say anything.
    pub promise: Option<String>,
    /// The session that it holds; none where the file does not say.
    pub session: Option<String>,
    /// Tells it from the one before.
    pub run: String,
}

/// A field that makes no sense.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldTrouble {
    /// Which one.
    pub field: &'static str,
    /// What it says.
    pub value: String,
}

impl RalphLoop {
    /// Reads a file; nothing where it has no fields at all.
    pub fn read(text: &str) -> Option<Self> {
        let file = FrontMatter::read(text)?;
        let value = |name: &str| {
            file.value(name).filter(|value| !value.is_empty() && value != "null" && value != "~")
        };
        let prompt = file.body().trim().to_string();
        let counted = |field: &'static str, default: u32| {
            let Some(value) = value(field) else { return Ok(default) };
            value.parse().map_err(|_| FieldTrouble { field, value })
        };
        let frame = counted("iteration", 0).and_then(|iteration| {
            let max = counted("max_iterations", 0)?;
            if prompt.is_empty() {
                return Err(FieldTrouble {
                    field: "the prompt below the fields",
                    value: String::new(),
                });
            }
            // A missing value means no limit there.
            let max = if max == 0 { u32::MAX } else { max };
            Ok(Frame { mode: Mode::Loop, iteration, max, prompt: prompt.clone() })
        });
        let started = value("started_at").unwrap_or_default();
        let digest = Digest::new().part(prompt.as_bytes()).part(started.as_bytes());
        Some(Self {
            active: value("active").is_none_or(|active| active == "true"),
            frame,
            promise: value("completion_promise"),
            session: value("session_id"),
            run: format!("{:016x}", digest.value()),
        })
    }

    /// Whether the file's loop holds `session`; one that names nobody holds nobody.
    pub fn holds(&self, session: &str) -> bool {
        self.session.as_deref() == Some(session)
    }
}

/// The file with its count changed, and nothing else.
pub fn counted(text: &str, iteration: u32) -> Option<String> {
    Some(FrontMatter::read(text)?.with("iteration", &iteration.to_string()))
}

/// What the person is shown beside the prompt.
pub fn note(frame: &Frame, promise: Option<&str>) -> String {
    let iteration = frame.iteration;
    let count = match frame.max {
        u32::MAX => format!("iteration {iteration}"),
        max => format!("iteration {iteration} of {max}"),
    };
    match promise {
        Some(promise) => format!(
            "Ralph loop, {count}. To finish, say <promise>{promise}</promise> alone on a line, \
             and only once it is true."
        ),
        None => format!("Ralph loop, {count}. No promise is set, so only its limit ends it."),
    }
}

#[cfg(test)]
mod tests;
