//! Whose call it really is, and what its payload leaves out.
//!
//! Some agents load the hook file of another one beside their own, so that one stop is answered
//! twice, or in the wrong words. Asked only where a loop may hold the session.

use std::path::Path;

use stopgate_agents::{Agent, Call, Reply};

use crate::settings::Settings;
use crate::setup::has_stop_entry;

/// A session's directories are looked through up to here for a transcript.
const DIRECTORIES_MAX: usize = 4096;

/// The agent beside `named` that calls, as its variables or its payload show.
pub(super) fn shown(settings: Settings, named: Agent, raw: &[u8]) -> Option<Agent> {
    let shows = |agent: &Agent| agent.wrote(raw) || settings.shows(*agent);
    named.readers().iter().copied().find(shows)
}

/// The answer where another agent calls whose own entry answers, too; else the call becomes
/// that agent's.
pub(super) fn stand_down<'a>(
    settings: Settings,
    call: &mut Call<'a>,
    raw: &'a [u8],
    event: Option<&str>,
) -> Option<Reply> {
    // A client that is started in another one's shell inherits its variables.
    if settings.session_of(call.agent).as_deref() == Some(&*call.session) {
        return None;
    }
    let reader = shown(settings, call.agent, raw)?;
    if settings.session_of(reader).is_some_and(|session| session != call.session) {
        return None;
    }
    let directory = Path::new(call.cwd.as_deref().unwrap_or_default());
    if has_stop_entry(settings, reader, directory) {
        return Some(reader.allow());
    }
    if let Ok(read) = reader.parse(raw, event) {
        *call = read;
    }
    None
}

/// Names the transcript of an agent whose payload does not.
pub(super) fn find_transcript(settings: Settings, call: &mut Call<'_>) {
    let Some(search) = call.agent.transcript_search().filter(|_| call.transcript.is_none()) else {
        return;
    };
    // A name with a separator would lead elsewhere.
    if call.session.contains(['/', '\\']) || &*call.session == ".." {
        return;
    }
    let Some(home) = settings.agent_home(call.agent) else { return };
    let Ok(groups) = std::fs::read_dir(home.join(search.sessions)) else { return };
    let files = groups.take(DIRECTORIES_MAX).flatten();
    let files = files.map(|group| group.path().join(&*call.session).join(search.file));
    let found = files.into_iter().find(|file| file.is_file());
    call.transcript = found.and_then(|file| Some(file.to_str()?.to_string().into()));
}
