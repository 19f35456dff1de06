//! The MCP server as clients meet it: the built program, real pipes, real sockets.

#![cfg(feature = "mcp")]
#![expect(clippy::expect_used, reason = "a scene that can't be set is a failed test")]

mod client;
mod doors;

mod bad_arguments;
mod cases;
mod crowd;
mod ending;
mod gates;
mod http;
mod protocol;
mod restart;
#[cfg(feature = "postgres")]
mod server;
mod story;
mod tools;
