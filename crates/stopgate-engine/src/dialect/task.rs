//! The `task` dialect on the disk: a record that was named, or the agent's own task directory.

mod command;

use std::fs;
use std::path::{Path, PathBuf};

use stopgate_agents::{Agent, Call};
use stopgate_core::{Digest, Leave, Outcome, Verdict};
use stopgate_dialects::task::{
    Pause, Settled, TaskLook, TaskRecord, TaskSight, TaskStanding, UnreadableTask, choose, next,
    paused, policy, summary,
};

pub use self::command::{TaskChange, TaskView};
use super::desk::{Held, JudgedFile, Sheet};
use super::{Answered, DialectCall, OkForm, OkWire, files, printed};
use crate::failure::{Failure, chain};

/// No session has more tasks than this; what lies behind them is not looked at.
const TASKS_MAX: usize = 1000;
const TRIES_MAX: usize = 8;
/// How many iterations more a printed command asks for.
const MORE_ITERATIONS: u32 = 20;
const NO_TASK: &str = "no active task";
/// The agent whose task directories have this form.
const TASK_AGENT: Agent = Agent::Claude;

pub(super) fn stop(desk: &DialectCall, call: &Call<'_>) -> Result<Answered, Failure> {
    let place = Place::of(desk, Some(&call.session))?;
    // Without a task nothing is made, not even a lock.
    let Some(found) = place.look()?.filter(Found::is_open) else {
        return Ok(allow(desk, NO_TASK));
    };
    let mut held = desk.hold(&found.file)?;
    for _ in 0..TRIES_MAX {
        // Somebody may have changed it while we waited.
        let Some(found) = place.look()?.filter(|again| again.file == found.file) else {
            return Ok(allow(desk, NO_TASK));
        };
        if let Some(said) = ask_person(desk, &mut held, call, &found)? {
            return Ok(said);
        }
        let (judged, settled) = judge(desk, &mut held, call, &found);
        if settled.text != found.text {
            // The agent's client knows our lock as little as we know its own.
            if held.read()?.as_ref() != Some(&found.text) {
                continue;
            }
            held.write(&found.file, &settled.text)?;
        }
        let said = say(desk, &found.record, &judged, settled.pause.as_ref());
        // A stop that finds the task at rest is not news.
        if judged.decision.verdict != Verdict::Allow(Leave::Paused) {
            held.close(judged, &said.reason);
        }
        return Ok(answer(desk, &said));
    }
    Err(Failure::fault("could not judge the stop: another process keeps changing the task"))
}

/// Lets a colleague stop after each step, so that the person says whether to go on.
fn ask_person(
    desk: &DialectCall,
    held: &mut Held<'_>,
    call: &Call<'_>,
    found: &Found,
) -> Result<Option<Answered>, Failure> {
    let look = TaskLook::new(&found.record, &sight(call));
    let message = DialectCall::last_message(call);
    let says_complete = !look.seen(DialectCall::seen(call, message.as_deref())).markers.is_empty();
    if says_complete || !look.asks() {
        return Ok(None);
    }
    held.write(&found.file, &look.asked(&found.text, desk.now))?;
    let reason = format!("a step is done; ask the person before the next one: {}", {
        let step = found.record.remaining.first();
        step.map_or("", |step| step.as_str())
    });
    held.save();
    let news = Some(reason.clone());
    Ok(Some(answer(desk, &Said { ok: true, reason, news })))
}

fn sight<'a>(call: &'a Call<'_>) -> TaskSight<'a> {
    TaskSight {
        session: &call.session,
        prompt_id: call.prompt_id.as_deref(),
        continued: call.continued,
    }
}

fn judge(
    desk: &DialectCall,
    held: &mut Held<'_>,
    call: &Call<'_>,
    found: &Found,
) -> (JudgedFile, Settled) {
    let record = &found.record;
    let look = TaskLook::new(record, &sight(call));
    let sheet = sheet(desk, &look, record);
    held.meet(&sheet.run);
    held.memory.tally = look.tally(std::mem::take(&mut held.memory.tally));
    let message = DialectCall::last_message(call);
    let seen = look.seen(DialectCall::seen(call, message.as_deref()));
    let judged = held.judge(&sheet, &seen);
    let settled = look.settle(&found.text, &judged.decision, &judged.after, desk.now);
    (judged, settled)
}

fn sheet(desk: &DialectCall, look: &TaskLook<'_>, record: &TaskRecord) -> Sheet {
    let digest = Digest::new().part(record.id.as_bytes()).part(record.subject.as_bytes());
    let began = record.started_at.map_or(0, stopgate_core::Timestamp::unix_millis);
    Sheet {
        run: format!("{:016x}", digest.part(&began.to_le_bytes()).value()),
        goal: record.subject.clone(),
        policy: policy(),
        phase: look.phase(desk.now),
        frames: vec![look.frame()],
        criteria: Vec::new(),
        updated_at: desk.now,
    }
}

/// What is answered, and to whom.
struct Said {
    ok: bool,
    reason: String,
    /// For the person, where there is news.
    news: Option<String>,
}

fn say(
    desk: &DialectCall,
    record: &TaskRecord,
    judged: &JudgedFile,
    pause: Option<&Pause>,
) -> Said {
    let rests = pause.map(|pause| paused(pause, &resume_command(desk, record, pause)));
    match &judged.decision.verdict {
        Verdict::Continue { .. } => Said { ok: false, reason: next(record), news: None },
        Verdict::Complete { .. } => {
            Said { ok: true, reason: "complete".into(), news: Some(summary(record)) }
        }
        Verdict::Escalate { why, .. } => {
            let reason = rests.unwrap_or_else(|| why.clone());
            Said { ok: true, news: Some(reason.clone()), reason }
        }
        Verdict::Allow(Leave::Paused) => {
            let reason = rests.unwrap_or_else(|| format!("paused. Resume: {}", plain_resume(desk)));
            Said { ok: true, reason, news: None }
        }
        Verdict::Allow(Leave::Background) => {
            Said { ok: true, reason: "background work is still running".into(), news: None }
        }
        Verdict::Allow(
            Leave::Ended
            | Leave::Waiting
            | Leave::Person
            | Leave::Popped
            | Leave::Empty
            | Leave::Untrusted
            | Leave::Approval
            | Leave::Merge,
        ) => Said { ok: true, reason: NO_TASK.into(), news: None },
    }
}

/// How the person lets the task go on.
fn resume_command(desk: &DialectCall, record: &TaskRecord, pause: &Pause) -> String {
    let more = match pause.rule.as_str() {
        "iterations" => {
            format!(" --max-iterations {}", record.max_iterations.saturating_add(MORE_ITERATIONS))
        }
        "spend" => {
            let spent = record.cost_micros.max(record.budget_micros.unwrap_or(0));
            format!(" --budget {}", spent / 1_000_000 * 2 + 1)
        }
        _other => String::new(),
    };
    plain_resume(desk) + &more
}

fn plain_resume(desk: &DialectCall) -> String {
    match &desk.request.task_file {
        Some(file) => format!("stopgate task resume --task-file {}", file.display()),
        None => "stopgate task resume".into(),
    }
}

fn allow(desk: &DialectCall, reason: &str) -> Answered {
    answer(desk, &Said { ok: true, reason: reason.into(), news: None })
}

fn answer(desk: &DialectCall, said: &Said) -> Answered {
    let full = desk.request.form == OkForm::Full;
    let wire = OkWire {
        ok: said.ok,
        reason: Some(&said.reason),
        decision: (full && !said.ok).then_some("block"),
        system_message: said.news.as_ref().filter(|_| full).map(|news| format!("stopgate: {news}")),
    };
    let reply = printed(&wire);
    if said.ok { Answered::Allow(reply) } else { Answered::Block(reply) }
}

/// Where the record is.
enum Place {
    File(PathBuf),
    Directory(PathBuf),
}

/// A record that was found.
struct Found {
    file: PathBuf,
    text: String,
    record: TaskRecord,
}

impl Found {
    /// Whether it is worked on, or rests.
    fn is_open(&self) -> bool {
        match self.record.status {
            TaskStanding::InProgress | TaskStanding::Paused => true,
            TaskStanding::Pending | TaskStanding::Completed | TaskStanding::Other => false,
        }
    }
}

impl Place {
    /// The record that was named, else the directory of tasks that the agent keeps for `session`.
    fn of(desk: &DialectCall, session: Option<&str>) -> Result<Self, Failure> {
        if let Some(file) = &desk.request.task_file {
            return Ok(Self::File(desk.directory.join(file)));
        }
        let lost = |what: &str| {
            Failure::usage(format!("could not tell which task is meant: {what}"))
                .hint("name its record: --task-file FILE")
        };
        let tasks = desk.settings.task_list().or_else(|| session.map(String::from));
        let tasks = tasks.ok_or_else(|| lost("this is not an agent's shell"))?;
        let home =
            desk.settings.agent_home(TASK_AGENT).ok_or_else(|| lost("no home directory is set"))?;
        Ok(Self::Directory(home.join("tasks").join(directory_name(&tasks))))
    }

    fn look(&self) -> Result<Option<Found>, Failure> {
        match self {
            Self::File(file) => read(file),
            Self::Directory(directory) => Ok(look_in(directory)),
        }
    }
}

/// The client's own way to make a directory's name of a list's.
fn directory_name(list: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || "_-".contains(c) { c } else { '-' };
    list.chars().map(plain).collect()
}

fn read(file: &Path) -> Result<Option<Found>, Failure> {
    let Some(text) = files::read(file)? else { return Ok(None) };
    let record = TaskRecord::read(&text).map_err(|error| unreadable(file, &error))?;
    Ok(Some(Found { file: file.into(), text, record }))
}

fn unreadable(file: &Path, error: &UnreadableTask) -> Failure {
    Failure::fault(format!("could not {} ({})", chain(error), file.display()))
        .hint("repair the record, or remove it")
}

/// The task of a directory that is worked on. Files that are not tasks are ignored.
fn look_in(directory: &Path) -> Option<Found> {
    let entries = fs::read_dir(directory).ok()?;
    let paths = entries.flatten().map(|entry| entry.path());
    let is_record = |path: &PathBuf| {
        let hidden = path.file_name().is_some_and(|name| name.as_encoded_bytes()[0] == b'.');
        !hidden && path.extension().is_some_and(|end| end == "json")
    };
    let mut found: Vec<Found> = Vec::new();
    for path in paths.filter(is_record).take(TASKS_MAX) {
        found.extend(read(&path).ok().flatten());
    }
    let records: Vec<TaskRecord> = found.iter().map(|found| found.record.clone()).collect();
    let (at, record) = choose(&records)?;
    Some(Found { record, ..found.swap_remove(at) })
}

impl DialectCall {
    /// Why the task rests, where a rule and not a person paused it.
    pub(crate) fn task_end(&self) -> Result<Option<(Outcome, String)>, Failure> {
        let record = found(self)?;
        let pause = record.as_ref().and_then(TaskRecord::pause).cloned();
        Ok(pause.and_then(|pause| {
            let outcome = match pause.rule.as_str() {
                "person" => return None,
                "iterations" => Outcome::MaxIterations,
                "spend" => Outcome::Budget,
                _other => Outcome::Stalled,
            };
            Some((outcome, pause.why))
        }))
    }
}

/// The file of the record that is meant here.
pub(super) fn record_file(desk: &DialectCall) -> Result<Option<PathBuf>, Failure> {
    let place = Place::of(desk, desk.settings.session().as_deref())?;
    Ok(place.look()?.map(|found| found.file))
}

/// The record that is meant here, whether or not it is worked on.
pub(super) fn found(desk: &DialectCall) -> Result<Option<TaskRecord>, Failure> {
    let place = Place::of(desk, desk.settings.session().as_deref())?;
    Ok(place.look()?.map(|found| found.record))
}
