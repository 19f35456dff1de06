//! How events make a state.
//!
//! Total: an event that makes no sense changes nothing. What is cancelled stays
//! cancelled, whatever comes later.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use crate::criterion::{Proof, Standing};
use crate::event::{Event, LoopEdit, Ruling, Speaker, Started, Stopped, TaskHold};
use crate::first_run::note_first_runs;
use crate::ground::ApprovedJudges;
use crate::outcome::Outcome;
use crate::parking::{Parking, UnparkedBy, WokenClient};
use crate::policy::Rule;
use crate::receipt::Receipt;
use crate::seen::ToolUse;
use crate::state::{FRAMES_MAX, Frame, Phase, Rest, State, Surface, Waiting};
use crate::tally::Tally;
use crate::time::Timestamp;
use crate::word::Vouch;

/// The state after all of `events`; nothing unless the first one is the start.
pub fn fold<'a>(events: impl IntoIterator<Item = (&'a Event, Timestamp)>) -> Option<State> {
    events.into_iter().fold(None, |state, (event, at)| apply(state, event, at))
}

/// The state after one more event.
pub fn apply(state: Option<State>, event: &Event, at: Timestamp) -> Option<State> {
    let Some(mut state) = state else {
        return match event {
            Event::Started(started) => Some(begin(started, at)),
            _other => None,
        };
    };
    advance(&mut state, event, at);
    Some(state)
}

/// Makes a state the one after one more event.
pub fn advance(state: &mut State, event: &Event, at: Timestamp) {
    let foreign = matches!(event, Event::Task(_)) && state.surface == Surface::Hook;
    if foreign || state.outcome().is_some_and(|outcome| !may_follow(outcome, event)) {
        return;
    }
    change(state, event, at);
    state.updated_at = at;
}

/// Only a person's resume follows an end, and only where the outcome permits it; or
/// their cancel, so that nothing can revive what they have cancelled. A task's end is
/// nobody's proof, so its steps follow every end but a cancel.
fn may_follow(outcome: Outcome, event: &Event) -> bool {
    if matches!(event, Event::Task(_)) {
        return outcome != Outcome::Cancelled;
    }
    if let Event::Vouched { how } = event {
        // What only lacked a person's word may get it after its end.
        return outcome == Outcome::Attested && *how == Vouch::Approved;
    }
    let by_person = matches!(
        event,
        Event::Resumed { .. }
            | Event::Resealed { .. }
            | Event::Approved { .. }
            | Event::JudgesApproved { .. }
            | Event::Ended { outcome: Outcome::Cancelled, .. }
    );
    outcome.can_resume() && by_person
}

fn begin(started: &Started, at: Timestamp) -> State {
    State {
        id: started.id.clone(),
        goal: started.goal.clone(),
        project: started.project.clone(),
        session: started.session.clone(),
        claim_until: started.claim_until,
        policy: started.policy,
        phase: Phase::Active,
        frames: vec![started.frame.clone()],
        criteria: started.criteria.clone(),
        ground: started.ground.clone(),
        surface: started.surface,
        gates: started.gates.clone(),
        answer: None,
        woken: None,
        worktree: None,
        origin: started.origin.clone(),
        spend: None,
        tally: Tally::default(),
        started_at: at,
        updated_at: at,
        progress_at: at,
        rest_ms: 0,
    }
}

fn change(state: &mut State, event: &Event, at: Timestamp) {
    match event {
        // A loop begins once; a session that only ended may be resumed; compaction
        // and a broken turn leave a trace and nothing else.
        Event::Started(_)
        | Event::SessionEnded { .. }
        | Event::Cleared { .. }
        | Event::Compacted { .. }
        | Event::Certified { .. }
        | Event::TurnFailed { .. } => {}
        Event::Bound { session, .. } => {
            state.session = Some(session.clone());
            state.claim_until = None;
        }
        Event::Detached { claim_until } => {
            state.session = None;
            state.claim_until = Some(*claim_until);
        }
        Event::Pushed { frame } => {
            let frame = frame.clone();
            restack(state, |frames| push(frames, frame));
        }
        Event::Synced { frames } => sync(state, frames),
        Event::Popped => restack(state, |frames| pop(frames, 1)),
        Event::Stopped(stopped) => stop(state, stopped, at),
        Event::Metered(spend) => state.spend = Some(spend.clone()),
        Event::Claimed => claim(state, at),
        Event::Parked(parking) => park(state, parking, at),
        Event::ConditionHeld => hold_condition(state, at),
        Event::Unparked { by } => unpark(state, by, at),
        Event::WakeFailed { why } => fail_wake(state, why, at),
        Event::Asked { question } => ask(state, question, at),
        Event::Answered { text } => {
            state.answer = Some(text.clone());
            if matches!(state.phase, Phase::Waiting { on: Waiting::Answer(_), .. }) {
                go_on(state, at);
            }
        }
        Event::Edited(edit) => change_terms(state, edit),
        Event::Prompted { prompt_id, speaker } => {
            state.answer = None;
            prompt(state, *speaker, at);
            begin_prompt(state, prompt_id.as_ref());
        }
        Event::Paused { rest } => {
            go_on(state, at);
            state.phase = Phase::Paused { rest: *rest, since: at };
        }
        Event::Resumed { max_iterations } => resume(state, *max_iterations, at),
        Event::Approved { criterion } => approve(state, criterion, at),
        Event::JudgesApproved { digest, by } => {
            state.ground.approved = Some(ApprovedJudges { digest: digest.clone(), by: by.clone() });
        }
        Event::Preflighted { receipts } => note_first_runs(&mut state.criteria, receipts),
        Event::Vouched { how } => vouch(state, *how, at),
        Event::Resealed { seal, source, .. } => reseal(state, seal, source.as_deref()),
        Event::Placed(worktree) => state.worktree = Some(worktree.clone()),
        Event::Merged { .. } => state.worktree = None,
        Event::Task(note) => {
            state.progress_at = at;
            hold(state, &note.hold, at);
        }
        Event::Ended { outcome, why } => {
            go_on(state, at);
            state.phase = Phase::Ended { outcome: *outcome, why: why.clone(), at };
        }
    }
}

fn vouch(state: &mut State, how: Vouch, at: Timestamp) {
    state.origin.vouch(how);
    if state.outcome().is_some() {
        go_on(state, at);
    }
}

/// An opinion is paid for once, however often it is used.
fn count_opinions(state: &mut State, receipts: &[Receipt], at: Timestamp) {
    let paid = receipts.iter().filter(|receipt| !receipt.evidence.reused);
    for cost in paid.filter_map(|receipt| receipt.evidence.cost.as_ref()) {
        state.spend.get_or_insert_default().add(cost, at);
    }
}

/// A prompt that was not seen before has its own count of refusals.
fn begin_prompt(state: &mut State, prompt_id: Option<&String>) {
    if prompt_id.is_some() && prompt_id != state.tally.prompt_id.as_ref() {
        state.tally.prompt_id = prompt_id.cloned();
        state.tally.refusals = 0;
    }
}

fn ask(state: &mut State, question: &str, at: Timestamp) {
    // A person's pause outlives the agent's question.
    if !matches!(state.phase, Phase::Paused { .. }) {
        go_on(state, at);
        state.phase = Phase::Waiting { on: Waiting::Answer(question.into()), since: at };
    }
}

/// An agent that claims to be done waits for nothing any more.
fn claim(state: &mut State, at: Timestamp) {
    let asks = matches!(state.phase, Phase::Waiting { on: Waiting::Answer(_), .. });
    if asks || state.parking().is_some() {
        go_on(state, at);
    }
    if is_steering(&state.phase) {
        state.phase = Phase::Completing;
    }
}

fn park(state: &mut State, parking: &Parking, at: Timestamp) {
    // A person's pause outlives the agent's wait.
    if !matches!(state.phase, Phase::Paused { .. }) {
        go_on(state, at);
        let on = Waiting::Condition(Box::new(parking.clone()));
        state.phase = Phase::Waiting { on, since: at };
    }
}

fn hold_condition(state: &mut State, at: Timestamp) {
    if let Phase::Waiting { on: Waiting::Condition(parking), .. } = &mut state.phase {
        parking.held_at.get_or_insert(at);
    }
}

fn unpark(state: &mut State, by: &UnparkedBy, at: Timestamp) {
    let Some(parking) = state.parking() else { return };
    let claimed = parking.checks.as_ref().is_some_and(|checks| checks.claimed);
    go_on(state, at);
    if claimed {
        state.phase = Phase::Completing;
    }
    if let UnparkedBy::Client { process } = by {
        state.woken = Some(WokenClient { process: process.clone(), at });
    }
}

fn fail_wake(state: &mut State, why: &str, at: Timestamp) {
    if state.woken.take().is_some() {
        go_on(state, at);
        state.phase = Phase::Ended { outcome: Outcome::NeedsInput, why: why.into(), at };
    }
}

fn reseal(state: &mut State, seal: &str, source: Option<&str>) {
    state.ground.seal = Some(seal.into());
    state.ground.approved = None;
    if let (Some(known), Some(now)) = (&mut state.ground.source, source) {
        known.accepted = Some(now.into());
    }
    state.tally.tampered = 0;
}

/// Changes what a person changed; what was proven of the other criteria stands.
fn change_terms(state: &mut State, edit: &LoopEdit) {
    if let Some(goal) = &edit.goal {
        let told = state.frames.first().is_some_and(|frame| frame.prompt == state.goal);
        state.goal.clone_from(goal);
        if let Some(frame) = state.frames.first_mut().filter(|_| told) {
            frame.prompt.clone_from(goal);
        }
    }
    if let (Some(max), Some(frame)) = (edit.max_iterations, state.frames.first_mut()) {
        frame.max = max;
    }
    let policy = &mut state.policy;
    policy.max_minutes = edit.max_minutes.unwrap_or(policy.max_minutes);
    policy.max_tokens = edit.max_tokens.unwrap_or(policy.max_tokens);
    policy.max_cost_micros = edit.max_cost_micros.unwrap_or(policy.max_cost_micros);
    policy.max_quota = edit.max_quota.unwrap_or(policy.max_quota);
    state.criteria.retain(|criterion| !edit.dropped.contains(&criterion.name));
    state.criteria.extend(edit.added.iter().cloned());
    if edit.seal.is_some() {
        state.ground.seal.clone_from(&edit.seal);
    }
}

fn hold(state: &mut State, hold: &TaskHold, at: Timestamp) {
    match hold {
        TaskHold::Keep => {}
        TaskHold::Begin { session, frame } => {
            go_on(state, at);
            state.session.clone_from(session);
            state.claim_until = None;
            state.frames = vec![frame.clone()];
            state.tally = Tally { stops: state.tally.stops, ..Tally::default() };
        }
        TaskHold::Open => {
            go_on(state, at);
            state.session = None;
        }
        TaskHold::End { outcome, why } => {
            go_on(state, at);
            state.phase = Phase::Ended { outcome: *outcome, why: why.clone(), at };
        }
    }
}

const fn is_steering(phase: &Phase) -> bool {
    match phase {
        Phase::Active | Phase::Completing | Phase::Waiting { on: Waiting::Background, .. } => true,
        Phase::Waiting { .. } | Phase::Paused { .. } | Phase::Ended { .. } => false,
    }
}

/// Changes the frames; a claim was about the frame that was on top, and goes with it.
fn restack(state: &mut State, change: impl FnOnce(&mut Vec<Frame>)) {
    let depth = state.frames.len();
    change(&mut state.frames);
    if state.frames.len() != depth && state.phase == Phase::Completing {
        state.phase = Phase::Active;
    }
}

/// Only a loop whose truth lies elsewhere is told by a file; a native one counts for itself.
fn sync(state: &mut State, frames: &[Frame]) {
    if !state.policy.order.is_native() && (1..=FRAMES_MAX).contains(&frames.len()) {
        state.frames = frames.to_vec();
    }
}

fn push(frames: &mut Vec<Frame>, frame: Frame) {
    if frames.len() < FRAMES_MAX {
        frames.push(frame);
    }
}

/// Takes frames off the top; the outermost one stays, only an end takes that.
fn pop(frames: &mut Vec<Frame>, count: u32) {
    let count = usize::try_from(count).unwrap_or(usize::MAX);
    let left = frames.len().saturating_sub(count).max(1);
    frames.truncate(left);
}

fn stop(state: &mut State, stopped: &Stopped, at: Timestamp) {
    state.answer = None;
    state.woken = None;
    let unmet_before = state.tally.recent.last().copied();
    state.tally = stopped.tally.clone();
    let unmet_changed = state.tally.recent.last().copied() != unmet_before;
    if stopped.facts.tools == ToolUse::Used || unmet_changed {
        state.progress_at = at;
    }
    for criterion in &mut state.criteria {
        if let Some(receipt) = stopped.receipts.iter().find(|r| r.criterion == criterion.name) {
            criterion.last = Some(Standing::of(receipt));
            if criterion.tests.is_none() {
                criterion.tests = receipt.evidence.tests;
            }
        }
    }
    count_opinions(state, &stopped.receipts, at);
    pop(&mut state.frames, stopped.popped);
    note_proven(state, stopped.ruling);
    match stopped.ruling {
        Ruling::Continue => {
            go_on_from_approval(state, at);
            state.phase = Phase::Active;
            count(state);
        }
        Ruling::Complete(outcome) | Ruling::Escalate(outcome) => {
            if stopped.rule == Rule::Stale {
                untouched(state, at);
            }
            state.phase = Phase::Ended { outcome, why: stopped.why.clone(), at };
        }
        Ruling::Allow(crate::event::Leave::Background) => {
            state.phase = Phase::Waiting { on: Waiting::Background, since: at };
        }
        Ruling::Allow(crate::event::Leave::Approval) => {
            if !matches!(state.phase, Phase::Waiting { on: Waiting::Approval, .. }) {
                state.phase = Phase::Waiting { on: Waiting::Approval, since: at };
            }
        }
        Ruling::Allow(crate::event::Leave::Merge) => {
            go_on_from_approval(state, at);
            state.phase = Phase::Completing;
        }
        Ruling::Allow(_) => {}
    }
}

/// What was proven in a worktree is so until the agent is sent back to work.
fn note_proven(state: &mut State, ruling: Ruling) {
    let holds = ruling == Ruling::Allow(crate::event::Leave::Merge);
    if let Some(worktree) = state.worktree.as_mut().filter(|_| holds || ruling == Ruling::Continue)
    {
        worktree.is_proven = holds;
    }
}

/// A child's iterations count against its parents' limits, too; other formats count the
/// frame on top alone.
fn count(state: &mut State) {
    let parents = state.frames.len().saturating_sub(1);
    let spared = if state.policy.order.is_native() { 0 } else { parents };
    for frame in state.frames.iter_mut().skip(spared) {
        frame.iteration = frame.iteration.saturating_add(1);
    }
}

/// The time that a person took to answer was not work.
fn go_on_from_approval(state: &mut State, at: Timestamp) {
    if matches!(state.phase, Phase::Waiting { on: Waiting::Approval, .. }) {
        go_on(state, at);
    }
}

fn approve(state: &mut State, name: &str, at: Timestamp) {
    let waits = |c: &&mut crate::criterion::Criterion| c.name == name && c.proof == Proof::Approve;
    if let Some(criterion) = state.criteria.iter_mut().find(waits) {
        criterion.approved_at = Some(at);
    }
    go_on_from_approval(state, at);
}

fn prompt(state: &mut State, speaker: Speaker, at: Timestamp) {
    match speaker {
        Speaker::Notification => {
            if matches!(state.phase, Phase::Waiting { on: Waiting::Background, .. }) {
                state.phase = Phase::Active;
            }
        }
        Speaker::Interjection => {
            state.tally.person_spoke = true;
            wake(state, at);
        }
        Speaker::Person => {
            state.tally.person_spoke = false;
            wake(state, at);
        }
    }
}

/// A person who speaks answers a question and ends a hold; a pause stays.
fn wake(state: &mut State, at: Timestamp) {
    match &state.phase {
        Phase::Waiting { on: Waiting::Answer(_), .. }
        | Phase::Paused { rest: Rest::NextPrompt, .. } => go_on(state, at),
        Phase::Active
        | Phase::Completing
        | Phase::Waiting { .. }
        | Phase::Paused { .. }
        | Phase::Ended { .. } => {}
    }
}

fn resume(state: &mut State, max_iterations: Option<u32>, at: Timestamp) {
    let ended = state.outcome();
    go_on(state, at);
    // The person who resumes has looked: what led to the end is forgiven, the count is not.
    let spent = core::mem::take(&mut state.tally);
    // The client counts refusals on while the loop merely rests.
    let refusals = if ended.is_none() { spent.refusals } else { 0 };
    state.tally =
        Tally { stops: spent.stops, prompt_id: spent.prompt_id, refusals, ..Tally::default() };
    if ended == Some(Outcome::Budget) {
        // Its time or its money was used up: going on means as much again.
        state.rest_ms = at.since(state.started_at);
        if let Some(spend) = &mut state.spend {
            spend.begin_anew();
        }
    }
    if let (Some(max), Some(frame)) = (max_iterations, state.frames.first_mut()) {
        frame.max = max;
    }
}

/// The time that nobody touched the loop was not work; else a resume would find it spent.
fn untouched(state: &mut State, at: Timestamp) {
    if is_steering(&state.phase) {
        state.rest_ms = state.rest_ms.saturating_add(at.since(state.updated_at));
    }
    go_on(state, at);
}

/// Puts an end to rest, and remembers how long it was.
fn go_on(state: &mut State, at: Timestamp) {
    let rested = match &state.phase {
        Phase::Paused { since, .. }
        | Phase::Waiting {
            on: Waiting::Answer(_) | Waiting::Approval | Waiting::Condition(_),
            since,
        } => at.since(*since),
        Phase::Ended { at: ended, .. } => at.since(*ended),
        Phase::Active | Phase::Completing | Phase::Waiting { .. } => 0,
    };
    state.rest_ms = state.rest_ms.saturating_add(rested);
    state.phase = Phase::Active;
}

#[cfg(test)]
mod sync_tests;
#[cfg(test)]
mod task_tests;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod waiting_tests;
