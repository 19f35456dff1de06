//! How a prompt went, as the client and its model saw it.

use std::fmt;

use crate::model::ModelInput;
use crate::outcome::Exit;
use crate::pinned::LabAgent;

/// What a client did with one prompt.
#[derive(Clone, Debug)]
pub struct PromptRun {
    /// Which client.
    pub agent: LabAgent,
    /// How it ended.
    pub exit: Exit,
    /// How often its conversation called the model.
    pub model_calls: usize,
    /// What the model was told after its own last message, call by call; the first call of this
    /// prompt is number 1.
    pub told: Vec<ModelInput>,
    /// What it printed on stdout.
    pub stdout: String,
    /// What it printed on stderr.
    pub stderr: String,
}

impl PromptRun {
    /// The calls of this prompt in which the model was told this.
    pub fn told_at(&self, text: &str) -> Vec<usize> {
        let telling = self.told.iter().filter(|told| told.text.contains(text));
        telling.map(|told| told.call).collect()
    }
}

/// A few lines for a failed test.
impl fmt::Display for PromptRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (agent, calls) = (self.agent.name(), self.model_calls);
        writeln!(f, "{agent}: {:?}, {calls} model calls", self.exit)?;
        for told in &self.told {
            writeln!(f, "call {} was told: {}", told.call, told.text)?;
        }
        writeln!(f, "stdout: {}", self.stdout)?;
        write!(f, "stderr: {}", self.stderr)
    }
}
