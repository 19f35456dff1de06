//! Seeded histories: many hooks and commands on one journal, in one thread.
//!
//! The real engine runs over a journal and in a world that are made up. Whenever a process
//! touches the journal or runs checks, others may run before it goes on; it may die there,
//! its answer may be lost, the clock may jump. What must hold is written down in
//! `rules`; a history that breaks it is told by its seed, and the same seed
//! gives the same history.

mod chance;

mod store;

mod model;

mod world;

mod rules;

mod history;

mod run;

mod home;

pub mod planted;

pub use crate::history::{HistorySetting, Oracle, STEPS, SimulatedChecks, history};
pub use crate::home::SimHome;
pub use crate::rules::Violation;
pub use crate::run::{BrokenHistory, RunTally, replay, seed_of, sweep};
pub use crate::store::Shared;
