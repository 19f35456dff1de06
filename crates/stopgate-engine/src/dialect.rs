//! Loops in another tool's files: where the formats meet the disk.
//!
//! The file is the truth; the journal keeps an audit trail, and no fault of it changes an
//! answer. Whatever goes wrong lets the agent stop, and leaves the file as it was.

mod audit;

mod criteria;

mod desk;

mod features;

mod files;

mod idle;

mod import;

mod jwz;

mod lifecycle;

mod lock;

mod memory;

mod notify;

mod ralph_loop;

mod settle;

mod task;

use std::path::{Path, PathBuf};

use serde::Serialize;
use stopgate_agents::{Call, HookEvent, Reply};
use stopgate_dialects::Dialect;

pub use self::criteria::{Completion, CriteriaView, MarkView};
pub use self::desk::DialectCall;
pub use self::features::{CheckedView, FeatureFiles, FeatureTrouble, NewFeatures, NextFeature};
pub use self::task::{TaskChange, TaskView};
use crate::failure::Failure;
use crate::settings::Settings;
use crate::setup::DoctorFinding;
use crate::stores::Stores;

/// What the command line asks of a hook beside its agent.
#[derive(Clone, Debug)]
pub struct DialectRequest {
    /// Whose files they are.
    pub dialect: Dialect,
    /// The task record, where it is named.
    pub task_file: Option<PathBuf>,
    /// In which form dialects answer that say `ok`.
    pub form: OkForm,
}

/// In which form the dialects answer that say `ok`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OkForm {
    /// With everything that the real client needs to block.
    #[default]
    Full,
    /// `ok` and `reason` alone.
    Strict,
}

/// What a format answers.
pub(crate) enum Answered {
    /// The agent may go.
    Allow(Reply),
    /// The agent is sent back.
    Block(Reply),
}

impl Answered {
    /// The agent may go, without a word.
    pub(crate) fn nothing() -> Self {
        Self::Allow(Reply::default())
    }
}

/// Answers one call in the format that was asked for.
pub(crate) fn answer(desk: &DialectCall, call: &Call<'_>, raw: &[u8]) -> Result<Answered, Failure> {
    match call.event {
        HookEvent::Stop => stop(desk, call),
        HookEvent::SessionStart => session_start(desk, call),
        HookEvent::PreCompact => pre_compact(desk, call),
        HookEvent::Other if desk.request.dialect == Dialect::Idle => idle::guard(desk, raw),
        HookEvent::SubagentStop
        | HookEvent::SessionEnd
        | HookEvent::UserPromptSubmit
        | HookEvent::PostToolBatch
        | HookEvent::StopFailure
        | HookEvent::Other => Ok(Answered::Allow(allowed(desk.request.dialect))),
    }
}

fn stop(desk: &DialectCall, call: &Call<'_>) -> Result<Answered, Failure> {
    match desk.request.dialect {
        Dialect::Idle => idle::stop(desk, call),
        Dialect::Features => features::stop(desk, call),
        Dialect::Criteria => criteria::stop(desk, call),
        Dialect::Task => task::stop(desk, call),
        Dialect::RalphLoop => ralph_loop::stop(desk, call),
    }
}

fn session_start(desk: &DialectCall, call: &Call<'_>) -> Result<Answered, Failure> {
    match desk.request.dialect {
        Dialect::Criteria => criteria::session_start(desk, call),
        Dialect::Idle => idle::session_start(desk, call),
        Dialect::Features | Dialect::Task | Dialect::RalphLoop => Ok(Answered::nothing()),
    }
}

fn pre_compact(desk: &DialectCall, call: &Call<'_>) -> Result<Answered, Failure> {
    match desk.request.dialect {
        Dialect::Idle => idle::pre_compact(desk, call),
        Dialect::Features | Dialect::Criteria | Dialect::Task | Dialect::RalphLoop => {
            Ok(Answered::nothing())
        }
    }
}

/// The directory that a call is about which names none: the one that `handed` names, else ours.
pub(crate) fn directory(handed: Option<&str>) -> Result<PathBuf, Failure> {
    let named = handed.and_then(|handed| match serde_json::from_str(handed) {
        Ok(serde_json::Value::Object(payload)) => Some(payload.get("cwd")?.as_str()?.into()),
        Ok(_) | Err(_) => Some(PathBuf::from(handed)),
    });
    match named.filter(|directory| directory.is_dir()) {
        Some(directory) => Ok(directory),
        None => Settings
            .working_directory()
            .map_err(|error| Failure::fault("could not tell where the agent works").because(error)),
    }
}

/// What is odd about loops in another tool's files here; nothing where there are none.
pub(crate) fn findings(settings: Settings, stores: Stores, directory: &Path) -> Vec<DoctorFinding> {
    let request =
        DialectRequest { dialect: Dialect::Criteria, task_file: None, form: OkForm::Full };
    let desk = DialectCall::new(settings, stores, request, directory.into());
    desk.map(|desk| desk.criteria_findings()).unwrap_or_default()
}

/// What criteria and tasks answer: `ok`, and what a client of hooks understands.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct OkWire<'a> {
    ok: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    decision: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    system_message: Option<String>,
}

/// An answer on one line; what can't be written lets the agent stop.
fn printed(answer: &impl Serialize) -> Reply {
    let text = serde_json::to_string(answer).map(|text| text + "\n");
    Reply { stdout: text.unwrap_or_default(), ..Reply::default() }
}

/// How a dialect lets the agent go where nothing else is to be said, a fault included.
pub(crate) fn allowed(dialect: Dialect) -> Reply {
    match dialect {
        Dialect::Idle | Dialect::Features | Dialect::RalphLoop => Reply::default(),
        Dialect::Criteria | Dialect::Task => {
            Reply { stdout: "{\"ok\":true}\n".into(), ..Reply::default() }
        }
    }
}
