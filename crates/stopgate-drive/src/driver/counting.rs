//! What the sessions of a loop use: counted by the driver, whether or not the client has a hook.
//!
//! The client's own record is read after each turn, also one that failed or was killed, and after a
//! driver that was killed. Where the client keeps none, what its output tells is written down.

use std::fs::File;
use std::io::Write;
use std::path::Path;

use serde_json::json;
use stopgate_agents::{Agent, Headless, UsageHint};
use stopgate_core::Outcome;
use stopgate_engine::{Failure, RealWorld, Settings, World};

use super::{DriveEnd, Driver};
use crate::records::record_of;

/// What was heard of use, in a file of the driver's own.
const HEARD: &str = "use.jsonl";

impl Driver<'_> {
    /// Counts what the session in hand has used so far.
    pub(super) fn count(&mut self) -> Result<(), Failure> {
        let Some(agent) = self.session_agent() else { return Ok(()) };
        let Some(record) = self.session_record() else { return Ok(()) };
        self.looped.count(agent.word(), &record)
    }

    /// Makes sure that what is heard of a session is counted from its beginning.
    pub(super) fn open_heard(&mut self) -> Result<(), Failure> {
        if self.session_agent().and_then(Agent::headless).is_some_and(keeps_no_record) {
            // Without the file nothing is heard, and the loop says that its use is unknown.
            let _ = File::options().create(true).append(true).open(self.files.file(HEARD));
            return self.count();
        }
        Ok(())
    }

    /// The record of the session in hand, as far as its client has written one.
    pub(super) fn session_record(&self) -> Option<String> {
        let agent = self.session_agent()?;
        let headless = agent.headless()?;
        let file = if keeps_no_record(headless) {
            Some(self.files.file(HEARD)).filter(|file| file.exists())
        } else {
            record_of(agent, headless, self.record.session.as_deref()?)
        };
        file?.to_str().map(String::from)
    }

    /// Ends the loop where it may use no more.
    pub(super) fn ends_over_budget(&mut self) -> Result<Option<DriveEnd>, Failure> {
        let Some(why) = self.looped.over_budget()? else { return Ok(None) };
        self.looped.end(Outcome::Budget, &why)?;
        Ok(Some(DriveEnd::Loop))
    }

    /// The client of the session in hand, which an earlier run may have chosen.
    fn session_agent(&self) -> Option<Agent> {
        let word = self.record.agent.as_deref()?;
        Agent::ALL.into_iter().find(|agent| agent.word() == word)
    }
}

/// Whether what a client uses stands only in its output.
pub(super) fn keeps_no_record(headless: Headless) -> bool {
    headless.record().is_none()
}

/// Writes down what a client's output told of one call.
pub(super) fn hear_use(directory: &Path, model: Option<&str>, usage: &UsageHint) {
    let line = json!({
        "type": "stopgate.use",
        "time": RealWorld::new(Settings).now().unix_millis(),
        "model": model.unwrap_or_default(),
        "input": usage.input.saturating_sub(usage.cached + usage.cache_written),
        "cache_read": usage.cached,
        "cache_write": usage.cache_written,
        "output": usage.output,
        "cost_usd": usage.cost_usd,
    });
    let file = File::options().create(true).append(true).open(directory.join(HEARD));
    // What can't be written is missing from the count; it must not end the session.
    let _ = file.and_then(|mut file| file.write_all(format!("{line}\n").as_bytes()));
}
