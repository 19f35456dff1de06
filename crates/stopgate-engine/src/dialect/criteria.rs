//! The `criteria` dialect on the disk: `.loop/state.json`.

mod checks;

mod command;

use std::path::PathBuf;

use serde_json::json;
use stopgate_agents::{AgentAnswer, Call, Client};
use stopgate_core::{
    Digest, Frame, Leave, Mode, Outcome, Phase, Policy, Rest, Verdict, clean, clip,
};
use stopgate_dialects::criteria::{
    CriteriaRecord, CriteriaStatus, STUCK_MAX, announcement, blocked, counted, let_go, verified,
};

use self::checks::Checked;
pub use self::command::{Completion, CriteriaView, MarkView};
use super::desk::{Held, JudgedFile, Sheet};
use super::{Answered, DialectCall, OkForm, OkWire, files, printed};
use crate::failure::{Failure, chain};

pub(super) const FILE: &str = ".loop/state.json";
const INVALID: &str = "invalid state file";
const REASON_BYTES_MAX: usize = 8 * 1024;
const UNTRUSTED: &str = " (its checks do not run: a person has to trust them with \
                         `stopgate trust --dialect criteria`)";
/// The note of the counts that the hook itself wrote last.
const COUNTS: &str = "counts";

pub(super) fn stop(desk: &DialectCall, call: &Call<'_>) -> Result<Answered, Failure> {
    let file = file(desk);
    // Without a loop nothing is made, not even a lock.
    if !file.exists() {
        return Ok(allow(desk, None));
    }
    let checked = match files::read(&file).ok().flatten().map(|text| CriteriaRecord::read(&text)) {
        Some(Ok(record)) if record.status == CriteriaStatus::InProgress => {
            desk.criteria_run(&record)?
        }
        Some(_) | None => Checked::Nothing,
    };
    let held = desk.hold(&file)?;
    let text = match held.read() {
        Ok(Some(text)) => text,
        Ok(None) => return Ok(allow(desk, None)),
        Err(failure) => return Ok(invalid(desk, &failure.story())),
    };
    judge_checked(desk, call, held, text, &checked)
        .or_else(|error| Ok(invalid(desk, &format!("{}: could not {error}", file.display()))))
}

/// Writes what the checks showed into the file's text, and judges the stop by it.
fn judge_checked(
    desk: &DialectCall,
    call: &Call<'_>,
    mut held: Held<'_>,
    text: String,
    checked: &Checked,
) -> Result<Answered, String> {
    let told = |error: &dyn std::error::Error| chain(error);
    let mut text = text;
    if let Checked::Ran(found) = checked {
        let edited = verified(&text, found).map_err(|refusal| told(&refusal))?;
        if edited != text {
            let file = held.file.clone();
            held.write(&file, &edited).map_err(|failure| failure.story())?;
            text = edited;
        }
    }
    let record = CriteriaRecord::read(&text).map_err(|error| told(&error))?;
    judge(desk, call, held, &text, &record, checked).map_err(|failure| failure.story())
}

pub(super) fn session_start(desk: &DialectCall, call: &Call<'_>) -> Result<Answered, Failure> {
    let text = files::read(&file(desk))?;
    let record = text.and_then(|text| CriteriaRecord::read(&text).ok());
    let Some(text) = record.and_then(|record| announcement(&record)) else {
        return Ok(Answered::nothing());
    };
    let text = clip(&clean(&text), REASON_BYTES_MAX);
    let answer = AgentAnswer::Context { event: call.event, text: &text };
    Ok(Answered::Allow(call.agent.render(&answer, Client::default())))
}

fn file(desk: &DialectCall) -> PathBuf {
    desk.directory.join(FILE)
}

fn judge(
    desk: &DialectCall,
    call: &Call<'_>,
    mut held: Held<'_>,
    text: &str,
    record: &CriteriaRecord,
    checked: &Checked,
) -> Result<Answered, Failure> {
    let sheet = sheet(desk, record);
    held.meet(&sheet.run);
    // The breaker's count is the file's own.
    held.memory.tally.repeat = record.breaker.stuck;
    let message = DialectCall::last_message(call);
    let seen = DialectCall::seen(call, message.as_deref());
    let judged = held.judge(&sheet, &seen);
    let (answered, words) = match &judged.decision.verdict {
        Verdict::Continue { .. } => {
            count(&mut held, text, record, &judged)?;
            let mut words = blocked(record);
            if *checked == Checked::Untrusted {
                words.push_str(UNTRUSTED);
            }
            let words = clip(&clean(&words), REASON_BYTES_MAX);
            (block(desk, &words), words)
        }
        Verdict::Allow(Leave::Background) => (allow(desk, None), String::new()),
        Verdict::Allow(_) | Verdict::Complete { .. } | Verdict::Escalate { .. } => {
            let words = let_go(record).map(|words| clean(&words));
            (allow(desk, words.as_deref()), words.unwrap_or_default())
        }
    };
    held.settle(judged, &words);
    Ok(answered)
}

/// Counts what the agent has not counted itself: where a count moved since our own last
/// write, another process did.
fn count(
    held: &mut Held<'_>,
    text: &str,
    record: &CriteriaRecord,
    judged: &JudgedFile,
) -> Result<(), Failure> {
    let found = json!([record.iteration, record.breaker.stuck]);
    if held.memory.notes.get(COUNTS).is_some_and(|ours| *ours != found) {
        held.memory.notes.insert(COUNTS.into(), found);
        return Ok(());
    }
    let iteration = judged.after.frames.first().map_or(0, |frame| frame.iteration);
    let breaker = record.next_breaker();
    let edited = counted(text, iteration, &breaker).map_err(|error| {
        Failure::fault(format!("could not count in {}", held.file.display())).because(error)
    })?;
    let file = held.file.clone();
    held.write(&file, &edited)?;
    held.memory.notes.insert(COUNTS.into(), json!([iteration, breaker.stuck]));
    Ok(())
}

fn sheet(desk: &DialectCall, record: &CriteriaRecord) -> Sheet {
    let over = |outcome, why: &str| Phase::Ended { outcome, why: why.into(), at: desk.now };
    let phase = match record.status {
        CriteriaStatus::Completed => over(Outcome::Attested, "the file says that it is completed"),
        CriteriaStatus::Cancelled => over(Outcome::Cancelled, "the file says that it is cancelled"),
        CriteriaStatus::Paused => Phase::Paused { rest: Rest::Resume, since: desk.now },
        CriteriaStatus::InProgress if record.exit_signal => Phase::Completing,
        CriteriaStatus::InProgress => Phase::Active,
    };
    let prompt = record.remaining.first().cloned().unwrap_or_else(|| record.spec.clone());
    let frame = Frame { mode: Mode::Loop, iteration: record.iteration, max: 0, prompt };
    Sheet {
        run: format!("{:016x}", Digest::new().part(record.spec.as_bytes()).value()),
        goal: record.spec.clone(),
        policy: Policy {
            max_minutes: 0,
            max_idle: 0,
            max_repeat: STUCK_MAX,
            stale_after_ms: i64::MAX,
            ..Policy::default()
        },
        phase,
        frames: vec![frame],
        criteria: record.core_criteria(desk.now),
        updated_at: desk.now,
    }
}

/// A file that is not a state file holds nobody, and a person should know.
fn invalid(desk: &DialectCall, story: &str) -> Answered {
    desk.note(&format!("the agent may stop: {story}"));
    allow(desk, Some(INVALID))
}

/// A reason to let go is told to the person, too, where the client can.
fn allow(desk: &DialectCall, reason: Option<&str>) -> Answered {
    let message = |reason: &str| format!("Loop in {FILE}: {reason}");
    let system_message = match desk.request.form {
        OkForm::Full => reason.map(message),
        OkForm::Strict => None,
    };
    Answered::Allow(printed(&OkWire { ok: true, reason, decision: None, system_message }))
}

fn block(desk: &DialectCall, reason: &str) -> Answered {
    let decision = match desk.request.form {
        OkForm::Full => Some("block"),
        OkForm::Strict => None,
    };
    let reason = Some(reason);
    Answered::Block(printed(&OkWire { ok: false, reason, decision, system_message: None }))
}
