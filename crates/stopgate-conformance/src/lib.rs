//! A black-box suite for stop hooks, ours or anybody's.
//!
//! A hook is a command line. It gets payloads that real clients sent, whole, torn and twisted,
//! and its answers are read as that client reads them (`stopgate_agents`' oracle). Nothing here
//! knows how a hook works inside: it is armed, asked, and made to finish by commands.

mod payload;

mod subject;

mod stage;

mod shot;

mod remains;

mod cases;

mod suite;

mod report;

pub use cases::HookCase;
pub use payload::CapturedPayloads;
pub use report::{CaseResult, ConformanceReport, Mark};
pub use subject::{HookEvents, HookUnderTest};
pub use suite::{Selection, run};
