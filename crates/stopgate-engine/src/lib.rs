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

mod text_file;

mod limits;

mod project_file;

mod trust;

mod stores;

mod context;

mod engine;

mod judging;

mod loops;

mod tidy;

mod notify;

mod observe;

mod metering;

mod stop;

mod session;

mod dialect;

mod hook;

mod verify;

mod driven;

mod worktrees;

mod veil;

mod view;

mod see;

pub mod tasks;

mod setup;

mod discover;

mod doctor;

mod lint;

mod upkeep;

mod simulation;

#[doc(hidden)]
pub mod fuzzing;

pub use crate::address::Address;
pub use crate::attack::{
    AttackAdvice, AttackReport, AttackRequest, AttackStep, AttackedCriterion, Attacks,
    AttemptResult, Ecosystem, ExploitTrial,
};
pub use crate::checking::CheckingView;
pub use crate::config::{ConfigChange, check_config, own_file, set_config};
pub use crate::context::{Incumbent, LoopTarget};
pub use crate::dialect::{
    CheckedView, Completion, CriteriaView, DialectCall, DialectRequest, FeatureFiles,
    FeatureTrouble, MarkView, NewFeatures, NextFeature, OkForm, TaskChange, TaskView,
};
pub use crate::discover::{FoundCheck, discover, pipeline_commands};
pub use crate::doctor::examine;
pub use crate::driven::{Driven, DrivenStop};
pub use crate::engine::Engine;
pub use crate::failure::{Failure, FailureKind};
pub use crate::home::Home;
pub use crate::hook::{CapSetting, HookAnswer, HookMode, HookProcess};
pub use crate::judging::background::{BACKGROUND_CHECKS, run_in_background};
pub use crate::judging::certificate::{
    Certificate, Certificates, Inspection, Proven, ProvenCriterion, ProvenReplaced,
    ProvenRepository, ReceiptDemands, Signed,
};
pub use crate::judging::ground::{JudgesOf, Preflight, PreflightFinish, Preflighted};
pub use crate::judging::known_keys::{KeyView, KeysView};
pub use crate::judging::reviewing::refuse_reviewer;
pub use crate::limits::{LimitOrigin, LimitSetting, RequestedLimits};
pub use crate::lint::{GoalReview, review_goal};
pub use crate::log::{Log, log_failure};
pub use crate::loops::edit::{Changed, EditRequest};
pub use crate::loops::handover::{Handover, Successor};
pub use crate::loops::snapshots::{RestoredView, SnapshotView, Snapshots, SnapshotsView};
pub use crate::loops::start::{Begun, SessionChoice, StartRequest};
pub use crate::loops::{AgentExit, ClaimLeadsTo, Loops};
pub use crate::metering::Metering;
pub use crate::notify::{NOTIFY, deliver as deliver_notice};
pub use crate::project::project_of;
pub use crate::project_file::{AtStart, CriterionDraft, Grant, ProjectFile};
pub use crate::see::explain::{Explanation, RuleView};
pub use crate::see::history::EntryView;
pub use crate::see::{BackTestTotal, BackTestView, BackTestedLoop, Records, ReplayView};
pub use crate::settings::{DRIVEN, Settings};
pub use crate::setup::{
    AgentHere, Configured, DoctorFinding, Examination, FileChange, HookChange, HookTrust, HookView,
    Level, Plan, ScopeFiles, SettingsScope, Wishes, agents_here, has_own_entry, has_stop_entry,
    hook_inventory, is_answered_by_settings, is_installed,
};
pub use crate::span::span_ms;
pub use crate::stores::{Opener, Remote, Stores};
pub use crate::trust::{BindingRules, ProjectTrust, TrustView};
pub use crate::upkeep::{
    CheckView, CompactView, CopyView, Existing, ExportView, ImportView, MigrateView, Upkeep,
};
pub use crate::verify::{Approval, ApprovalAsked, Approvals, Verification, Verifier};
pub use crate::view::{
    BudgetView, CriterionStatus, CriterionView, FrameView, LoopView, ModelSpendView, OriginView,
    PausedUntil, ReceiptView, ReplacedView, SCHEMA_VERSION, Views, WaitsFor, WhoActs, local_time,
    time_text, utc_time,
};
pub use stopgate_usage::{PRICES_AS_OF, parse_usd};
pub use stopgate_verify::{
    LEASH, LaunchPlan, PlaceKind, ProcessMark, become_program, has_posix_shell, hold_leash,
    launch_self, leave_session, provide_leash, variables,
};

pub use crate::waiting::{
    ClientStart, ParkedLoop, ParkedLoops, WaitFor, WaitRequest, WakeStep, WatchList,
    holds_at_a_look, started_anew, watch_points,
};
pub use crate::watchdog::{Late, TooLate, claim_answer};
pub use crate::worktrees::{MergedProof, Worktrees};
pub use crate::world::{RealWorld, World};
