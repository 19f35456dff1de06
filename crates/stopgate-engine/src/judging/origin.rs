//! Who begins a loop, and whose loops were put aside for it.
//!
//! An agent's shell is told by its client's variables. What a person types after `!` inside the
//! client runs in the same shell, so such a loop begins as the agent's; the client's transcript
//! shows at the first stops that a person typed it.

use std::io::{Read, Seek, SeekFrom};
use std::path::Path;
use std::time::Duration;

use jiff::Timestamp as Instant;
use stopgate_agents::{Call, TypedCommand};
use stopgate_core::{
    Event, FileTrust, Origin, Outcome, Party, Phase, Replaced, SessionId, State, Timestamp, Vouch,
    is_agents_choice,
};
use stopgate_store::{EndedFilter, Filter};
use stopgate_verify::files::open_regular;

use crate::context::Context;
use crate::failure::Failure;
use crate::trust::Trust;

/// Why a loop ended that was cancelled by an agent.
pub(crate) const CANCELLED_BY_AGENT: &str = "cancelled from an agent's shell";
/// Why a loop ended that an agent replaced.
pub(crate) const REPLACED_BY_AGENT: &str = "replaced by a new loop, from an agent's shell";
/// Why a loop ended that a person replaced.
pub(crate) const REPLACED: &str = "replaced by a new loop";

const REPLACED_MAX: usize = 8;
/// How much of a transcript is looked through for what a person typed.
const TRANSCRIPT_BYTES_MAX: u64 = 8 << 20;
const STOPS_LOOKED_AT: u64 = 3;
/// The client writes its transcript up to a tenth of a second late.
const LATE_LOOKS: u32 = 12;
const LATE_PAUSE: Duration = Duration::from_millis(25);

/// Who asks for a loop, and what of the session was put aside before.
pub(crate) fn origin(
    context: &mut Context,
    tool: Option<&'static str>,
    project: &Path,
    session: Option<&SessionId>,
) -> Result<Origin, Failure> {
    let shown_by = tool.or_else(|| context.settings.agents_mark()).map(String::from);
    let by = if shown_by.is_some() { Party::Agent } else { Party::Person };
    let replaced = match by {
        Party::Agent => put_aside(context, project, session)?,
        Party::Person | Party::Unknown => Vec::new(),
    };
    Ok(Origin { by, shown_by, replaced, vouched: None })
}

/// Loops of the session that an agent ended without proof, the oldest first.
fn put_aside(
    context: &mut Context,
    project: &Path,
    session: Option<&SessionId>,
) -> Result<Vec<Replaced>, Failure> {
    let project = project.display().to_string();
    let filter = Filter { project: Some(&project), standing: EndedFilter::Any, limit: 0 };
    let ended_by_agent = |state: &State| match &state.phase {
        Phase::Ended { outcome: Outcome::Cancelled, why, .. } => {
            why == CANCELLED_BY_AGENT || why == REPLACED_BY_AGENT
        }
        _other => false,
    };
    let found = context.journal.list(&filter)?.into_iter().map(|stored| stored.state);
    let own = found.filter(|s| s.session.is_none() || s.session.as_ref() == session);
    let mut replaced: Vec<Replaced> = own
        .filter(ended_by_agent)
        .take(REPLACED_MAX)
        .map(|state| Replaced { id: state.id, by: Party::Agent })
        .collect();
    replaced.reverse();
    Ok(replaced)
}

/// Whether a person trusts the project's file that the criteria were read from; looked at
/// only where it matters.
pub(crate) fn file_trust(context: &Context, state: &State) -> FileTrust {
    let asked = state.ground.source.as_ref().filter(|_| state.origin.by == Party::Agent);
    match asked {
        Some(source) if Trust::of(&context.home).has(source) => FileTrust::Trusted,
        Some(_) | None => FileTrust::Untrusted,
    }
}

/// What the transcript adds to a loop that seems to be an agent's: that a person typed it.
///
/// Looked for at the first stops, while it is near the transcript's end.
pub(crate) fn typed(context: &Context, state: &State, call: &Call<'_>) -> Option<Event> {
    let early = state.tally.stops < STOPS_LOOKED_AT;
    (early && is_agents(context, state)).then(|| typed_start(state, call)).flatten()
}

/// Whether no person has said what the loop has to prove.
pub(crate) fn is_agents(context: &Context, state: &State) -> bool {
    is_agents_choice(state, file_trust(context, state))
}

/// What the transcript shows before a loop ends as the agent's; the client may be late with it.
pub(crate) fn typed_at_last(state: &State, call: &Call<'_>) -> Option<Event> {
    for _ in 0..LATE_LOOKS {
        if let Some(event) = typed_start(state, call) {
            return Some(event);
        }
        std::thread::sleep(LATE_PAUSE);
    }
    None
}

fn typed_start(state: &State, call: &Call<'_>) -> Option<Event> {
    let text = end_of(Path::new(call.transcript.as_deref()?))?;
    let typed = call.agent.typed_commands(&text, &call.session);
    let begins = |command: &TypedCommand| is_start_of(command, state);
    typed.iter().any(begins).then_some(Event::Vouched { how: Vouch::Typed })
}

/// Whether a command that a person typed began this loop: it ran when the loop began, and
/// printed its name.
fn is_start_of(typed: &TypedCommand, state: &State) -> bool {
    let at = |text: &str| {
        let at: Instant = text.parse().ok()?;
        Some(Timestamp::from_unix_millis(at.as_millisecond()))
    };
    let (Some(begun), Some(ended)) = (at(&typed.begun_at), at(&typed.ended_at)) else {
        return false;
    };
    begun <= state.started_at
        && state.started_at <= ended
        && typed.output.contains(state.id.as_str())
}

/// The end of a transcript, as whole lines.
fn end_of(path: &Path) -> Option<String> {
    let mut file = open_regular(path).ok()?;
    let length = file.metadata().ok()?.len();
    let from = length.saturating_sub(TRANSCRIPT_BYTES_MAX);
    file.seek(SeekFrom::Start(from)).ok()?;
    let mut bytes = Vec::new();
    file.take(TRANSCRIPT_BYTES_MAX).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}
