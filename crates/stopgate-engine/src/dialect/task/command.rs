//! The lifecycle of a task by command, under the same lock as the hook.

use std::path::{Path, PathBuf};

use serde::Serialize;
use stopgate_core::{Outcome, Phase, Seen, Verdict};
use stopgate_dialects::instant_text;
use stopgate_dialects::task::{
    NewTask, Pause, TaskEdit, TaskLook, TaskRecord, TaskSight, TaskStanding, begin, next, paused,
    summary,
};

use super::super::desk::Held;
use super::super::memory::Memory;
use super::super::{DialectCall, audit, files};
use super::{Found, NO_TASK, Place, directory_name, resume_command, sheet};
use crate::failure::Failure;
use crate::view::LoopView;

/// What a person or an agent does to a task.
#[derive(Clone, Debug)]
pub enum TaskChange {
    /// One iteration was made.
    Iterate {
        /// Steps that are done now.
        steps_done: Vec<String>,
        /// Errors that came up: their class and what they say.
        errors: Vec<(String, String)>,
        /// Money spent so far.
        cost: Option<f64>,
    },
    /// It rests until it is resumed.
    Pause {
        /// Why.
        why: String,
    },
    /// It goes on.
    Resume {
        /// Another limit of the count.
        max_iterations: Option<u32>,
        /// Another limit of the money.
        budget: Option<f64>,
    },
    /// It is finished, by somebody's word.
    Complete,
    /// A person ends it.
    Cancel,
}

/// A task as programs see it.
#[derive(Clone, Debug, Serialize)]
pub struct TaskView {
    /// Its name.
    pub id: String,
    /// What it is about.
    pub subject: String,
    /// `pending`, `in_progress`, `paused`, `completed` or `other`.
    pub status: &'static str,
    /// Why it rests.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paused: Option<String>,
    /// How often the agent was sent back.
    pub iteration: u32,
    /// How often it may be; none means no limit.
    pub max_iterations: Option<u32>,
    /// Steps that are done.
    pub completed: Vec<String>,
    /// Steps that are not.
    pub remaining: Vec<String>,
    /// How many errors were written down.
    pub errors: usize,
    /// When it was last known to be well.
    pub last_checkpoint: Option<String>,
    /// The next thing to do, or what became of it.
    pub told: String,
    /// Where its record is.
    pub file: PathBuf,
}

impl DialectCall {
    /// Writes the record of a new task; one that is in progress there is not overwritten.
    pub fn task_start(&self, task: &NewTask) -> Result<TaskView, Failure> {
        let place = Place::of(self, self.settings.session().as_deref())?;
        let file = match &place {
            Place::File(file) => file.clone(),
            Place::Directory(directory) => {
                directory.join(format!("{}.json", directory_name(&task.id)))
            }
        };
        let mut held = self.hold(&file)?;
        may_begin(&place, &file)?;
        let text = begin(task, self.now);
        held.write(&file, &text)?;
        held.memory = Memory::default();
        held.save();
        Ok(view(self, &Found { file, record: parsed(&text)?, text }))
    }

    /// How the task stands.
    pub fn task_status(&self) -> Result<TaskView, Failure> {
        let place = Place::of(self, self.settings.session().as_deref())?;
        Ok(view(self, &place.look()?.ok_or_else(missing)?))
    }

    /// The task as a loop.
    pub fn task_view(&self) -> Result<LoopView, Failure> {
        let place = Place::of(self, self.settings.session().as_deref())?;
        let found = place.look()?.ok_or_else(missing)?;
        let sight = TaskSight { session: "", prompt_id: None, continued: None };
        let mut sheet = sheet(self, &TaskLook::new(&found.record, &sight), &found.record);
        if !found.is_open() {
            let outcome = match found.record.status {
                TaskStanding::Completed => Outcome::Attested,
                TaskStanding::Pending
                | TaskStanding::InProgress
                | TaskStanding::Paused
                | TaskStanding::Other => Outcome::Cancelled,
            };
            let why = format!("the record says: {}", found.record.status.word());
            sheet.phase = Phase::Ended { outcome, why, at: self.now };
        }
        Ok(self.view(&sheet))
    }

    /// Changes the task's record.
    pub fn task_change(&self, change: &TaskChange) -> Result<TaskView, Failure> {
        let place = Place::of(self, self.settings.session().as_deref())?;
        let file = place.look()?.ok_or_else(missing)?.file;
        let mut held = self.hold(&file)?;
        let found = place.look()?.filter(|again| again.file == file).ok_or_else(missing)?;
        let edit = edit(self, &found, change)?;
        let text = edit.text();
        held.write(&found.file, &text)?;
        let over = match change {
            TaskChange::Complete => Some((Outcome::Attested, "somebody said that it is complete")),
            TaskChange::Cancel => Some((Outcome::Cancelled, "a person cancelled it")),
            TaskChange::Iterate { .. } | TaskChange::Pause { .. } | TaskChange::Resume { .. } => {
                None
            }
        };
        if let Some((outcome, why)) = over {
            audit::ended(self, &held.memory, outcome, why);
            held.memory = Memory::default();
        }
        held.save();
        let found = Found { record: parsed(&text)?, text, file: found.file };
        let mut view = view(self, &found);
        if let TaskChange::Iterate { errors, .. } = change
            && !errors.is_empty()
            && let Some(why) = trips(&mut held, self, &found.record)
        {
            view.told = format!("The circuit breaker trips: {why}. The next stop pauses the task.");
        }
        Ok(view)
    }
}

/// Why the next stop would pause the task, where it would: what is written down suffices.
fn trips(held: &mut Held<'_>, desk: &DialectCall, record: &TaskRecord) -> Option<String> {
    let mark = &record.mark;
    let sight =
        TaskSight { session: &mark.session, prompt_id: mark.prompt_id.as_deref(), continued: None };
    let look = TaskLook::new(record, &sight);
    let seen = look.seen(Seen::default());
    match held.judge(&sheet(desk, &look, record), &seen).decision.verdict {
        Verdict::Escalate { why, .. } => Some(why),
        Verdict::Continue { .. } | Verdict::Allow(_) | Verdict::Complete { .. } => None,
    }
}

fn edit(desk: &DialectCall, found: &Found, change: &TaskChange) -> Result<TaskEdit, Failure> {
    let (record, mut edit) = (&found.record, TaskEdit::of(&found.text));
    if !matches!(change, TaskChange::Resume { .. }) && !record.is_active() {
        return Err(Failure::no_loop(format!("the task is {}", record.status.word())));
    }
    match change {
        TaskChange::Iterate { steps_done, errors, cost } => {
            for step in steps_done {
                known_step(record, step)?;
                let text = edit.text();
                edit = TaskEdit::of(&text).step_done(&parsed(&text)?, step, desk.now);
            }
            for (class, message) in errors {
                edit = edit.error(class, message);
            }
            Ok(match cost {
                Some(cost) => edit.cost(*cost),
                None => edit,
            })
        }
        TaskChange::Pause { why } => {
            let pause = Pause { rule: "person".into(), why: why.clone(), at: Some(desk.now) };
            Ok(edit.paused(record, pause))
        }
        TaskChange::Resume { max_iterations, budget } => {
            if let Some(max) = max_iterations {
                edit = edit.max_iterations(*max);
            }
            if let Some(budget) = budget {
                edit = edit.budget(*budget);
            }
            let text = edit.text();
            let record = parsed(&text)?;
            may_go_on(&record)?;
            Ok(TaskEdit::of(&text).resumed(&record))
        }
        TaskChange::Complete if !record.remaining.is_empty() => {
            Err(Failure::usage(format!("steps are open: {}", record.remaining.join(", "))).hint(
                "tick them off: stopgate task iterate --step-done STEP; or end the task: stopgate \
                 cancel --dialect task",
            ))
        }
        TaskChange::Complete => Ok(edit.completed(desk.now)),
        // The agent's own list knows no such word: there it goes back to those that wait.
        TaskChange::Cancel => Ok(match desk.request.task_file {
            Some(_) => edit.cancelled("cancelled"),
            None => edit.cancelled("pending"),
        }),
    }
}

/// A step that a task does not have is a slip; a task without steps takes any.
fn known_step(record: &TaskRecord, step: &str) -> Result<(), Failure> {
    let all = || record.remaining.iter().chain(&record.completed);
    if all().next().is_none() || all().any(|known| known == step) {
        return Ok(());
    }
    let open: Vec<&str> = record.remaining.iter().map(String::as_str).collect();
    Err(Failure::usage(format!("the task has no step \"{step}\""))
        .hint(format!("its open steps are: {}", open.join(", "))))
}

/// A task whose limit still holds would be paused again at once.
fn may_go_on(record: &TaskRecord) -> Result<(), Failure> {
    if record.iteration >= record.max_iterations {
        let used = record.max_iterations;
        return Err(Failure::usage(format!("all {used} iterations are used"))
            .hint("raise the limit: stopgate task resume --max-iterations N"));
    }
    if record.budget_micros.is_some_and(|budget| record.cost_micros >= budget) {
        return Err(Failure::usage("the budget is used up")
            .hint("raise it: stopgate task resume --budget USD"));
    }
    Ok(())
}

/// A task that is worked on is nobody's to replace, and neither is any of the agent's own.
fn may_begin(place: &Place, file: &Path) -> Result<(), Failure> {
    let taken = match place {
        Place::Directory(_) => file.exists(),
        // What is there and no record may be anything: it is not replaced either.
        Place::File(_) => super::read(file)?.is_some_and(|known| known.record.is_active()),
    };
    if !taken {
        return Ok(());
    }
    Err(Failure::usage(format!("there is a task in {}", file.display())).hint(match place {
        Place::Directory(_) => "give the new one another name: --id ID",
        Place::File(_) => "finish it with `stopgate task complete`, or name another --task-file",
    }))
}

fn parsed(text: &str) -> Result<TaskRecord, Failure> {
    TaskRecord::read(text).map_err(|error| super::unreadable(&PathBuf::from("the record"), &error))
}

fn missing() -> Failure {
    Failure::no_loop(NO_TASK).hint("begin one: stopgate task start --task-file FILE SPEC")
}

fn view(desk: &DialectCall, found: &Found) -> TaskView {
    let record = &found.record;
    let pause = record.pause();
    let rests = pause.map(|pause| paused(pause, &resume_command(desk, record, pause)));
    let told = match (&rests, record.is_active()) {
        (Some(rests), true) => rests.clone(),
        (None, true) => next(record),
        (_, false) => summary(record),
    };
    TaskView {
        id: record.id.clone(),
        subject: record.subject.clone(),
        status: if pause.is_some() && record.is_active() { "paused" } else { record.status.word() },
        paused: pause.filter(|_| record.is_active()).map(|pause| pause.why.clone()),
        iteration: record.iteration,
        max_iterations: (record.max_iterations != u32::MAX).then_some(record.max_iterations),
        completed: record.completed.clone(),
        remaining: record.remaining.clone(),
        errors: record.errors.len(),
        last_checkpoint: record.last_checkpoint.map(instant_text),
        told,
        file: files::canonical(&found.file),
    }
}
