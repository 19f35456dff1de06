//! Test-only: a fake model and the real agent clients.
//!
//! A [`Lab`] is a hermetic place with a [`FakeModel`] of its own; it runs
//! [`Session`]s of the real [`LabClient`] there and tells each one's [`SessionResult`].
//! Nothing leaves loopback, and nothing of the person who runs the tests is
//! read or written. A [`Cluster`] is a PostgreSQL server of its own. This crate never ships.

mod api;
mod asked;
mod client;
mod cluster;
mod door;
mod error;
mod hook;
mod http;
mod model;
pub mod night;
mod outcome;
mod packages;
mod pinned;
mod program;
mod prompt;
mod reply;
mod runner;
mod running;
mod session;
mod sort;
mod stage;
mod terminal;
mod turn;

pub use asked::PromptRun;
pub use client::LabClient;
pub use cluster::{Cluster, PG_VARIABLE, ServerStop, Setup};
pub use error::LabError;
pub use hook::{HookLaunch, Scope};
pub use model::{FakeModel, ModelInput, ModelRequest, SentAnswer};
pub use outcome::{Exit, ResultWire, SessionResult};
pub use pinned::LabAgent;
pub use program::{PROGRAM_VARIABLE, Program};
pub use prompt::Prompt;
pub use session::Session;
pub use sort::Kind;
pub use stage::{Lab, LabOutput};
pub use terminal::Terminal;
pub use turn::{ScriptedTurn, TurnUsage};
