//! Gates, iterations and loops as tools of the Model Context Protocol.
//!
//! A server over the engine: it checks arguments, calls one use case, and answers.
//! It never decides, never stores, and nothing of it runs before `mcp` is asked for.

mod desk;

mod catalogue;

mod arguments;

mod chores;

mod incoming;

mod ending;

mod watch;

mod server;

mod loops;

mod task_desk;

mod tool_name;

mod stdio;

mod lines;

mod connections;

mod sessions;

mod http;

mod serve;

#[doc(hidden)]
pub mod fuzzing;

pub use crate::catalogue::ToolSet;
pub use crate::desk::{CallRefusal, ToolHandler};
pub use crate::http::{HttpOptions, Token};
pub use crate::serve::{ServeError, serve_http, serve_stdio};
pub use crate::task_desk::TaskDesk;
pub use crate::tool_name::ToolName;
