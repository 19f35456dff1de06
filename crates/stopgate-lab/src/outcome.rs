//! How a session went, as the client and the model saw it.

use std::fmt;

use serde::Deserialize;
use serde_json::Value;

use crate::model::{FakeModel, ModelInput};

const CAP_MARK: &str = "blocked the turn from ending";

/// How the client ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// By itself, with this code.
    Code(i32),
    /// Killed from elsewhere by this signal.
    Signal(i32),
    /// Killed by the lab at the session's time limit.
    TimedOut,
}

/// The end of one turn, as the client printed it.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct ResultWire {
    /// `success`, or the name of an error.
    pub subtype: String,
    /// Whether the client calls it an error.
    pub is_error: bool,
    /// The turn's last text.
    pub result: String,
    /// How many turns the client counted.
    pub num_turns: u64,
}

/// What one session did.
#[derive(Clone, Debug)]
pub struct SessionResult {
    /// Its id.
    pub session: String,
    /// How the client ended.
    pub exit: Exit,
    /// All it printed on stdout, line by line.
    pub events: Vec<Value>,
    /// The ends of its turns: one, and one more for each finished background task.
    pub results: Vec<ResultWire>,
    /// What it told the person.
    pub warnings: Vec<String>,
    /// Whether the client overrode a hook that would not let it stop.
    pub capped: bool,
    /// How often its conversation called the model, resumed runs included.
    pub model_calls: usize,
    /// What the model was told after its own last message, call by call.
    pub told: Vec<ModelInput>,
    /// What the client printed on stderr.
    pub stderr: String,
}

impl SessionResult {
    pub(crate) fn new(
        session: &str,
        exit: Exit,
        stdout: &str,
        stderr: String,
        model: &FakeModel,
    ) -> Self {
        let lines = stdout.lines().map(serde_json::from_str::<Value>);
        let events: Vec<Value> = lines.filter_map(Result::ok).collect();
        let warnings: Vec<String> = events.iter().filter_map(warning).collect();
        let mut told = model.told();
        told.retain(|told| told.session == session);
        Self {
            session: session.into(),
            exit,
            results: events.iter().filter_map(result).collect(),
            capped: warnings.iter().any(|warning| warning.contains(CAP_MARK)),
            warnings,
            events,
            model_calls: model.main_calls_of(session).len(),
            told,
            stderr,
        }
    }

    /// The last turn's text.
    pub fn final_result(&self) -> &str {
        self.results.last().map_or("", |result| &result.result)
    }

    /// The number of the first call in which the model was told this.
    pub fn told_at(&self, text: &str) -> Option<usize> {
        self.told.iter().find(|told| told.text.contains(text)).map(|told| told.call)
    }
}

/// A few lines for a failed test: what happened, without the client's own events.
impl fmt::Display for SessionResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "session {}: {:?}, {} model calls", self.session, self.exit, self.model_calls)?;
        for told in &self.told {
            writeln!(f, "call {} was told: {}", told.call, told.text)?;
        }
        for result in &self.results {
            writeln!(f, "{}: {:?}", result.subtype, result.result)?;
        }
        for warning in &self.warnings {
            writeln!(f, "warning: {warning}")?;
        }
        write!(f, "{}", self.stderr)
    }
}

fn warning(event: &Value) -> Option<String> {
    if event["subtype"] != "informational" {
        return None;
    }
    event["content"].as_str().map(str::to_owned)
}

fn result(event: &Value) -> Option<ResultWire> {
    if event["type"] != "result" {
        return None;
    }
    ResultWire::deserialize(event).ok()
}
