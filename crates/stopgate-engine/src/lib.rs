//! Every use case once: the one door for hook, commands and views.
//!
//! The engine may look at the clock, the environment and the rooms below. It never
//! reads arguments, prints or exits; and it decides nothing that the core decides.

mod failure;

mod home;

mod settings;

mod waiting;

mod watchdog;

mod world;

mod project;

mod signs;

mod presence;

mod checking;

mod log;

mod address;

mod attack;

mod config;

mod dollars;

mod span;

mod toml_place;

mod limits;

mod project_file;

mod trust;

mod trust_hash;

mod stores;

mod engine;

mod notify;

mod observe;

mod metering;

mod stop;

mod session;

mod dialect;

mod hook;

mod target;

mod ground;

mod known_keys;

mod certificate;

mod origin;

mod start;

mod verify;

mod vouch;

mod control;

mod driven;

mod worktrees;

mod handover;

mod edit;

mod reviewing;

mod veil;

mod gates;

mod explain;

mod history;

mod view;

mod see;

pub mod tasks;

mod setup;

mod discover;

mod lint;

mod upkeep;

mod simulation;

mod snapshots;

#[doc(hidden)]
pub mod fuzzing;

pub use crate::address::Address;
pub use crate::attack::{
    AttackAdvice, AttackReport, AttackRequest, AttackStep, AttackedCriterion, AttemptResult,
    Ecosystem, ExploitTrial,
};
pub use crate::certificate::{
    Certificate, Inspection, Proven, ProvenCriterion, ProvenReplaced, ProvenRepository,
    ReceiptDemands, Signed,
};
pub use crate::checking::CheckingView;
pub use crate::config::{ConfigChange, check_config, own_file, set_config};
pub use crate::control::{AgentExit, ClaimLeadsTo};
pub use crate::dialect::{
    CheckedView, Completion, CriteriaView, DialectCall, DialectRequest, FeatureFiles,
    FeatureTrouble, MarkView, NewFeatures, OkForm, TaskChange, TaskView,
};
pub use crate::discover::{FoundCheck, discover, pipeline_commands};
pub use crate::driven::{DRIVEN, DrivenStop, NextFeature};
pub use crate::edit::{Changed, EditRequest};
pub use crate::engine::Engine;
pub use crate::explain::{Explanation, RuleView};
pub use crate::failure::{Failure, FailureKind};
pub use crate::ground::{JudgesOf, Preflight, Preflighted};
pub use crate::handover::Successor;
pub use crate::history::EntryView;
pub use crate::home::Home;
pub use crate::hook::{CapSetting, HookAnswer, HookMode, HookProcess, log_failure};
pub use crate::known_keys::{KeyView, KeysView};
pub use crate::limits::{LimitOrigin, LimitSetting, RequestedLimits};
pub use crate::lint::{GoalPoints, GoalReview, review_goal};
pub use crate::log::Log;
pub use crate::notify::{NOTIFY, deliver as deliver_notice};
pub use crate::project::project_of;
pub use crate::project_file::{AtStart, CriterionDraft, Grant, ProjectFile};
pub use crate::reviewing::refuse_reviewer;
pub use crate::see::{BackTestTotal, BackTestView, BackTestedLoop, LoopStatsView, ReplayView};
pub use crate::settings::Settings;
pub use crate::setup::{
    AgentHere, Configured, DoctorFinding, Examination, FileChange, HookChange, HookTrust, HookView,
    Level, Plan, ScopeFiles, SettingsScope, Wishes, agents_here, examine, has_own_entry,
    has_stop_entry, hook_inventory, is_answered_by_settings, is_installed,
};
pub use crate::snapshots::{RestoredView, SnapshotView, SnapshotsView};
pub use crate::span::span_ms;
pub use crate::start::{Begun, Incumbent, SessionChoice, StartRequest};
pub use crate::stores::{Opener, Remote, Stores};
pub use crate::target::LoopTarget;
pub use crate::trust::{BindingRules, TrustView};
pub use crate::upkeep::{
    CheckView, CompactView, CopyView, Existing, ExportView, ImportView, MigrateView,
};
pub use crate::verify::{Approval, ApprovalAsked, Verification};
pub use crate::view::{
    BudgetView, CriterionJudge, CriterionStatus, CriterionView, FrameView, ListView, LoopView,
    ModelSpendView, OriginView, PausedUntil, ReceiptView, ReplacedView, SCHEMA_VERSION, StatusView,
    WaitsFor, WhoActs, local_time, time_text, utc_time,
};
pub use stopgate_usage::{PRICES_AS_OF, parse_usd};
pub use stopgate_verify::{
    LEASH, LaunchPlan, ProcessMark, become_program, hold_leash, launch, leave_session,
    provide_leash,
};

pub use crate::waiting::{
    ClientStart, ParkedLoop, WaitFor, WaitRequest, WakeStep, WatchList, holds_at_a_look,
    started_anew, watch_points,
};
pub use crate::watchdog::{Late, TooLate, claim_answer};
pub use crate::worktrees::MergedProof;
pub use crate::world::{RealWorld, World};
