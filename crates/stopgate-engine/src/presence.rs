//! Which sessions are alive in which project, on this machine.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use stopgate_core::{Digest, Timestamp};
use stopgate_verify::ProcessMark;
use stopgate_verify::files::{Durable, read_text, replace_private};

use crate::home::{Home, file_name};

/// A session that is silent for longer does not come back.
const SILENT_MS: i64 = 7 * 24 * 60 * 60 * 1000;
/// No note is longer.
const NOTE_BYTES_MAX: u64 = 64 * 1024;
/// A session whose client can't be asked is taken for alive this long.
const TRUSTED_MS: i64 = 12 * 60 * 60 * 1000;

/// The sessions that said hello and not yet goodbye.
#[derive(Clone, Debug)]
pub(crate) struct Presence {
    directory: PathBuf,
}

/// What is known of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Present {
    /// Its client runs.
    Alive,
    /// Its client died without a word.
    Dead,
    /// It said goodbye, or never said hello.
    Unknown,
}

#[derive(Serialize, Deserialize)]
struct HereWire {
    session: String,
    client: Option<String>,
    at: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    agent: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    process: Option<String>,
}

/// Who says hello.
#[derive(Clone, Debug, Default)]
pub(crate) struct Arrival {
    /// The client's process, as the client itself names it.
    pub(crate) client: Option<String>,
    /// The agent.
    pub(crate) agent: Option<&'static str>,
    /// The client's process, as the system shows it.
    pub(crate) process: Option<ProcessMark>,
}

impl Presence {
    pub(crate) fn of(home: &Home) -> Self {
        Self { directory: home.directory().join("sessions") }
    }

    /// Notes that `session` works in `project`, and which client has it.
    pub(crate) fn arrive(&self, project: &Path, session: &str, arrival: Arrival, now: Timestamp) {
        let Arrival { client, agent, process } = arrival;
        let here = HereWire {
            session: session.into(),
            client,
            at: now.unix_millis(),
            agent: agent.map(String::from),
            process: process.map(|process| process.to_string()),
        };
        let path = self.path(project, session);
        // Presence is a convenience: without it a loop is pending instead of bound.
        if let Ok(text) = serde_json::to_string(&here) {
            let _ = replace_private(&path, text.as_bytes(), Durable::Buffered);
        }
    }

    /// Forgets sessions that said nothing for a week: they ended without a goodbye.
    pub(crate) fn forget_silent(&self, now: Timestamp) {
        let is_silent = |path: &Path| {
            let text = read_text(path, NOTE_BYTES_MAX).unwrap_or_default();
            let at = serde_json::from_str::<HereWire>(&text).map_or(0, |here| here.at);
            now.since(Timestamp::from_unix_millis(at)) > SILENT_MS
        };
        for project in fs::read_dir(&self.directory).into_iter().flatten().flatten() {
            let notes = fs::read_dir(project.path()).into_iter().flatten().flatten();
            for path in notes.map(|note| note.path()).filter(|path| is_silent(path)) {
                let _ = fs::remove_file(path);
            }
            // Goes only when it is empty.
            let _ = fs::remove_dir(project.path());
        }
    }

    /// Notes that `session` is gone.
    pub(crate) fn leave(&self, project: &Path, session: &str) {
        let _ = fs::remove_file(self.path(project, session));
        let _ = fs::remove_dir(self.directory_of(project));
    }

    /// The sessions that are alive in `project`.
    pub(crate) fn alive(&self, project: &Path, now: Timestamp) -> Vec<String> {
        let here = self.notes(project).filter(|here| is_alive(here, now));
        here.map(|here| here.session).collect()
    }

    /// The sessions of `project` whose clients died without a word.
    pub(crate) fn dead(&self, project: &Path, now: Timestamp) -> Vec<String> {
        let here = self.notes(project).filter(|here| !is_alive(here, now));
        here.map(|here| here.session).collect()
    }

    fn notes(&self, project: &Path) -> impl Iterator<Item = HereWire> {
        let entries = fs::read_dir(self.directory_of(project)).into_iter().flatten();
        let texts = entries.filter_map(|entry| read_text(&entry.ok()?.path(), NOTE_BYTES_MAX).ok());
        texts.filter_map(|text| serde_json::from_str(&text).ok())
    }

    /// What is known of `session` in `project`.
    pub(crate) fn of_session(&self, project: &Path, session: &str, now: Timestamp) -> Present {
        let Ok(text) = read_text(&self.path(project, session), NOTE_BYTES_MAX) else {
            return Present::Unknown;
        };
        match serde_json::from_str::<HereWire>(&text) {
            Ok(here) if is_alive(&here, now) => Present::Alive,
            Ok(_) => Present::Dead,
            Err(_) => Present::Unknown,
        }
    }

    /// The process of the client that has `session`, where it is known to run.
    pub(crate) fn client_of(&self, project: &Path, session: &str) -> Option<ProcessMark> {
        let here = self.note_of(project, session)?;
        let shown = here.process.as_deref().and_then(ProcessMark::read);
        let named = || here.client.as_deref()?.parse().ok().and_then(ProcessMark::of);
        shown.filter(ProcessMark::is_alive).or_else(named)
    }

    /// The agent whose session it is, where it said so.
    pub(crate) fn agent_of(&self, project: &Path, session: &str) -> Option<String> {
        self.note_of(project, session)?.agent
    }

    fn note_of(&self, project: &Path, session: &str) -> Option<HereWire> {
        let text = read_text(&self.path(project, session), NOTE_BYTES_MAX).ok()?;
        serde_json::from_str(&text).ok()
    }

    /// The session that the client process works with now: the one that came last.
    pub(crate) fn of_client(&self, project: &Path, client: &str) -> Option<String> {
        let entries = fs::read_dir(self.directory_of(project)).ok()?;
        let texts = entries.filter_map(|entry| read_text(&entry.ok()?.path(), NOTE_BYTES_MAX).ok());
        let all = texts.filter_map(|text| serde_json::from_str::<HereWire>(&text).ok());
        let own = all.filter(|here| here.client.as_deref() == Some(client));
        own.max_by_key(|here| here.at).map(|here| here.session)
    }

    fn directory_of(&self, project: &Path) -> PathBuf {
        let digest = Digest::new().part(project.as_os_str().as_encoded_bytes());
        self.directory.join(format!("{:016x}", digest.value()))
    }

    fn path(&self, project: &Path, session: &str) -> PathBuf {
        self.directory_of(project).join(&*file_name(session))
    }
}

fn is_alive(here: &HereWire, now: Timestamp) -> bool {
    let process = here.client.as_deref().and_then(|pid| pid.parse().ok());
    match process.filter(|pid| *pid > 0) {
        Some(pid) => stopgate_system::is_running(pid),
        None => now.since(Timestamp::from_unix_millis(here.at)) < TRUSTED_MS,
    }
}
