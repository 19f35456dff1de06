//! What can be seen at a stop, before any check runs.

use std::path::Path;

use stopgate_agents::Call;
use stopgate_core::{
    ClientCap, FileTrust, Ledger, Marker, Seen, Soundness, SpokenExit, State, ToolUse, digest_of,
};
use stopgate_signals::markers;
use stopgate_signals::transcript::{self, Bound, Last, TranscriptRecord};
use stopgate_verify::files::open_regular;

use crate::failure::Failure;
use crate::signs::Signs;

/// How much of a transcript's news is searched for tool use.
///
/// Generous, because a client that writes its transcript late brings the whole
/// of a first turn, attachments included, as news of the second.
const NEWS_BYTES_MAX: u64 = 1024 * 1024;

/// What the agent's client is known to be.
#[derive(Clone, Debug, Default)]
pub(crate) struct ClientFacts {
    /// The limit that it sets on continuations.
    pub(crate) cap: Option<ClientCap>,
    /// Whether it is the driver of the session that asks, not a client's hook.
    pub(crate) is_driver: bool,
}

/// What the agent said last.
pub(crate) struct HeardMessage {
    pub(crate) markers: Vec<Marker>,
    pub(crate) exit: Option<SpokenExit>,
    pub(crate) digest: Option<u64>,
    /// What it said, for those who look for a pattern in it.
    pub(crate) message: Option<String>,
}

/// Reads the last message: from the payload, else from the end of the transcript.
pub(crate) fn hear(call: &Call<'_>) -> Result<HeardMessage, Failure> {
    match &call.last_message {
        Some(message) => Ok(understand(message)),
        None => read_transcript(call),
    }
}

/// Everything that is seen at a stop of the loop in `state`, but for the receipts.
pub(crate) fn observe(
    state: &State,
    call: &Call<'_>,
    heard: &HeardMessage,
    client: &ClientFacts,
    signs: &Signs,
) -> Seen {
    let transcript_mark = call.transcript.as_deref().and_then(length);
    let tool_mark = signs.tools_counted(&call.session);
    Seen {
        markers: heard.markers.clone(),
        exit: heard.exit.clone(),
        message: heard.digest,
        tools: tool_use(state, call, tool_mark),
        tool_mark,
        transcript_mark,
        continued: call.continued,
        background: call.background.iter().map(|task| task.id.to_string()).collect(),
        prompt_id: call.prompt_id.as_deref().map(String::from),
        cap: client.cap,
        untrusted: false,
        receipts: Vec::new(),
        gates: None,
        objection: None,
        ledger: Ledger::default(),
        file: FileTrust::Untrusted,
        soundness: Soundness::Sound,
    }
}

fn understand(message: &str) -> HeardMessage {
    let spoken = markers::read(message);
    HeardMessage {
        markers: markers::own_line(&spoken).collect(),
        exit: markers::spoken_exit(message),
        digest: Some(digest_of(message)),
        message: Some(message.into()),
    }
}

fn read_transcript(call: &Call<'_>) -> Result<HeardMessage, Failure> {
    let nothing = HeardMessage { markers: Vec::new(), exit: None, digest: None, message: None };
    match last_message(call, ReadDepth::Turn) {
        Ok(message) => Ok(message.map_or(nothing, |message| understand(&message))),
        // Most clients need not show what was said; then checks alone decide.
        Err(_) if !call.agent.always_speaks() => Ok(nothing),
        Err(failure) => Err(failure),
    }
}

/// How far back a transcript is read for the last message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReadDepth {
    /// To the beginning of the turn: what was said before a person spoke is old.
    Turn,
    /// To the last message that there is, regardless of who wrote after it.
    Whole,
}

/// The last message of the transcript; nothing where the agent has not spoken yet.
pub(crate) fn last_message(call: &Call<'_>, reading: ReadDepth) -> Result<Option<String>, Failure> {
    let nothing = "could not tell what the agent said: the payload has no last message";
    let Some(path) = call.transcript.as_deref() else {
        return Err(Failure::fault(format!("{nothing} and names no transcript")));
    };
    let unreadable =
        |why: &str| Failure::fault(format!("{nothing}, and the transcript {path} {why}"));
    let opened = |error| unreadable("can't be opened").because(error);
    let file = open_regular(Path::new(path)).map_err(opened)?;
    let last =
        transcript::last_message(file, Bound::default(), |line| match call.agent.record(line) {
            TranscriptRecord::UserTurn if reading == ReadDepth::Whole => TranscriptRecord::Other,
            read => read,
        });
    match last.map_err(|error| unreadable("can't be read").because(error))? {
        Last::Text(message) => Ok(Some(message)),
        Last::Silent | Last::Empty => Ok(None),
        Last::Unreadable => Err(unreadable("holds no record that can be read")),
    }
}

/// Counted batches tell; else the transcript's news; else nobody knows.
fn tool_use(state: &State, call: &Call<'_>, tool_mark: Option<u64>) -> ToolUse {
    match (state.tally.tool_mark, tool_mark) {
        (before, Some(now)) if before != Some(now) => ToolUse::Used,
        (Some(_), Some(_)) => ToolUse::None,
        (_, None) | (None, Some(_)) => news(state, call),
    }
}

fn news(state: &State, call: &Call<'_>) -> ToolUse {
    let Some(path) = call.transcript.as_deref() else {
        return ToolUse::Unknown;
    };
    // No mark after a counted stop: the client had not written the file yet, so all of it is news.
    let offset = match state.tally.transcript_mark {
        None if state.tally.stops == 0 => return ToolUse::Unknown,
        mark => mark.unwrap_or_default(),
    };
    let Ok(file) = open_regular(Path::new(path)) else {
        return ToolUse::Unknown;
    };
    let used = transcript::tool_used_since(file, offset, NEWS_BYTES_MAX, |line| {
        call.agent.is_tool_use(line)
    });
    match used {
        Ok(transcript::TranscriptToolUse::Used) => ToolUse::Used,
        Ok(transcript::TranscriptToolUse::None) => ToolUse::None,
        Ok(transcript::TranscriptToolUse::Unknown) | Err(_) => ToolUse::Unknown,
    }
}

fn length(path: &str) -> Option<u64> {
    let found = std::fs::metadata(Path::new(path)).ok()?;
    found.is_file().then_some(found.len())
}
