//! What the agent and the person are told, in words.

use stopgate_core::{Leave, PROMPT_VOICE, State, clean, clip};
use stopgate_view::background_text;

use crate::failure::Failure;

const REASON_BYTES_MAX: usize = 600;

/// What a person is told when a stop is allowed for their sake.
pub(super) fn leave(leave: Leave, state: &State) -> Option<String> {
    match leave {
        Leave::Untrusted => Some(
            "stopgate.toml is not trusted, so its checks do not run and the agent may stop. \
             Look at it, then: stopgate trust"
                .into(),
        ),
        Leave::Approval => {
            Some("every check passes; it waits for your word: stopgate approve".into())
        }
        Leave::Waiting => {
            let checks = state.parking().and_then(|parking| parking.checks.as_ref());
            checks.map(background_text)
        }
        Leave::Ended
        | Leave::Paused
        | Leave::Background
        | Leave::Person
        | Leave::Popped
        | Leave::Merge
        | Leave::Empty => None,
    }
}

/// What the agent is told when nobody could tell whether a loop holds it.
pub(super) fn unasked(failure: &Failure) -> String {
    let why = clip(&clean(&failure.story()).replace('\n', " "), REASON_BYTES_MAX);
    format!(
        "Journal unreachable: this stop is held back once\n\n\
         {PROMPT_VOICE}\n\
         The journal could not be asked whether a loop holds this session: {why}.\n\n\
         If you work on a goal with open criteria, go on with it. If you are finished, or \
         nothing is left to do, say so and stop again: the next stop is allowed."
    )
}

/// What the person is told when a loop ends.
pub(super) fn farewell(state: &State, outcome: &str, why: &str) -> String {
    let used = state.frames.first().map_or(0, |frame| frame.iteration);
    let plural = if used == 1 { "" } else { "s" };
    let id = &state.id;
    let stop = if why.ends_with(['.', '?', '!']) { "" } else { "." };
    format!(
        "stopgate: loop {id} ended as {outcome} after {used} continuation{plural}: {why}{stop} \
         More: stopgate explain {id}"
    )
}

/// What the person is told when a loop holds the session and can't be asked.
pub(super) fn open_gate(failure: &Failure) -> String {
    let why = clip(&clean(&failure.story()).replace('\n', " "), REASON_BYTES_MAX);
    format!(
        "stopgate: the gate is open. A loop holds this session, but its journal can't be \
         used: {why}. The agent may stop, and nothing is checked. See: stopgate doctor"
    )
}
