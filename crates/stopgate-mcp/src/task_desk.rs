//! The desk over the engine: one use case a tool.
//!
//! The journal belongs to one thread at a time, so each thread that carries out calls
//! opens it for itself; they all see the same loops.

use std::cell::RefCell;
use std::path::PathBuf;
use std::sync::OnceLock;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use stopgate_engine::tasks::{SessionGates, Tasks};
use stopgate_engine::{Failure, Settings, Stores};

use crate::desk::{CallRefusal, ToolHandler};
use crate::loops;
use crate::tool_name::ToolName;

thread_local! {
    static OPENED: RefCell<Option<Tasks>> = const { RefCell::new(None) };
}

/// Carries out calls over the journal that the environment asks for. One in a process.
pub struct TaskDesk {
    settings: Settings,
    stores: Stores,
    gates: SessionGates,
    directory: PathBuf,
    /// Where the journal is, once it was opened.
    is_on_server: OnceLock<bool>,
}

impl TaskDesk {
    /// A desk for clients that work in `directory`.
    pub fn new(settings: Settings, stores: Stores, directory: PathBuf) -> Self {
        let gates = SessionGates::default();
        Self { settings, stores, gates, directory, is_on_server: OnceLock::new() }
    }

    /// Lends this thread's engine out. One that breaks is not put back.
    fn with<T>(&self, work: impl FnOnce(&mut Tasks) -> T) -> Result<T, Failure> {
        let mut tasks = match OPENED.with(RefCell::take) {
            Some(tasks) => tasks,
            None => self.open()?,
        };
        let done = work(&mut tasks);
        OPENED.with(|opened| opened.replace(Some(tasks)));
        Ok(done)
    }

    fn open(&self) -> Result<Tasks, Failure> {
        let mut tasks = Tasks::open(self.settings, self.stores, self.gates.clone())?;
        self.is_on_server.get_or_init(|| tasks.engine().is_on_server());
        Ok(tasks)
    }
}

impl ToolHandler for TaskDesk {
    fn call(&self, tool: ToolName, arguments: Map<String, Value>) -> Result<Value, CallRefusal> {
        let ask = Value::Object(arguments);
        self.with(|tasks| self.answer(tasks, tool, ask)).map_err(|failure| refused(&failure))?
    }

    /// The first call tells where the journal is; gates tell whether they are programs.
    fn is_near(&self, tool: ToolName, arguments: &Map<String, Value>) -> bool {
        if self.is_on_server.get() != Some(&false) {
            return false;
        }
        let iteration = arguments.get("iterationId").and_then(Value::as_str);
        match (tool, iteration) {
            (ToolName::HookEvaluate, Some(iteration)) => {
                !matches!(self.with(|tasks| tasks.runs_programs(iteration)), Ok(Ok(true)))
            }
            _other => true,
        }
    }

    fn settle(&self) {
        // Nothing was opened, so nothing is to be tidied.
        OPENED.with_borrow_mut(|opened| {
            if let Some(tasks) = opened {
                tasks.engine().settle();
            }
        });
    }
}

impl TaskDesk {
    fn answer(&self, tasks: &mut Tasks, tool: ToolName, ask: Value) -> Result<Value, CallRefusal> {
        match tool {
            ToolName::TaskCreate => reply(ask, |ask| tasks.task_create(ask)),
            ToolName::TaskGet => reply(ask, |ask| tasks.task_get(ask)),
            ToolName::TaskUpdate => reply(ask, |ask| tasks.task_update(ask)),
            ToolName::HookRegister => reply(ask, |ask| tasks.hook_register(ask)),
            ToolName::HookEvaluate => reply(ask, |ask| tasks.hook_evaluate(ask)),
            ToolName::HookList => reply(ask, |ask| tasks.hook_list(ask)),
            ToolName::HookClear => reply(ask, |ask| tasks.hook_clear(ask)),
            ToolName::HookUpdate => reply(ask, |ask| tasks.hook_update(ask)),
            ToolName::IterationStart => reply(ask, |ask| tasks.iteration_start(ask)),
            ToolName::IterationValidate => reply(ask, |ask| tasks.iteration_validate(ask)),
            ToolName::IterationNext => reply(ask, |ask| tasks.iteration_next(ask)),
            ToolName::IterationComplete => reply(ask, |ask| tasks.iteration_complete(ask)),
            ToolName::CheckpointCreate => reply(ask, |ask| tasks.checkpoint_create(ask)),
            ToolName::CheckpointResume => reply(ask, |ask| tasks.checkpoint_resume(ask)),
            ToolName::LoopStart => {
                reply(ask, |ask| loops::start(tasks.engine(), ask, &self.directory))
            }
            ToolName::LoopStatus => {
                reply(ask, |ask| loops::status(tasks.engine(), ask, &self.directory))
            }
            ToolName::LoopDone => {
                reply(ask, |ask| loops::done(tasks.engine(), ask, &self.directory))
            }
        }
    }
}

/// Reads what is asked, has it done, and writes the answer.
fn reply<Ask: DeserializeOwned, View: Serialize>(
    ask: Value,
    case: impl FnOnce(&Ask) -> Result<View, Failure>,
) -> Result<Value, CallRefusal> {
    let ask: Ask = serde_json::from_value(ask).map_err(|error| misread(&error))?;
    let view = case(&ask).map_err(|failure| refused(&failure))?;
    serde_json::to_value(view).map_err(|error| misread(&error))
}

fn misread(error: &serde_json::Error) -> CallRefusal {
    CallRefusal::new(format!("Invalid arguments: {error}")).next("Nothing was stored. Call again.")
}

fn refused(failure: &Failure) -> CallRefusal {
    let refusal = CallRefusal::new(sentence(&failure.story()));
    match &failure.hint {
        Some(hint) => refusal.next(format!("{}.", sentence(hint).trim_end_matches('.'))),
        None => refusal,
    }
}

/// `text` with a capital at its beginning, unless that is a name: `hookType: …`, `stopgate …`.
fn sentence(text: &str) -> String {
    let first = text.split_whitespace().next().unwrap_or_default();
    let is_name = first.starts_with("stopgate")
        || first.contains('_')
        || first.trim_end_matches(',').contains(|c: char| !c.is_lowercase());
    if is_name {
        return text.into();
    }
    let mut letters = text.chars();
    match letters.next() {
        Some(first) => first.to_uppercase().chain(letters).collect(),
        None => String::new(),
    }
}
