//! The `idle` dialect on the disk and in the message store.

mod anchor;

mod commands;

mod outside;

use std::path::{Path, PathBuf};

use stopgate_agents::{Call, Reply};
use stopgate_core::{Policy, Seen, clean, clip};
use stopgate_dialects::idle::file::After;
use stopgate_dialects::idle::{
    FILE, IdleLoop, IdleStanding, LastTouched, STALE_AFTER_MS, TOPIC, TextChange, change, file,
    message, reason, review_reason,
};

pub(super) use self::anchor::{pre_compact, session_start};
use self::outside::Unreviewed;
pub(super) use self::outside::guard;
use super::desk::{Held, JudgedFile, Sheet};
use super::jwz::Store;
use super::{Answered, DialectCall, files};
use crate::failure::Failure;

const REASON_BYTES_MAX: usize = 8 * 1024;

/// Answers one stop.
pub(super) fn stop(desk: &DialectCall, call: &Call<'_>) -> Result<Answered, Failure> {
    if outside::is_switched_off(desk) {
        return Ok(Answered::nothing());
    }
    // Asked before the lock is taken: others wait for it.
    let told = outside::control_topic(desk);
    let Some((mut held, found)) = find(desk)? else {
        return Ok(Answered::nothing());
    };
    if found.state.standing == IdleStanding::Active
        && let Some(answered) = outside::obey(desk, &mut held, &found, told)?
    {
        return Ok(answered);
    }
    match &found.state.standing {
        IdleStanding::Active if held.is_paused(&found.state.run) => return Ok(Answered::nothing()),
        IdleStanding::Active => {}
        IdleStanding::Over(outcome, why) => {
            held.over(*outcome, why);
            return Ok(Answered::nothing());
        }
        IdleStanding::Off => {
            apply(desk, &mut held, &found, &TextChange::Sweep)?;
            held.over(stopgate_core::Outcome::Aborted, "it was switched off");
            return Ok(Answered::nothing());
        }
    }
    let message = DialectCall::last_message_ever(call);
    let mut seen = DialectCall::seen(call, message.as_deref());
    let unreviewed = outside::review(desk, &mut held, &found, &mut seen)?;
    let judged = held.judge(&sheet(desk, &found.state), &seen);
    let (answered, words) = settle(desk, &mut held, &found, &judged, &seen, unreviewed.as_ref())?;
    outside::trace(desk, &found, &judged, &seen);
    held.close(judged, &words);
    Ok(answered)
}

/// Where the state was found, its text, and what that says.
struct Found {
    place: Place,
    text: String,
    state: IdleLoop,
}

enum Place {
    Topic(Store),
    File(PathBuf),
}

/// Finds the loop and takes it in hand: the message store first, else the file.
fn find(desk: &DialectCall) -> Result<Option<(Held<'_>, Found)>, Failure> {
    let path = desk.directory.join(FILE);
    let store = Store::find(&desk.directory);
    if store.is_none() && !path.exists() {
        return Ok(None);
    }
    let held = desk.hold(&home(desk, store.as_ref()))?;
    let found = look(store, path)?;
    Ok(found.map(|found| (held, found)))
}

/// What everybody locks who shares the state: the store's directory, else the file.
fn home(desk: &DialectCall, store: Option<&Store>) -> PathBuf {
    store.map_or(&desk.directory, |store| &store.directory).join(FILE)
}

fn look(store: Option<Store>, path: PathBuf) -> Result<Option<Found>, Failure> {
    if let Some(store) = store
        && let Some(text) = store.newest(TOPIC)?
        && let Some(state) = message::read(&text)
    {
        return Ok(Some(Found { place: Place::Topic(store), text, state }));
    }
    let Some(text) = files::read(&path)? else { return Ok(None) };
    let Some(mut state) = file::read(&text) else {
        return Err(Failure::fault(format!("could not read a loop in {}", path.display())));
    };
    if state.touched == LastTouched::Unsaid
        && let Some(changed) = files::changed_at(&path)
    {
        state.touched = LastTouched::At(changed);
    }
    Ok(Some(Found { place: Place::File(path), text, state }))
}

fn sheet(desk: &DialectCall, state: &IdleLoop) -> Sheet {
    Sheet {
        run: state.run.clone(),
        goal: state.goal.clone(),
        policy: policy(),
        phase: state.phase(desk.now),
        frames: state.frames.clone(),
        criteria: Vec::new(),
        updated_at: state.updated_at(desk.now),
    }
}

fn policy() -> Policy {
    Policy {
        max_minutes: 0,
        max_idle: 0,
        max_repeat: 0,
        max_rounds: 0,
        stale_after_ms: STALE_AFTER_MS,
        ..Policy::default()
    }
}

/// Writes what the decision means, and puts the answer into this format's words.
fn settle(
    desk: &DialectCall,
    held: &mut Held<'_>,
    found: &Found,
    judged: &JudgedFile,
    seen: &Seen,
    unreviewed: Option<&Unreviewed>,
) -> Result<(Answered, String), Failure> {
    let JudgedFile { before, decision, after } = judged;
    let Some(change) = change(decision, before, after, &seen.markers) else {
        return Ok((Answered::nothing(), String::new()));
    };
    apply(desk, held, found, &change)?;
    Ok(match change {
        TextChange::Count(iteration) => {
            let max = after.top().map_or(0, |top| top.max);
            // One that is not there helps nobody, and the documented text has no such line.
            let worktree = found.state.worktree.as_ref();
            let worktree = worktree.filter(|worktree| Path::new(&worktree.path).is_dir());
            let words = match unreviewed {
                Some(Unreviewed { wish }) => {
                    let place = outside::review_place(found);
                    let told = review_reason(iteration, max, wish.as_deref(), &place);
                    clip(&clean(&told), REASON_BYTES_MAX)
                }
                None => reason(iteration, max, worktree),
            };
            (Answered::Block(block(&words)), words)
        }
        TextChange::Stale => {
            let hint = "stopgate resume --dialect idle revives it";
            let stderr = format!("stopgate: the idle loop is stale and was let go; {hint}\n");
            (Answered::Allow(Reply { stderr, ..Reply::default() }), String::new())
        }
        TextChange::Abort(_) => {
            let stderr = "stopgate: the idle loop's counters are invalid; it was aborted\n".into();
            (Answered::Allow(Reply { stderr, ..Reply::default() }), String::new())
        }
        TextChange::Pop | TextChange::Done(_) | TextChange::Revive | TextChange::Sweep => {
            (Answered::nothing(), String::new())
        }
    })
}

/// The documented answer, byte for byte.
fn block(words: &str) -> Reply {
    let reason = serde_json::Value::from(words);
    Reply {
        stdout: format!("{{\"decision\": \"block\", \"reason\": {reason}}}\n"),
        stderr: format!("{words}\n"),
        exit_code: 2,
    }
}

/// Makes a change where the state is kept.
fn apply(
    desk: &DialectCall,
    held: &mut Held<'_>,
    found: &Found,
    change: &TextChange,
) -> Result<(), Failure> {
    let unfit = || Failure::fault("could not change the loop: its state has another form");
    match &found.place {
        Place::Topic(store) => {
            let text = message::changed(&found.text, change, desk.now).ok_or_else(unfit)?;
            store.post(TOPIC, &text)
        }
        Place::File(path) => {
            match file::changed(&found.text, change, desk.now).ok_or_else(unfit)? {
                After::Text(text) => held.write(path, &text),
                After::Gone => {
                    held.remove(path)?;
                    anchor::sweep(desk)
                }
            }
        }
    }
}
