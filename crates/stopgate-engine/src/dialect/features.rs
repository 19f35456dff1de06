//! The `features` dialect on the disk: a list that is read, a progress file that is kept.

mod check;
mod side_by_side;

use std::io::Write;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::json;
use stopgate_agents::Call;
use stopgate_core::{
    Digest, Frame, Leave, Mode, Outcome, Phase, Policy, Rest, Verdict, clean, clip,
};
use stopgate_dialects::features::{
    FeatureList, HandOverReason, ProgressFile, ProgressStanding, advanced, batch_is_done, complete,
    continue_with, ended, handed_over, log_line, nothing_listed, overflowing, reached_limit,
};
use stopgate_signals::transcript::{self, Bound, TranscriptRecord};

pub use self::check::{CheckedView, FeatureTrouble, NewFeatures};
pub use self::side_by_side::{FeatureFiles, NextFeature};
use super::desk::{Held, JudgedFile, Sheet};
use super::{Answered, DialectCall, files, printed};
use crate::failure::{Failure, chain};
use crate::view::LoopView;
use stopgate_verify::files::{append_private, open_regular};

pub(super) const DIRECTORY: &str = ".claude/data/ralph-loops/current";
const REASON_BYTES_MAX: usize = 8 * 1024;
/// The note of the session that works on the list, and how much was complete when it came.
const SESSION: &str = "session";

/// Where a loop's files are.
struct Place {
    directory: PathBuf,
    list: PathBuf,
    progress: PathBuf,
    log: PathBuf,
}

impl Place {
    fn of(desk: &DialectCall) -> Self {
        let directory = desk.settings.features_directory().unwrap_or_else(|| DIRECTORY.into());
        let directory = desk.directory.join(directory);
        Self {
            list: directory.join("feature_list.json"),
            progress: directory.join("progress.txt"),
            log: directory.join("hook.log"),
            directory,
        }
    }
}

/// What the files say.
struct Found {
    list: FeatureList,
    progress: ProgressFile,
    /// The progress file's text.
    text: String,
}

/// What a stop is answered with, and what becomes of the progress file.
struct Said {
    answered: Answered,
    /// What was said to whom it was said.
    words: String,
    /// The new text of the progress file.
    text: Option<String>,
    /// For the log.
    story: String,
}

pub(super) fn stop(desk: &DialectCall, call: &Call<'_>) -> Result<Answered, Failure> {
    let place = Place::of(desk);
    // Without a loop nothing is made, not even a lock.
    if !place.list.exists() && !place.progress.exists() {
        return Ok(Answered::nothing());
    }
    let held = desk.hold(&place.progress)?;
    let answered = read(&place).and_then(|found| judge(desk, call, &place, &found, held));
    answered.or_else(|failure| {
        let story = failure.story();
        append(&place.log, &log_line(desk.now, &call.session, call.continued, &story));
        desk.note(&story);
        Ok(tell(&format!("Ralph Loop let the agent stop: {story}. See: stopgate features check")))
    })
}

/// Where the loop's progress is kept.
pub(super) fn progress_file(desk: &DialectCall) -> PathBuf {
    Place::of(desk).progress
}

impl DialectCall {
    /// Where the files of a loop over features are.
    pub fn features_directory(&self) -> PathBuf {
        Place::of(self).directory
    }

    /// The list's text; nothing where there is none.
    pub(crate) fn feature_list(&self) -> Result<Option<String>, Failure> {
        files::read(&Place::of(self).list)
    }

    /// How the loop ended, as the progress file has it.
    pub(crate) fn features_end(&self) -> Result<Option<(Outcome, String)>, Failure> {
        let found = read(&Place::of(self))?;
        let is =
            |standing: ProgressStanding| found.progress.status.as_deref() == Some(standing.word());
        Ok(if is(ProgressStanding::Complete) && found.list.remaining() == 0 {
            Some((Outcome::Attested, complete(&found.list)))
        } else if is(ProgressStanding::ReachedLimit) {
            Some((Outcome::MaxIterations, reached_limit(&found.list, &found.progress)))
        } else {
            None
        })
    }

    /// How the loop over features stands.
    pub fn features_view(&self) -> Result<LoopView, Failure> {
        let place = Place::of(self);
        if !place.list.exists() {
            let text = format!("there is no loop in {}", place.directory.display());
            return Err(Failure::no_loop(text).hint("begin one: stopgate features init"));
        }
        let found = read(&place)?;
        let mut sheet = sheet(self, &place, &found, None);
        sheet.phase = self.hold(&place.progress)?.phase_of(&sheet);
        Ok(self.view(&sheet))
    }
}

fn read(place: &Place) -> Result<Found, Failure> {
    let missing = |path: &Path| Failure::fault(format!("{} is missing", path.display()));
    let list = files::read(&place.list)?.ok_or_else(|| missing(&place.list))?;
    let text = files::read(&place.progress)?.ok_or_else(|| missing(&place.progress))?;
    let list = FeatureList::read(&list).map_err(|error| {
        Failure::fault(format!(
            "could not use {}: could not {}",
            place.list.display(),
            chain(&error)
        ))
    })?;
    Ok(Found { list, progress: ProgressFile::read(&text), text })
}

fn judge(
    desk: &DialectCall,
    call: &Call<'_>,
    place: &Place,
    found: &Found,
    mut held: Held<'_>,
) -> Result<Answered, Failure> {
    held.meet(&run(&found.list));
    if held.is_paused(&run(&found.list)) {
        return Ok(Answered::nothing());
    }
    let hand_over = hand_over(&mut held, call, found);
    let sheet = sheet(desk, place, found, hand_over);
    let judged = held.judge(&sheet, &DialectCall::seen(call, None));
    let said = say(found, &judged, hand_over);
    if let Some(text) = said.text.as_deref().filter(|text| *text != found.text) {
        held.write(&place.progress, text)?;
    }
    append(&place.log, &log_line(desk.now, &call.session, call.continued, &counted(found, &said)));
    held.settle(judged, &said.words);
    Ok(said.answered)
}

/// A list is known by its first feature; what is added to it belongs to the same loop.
fn run(list: &FeatureList) -> String {
    let first = list.features.first();
    let digest = first.map_or(Digest::new(), |first| {
        Digest::new().part(first.id.as_bytes()).part(first.description.as_bytes())
    });
    format!("{:016x}", digest.value())
}

/// Why another session should go on, if one should; a finished list needs none.
fn hand_over(held: &mut Held<'_>, call: &Call<'_>, found: &Found) -> Option<HandOverReason> {
    let complete = found.list.complete();
    let note = held.memory.notes.get(SESSION).filter(|note| note["id"] == *call.session);
    let before = note.and_then(|note| note["complete"].as_u64());
    let before = before.and_then(|before| usize::try_from(before).ok());
    if before.is_none() {
        let note = json!({ "id": call.session, "complete": complete });
        held.memory.notes.insert(SESSION.into(), note);
    }
    if found.list.remaining() == 0 {
        return None;
    }
    if let Some(before) =
        before.filter(|before| batch_is_done(complete, *before, found.progress.per_session))
    {
        return Some(HandOverReason::Batch { done: complete - before });
    }
    let used = context_tokens(call).filter(|_| found.progress.context_limit != Some(0))?;
    let window = overflowing(used, found.progress.context_limit)?;
    Some(HandOverReason::Context { used, window })
}

/// How full the context is, by the newest line of the transcript that says so.
fn context_tokens(call: &Call<'_>) -> Option<u64> {
    let path = Path::new(call.transcript.as_deref()?);
    let mut tokens = None;
    let file = open_regular(path).ok()?;
    let _ = transcript::last_message(file, Bound::default(), |line| {
        tokens = call.agent.context_tokens(line);
        // To have found it is to have seen enough.
        if tokens.is_some() { TranscriptRecord::UserTurn } else { TranscriptRecord::Other }
    });
    tokens
}

fn sheet(
    desk: &DialectCall,
    place: &Place,
    found: &Found,
    hand_over: Option<HandOverReason>,
) -> Sheet {
    let next = found.list.next().map_or("", |next| &next.description);
    let frame = Frame {
        mode: Mode::Loop,
        iteration: found.progress.iteration,
        max: found.progress.max,
        prompt: next.into(),
    };
    let cancelled = found.progress.status.as_deref() == Some(ProgressStanding::Cancelled.word());
    let phase = match hand_over {
        _ if cancelled => Phase::Ended {
            outcome: Outcome::Cancelled,
            why: "a person cancelled it".into(),
            at: desk.now,
        },
        Some(_) => Phase::Paused { rest: Rest::NextSession, since: desk.now },
        // The list itself is the claim that all of it is complete.
        None if found.list.remaining() == 0 => Phase::Completing,
        None => Phase::Active,
    };
    Sheet {
        run: run(&found.list),
        goal: format!("every feature of {}", place.list.display()),
        policy: Policy {
            max_minutes: 0,
            max_idle: 0,
            max_repeat: 0,
            stale_after_ms: i64::MAX,
            ..Policy::default()
        },
        phase,
        frames: vec![frame],
        criteria: found.list.criteria(desk.now),
        updated_at: desk.now,
    }
}

fn say(found: &Found, judged: &JudgedFile, hand_over: Option<HandOverReason>) -> Said {
    let (list, progress) = (&found.list, &found.progress);
    let over = |words: String, standing: ProgressStanding| Said {
        answered: tell(&words),
        text: Some(ended(&found.text, standing)),
        story: format!("{}: {words}", standing.word()),
        words,
    };
    let let_go = |words: String, word: &str| Said {
        answered: tell(&words),
        text: None,
        story: format!("{word}: {words}"),
        words,
    };
    match &judged.decision.verdict {
        Verdict::Complete { .. } => over(complete(list), ProgressStanding::Complete),
        Verdict::Escalate { outcome: Outcome::MaxIterations, .. } => {
            over(reached_limit(list, progress), ProgressStanding::ReachedLimit)
        }
        Verdict::Escalate { why, .. } => let_go(why.clone(), "ALLOW"),
        Verdict::Allow(Leave::Empty) => let_go(nothing_listed(), "WARNING"),
        Verdict::Allow(Leave::Paused) => {
            let words = hand_over.map(|why| handed_over(why, list)).unwrap_or_default();
            let_go(words, "HANDOVER")
        }
        Verdict::Allow(leave) => Said {
            answered: Answered::nothing(),
            words: String::new(),
            text: None,
            story: format!("ALLOW: {leave:?}"),
        },
        Verdict::Continue { .. } => go_on(found, judged),
    }
}

fn go_on(found: &Found, judged: &JudgedFile) -> Said {
    let iteration = judged.after.frames.first().map_or(1, |frame| frame.iteration);
    let Some(next) = found.list.next() else {
        return Said {
            answered: Answered::nothing(),
            words: String::new(),
            text: None,
            story: "ALLOW: no feature is left".into(),
        };
    };
    let words = continue_with(next, iteration, &found.progress);
    let words = clip(&clean(&words), REASON_BYTES_MAX);
    let reply = BlockWire { decision: "block", reason: &words };
    Said {
        answered: Answered::Block(printed(&reply)),
        text: Some(advanced(&found.text, iteration)),
        story: format!(
            "CONTINUE: Starting iteration {iteration} for Feature {}: {}",
            next.id, next.description
        ),
        words,
    }
}

/// The counts before the decision, for the log.
fn counted(found: &Found, said: &Said) -> String {
    let (list, progress) = (&found.list, &found.progress);
    format!(
        "Iteration: {} / {}, Features: {}/{} complete, {} remaining, {}",
        progress.iteration,
        progress.max,
        list.complete(),
        list.features.len(),
        list.remaining(),
        said.story
    )
}

/// A log that can't be written must not change an answer.
fn append(log: &Path, line: &str) {
    // A link could lead out of the project, and a pipe that nobody reads would be waited for.
    if log.parent().is_some_and(Path::is_dir) {
        let _ = append_private(log).and_then(|mut log| log.write_all(line.as_bytes()));
    }
}

#[derive(Serialize)]
struct BlockWire<'a> {
    decision: &'static str,
    reason: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct TellWire<'a> {
    r#continue: bool,
    system_message: &'a str,
}

/// Lets the agent go with a word to the person.
fn tell(words: &str) -> Answered {
    let words = clip(&clean(words), REASON_BYTES_MAX);
    Answered::Allow(printed(&TellWire { r#continue: true, system_message: &words }))
}
