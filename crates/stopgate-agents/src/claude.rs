//! Claude Code: its payloads, its answers, its transcript, its settings.

mod lenient;

mod mend;

mod wire;

mod reply;

mod record;

mod typed;

mod usage;

pub mod settings;

mod skill;

pub use record::{Record, is_tool_use, record};
pub use reply::{Client, Version, block_cap, render};
pub use skill::{SKILL, SKILL_PATH};
pub use typed::{TypedCommand, typed_commands};
pub use usage::context_tokens;
pub use wire::parse;
