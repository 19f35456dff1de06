//! One line for each thing that went wrong, to be read later.

use std::fs;
use std::io::Write;
use std::path::PathBuf;

use serde::Serialize;
use stopgate_core::{Timestamp, clean, clip};
use stopgate_verify::files::append_private;
use stopgate_verify::redact;

use crate::failure::Failure;
use crate::home::Home;
use crate::settings::Settings;
use crate::view::time_text;
use crate::world::{RealWorld, World as _};

const BYTES_MAX: u64 = 1024 * 1024;
const MESSAGE_BYTES_MAX: usize = 2000;

/// The log of faults: JSON lines, rotated once.
#[derive(Clone, Debug)]
pub struct Log {
    path: PathBuf,
}

#[derive(Serialize)]
struct LineWire<'a> {
    at: String,
    level: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<&'a str>,
    message: String,
}

impl Log {
    /// The log at `path`.
    pub const fn new(path: PathBuf) -> Self {
        Self { path }
    }

    /// Writes one line; gives it back where the file can't be written.
    pub fn fault(
        &self,
        now: Timestamp,
        session: Option<&str>,
        message: &str,
    ) -> Result<(), String> {
        let message = clip(&redact(&clean(message)).replace('\n', " "), MESSAGE_BYTES_MAX);
        let line = LineWire { at: time_text(now), level: "warn", session, message };
        let mut text = serde_json::to_string(&line).unwrap_or_default();
        text.push('\n');
        self.rotate();
        let opened = append_private(&self.path);
        let written = opened.and_then(|mut file| file.write_all(text.as_bytes()));
        written.map_err(|_| text)
    }

    fn rotate(&self) {
        if fs::metadata(&self.path).is_ok_and(|found| found.len() > BYTES_MAX) {
            let _ = fs::rename(&self.path, self.path.with_extension("log.1"));
        }
    }
}

/// Logs a fault; gives the line back where the log can't be written.
pub(crate) fn log_fault(
    settings: Settings,
    home: Option<&Home>,
    session: Option<&str>,
    story: &str,
) -> Option<String> {
    stopgate_verify::survive_size_limit();
    // A log in a directory that is another's would tell them, or go where they point it.
    let home = home.filter(|home| home.check().is_ok());
    let path = settings.log().or_else(|| home.map(Home::log));
    let now = RealWorld::new(settings).now();
    match path {
        Some(path) => Log::new(path).fault(now, session, story).err(),
        None => Some(format!("stopgate: {story}\n")),
    }
}

/// Writes a fault of a process that nobody watches to the log.
pub fn log_failure(settings: Settings, failure: &Failure) {
    let _ = log_fault(settings, settings.home().ok().as_ref(), None, &failure.story());
}
