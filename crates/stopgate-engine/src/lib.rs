//! Every use case once: the one door for hook, commands and views.
//!
//! The engine may look at the clock, the environment and the rooms below. It never
//! reads arguments, prints or exits; and it decides nothing that the core decides.

mod failure;

mod home;

mod settings;

mod world;

mod project;

mod signs;

mod presence;

mod checking;

mod log;

mod address;

mod config;

mod span;

mod limits;

mod project_file;

mod trust;

mod trust_hash;

mod stores;

mod engine;

mod notify;

mod observe;

mod stop;

mod session;

mod dialect;

mod hook;

mod target;

mod ground;

mod certificate;

mod start;

mod verify;

mod control;

mod handover;

mod edit;

mod veil;

mod gates;

mod explain;

mod history;

mod view;

pub mod tasks;

mod setup;

mod discover;

mod lint;

mod upkeep;

pub use crate::address::Address;
pub use crate::certificate::{Certificate, Inspection, Proven, ProvenCriterion, inspect};
pub use crate::checking::CheckingView;
pub use crate::control::{ClaimLeadsTo, Exit};
pub use crate::dialect::{
    CheckedView, Completion, CriteriaView, Desk, DialectRequest, MarkView, NewFeatures, OkForm,
    TaskChange, TaskView, Trouble,
};
pub use crate::discover::{FoundCheck, discover, pipeline_commands};
pub use crate::engine::Engine;
pub use crate::explain::{Explanation, RuleView};
pub use crate::failure::{Failure, Kind};
pub use crate::ground::Counted;
pub use crate::handover::Successor;
pub use crate::history::EntryView;
pub use crate::home::Home;
pub use crate::hook::{Hook, HookAnswer, Mode as HookMode};
pub use crate::limits::{Asked, Origin, Setting};
pub use crate::lint::{GoalPoints, GoalReview, review_goal};
pub use crate::log::Log;
pub use crate::project::project_of;
pub use crate::project_file::{AtStart, Draft, ProjectFile};
pub use crate::settings::Settings;
pub use crate::setup::{
    Configured, Examination, FileChange, Finding, Level, Place, Plan, Scope, Wishes, examine,
    has_own_entry, is_installed,
};
pub use crate::span::span_ms;
pub use crate::start::{Begun, Binding, Incumbent, StartRequest};
pub use crate::stores::{Opener, Remote, Stores};
pub use crate::target::Target;
pub use crate::trust::{Rules, TrustView};
pub use crate::upkeep::{
    CheckView, CompactView, CopyView, Existing, ExportView, ImportView, MigrateView,
};
pub use crate::verify::{Approval, Verification};
pub use crate::view::{
    BudgetView, CriterionJudge, CriterionStatus, CriterionView, FrameView, ListView, LoopView,
    PausedUntil, ReceiptView, SCHEMA_VERSION, StatusView, WaitsFor, WhoActs, local_time, time_text,
    utc_time,
};
pub use crate::world::{RealWorld, World};
