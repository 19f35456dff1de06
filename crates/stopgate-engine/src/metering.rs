//! What a loop's agent has used, read from its client's own files.
//!
//! Each stop reads what is new since the last one, up to a bound. Up to where a file was read is
//! part of the same event as what was counted, so that a process that dies in between loses
//! nothing and counts nothing twice.

mod hint;
mod round;
mod shared;

use std::time::Duration;

use stopgate_agents::Call;
use stopgate_core::{Event, LoopId, Phase, SessionId, Spend, State, digest_of};
use stopgate_store::Stored;
use stopgate_usage::UsageFormat;

use self::round::{MeterRound, RoundSource};
use crate::config::Config;
use crate::context::Context;
use crate::failure::Failure;
use crate::observe::{ReadDepth, last_message};

/// How much one stop reads in all.
const STOP_BYTES_MAX: u64 = 4 * 1024 * 1024;
/// How much is read for a person who looks, and for a driver between two sessions.
const WHOLE_BYTES_MAX: u64 = 64 * 1024 * 1024;
/// A client writes the last record of a turn a little after the stop.
const LATE_MS: i64 = 2000;
/// How often and how long such a record is waited for at a stop.
const LATE_LOOKS: u32 = 16;
const LATE_PAUSE: Duration = Duration::from_millis(20);

/// What agents have used.
pub struct Metering<'a> {
    pub(crate) context: &'a mut Context,
}

impl Metering<'_> {
    /// What the agent has used up to this stop; nothing where there is not news.
    pub(crate) fn meter_stop(&mut self, state: &State, call: &Call<'_>) -> Option<Event> {
        await_record(state, call);
        let source =
            RoundSource { agent: call.agent.word(), transcript: call.transcript.as_deref() };
        self.meter(state, &source, Some(&call.session), STOP_BYTES_MAX)
    }

    /// The same at the end of a loop that nobody counted before.
    pub(crate) fn meter_end(&mut self, state: &State, call: &Call<'_>) -> Option<Event> {
        let source =
            RoundSource { agent: call.agent.word(), transcript: call.transcript.as_deref() };
        // A proof waits for this: no more is read than at any stop, and a view reads the rest.
        let metered = self.meter(state, &source, Some(&call.session), STOP_BYTES_MAX)?;
        match &metered {
            Event::Metered(spend) if spend.models.is_empty() => None,
            _counted => Some(metered),
        }
    }

    /// Counts what the agent of a running loop has used, without a stop: for a driver of
    /// its sessions that sees one end. `transcript` is that session's record, where it is known.
    pub fn count_use(
        &mut self,
        id: &LoopId,
        agent: &str,
        transcript: Option<&str>,
    ) -> Result<Option<Stored>, Failure> {
        let mut find = |context: &mut Context| Ok(context.journal.load(id)?);
        for _ in 0..TRIES_MAX {
            let Some(stored) = find(self.context)? else { return Ok(None) };
            let Stored { state, .. } = &stored;
            let session = state.session.as_ref().map(SessionId::as_str);
            let source = RoundSource { agent, transcript };
            let news = self.meter(state, &source, session, WHOLE_BYTES_MAX);
            let Some(event) = news.filter(|_| state.outcome().is_none()) else {
                return Ok(Some(stored));
            };
            let updated =
                self.context.update(&mut find, &mut |now, _| Ok(on(now, state, &event)))?;
            if updated.as_ref().is_some_and(|updated| updated.state.spend != state.spend) {
                return Ok(updated);
            }
        }
        Err(Failure::fault("could not count what the loop used: other processes kept changing it"))
    }

    /// What the agent has used as of now, for a view: what the journal has, and what the
    /// client wrote since. Nothing is stored.
    pub fn spend_now(&self, state: &State) -> Option<Spend> {
        let known = state.spend.as_deref()?;
        let Some(current) = known.files.first() else { return Some(known.clone()) };
        let config = Config::read(self.context.settings).unwrap_or_default();
        let source = RoundSource { agent: &current.agent, transcript: Some(&current.path) };
        let mut round =
            MeterRound::begin(state, &config.prices, WHOLE_BYTES_MAX, self.context.now());
        if let Phase::Ended { at, .. } = &state.phase {
            round.end_at(at.plus(LATE_MS));
        }
        Some(round.run(&source))
    }

    /// The loop with what its agent has used as of now.
    pub(crate) fn with_spend_now(&self, state: &State) -> State {
        let mut state = state.clone();
        state.spend = self.spend_now(&state).map(Box::new).or(state.spend);
        state
    }

    fn meter(
        &mut self,
        state: &State,
        source: &RoundSource<'_>,
        session: Option<&str>,
        bytes_max: u64,
    ) -> Option<Event> {
        let config = Config::read(self.context.settings).unwrap_or_default();
        let now = self.context.now();
        let mut spend = MeterRound::begin(state, &config.prices, bytes_max, now).run(source);
        if let Some(session) = session {
            self.heed_hint(&mut spend, session);
        }
        spend.shared = self.shared_budgets(state, config.shared, now);
        let before = state.spend.as_deref();
        let is_news = before.is_none_or(|before| {
            let same_time = Spend { at: before.at, ..spend.clone() };
            same_time != *before
        });
        is_news.then(|| Event::Metered(Box::new(spend)))
    }
}

/// Waits for the record of the turn that ends here, where the client is late with it: a hard
/// limit must not lag behind by a turn.
fn await_record(state: &State, call: &Call<'_>) {
    let is_late = UsageFormat::of_agent(call.agent.word()).is_some_and(UsageFormat::is_late);
    let Some(message) = call.last_message.as_deref().filter(|_| is_late) else { return };
    if message.is_empty() || state.tally.message == Some(digest_of(message)) {
        // The record of an earlier turn looks the same.
        return std::thread::sleep(LATE_PAUSE * (LATE_LOOKS / 2));
    }
    for _ in 0..LATE_LOOKS {
        match last_message(call, ReadDepth::Turn) {
            Ok(Some(written)) if written.trim() == message.trim() => return,
            Ok(_) | Err(_) => std::thread::sleep(LATE_PAUSE),
        }
    }
}

const TRIES_MAX: usize = 8;

/// The event, if the loop is as it was counted; else what was read is old.
fn on(now: &State, counted: &State, event: &Event) -> Vec<Event> {
    let same = now.spend == counted.spend;
    same.then(|| event.clone()).into_iter().collect()
}

#[cfg(test)]
mod tests;
