//! Tasks, their gates and their iterations, as tools see them.
//!
//! A task is a loop of the journal whose events carry the steps of the task; what they
//! mean is decided in the room of gates. Every change is one append at the revision it
//! was decided at, so that two servers on one journal never lose what the other wrote.

mod asks;
mod context;
mod hooks;
mod iterations;
mod link;
mod products;
mod session_gates;
mod stats;
mod story;
mod views;

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::Map;
use stopgate_core::{
    Event, Frame, LoopId, Mode, Outcome, Phase, Started, State, Surface, TaskHold, Timestamp,
    apply, clip,
};
use stopgate_gates::{Changes, Task, TaskRefusal, TaskStatus, TaskStep};
use stopgate_store::{Recorded, Revision, Stored};

pub use self::asks::{
    CheckpointCreate, CheckpointResume, HookClear, HookEvaluate, HookList, HookRegister,
    HookUpdate, IterationComplete, IterationNext, IterationStart, IterationValidate, TaskCreate,
    TaskGet, TaskUpdate, WorkProductAsk,
};
pub use self::session_gates::SessionGates;
pub use self::stats::{GateStatsView, StatsView, TaskRecords};
pub use self::story::{TaskEvaluation, TaskExplanation};
pub use self::views::{
    CheckpointNoteView, CheckpointView, CompletedView, DecisionView, HistoryView, HookClearView,
    HookListView, HookNoteView, HookView, IterationNoteView, IterationView, MetricsView,
    ResumedView, TaskView, ValidationView, WorkProductView,
};
use crate::context::Stocked;
use crate::engine::Engine;
use crate::failure::Failure;
use crate::judging::task_claim::{note, task_of};
use crate::project::project_of;
use crate::settings::Settings;
use crate::stores::Stores;
use crate::view::time_text;

const TRIES_MAX: usize = 64;
const NAMES_TRIED_MAX: usize = 8;
/// How many tasks are remembered between two calls.
const KNOWN_MAX: usize = 256;
const TITLE_BYTES_MAX: usize = 1024;
const TEXT_BYTES_MAX: usize = 64 * 1024;
const DRAFT_BYTES_MAX: usize = 1024 * 1024;

/// The use cases of tasks, over one journal.
pub struct Tasks {
    engine: Engine,
    directory: PathBuf,
    known: BTreeMap<LoopId, Known>,
    gates: SessionGates,
}

/// A task as it was at a revision.
struct Known {
    revision: Revision,
    task: Task,
}

/// A task as it was loaded.
struct Loaded {
    stored: Stored,
    task: Task,
}

/// Says what happens to a task.
type Decide<'a> =
    &'a mut dyn FnMut(&Task, &State, Timestamp) -> Result<(Vec<TaskStep>, TaskHold), Failure>;

impl Tasks {
    /// The tasks of the journal that the environment asks for.
    pub fn open(settings: Settings, stores: Stores, gates: SessionGates) -> Result<Self, Failure> {
        let engine = Engine::open(settings, stores)?;
        let here = settings.client_directory().or_else(|| settings.working_directory().ok());
        let directory = here.unwrap_or_else(|| PathBuf::from("/"));
        Ok(Self::over(engine, directory, gates))
    }

    /// The tasks of an engine's journal, for a client that works in `directory`.
    pub(crate) const fn over(engine: Engine, directory: PathBuf, gates: SessionGates) -> Self {
        Self { engine, directory, known: BTreeMap::new(), gates }
    }

    /// The engine beneath, for loops that are not tasks.
    pub const fn engine(&mut self) -> &mut Engine {
        &mut self.engine
    }

    /// Creates a task.
    pub fn task_create(&mut self, ask: &TaskCreate) -> Result<TaskView, Failure> {
        bounded("title", Some(&ask.title), TITLE_BYTES_MAX)?;
        bounded("description", ask.description.as_deref(), TEXT_BYTES_MAX)?;
        bounded("notes", ask.notes.as_deref(), TEXT_BYTES_MAX)?;
        let metadata = ask.metadata.clone().unwrap_or_default();
        bounded_map("metadata", &metadata)?;
        if ask.title.trim().is_empty() {
            return Err(Failure::usage("title: Must not be empty")
                .hint("say in a few words what the task is about"));
        }
        self.engine.context.prepare()?;
        let step = TaskStep::Created {
            title: ask.title.trim().into(),
            description: ask.description.clone(),
            notes: ask.notes.clone(),
            metadata,
        };
        for _ in 0..NAMES_TRIED_MAX {
            self.engine.context.journal.begin()?;
            let tried = self.try_create(ask.title.trim(), &step);
            self.engine.context.journal.end();
            if let Some(loaded) = tried? {
                return Ok(self.view(&loaded));
            }
        }
        Err(Failure::fault("could not find a free name for the task"))
    }

    /// A task as it stands.
    pub fn task_get(&mut self, ask: &TaskGet) -> Result<TaskView, Failure> {
        let loaded = self.task(&ask.id)?;
        let mut view = self.view(&loaded);
        if ask.include_work_products {
            view.work_products = loaded.task.products.iter().map(WorkProductView::whole).collect();
        }
        Ok(view)
    }

    /// Changes a task; to reopen one that was completed is to say that its end was wrong.
    pub fn task_update(&mut self, ask: &TaskUpdate) -> Result<TaskView, Failure> {
        bounded("title", ask.title.as_deref(), TITLE_BYTES_MAX)?;
        bounded("description", ask.description.as_deref(), TEXT_BYTES_MAX)?;
        bounded("notes", ask.notes.as_deref(), TEXT_BYTES_MAX)?;
        bounded("blockedReason", ask.blocked_reason.as_deref(), TITLE_BYTES_MAX)?;
        bounded_map("metadata", ask.metadata.as_ref().unwrap_or(&Map::new()))?;
        if ask.title.as_ref().is_some_and(|title| title.trim().is_empty()) {
            return Err(Failure::usage("title: Must not be empty"));
        }
        let changes = Changes {
            title: ask.title.clone(),
            description: ask.description.clone(),
            notes: ask.notes.clone(),
            status: read_status(ask.status.as_deref())?,
            blocked_reason: ask.blocked_reason.clone(),
            metadata: ask.metadata.clone(),
        };
        let product = ask.work_product.as_ref();
        product.map_or(Ok(()), WorkProductAsk::measure)?;
        if changes == Changes::default() && product.is_none() {
            return Err(Failure::usage("nothing to change was given").hint(
                "give title, description, notes, status, blockedReason, metadata or workProduct",
            ));
        }
        let loaded = self.task(&ask.id)?;
        if changes.status == Some(TaskStatus::Completed) {
            self.refuse_unproven(&loaded)?;
        }
        let id = loaded.stored.state.id;
        let session = link::session_for(self, None);
        let loaded = self.change(&id, &mut |task, state, now| {
            let hold = held_after(task, state, &changes, session.clone());
            let mut steps = Vec::new();
            if changes != Changes::default() {
                steps.push(TaskStep::Updated(Box::new(changes.clone())));
            }
            steps.extend(product.map(|product| product.step(task, id.as_str(), now)));
            Ok((steps, hold))
        })?;
        Ok(self.view(&loaded))
    }

    fn try_create(&mut self, title: &str, step: &TaskStep) -> Result<Option<Loaded>, Failure> {
        let now = self.engine.context.now();
        let id = self.engine.context.world.new_id();
        let frame = Frame { mode: Mode::Loop, iteration: 0, max: 1, prompt: title.into() };
        let project = project_of(&self.directory).display().to_string();
        let started = Event::Started(Box::new(Started {
            surface: Surface::Tools,
            ..Started::new(id, title, project, frame)
        }));
        let created = note(std::slice::from_ref(step), TaskHold::Keep)?;
        let recorded = [started, created].map(|event| Recorded { event, at: now });
        let state = recorded.iter().fold(None, |state, r| apply(state, &r.event, r.at));
        let task = Task::apply(None, step, now);
        let (Some(state), Some(task)) = (state, task) else {
            return Err(Failure::fault("could not make the task's first state"));
        };
        match self.engine.context.append(Revision::NONE, &recorded, None, state)? {
            Stocked::Stored(stored) => Ok(Some(self.remember(*stored, task))),
            Stocked::Conflict | Stocked::SessionTaken => Ok(None),
        }
    }

    /// The task that tools call `name`.
    fn task(&mut self, name: &str) -> Result<Loaded, Failure> {
        let id = name.strip_prefix("TASK-").filter(|id| !id.is_empty()).map(LoopId::new);
        let loaded = id.map(|id| self.load(&id)).transpose()?.flatten();
        loaded.ok_or_else(|| {
            Failure::no_loop(format!("Task not found: {name}"))
                .hint("create one with task_create and use the id that it answers")
        })
    }

    /// The task that has a part of that name: `IT-…`, `HOOK-…` or `CP-…`.
    fn task_of_part(&mut self, part: &str, kind: &str) -> Result<Option<Loaded>, Failure> {
        match loop_in(part, kind) {
            Some(id) => self.load(&id),
            None => Ok(None),
        }
    }

    fn load(&mut self, id: &LoopId) -> Result<Option<Loaded>, Failure> {
        let Some(stored) = self.engine.context.journal.load(id)? else { return Ok(None) };
        if stored.state.surface != Surface::Tools {
            return Ok(None);
        }
        let task = match self.known.get(id) {
            Some(known) if known.revision == stored.revision => known.task.clone(),
            Some(_) | None => self.fold(&stored)?,
        };
        Ok(Some(self.remember(stored, task)))
    }

    fn fold(&mut self, stored: &Stored) -> Result<Task, Failure> {
        task_of(&mut self.engine.context, stored)
    }

    fn remember(&mut self, stored: Stored, task: Task) -> Loaded {
        if self.known.len() >= KNOWN_MAX {
            self.known.clear();
        }
        let known = Known { revision: stored.revision, task: task.clone() };
        self.known.insert(stored.state.id.clone(), known);
        Loaded { stored, task }
    }

    /// Loads, changes and stores a task, as often as others get in between.
    fn change(&mut self, id: &LoopId, decide: Decide<'_>) -> Result<Loaded, Failure> {
        self.change_from(None, id, decide)
    }

    /// The same, beginning with a task that is loaded already; loads it where that is too old.
    fn change_from(
        &mut self,
        mut loaded: Option<Loaded>,
        id: &LoopId,
        decide: Decide<'_>,
    ) -> Result<Loaded, Failure> {
        for _ in 0..TRIES_MAX {
            self.engine.context.journal.begin()?;
            let tried = self.try_change(loaded.take(), id, decide);
            self.engine.context.journal.end();
            if let Some(loaded) = tried? {
                return Ok(loaded);
            }
        }
        Err(Failure::fault("could not change the task: other processes kept changing it"))
    }

    fn try_change(
        &mut self,
        loaded: Option<Loaded>,
        id: &LoopId,
        decide: Decide<'_>,
    ) -> Result<Option<Loaded>, Failure> {
        let loaded = match loaded {
            Some(loaded) => Some(loaded),
            None => self.load(id)?,
        };
        let Some(Loaded { stored, task }) = loaded else {
            return Err(Failure::no_loop(format!("Task not found: TASK-{id}")));
        };
        if stored.state.outcome() == Some(Outcome::Cancelled) {
            return Err(Failure::usage(format!("task TASK-{id} was cancelled, and that is final"))
                .hint("stop working on it; ask the person before you create another"));
        }
        let now = self.engine.context.now();
        let (steps, hold) = decide(&task, &stored.state, now)?;
        if steps.is_empty() {
            return Ok(Some(Loaded { stored, task }));
        }
        let after = steps.iter().try_fold(task, |task, step| Task::apply(Some(task), step, now));
        let after = after.ok_or_else(|| Failure::fault("could not apply the step to the task"))?;
        let stocked = match self.engine.context.store(
            stored.clone(),
            vec![note(&steps, hold.clone())?],
            now,
        )? {
            // Another loop holds the session: the task goes on without it.
            Stocked::SessionTaken => {
                let alone = note(&steps, without_session(hold))?;
                self.engine.context.store(stored, vec![alone], now)?
            }
            stocked => stocked,
        };
        Ok(match stocked {
            Stocked::Stored(stored) => Some(self.remember(*stored, after)),
            Stocked::Conflict | Stocked::SessionTaken => None,
        })
    }

    fn view(&self, loaded: &Loaded) -> TaskView {
        let Loaded { stored, task } = loaded;
        let task = seen_from_outside(task, &stored.state);
        let status = match stored.state.outcome() {
            Some(Outcome::Cancelled) => "cancelled",
            _other => task.status.word(),
        };
        TaskView {
            id: format!("TASK-{}", stored.state.id),
            title: task.title.clone(),
            description: task.description.clone(),
            notes: task.notes.clone(),
            status: status.into(),
            blocked_reason: task.blocked_reason.clone(),
            metadata: task.metadata.clone(),
            iteration: task.iteration.as_ref().map(IterationNoteView::of),
            hook_count: task.gates.len() + self.gates.count(&stored.state.id),
            checkpoints: task.checkpoints.iter().map(CheckpointNoteView::of).collect(),
            work_products: task.products.iter().map(WorkProductView::of).collect(),
            created_at: time_text(task.created_at),
            updated_at: time_text(stored.state.updated_at),
        }
    }
}

/// The hook may have ended the loop meanwhile: then a person is needed.
fn seen_from_outside(task: &Task, state: &State) -> Task {
    let mut task = task.clone();
    if let Phase::Ended { outcome, why, .. } = &state.phase
        && task.running().is_some()
        && task.status == TaskStatus::InProgress
        && *outcome != Outcome::Attested
    {
        task.status = TaskStatus::Blocked;
        task.blocked_reason = Some(format!("{outcome}: {why}"));
    }
    task
}

/// What becomes of the loop when somebody says how the task stands.
fn held_after(
    task: &Task,
    state: &State,
    changes: &Changes,
    session: Option<stopgate_core::SessionId>,
) -> TaskHold {
    let Some(status) = changes.status else { return TaskHold::Keep };
    match status {
        TaskStatus::Completed => TaskHold::End {
            outcome: Outcome::Attested,
            why: "the task was marked as completed; no check proved it".into(),
        },
        TaskStatus::Blocked => {
            let why = changes.blocked_reason.clone().unwrap_or_else(|| "a person is needed".into());
            TaskHold::End { outcome: Outcome::Blocked, why: clip(&why, TITLE_BYTES_MAX) }
        }
        TaskStatus::Pending | TaskStatus::InProgress if state.outcome().is_none() => TaskHold::Keep,
        TaskStatus::Pending | TaskStatus::InProgress => match task.running() {
            Some(iteration) => link::begin(iteration, &state.id, session),
            None => TaskHold::Open,
        },
    }
}

fn without_session(hold: TaskHold) -> TaskHold {
    match hold {
        TaskHold::Begin { frame, .. } => TaskHold::Begin { session: None, frame },
        TaskHold::Keep | TaskHold::Open | TaskHold::End { .. } => hold,
    }
}

/// The loop's name in a part's: `IT-<ms>-<loop><n>`, where a loop's name has ten letters.
fn loop_in(part: &str, kind: &str) -> Option<LoopId> {
    let (_, name) = part.strip_prefix(kind)?.strip_prefix('-')?.split_once('-')?;
    name.get(..10).map(LoopId::new)
}

fn read_status(word: Option<&str>) -> Result<Option<TaskStatus>, Failure> {
    let unknown =
        || Failure::usage("status: Must be one of: pending, in_progress, blocked, completed");
    word.map(|word| TaskStatus::named(word).ok_or_else(unknown)).transpose()
}

fn bounded(name: &str, text: Option<&str>, bytes_max: usize) -> Result<(), Failure> {
    match text {
        Some(text) if text.len() > bytes_max => {
            Err(Failure::usage(format!("{name}: Must be at most {bytes_max} bytes long"))
                .hint("put the details into a file and name that"))
        }
        Some(_) | None => Ok(()),
    }
}

fn bounded_map(name: &str, map: &Map<String, serde_json::Value>) -> Result<(), Failure> {
    let text = serde_json::to_string(map).unwrap_or_default();
    bounded(name, Some(&text), TEXT_BYTES_MAX)
}

impl From<TaskRefusal> for Failure {
    fn from(refusal: TaskRefusal) -> Self {
        Self::usage(refusal.message).hint(refusal.hint)
    }
}

#[cfg(test)]
mod tests;
